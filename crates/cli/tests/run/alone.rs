//! Without a terminal: nobody is asked, and what needs permission is refused.

use std::io::Read as _;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::kit::{Cli, Outcome, WRITE, lab, on_both, on_old, piped, simulated, start_piped};
use crate::puppet::{Stage, piece, text};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_both("alone::what_needs_permission_is_refused", refused),
        simulated("alone::questions_and_plans_are_refused", asked),
        simulated("alone::text_and_notes_apart", apart),
        simulated("alone::every_text_once", once),
        simulated("alone::the_prompt_from_standard_input", from_standard_input),
        simulated("alone::events_as_json", json),
        simulated("alone::a_turn_that_fails", failed),
        simulated("alone::a_signal_interrupts", interrupted),
        simulated("alone::no_cli", no_cli),
        simulated("alone::wrong_arguments", wrong),
        on_old("alone::a_version_that_lacks_something", lacking),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn refused(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let ended = piped(&lab, &["Write a file."], "");
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(
        ended.out.contains("I read: ") && ended.out.contains("nobody can be asked"),
        "{ended:?}"
    );
    assert!(ended.err.contains("nobody could be asked"), "{ended:?}");
    assert!(!lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

async fn asked(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        tool = { name = "AskUserQuestion", input_json = '''{"questions": [{"question": "Which?", "header": "W", "multiSelect": false, "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]}]}''' }

        [[answer]]
        tool = { name = "ExitPlanMode", input = {} }

        [[answer]]
        text = "I read: ${result}"
    "#;
    let lab = lab(cli, script).await;
    let ended = piped(&lab, &["--mode", "plan", "Ask me."], "");
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.err.contains("2 calls needed permission"), "{ended:?}");
    lab.close().await?;
    Ok(())
}

async fn apart(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let ended = piped(&lab, &["--mode", "accept-edits", "Write a file."], "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("I will write it.\nI read: "), "{ended:?}");
    assert!(ended.err.contains("● Write  new.txt (+1 −0) ✓"), "{ended:?}");
    assert!(ended.err.contains("countersign run --resume "), "{ended:?}");
    assert!(!ended.err.contains('\u{1b}') && !ended.out.contains('\u{1b}'), "{ended:?}");
    let quiet = piped(&lab, &["--quiet", "--mode", "accept-edits", "Write it again."], "");
    assert_eq!((quiet.code, &*quiet.err), (Some(0), ""), "{quiet:?}");
    lab.close().await?;
    Ok(())
}

/// However its pieces came.
async fn once(_: Cli) -> Outcome {
    let retry = json!({"type": "system", "subtype": "api_retry", "session_id": "puppet",
        "uuid": "00000000-0000-4000-8000-000000000002", "attempt": 1, "max_retries": 3,
        "retry_delay_ms": 1, "error_status": 529, "error": "overloaded"});
    let status = json!({"type": "assistant", "session_id": "puppet", "parent_tool_use_id": null,
        "message": {"id": "n", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "thinking", "thinking": "Hm.", "signature": ""}],
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let cases = [
        // Whole after its pieces, or after some of them.
        (vec![piece("One "), piece("two."), text("One two.")], "One two.\n"),
        (vec![piece("One "), text("One two.")], "One two.\n"),
        // It broke off, and was said anew without pieces.
        (vec![piece("One "), text("Another.")], "One \nAnother.\n"),
        (vec![piece("One "), retry, piece("Two."), text("Two.")], "One \nTwo.\n"),
        // Something else was said between.
        (vec![piece("One."), status, text("One.")], "One.\n"),
    ];
    for (lines, expected) in cases {
        let ended = Stage::that_says(Value::from(lines)).piped();
        assert_eq!((ended.code, &*ended.out), (Some(0), expected), "{ended:?}");
    }
    Ok(())
}

async fn from_standard_input(cli: Cli) -> Outcome {
    let script = "[[answer]]\nwhen = { text = \"from the pipe\" }\ntext = \"I have it.\"\n";
    let lab = lab(cli, script).await;
    for arguments in [&["-"][..], &[]] {
        let ended = piped(&lab, arguments, "This comes from the pipe.\n");
        assert_eq!((ended.code, &*ended.out), (Some(0), "I have it.\n"), "{ended:?}");
    }
    lab.close().await?;
    Ok(())
}

async fn json(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let ended = piped(&lab, &["--json", "Write a file."], "");
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let events: Vec<Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let expected = ["session", "text", "tool_call", "tool_done", "text", "result"];
    assert_eq!(kinds, expected, "{ended:?}");
    assert_eq!(events[2]["name"], "Write");
    assert_eq!(events[2]["input"]["content"], "new\n");
    assert!(events[3]["denied"].as_str().unwrap().contains("nobody can be asked"));
    let result = &events[5];
    assert_eq!((&result["ok"], &result["refused"]), (&true.into(), &1.into()), "{result}");
    assert_eq!(result["denials"][0]["name"], "Write");
    let error: Value = serde_json::from_str(ended.err.lines().last().unwrap()).unwrap();
    assert_eq!(error["exit"], 4);
    lab.close().await?;
    Ok(())
}

async fn failed(cli: Cli) -> Outcome {
    let script =
        "[[answer]]\nerror = { status = 403, message = \"not for \\u001b[31myou\" }\ntimes = 20\n";
    let lab = lab(cli, script).await;
    let ended = piped(&lab, &["Say it."], "");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("the turn failed"), "{ended:?}");
    assert!(!ended.err.contains('\u{1b}') && !ended.out.contains('\u{1b}'), "{ended:?}");
    lab.close().await?;
    Ok(())
}

/// The turn is interrupted, and the command says so.
async fn interrupted(cli: Cli) -> Outcome {
    let script = "[[answer]]\ntext = \"I begin and never come to an end.\"\nhang = 4\n";
    let lab = lab(cli, script).await;
    let before = lab.processes();
    let mut child = start_piped(&lab, &["Begin."]);
    let mut out = child.stdout.take().unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("I begin") {
        let mut byte = [0];
        out.read_exact(&mut byte).unwrap();
        said.extend(byte);
    }
    let process = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output()?;
    let err = String::from_utf8(ended.stderr)?;
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("countersign run --resume"), "{err}");
    assert_eq!(lab.processes(), before);
    lab.close().await?;
    Ok(())
}

async fn no_cli(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let ended = piped(&lab, &["Say it.", "--cli", "/nowhere/claude"], "");
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(
        ended.err.contains("/nowhere/claude") && ended.err.contains("npm install"),
        "{ended:?}"
    );
    lab.close().await?;
    Ok(())
}

async fn lacking(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let ended = piped(&lab, &["Say it.", "--mode", "auto"], "");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("2.1.197") && ended.err.contains("claude update"), "{ended:?}");
    lab.close().await?;
    Ok(())
}

async fn wrong(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    for arguments in [
        &["Say it.", "-i"][..],
        &[" "],
        &["Say it.", "--mode", "bypassPermissions"],
        &["Say it.", "--dangerously-skip-permissions"],
        &["Say it.", "--dangerously-skip-permissions", "--mode", "accept-edits"],
        &["Say it.", "--cwd", "/nowhere"],
        &["Say it.", "--fork"],
        &["Say it.", "--", "word"],
    ] {
        let ended = piped(&lab, arguments, "");
        assert_eq!(ended.code, Some(2), "{arguments:?} {ended:?}");
    }
    let flag = "--dangerously-skip-permissions";
    let alone = piped(&lab, &["Write a file.", flag], "");
    assert!(alone.err.contains("Say --mode bypass-permissions as well"), "{alone:?}");
    let both = piped(&lab, &["Write a file.", flag, "--mode", "bypass-permissions"], "");
    assert_eq!(both.code, Some(0), "{both:?}");
    assert!(lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}
