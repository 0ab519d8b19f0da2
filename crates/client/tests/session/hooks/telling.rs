//! What hooks are told of a turn: prompts, what tools have done, sub-agents, and its end.

use countersign::hook::{Hook, HookContext};
use countersign::permission::AllowAll;
use countersign::protocol::hook::{
    HookOutput, PostToolUseFailureInput, PostToolUseInput, PreCompactInput, StopInput,
    SubagentStartInput, SubagentStopInput, UserPromptSubmitInput,
};
use libtest_mimic::Trial;

use super::{bypass, delegating, one_write};
use crate::asking::{Noted, calls, requests, say, start, write};
use crate::kit::{Cli, Outcome, V62, builder, close, lab, on_all};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("hooks::what_tools_have_done", V62, afterwards),
        on_all("hooks::a_prompt_is_blocked", V62, blocked),
        on_all("hooks::a_turn_is_not_over", V62, not_over),
        on_all("hooks::sub_agents_begin_and_end", V62, agents),
        on_all("hooks::a_conversation_is_compacted", V62, compacted),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn afterwards(cli: Cli) -> Outcome {
    let missing = r#"{"file_path": "${cwd}/nothing.txt"}"#;
    let lab = lab(cli, &calls(&[("Read", missing), ("Write", &write("new.txt"))], "Done.")).await;
    let told = Noted::<(String, bool)>::default();
    let (done, failed) = (told.clone(), told.clone());
    let builder = builder(&lab)
        .on_permission(AllowAll)
        .hook(Hook::new(move |input: PostToolUseInput, context: HookContext| {
            assert_eq!(context.tool_use_id(), Some(&input.tool_use_id));
            assert!(input.tool_response.as_str().contains("new.txt"));
            done.note((input.tool_name, true));
            async {}
        }))
        .hook(Hook::new(move |input: PostToolUseFailureInput, _| {
            assert!(!input.error.is_empty());
            failed.note((input.tool_name, false));
            async {}
        }));
    let mut session = start(builder).await?;
    say(&mut session, "Do both.").await?;
    assert_eq!(told.all(), [("Read".to_owned(), false), ("Write".to_owned(), true)]);
    close(session, lab).await;
    Ok(())
}

async fn blocked(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Done.")).await;
    let hook = Hook::new(|input: UserPromptSubmitInput, _| async move {
        if input.prompt.contains("secret") {
            return Ok(HookOutput::block("no secrets"));
        }
        if input.prompt.contains("broken") {
            Err("the database is away")
        } else {
            Ok(HookOutput::no_opinion())
        }
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    for prompt in ["This is secret.", "This is broken."] {
        let outcome = say(&mut session, prompt).await?;
        assert!(outcome.tool_calls.is_empty() && outcome.text.is_empty(), "{outcome:?}");
    }
    if let Some(requests) = requests(cli, &lab) {
        assert!(requests.is_empty());
    }
    let outcome = say(&mut session, "This is not.").await?;
    assert_eq!(outcome.answer(), "Done.");
    close(session, lab).await;
    Ok(())
}

async fn not_over(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        text = "One."

        [[answer]]
        text = "Two."
    "#;
    let lab = lab(cli, script).await;
    let hook = Hook::new(|input: StopInput, _| async move {
        if input.stop_hook_active {
            HookOutput::no_opinion()
        } else {
            HookOutput::block("and then?")
        }
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    let outcome = say(&mut session, "Count.").await?;
    assert_eq!(outcome.text, "One.\n\nTwo.");
    if let Some(requests) = requests(cli, &lab) {
        assert!(requests[1].to_string().contains("and then?"));
    }
    close(session, lab).await;
    Ok(())
}

async fn agents(cli: Cli) -> Outcome {
    let lab = lab(cli, &delegating(cli)).await;
    let told = Noted::<(String, String)>::default();
    let (begin, end) = (told.clone(), told.clone());
    let builder = bypass(builder(&lab))
        .hook(Hook::new(move |input: SubagentStartInput, _| {
            begin.note(("begins".to_owned(), input.agent_id.to_string()));
            async {}
        }))
        .hook(Hook::new(move |input: SubagentStopInput, _| {
            end.note(("ends".to_owned(), input.agent_id.to_string()));
            async {}
        }));
    let mut session = start(builder).await?;
    say(&mut session, "Do it all.").await?;
    let told = told.count(2).await;
    assert_eq!((&*told[0].0, &*told[1].0), ("begins", "ends"));
    assert_eq!(told[0].1, told[1].1);
    close(session, lab).await;
    Ok(())
}

async fn compacted(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        text = "One."

        [[answer]]
        when = { side = true }
        text = "<summary>They counted.</summary>"
    "#;
    let lab = lab(cli, script).await;
    let told = Noted::<Option<String>>::default();
    let noted = told.clone();
    let hook = Hook::new(move |input: PreCompactInput, _| {
        noted.note(input.custom_instructions);
        async {}
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    say(&mut session, "Count.").await?;
    say(&mut session, "/compact but keep the numbers").await?;
    let told = told.all();
    assert_eq!(told.len(), 1);
    // The simulated CLI takes no instructions.
    if matches!(cli, Cli::Real(_)) {
        assert_eq!(told, [Some("but keep the numbers".to_owned())]);
    }
    close(session, lab).await;
    Ok(())
}
