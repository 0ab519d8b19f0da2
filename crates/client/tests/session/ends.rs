//! How turns begin and end: by priority, unasked, interrupted, with errors, limits and commands.

use countersign::permission::AllowAll;
use countersign::protocol::message::{MessageOrigin, Priority, ResultSubtype, UserMessage};
use countersign::turn::TurnEvent;
use libtest_mimic::Trial;
use serde_json::json;

use crate::kit::{Cli, Outcome, V62, V197, builder, close, lab, on_all, on_real, soon};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("ends::an_error_of_the_api_is_an_error", V62, api_error),
        on_all("ends::as_many_turns_as_allowed", V62, max_turns),
        on_all("ends::structured_output", V62, structured),
        on_all("ends::slash_commands", V62, slash),
        on_all("ends::the_conversation_is_cleared", V197, cleared),
        on_all("ends::the_conversation_is_compacted", V62, compacted),
        on_real("ends::a_command_in_the_background_begins_a_turn", V62, unasked),
        on_real("ends::a_turn_nobody_asked_for_passes_through_another", V197, through),
        on_all("ends::sub_agents_are_joined", V197, agents),
        on_real("ends::priorities", V197, priorities),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const ERROR: &str = r#"
[[answer]]
error = { status = 413, message = "far too long" }

[[answer]]
text = "Better."
"#;

async fn api_error(cli: Cli) -> Outcome {
    let lab = lab(cli, ERROR).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    let outcome = soon("the turn", session.send("Hello").await?.finish()).await?;
    assert_eq!(outcome.result.subtype, ResultSubtype::Success);
    assert!(outcome.result.is_error && !outcome.succeeded() && !outcome.interrupted());
    assert!(outcome.error().is_some_and(|error| !error.is_empty()));
    let outcome = soon("the turn", session.send("Again").await?.finish()).await?;
    assert_eq!((outcome.answer(), outcome.error()), ("Better.", None));
    close(session, lab).await;
    Ok(())
}

const READS: &str = r#"
[[answer]]
times = 2
tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

[[answer]]
text = "Done."
"#;

async fn max_turns(cli: Cli) -> Outcome {
    let lab = lab(cli, READS).await;
    let builder = builder(&lab).max_turns(1).on_permission(AllowAll);
    let mut session = soon("the start", builder.connect()).await?;
    let outcome = soon("the turn", session.send("Read.").await?.finish()).await?;
    assert_eq!(outcome.result.subtype, ResultSubtype::ErrorMaxTurns);
    assert!(!outcome.succeeded() && !outcome.interrupted());
    assert_eq!(outcome.tool_calls.len(), 1);
    // The limit is for each message.
    let outcome = soon("the turn", session.send("Read.").await?.finish()).await?;
    assert_eq!(outcome.result.subtype, ResultSubtype::ErrorMaxTurns);
    let outcome = soon("the turn", session.send("And now?").await?.finish()).await?;
    assert_eq!(outcome.answer(), "Done.");
    close(session, lab).await;
    Ok(())
}

const STRUCTURED: &str = r#"
[[answer]]
tool = { name = "StructuredOutput", input = { name = "Ada", born = 1815 } }

[[answer]]
text = "That is she."
"#;

async fn structured(cli: Cli) -> Outcome {
    #[derive(serde::Deserialize, PartialEq, Debug)]
    struct Person {
        name: String,
        born: u16,
    }
    let lab = lab(cli, STRUCTURED).await;
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "born": {"type": "integer"}},
        "required": ["name", "born"],
    });
    let mut session = soon("the start", builder(&lab).output_schema(schema).connect()).await?;
    let outcome = soon("the turn", session.send("Who?").await?.finish()).await?;
    assert!(outcome.succeeded(), "{outcome:?}");
    let ada = Person { name: "Ada".to_owned(), born: 1815 };
    assert_eq!(outcome.structured::<Person>()?, Some(ada));
    assert!(outcome.structured::<u16>().is_err());
    close(session, lab).await;
    Ok(())
}

const SAYS: &str = r#"
otherwise = "You said: ${text}"

[[answer]]
when = { side = true }
text = "A summary."
"#;

async fn slash(cli: Cli) -> Outcome {
    let lab = lab(cli, SAYS).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    soon("the turn", session.send("Hello").await?.finish()).await?;
    for command in ["/cost", "/context"] {
        let outcome = soon("the command", session.send(command).await?.finish()).await?;
        assert!(outcome.succeeded(), "{outcome:?}");
        // It is not the model that answers.
        assert!(!outcome.text.contains("You said"), "{outcome:?}");
    }
    let outcome = soon("the turn", session.send("Hello again").await?.finish()).await?;
    assert!(outcome.answer().starts_with("You said: "), "{outcome:?}");
    assert!(outcome.answer().ends_with("Hello again"), "{outcome:?}");
    close(session, lab).await;
    Ok(())
}

async fn cleared(cli: Cli) -> Outcome {
    let lab = lab(cli, SAYS).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    soon("the turn", session.send("Hello").await?.finish()).await?;
    let before = session.snapshot().session_id;
    let outcome = soon("the command", session.send("/clear").await?.finish()).await?;
    assert!(outcome.succeeded(), "{outcome:?}");
    let outcome = soon("the turn", session.send("Again").await?.finish()).await?;
    let answer = outcome.answer();
    assert!(answer.starts_with("You said: ") && answer.ends_with("Again"), "{answer}");
    let after = session.snapshot().session_id;
    assert!(after.is_some() && after != before, "{after:?}");
    assert_eq!(outcome.session_id(), after.as_ref());
    close(session, lab).await;
    Ok(())
}

async fn compacted(cli: Cli) -> Outcome {
    let lab = lab(cli, SAYS).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    for _ in 0..3 {
        soon("the turn", session.send("Hello").await?.finish()).await?;
    }
    let before = session.snapshot().session_id;
    let mut turn = session.send("/compact").await?;
    let mut boundary = false;
    while let Some(event) = soon("an event", turn.next()).await {
        if let TurnEvent::Other(message) = event {
            let kind = message.kind().map(|kind| kind.to_string());
            boundary |= kind.is_some_and(|kind| kind.contains("compact_boundary"));
        }
    }
    let outcome = turn.finish().await?;
    assert!(boundary && outcome.succeeded(), "{outcome:?}");
    assert_eq!(session.snapshot().session_id, before);
    let outcome = soon("the turn", session.send("Again").await?.finish()).await?;
    assert!(outcome.answer().contains("You said: "), "{outcome:?}");
    close(session, lab).await;
    Ok(())
}

const BACKGROUND: &str = r#"
otherwise = "I see."

[[answer]]
tool = { name = "Bash", input = { command = "while [ ! -e go ]; do sleep 0.05; done; echo ready", run_in_background = true } }

[[answer]]
text = "It runs."
"#;

async fn unasked(cli: Cli) -> Outcome {
    let lab = lab(cli, BACKGROUND).await;
    let mut session = soon("the start", builder(&lab).on_permission(AllowAll).connect()).await?;
    let outcome = soon("the turn", session.send("Run it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "It runs.");
    let [task] = &outcome.sub_agents[..] else { panic!("{outcome:?}") };
    assert_eq!(task.ended, None);
    std::fs::write(lab.work().join("go"), "")?;
    let mut turn = session.current_turn();
    assert_eq!(turn.message_id(), None);
    while let Some(event) = soon("an event", turn.next()).await {
        assert!(!matches!(event, TurnEvent::Unasked(_)));
    }
    let outcome = turn.finish().await?;
    assert_eq!(outcome.answer(), "I see.");
    if cli.version() >= V197 {
        let origin = &outcome.result.origin;
        assert!(matches!(origin, Some(MessageOrigin::TaskNotification(_))), "{origin:?}");
    }
    close(session, lab).await;
    Ok(())
}

/// The end of the command begins a turn that is over before the message is sent, and that nobody has
/// read; the message has a turn of its own.
async fn through(cli: Cli) -> Outcome {
    let lab = lab(cli, BACKGROUND).await;
    let mut session = soon("the start", builder(&lab).on_permission(AllowAll).connect()).await?;
    let outcome = soon("the turn", session.send("Run it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "It runs.");
    std::fs::write(lab.work().join("go"), "")?;
    let mut watch = session.handle().watch();
    soon("the turn", watch.wait_for(|snapshot| snapshot.results == 2)).await.unwrap();
    let mut turn = session.send("Hello").await?;
    let mut unasked = 0;
    while let Some(event) = soon("an event", turn.next()).await {
        unasked += usize::from(matches!(event, TurnEvent::Unasked(_)));
    }
    let outcome = turn.finish().await?;
    assert_eq!((unasked, outcome.unasked.len()), (1, 1), "{outcome:?}");
    assert_eq!(session.snapshot().results, 3);
    close(session, lab).await;
    Ok(())
}

const AGENT: &str = r#"
[[answer]]
when = { agent = true, result = "Hello." }
text = "It says hello."

[[answer]]
when = { agent = true }
tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

[[answer]]
tool = { name = "Agent", input = { description = "Read a file", prompt = "Read it.", subagent_type = "general-purpose", run_in_background = false } }

[[answer]]
text = "Done."
"#;

async fn agents(cli: Cli) -> Outcome {
    let lab = lab(cli, AGENT).await;
    let mut session = soon("the start", builder(&lab).on_permission(AllowAll).connect()).await?;
    let outcome = soon("the turn", session.send("Have it read.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "Done.");
    let [agent, read] = &outcome.tool_calls[..] else { panic!("{:?}", outcome.tool_calls) };
    assert_eq!((&*agent.name, &agent.parent), ("Agent", &None));
    assert_eq!((&*read.name, read.parent.as_ref()), ("Read", Some(&agent.id)));
    assert!(agent.result.as_ref().is_some_and(|result| result.text().contains("It says hello.")));
    assert!(read.result.is_some());
    let [joined] = &outcome.sub_agents[..] else { panic!("{:?}", outcome.sub_agents) };
    assert_eq!(joined.tool_use.as_ref(), Some(&agent.id));
    assert_eq!(joined.ended.as_deref(), Some("completed"));
    assert_eq!((&*joined.description, joined.in_background), ("Read a file", false));
    // What the sub-agent says is not what the model says.
    assert_eq!(outcome.text, "Done.");
    close(session, lab).await;
    Ok(())
}

const HANGS: &str = r#"
otherwise = "You said: ${text}"

[[answer]]
text = "one two three four"
hang = 4
"#;

/// What comes of messages that are sent while a turn runs.
async fn priorities(cli: Cli) -> Outcome {
    for (priority, stops) in
        [(Priority::Now, true), (Priority::Next, false), (Priority::Later, false)]
    {
        let lab = lab(cli, HANGS).await;
        let mut session = soon("the start", builder(&lab).partial_messages().connect()).await?;
        let mut turn = session.send("Write.").await?;
        while let Some(event) = soon("an event", turn.next()).await {
            if matches!(event, TurnEvent::TextDelta { .. }) {
                break;
            }
        }
        let message = UserMessage::prompt("Behind.").with_priority(priority.clone());
        turn.session().handle().post(message).await?;
        if !stops {
            // It waits, and the turn goes on until it is stopped.
            turn.session().interrupt().await?;
        }
        let outcome = soon("the end", turn.finish()).await?;
        assert!(outcome.interrupted(), "{priority}: {outcome:?}");
        let outcome = soon("the queued turn", session.current_turn().finish()).await?;
        assert!(outcome.answer().ends_with("Behind."), "{priority}: {outcome:?}");
        close(session, lab).await;
    }
    Ok(())
}
