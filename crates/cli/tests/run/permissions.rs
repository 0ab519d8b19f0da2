//! May this tool run?

use libtest_mimic::Trial;
use serde_json::json;

use crate::kit::{
    Cli, LARGE, Outcome, USUAL, WRITE, editor, lab, on_both, on_old, requests, run, run_with,
    simulated,
};
use crate::puppet;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_both("permissions::approve", approve),
        on_old("permissions::approve", approve),
        on_both("permissions::deny_with_a_message", deny_with_a_message),
        simulated("permissions::deny_and_stop", stop),
        simulated("permissions::approve_with_a_rule", rule),
        simulated("permissions::edit_the_command", edit_command),
        simulated("permissions::edit_the_input", edit_input),
        simulated("permissions::several_at_once", several),
        simulated("permissions::a_long_change_is_cut", long),
        simulated("permissions::a_low_window_hides_no_command", low),
        simulated("permissions::in_a_small_window_it_is_seen_what_would_be_chosen", small),
        simulated("permissions::an_ask_that_is_withdrawn", withdrawn),
        simulated("permissions::an_ask_that_is_withdrawn_while_it_is_edited", withdrawn_in_editor),
        simulated("permissions::keys_for_the_editor_are_no_answer", keys_for_the_editor),
        simulated("permissions::keys_pressed_before_are_no_answer", early_keys),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn approve(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, USUAL, &["Write a file."]);
    let asked = pty.see("Esc denies");
    assert!(asked.contains("Write new.txt") && asked.contains("1 + new"), "{asked}");
    assert!(!lab.work().join("new.txt").exists(), "it was written before anybody allowed it");
    pty.press("y");
    let ended = pty.end();
    let screen = &ended.screen;
    assert_eq!(ended.code, 0, "{screen}");
    assert!(screen.contains("I will write it."), "{screen}");
    assert!(screen.contains(": allowed") && screen.contains("✓"), "{screen}");
    assert!(screen.contains("countersign run --resume"), "{screen}");
    assert!(!screen.contains("Do you want to allow this?"), "{screen}");
    assert!(ended.is_restored);
    assert_eq!(std::fs::read_to_string(lab.work().join("new.txt"))?, "new\n");
    lab.close().await?;
    Ok(())
}

async fn deny_with_a_message(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, USUAL, &["Write a file."]);
    pty.see("Esc denies");
    pty.press("n");
    pty.see("What should Claude do differently?");
    pty.press("Use another name\r");
    let ended = pty.end();
    let screen = &ended.screen;
    assert_eq!(ended.code, 0, "{screen}");
    // The model reads it, and says what it has read.
    let after = screen.split("I read: ").last().unwrap_or_default();
    assert!(after.contains("Use another name"), "{screen}");
    assert!(screen.contains("denied: Write"), "{screen}");
    assert!(!lab.work().join("new.txt").exists());
    if let Some(requests) = requests(cli, &lab) {
        let last = requests.last().unwrap()["messages"].to_string();
        assert!(last.contains("Use another name"), "{last}");
    }
    lab.close().await?;
    Ok(())
}

async fn stop(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, USUAL, &["Write a file."]);
    pty.see("Esc denies");
    pty.press("s");
    let ended = pty.end();
    assert!(ended.screen.contains("denied, and stopped"), "{}", ended.screen);
    assert!(!ended.screen.contains("I read"), "{}", ended.screen);
    assert_eq!(ended.code, 130, "{}", ended.screen);
    lab.close().await?;
    Ok(())
}

/// Two commands of the same kind, of which the second is no longer asked for.
async fn rule(cli: Cli) -> Outcome {
    let lab = lab(
        cli,
        r#"
        [[answer]]
        tool = { name = "Bash", input = { command = "npm test a", description = "Run the tests" }, result = "ok" }

        [[answer]]
        tool = { name = "Bash", input = { command = "npm test a" }, result = "ok" }

        [[answer]]
        text = "Both have run."
        "#,
    )
    .await;
    let mut pty = run(&lab, LARGE, &["Run it."]);
    let asked = pty.see("Esc denies");
    assert!(asked.contains("npm test a") && asked.contains("Run the tests"), "{asked}");
    assert!(asked.contains("Yes, and don't ask again for Bash(npm test"), "{asked}");
    pty.press("a");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("allowed, now and later"), "{}", ended.screen);
    assert!(ended.screen.contains("Both have run."), "{}", ended.screen);
    assert_eq!(ended.screen.matches("▸ Bash").count(), 1, "{}", ended.screen);
    let kept = std::fs::read_to_string(lab.work().join(".claude/settings.local.json"))?;
    assert!(kept.contains("Bash(npm test"), "{kept}");
    lab.close().await?;
    Ok(())
}

/// The simulated CLI says which command it was asked to run.
async fn edit_command(cli: Cli) -> Outcome {
    let lab = lab(
        cli,
        r#"
        [[answer]]
        tool = { name = "Bash", input = { command = "touch first" } }

        [[answer]]
        text = "Done."
        "#,
    )
    .await;
    let tape = lab.root().join("tape.jsonl");
    let mut pty = run(&lab, USUAL, &["Do it.", "--record", &tape.to_string_lossy()]);
    pty.see("Esc denies");
    pty.press("e");
    pty.see("Enter runs this");
    // Back over the last word, and another one.
    pty.press("\u{17}second\r");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("allowed, as you edited it"), "{}", ended.screen);
    let tape = std::fs::read_to_string(tape)?;
    assert!(tape.contains("touch second"), "{tape}");
    lab.close().await?;
    Ok(())
}

async fn edit_input(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let path = lab.work().join("new.txt");
    let input = format!(r#"{{"file_path": "{}", "content": "mine\n"}}"#, path.display());
    let editor = editor(&lab, &input);
    let mut pty = run_with(&lab, USUAL, &["Write a file."], &[("EDITOR", &editor)]);
    pty.see("Esc denies");
    pty.press("e");
    // What will be done is shown again before it is.
    let asked = pty.until("the dialog again", |screen| {
        screen.contains("(edited by you)") && screen.contains("Esc denies")
    });
    assert!(asked.contains("1 + mine"), "{asked}");
    assert!(!path.exists());
    pty.press("\r");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert_eq!(std::fs::read_to_string(path)?, "mine\n");
    assert!(ended.is_restored);
    lab.close().await?;
    Ok(())
}

async fn several(cli: Cli) -> Outcome {
    let lab = lab(
        cli,
        r#"
        [[answer]]
        tools = [
          { name = "WebFetch", input = { url = "https://one.example/", prompt = "x" }, result = "one" },
          { name = "WebFetch", input = { url = "https://two.example/", prompt = "x" }, result = "two" },
        ]

        [[answer]]
        text = "Done."
        "#,
    )
    .await;
    let mut pty = run(&lab, LARGE, &["Look."]);
    let takes_keys = |which: &'static str| {
        move |screen: &str| screen.contains(which) && screen.contains("Esc denies")
    };
    pty.until("the first", takes_keys("1 of 2"));
    pty.press("y");
    pty.until("the second", takes_keys("2 of 2"));
    // Esc denies without a word.
    pty.press("\u{1b}");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(
        ended.screen.contains(": allowed") && ended.screen.contains(": denied"),
        "{}",
        ended.screen
    );
    lab.close().await?;
    Ok(())
}

async fn long(cli: Cli) -> Outcome {
    let content = (1..=60).map(|n| format!("line {n}\\n")).collect::<String>();
    let script = format!(
        "[[answer]]\ntool = {{ name = \"Write\", input = {{ file_path = \"${{cwd}}/new.txt\", content = \"{content}\" }} }}\n\n[[answer]]\ntext = \"Done.\"\n"
    );
    let lab = lab(cli, &script).await;
    let mut pty = run(&lab, USUAL, &["Write a file."]);
    let asked = pty.see("Esc denies");
    assert!(asked.contains("more rows (v shows all)"), "{asked}");
    assert!(asked.contains("line 1") && asked.contains("No, and stop"), "{asked}");
    assert!(!asked.contains("line 60"), "{asked}");
    pty.press("v");
    pty.until("the last line", |screen| screen.contains("60 + line 60"));
    pty.press("y");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("30 + line 30"), "{}", ended.screen);
    lab.close().await?;
    Ok(())
}

/// Nobody chooses without having seen what it is about.
async fn low(_: Cli) -> Outcome {
    let stage = puppet::Stage::new();
    let pty = stage.run((80, 24));
    let asked = pty.see("Esc denies");
    assert_eq!(asked.matches("make").count(), 1, "{asked}");
    // The title and the command would be above the window. They are printed there.
    pty.resize(80, 7);
    pty.see("  make\nDo you want to allow this?");
    stage.go_on();
    assert_eq!(pty.end().code, 0);
    let low = puppet::Stage::new();
    let pty = low.run((80, 7));
    pty.see("  make\nDo you want to allow this?");
    low.go_on();
    let ended = pty.end();
    assert!(ended.screen.contains("Bash\n  make\n"), "{}", ended.screen);
    Ok(())
}

/// Whichever of them it is, and together with the question and the keys.
async fn small(_: Cli) -> Outcome {
    let rule = |content: &str| {
        json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
            "rules": [{"toolName": "Bash", "ruleContent": content}]})
    };
    let tool = json!({"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t",
        "input": {"command": "make all and then install it"},
        "permission_suggestions": [rule("make all and then:*"), rule("make all:*"), rule("make:*")]});
    let plan = json!({"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "tool_use_id": "t",
        "input": {"plan": "1. Do it.", "allowedPrompts": [{"tool": "Bash", "prompt": "make it"}]}});
    let options: Vec<_> = (1..=4)
        .map(|number| {
            json!({"label": format!("Number {number}"),
            "description": "which has something to be said for it"})
        })
        .collect();
    let questions = json!({"subtype": "can_use_tool", "tool_name": "AskUserQuestion",
        "tool_use_id": "t", "input": {"questions": [{"question": "Which one do you like best?",
            "header": "Which", "multiSelect": false, "options": options}]}});
    for (ask, question, keys, choices) in [
        (tool, "Do you want to allow this?", "denies", 7),
        (plan, "What should become of the plan?", "keeps", 5),
        (questions, "Which one do you like best?", "nothing", 6),
    ] {
        let stage = puppet::Stage::that_asks(ask);
        let mut pty = stage.run((40, 12));
        for number in 1..=choices {
            pty.until(&format!("choice {number}"), |screen| {
                screen.contains(&format!("❯ {number}. "))
                    && screen.contains(question)
                    && screen.contains(keys)
            });
            pty.press("\u{1b}[B");
        }
        pty.see("❯ 1. ");
        pty.press("\u{1b}");
        pty.end();
    }
    Ok(())
}

/// The dialog closes, and the conversation goes on.
async fn withdrawn(_: Cli) -> Outcome {
    let stage = puppet::Stage::new();
    let pty = stage.run(USUAL);
    pty.see("Esc denies");
    stage.go_on();
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains(": withdrawn"), "{}", ended.screen);
    assert!(ended.screen.contains("Never mind."), "{}", ended.screen);
    Ok(())
}

/// What was written for one ask is never the answer to another.
async fn withdrawn_in_editor(_: Cli) -> Outcome {
    let ask = |id: &str| {
        json!({"subtype": "can_use_tool", "tool_name": "mcp__x__y", "tool_use_id": id,
            "input": {"for": id}})
    };
    let stage = puppet::Stage::that_withdraws(ask("one"), ask("two"));
    let mut pty = stage.run(LARGE);
    // Which of two comes first is not said when both are asked at once.
    pty.see("Esc denies");
    stage.go_on();
    pty.until("the first of both", |screen| {
        screen.contains("1 of 2") && screen.contains("Esc denies")
    });
    pty.press("e");
    let editor = stage.editor();
    stage.go_on();
    stage.go_on();
    editor.save(r#"{"for": "one, and edited"}"#);
    let asked = pty
        .until("the second", |screen| screen.contains("2 of 2") && screen.contains("Esc denies"));
    assert!(asked.contains(": withdrawn") && !asked.contains("edited by you"), "{asked}");
    pty.press("y");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(!ended.screen.contains("one, and edited"), "{}", ended.screen);
    Ok(())
}

/// Typed ahead in the editor, and not read by it.
async fn keys_for_the_editor(_: Cli) -> Outcome {
    let ask = json!({"subtype": "can_use_tool", "tool_name": "mcp__x__y", "tool_use_id": "t",
        "input": {"a": 1}});
    let stage = puppet::Stage::that_asks(ask);
    let mut pty = stage.run(LARGE);
    pty.see("Esc denies");
    pty.press("e");
    let editor = stage.editor();
    pty.press("y");
    // The terminal echoes it, so it is there.
    pty.until("the key", |screen| screen.lines().any(|line| line.trim() == "y"));
    editor.save(r#"{"a": 2}"#);
    let asked = pty.until("the dialog again", |screen| {
        screen.contains("(edited by you)") && screen.contains("Esc denies")
    });
    assert!(!asked.contains(": allowed"), "{asked}");
    pty.press("\u{1b}");
    let ended = pty.end();
    assert!(ended.screen.contains(": denied"), "{}", ended.screen);
    assert!(!ended.screen.contains(": allowed"), "{}", ended.screen);
    Ok(())
}

/// Somebody types while the model works, and means no dialog that opens just then.
async fn early_keys(_: Cli) -> Outcome {
    let stage = puppet::Stage::new_that_waits();
    let mut pty = stage.run(USUAL);
    pty.see("working");
    pty.press("yyyyy");
    stage.go_on();
    let asked = pty.see("Esc denies");
    assert!(!asked.contains("allowed"), "{asked}");
    pty.press("y");
    let ended = pty.end();
    assert!(ended.screen.contains(": allowed"), "{}", ended.screen);
    assert_eq!(ended.code, 0, "{}", ended.screen);
    Ok(())
}
