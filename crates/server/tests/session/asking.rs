//! Tools that people are asked about, and what their answers do.

use std::time::Duration;

use countersign_server::api::view::{ListAudit, Part};
use countersign_server::client::Followed;
use countersign_server::session::{
    Allow, Answer, By, ChosenSuggestion, Happening, Head, Stage, State, TurnEnd,
};
use libtest_mimic::Trial;
use serde_json::json;

use crate::kit::{Cli, Outcome, World, on_all, simulated, start_cli_through};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("asking::allowed", allowed),
        on_all("asking::allowed_with_another_input", another_input),
        on_all("asking::allowed_with_a_suggestion", suggestion),
        on_all("asking::denied", denied),
        on_all("asking::denied_and_stopped", denied_and_stopped),
        on_all("asking::the_first_answer_wins", first_wins),
        on_all("asking::two_at_once_in_reverse", in_reverse),
        on_all("asking::parked_and_answered", parked_and_answered),
        on_all("asking::parked_and_stopped", parked_and_stopped),
        on_all("asking::comes_back_with_another_input", another_input_comes_back),
        on_all("asking::nobody_answers_in_time", expired),
        on_all("asking::a_sub_agent_asks", agent_asks),
        simulated("asking::deleted_while_parked", deleted_while_parked),
        on_all("asking::what_nobody_is_asked_about_is_in_the_audit", unasked),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The model writes a file and says so; then it has one thing more to say. Where its call cannot be
/// brought back, it is told to make it again, and does.
pub(crate) const WRITE: &str = r#"
[[answer]]
when = { text = "Make the call again" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { error = true, tool = "Write" }
text = "I read: ${result}"

[[answer]]
text = "That was it."

[[answer]]
text = "And more."
"#;

/// Two files at once: what only reads does not wait for its neighbour.
const TWO: &str = r#"
[[answer]]
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" }, result = "one" },
    { name = "Read", input = { file_path = "${home}/two.txt" }, result = "two" },
]

[[answer]]
text = "Both are decided."
"#;

/// What no person is asked about is decided by the mode or by a rule, and the audit says so with what
/// was called exactly, once, also when the process is killed.
async fn unasked(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let audit = async |session| {
        let wanted = ListAudit { session: Some(session), ..ListAudit::default() };
        let all = world.client.audit(&wanted).await.unwrap().items;
        let mut all: Vec<_> = all.into_iter().filter(|e| e.kind == "tool.decided").collect();
        all.reverse();
        all
    };
    let session = world.create_in("Write it.", "acceptEdits").await;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert!(world.approvals(session).await.is_empty());
    let entries = audit(session).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0].by, By::Rule { rule: "mode acceptEdits".to_owned() });
    let detail: serde_json::Value = entries[0].detail.decode()?;
    assert_eq!(detail["what"]["input"]["content"], "new\n", "{detail}");
    assert_eq!(detail["what"]["outcome"], "ran");
    assert!(world.head(session).await.calls.is_empty());
    // By a rule, and refused.
    let mut new = world.new_session("Write it.");
    new.options.disallowed_tools = vec!["Write(//**)".to_owned()];
    let session = world.client.create_session(&new).await?.session;
    world.at_rest(session).await;
    assert!(world.approvals(session).await.is_empty());
    let entries = audit(session).await;
    // The real CLI refuses such a call before it asks the gate; what the gate has seen is there.
    let seen = world.count(session, |event| matches!(event, Happening::ToolCalled(_))).await;
    assert_eq!((entries.len(), seen), if matches!(cli, Cli::Real(_)) { (0, 0) } else { (1, 1) });
    for entry in &entries {
        let detail: serde_json::Value = entry.detail.decode()?;
        assert_ne!(detail["what"]["outcome"], "ran", "{detail}");
        assert!(matches!(entry.by, By::Rule { .. }), "{entries:?}");
    }
    world.close().await
}

/// Whoever watches the inbox hears that a session is gone that waited there.
async fn deleted_while_parked(cli: Cli) -> Outcome {
    let world =
        World::with(cli, WRITE, |config| config.limits.park_after = Some(Duration::ZERO)).await;
    let session = world.create("Write it.").await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    let mut inbox = world.client.follow_inbox(None).await?;
    world.client.delete_session(session).await?;
    let told = tokio::time::timeout(Duration::from_secs(240), inbox.next()).await?;
    let Some(Ok(Followed::Event(event))) = told else { panic!("{told:?}") };
    assert_eq!((event.session, &*event.kind), (session, "session.deleted"));
    assert!(world.client.inbox(&Part::default()).await?.items.is_empty());
    world.close().await
}

async fn allowed(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    assert_eq!(asked.tool, "Write");
    assert!(!world.has_file("new.txt"));
    world.answer(&asked, Answer::allow()).await;
    let head = world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(head.state(), State::Ready);
    assert_eq!(world.stages(session).await, [Stage::Done]);
    let seen =
        world.count(session, |happening| matches!(happening, Happening::ToolCalled(_))).await;
    assert_eq!(seen, 1, "the gate has seen it");
    assert!(head.usage.output_tokens > 0 && head.usage.cost_usd > 0.0, "{:?}", head.usage);
    world.say(session, "Go on.").await;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "And more.");
    world.close().await
}

async fn another_input(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let file = world.lab.work().join("other.txt");
    let input = json!({"file_path": file, "content": "other\n"});
    let allow = Allow { input: Some(input.into()), ..Allow::default() };
    world.answer(&asked, Answer::Allow(allow)).await;
    world.at_rest(session).await;
    assert!(world.has_file("other.txt") && !world.has_file("new.txt"));
    world.close().await
}

/// What the CLI suggests for a write is the mode in which edits are not asked for. It is in force for
/// this process, and for the next one.
async fn suggestion(cli: Cli) -> Outcome {
    const TWICE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/one.txt", content = "one\n" } }

[[answer]]
text = "One."

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/two.txt", content = "two\n" } }

[[answer]]
text = "Two."
"#;
    let world = World::new(cli, TWICE).await;
    let session = world.create("Write one.").await;
    let asked = world.asked(session).await;
    let chosen = ChosenSuggestion { number: 0, destination: None };
    let allow = Allow { suggestions: vec![chosen], ..Allow::default() };
    world.answer(&asked, Answer::Allow(allow)).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.mode.as_str(), "acceptEdits");
    world.stop(session).await;
    world.say(session, "Write two.").await;
    world.at_rest(session).await;
    assert!(world.has_file("two.txt"));
    assert_eq!(world.stages(session).await, [Stage::Done], "nobody was asked again");
    world.close().await
}

async fn denied(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::deny("not on a Sunday")).await;
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    assert!(world.last_text(session).await.contains("not on a Sunday"));
    assert_eq!(world.stages(session).await, [Stage::Done]);
    world.close().await
}

async fn denied_and_stopped(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::deny_and_stop("no")).await;
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    assert_eq!(world.stages(session).await, [Stage::Done]);
    world.close().await
}

async fn first_wins(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::deny("first")).await;
    let second = world.client.answer(asked.id, Answer::allow()).await.unwrap_err();
    let approval = second.already_answered().unwrap();
    assert_eq!(approval.given.unwrap().answer, Answer::deny("first"));
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    world.close().await
}

async fn in_reverse(cli: Cli) -> Outcome {
    let world = World::new(cli, TWO).await;
    world.files_at_home();
    let session = world.create("Read both.").await;
    let head = world.until(session, "asking for both", |head| head.approvals.len() == 2).await;
    let mut open: Vec<_> = head.approvals.keys().copied().collect();
    open.reverse();
    world.client.answer(open[0], Answer::allow()).await?;
    world.until(session, "half done", |head| head.approvals.len() == 1).await;
    assert_eq!(world.head(session).await.state(), State::Waiting);
    world.client.answer(open[1], Answer::deny("no")).await?;
    world.at_rest(session).await;
    let refused = world.client.approval(open[1]).await?.tool_use_id.unwrap();
    for (call, is_error) in world.results(session).await {
        assert_eq!(is_error, call == refused, "{call}");
    }
    assert_eq!(world.stages(session).await, [Stage::Done, Stage::Done]);
    world.close().await
}

async fn parked_and_answered(cli: Cli) -> Outcome {
    let world =
        World::with(cli, WRITE, |config| config.limits.park_after = Some(Duration::ZERO)).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    let world = world.restart().await;
    assert_eq!(world.head(session).await.state(), State::Parked);
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Done]);
    assert_eq!(world.last_text(session).await, "That was it.");
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done], "it is one turn");
    world.close().await
}

/// Somebody changes the transcript of a session that waits without a process, so that something else is
/// asked for under the name of the call. What was approved is what was shown, and nothing else.
async fn another_input_comes_back(cli: Cli) -> Outcome {
    let world = World::with(cli, WRITE, |config| {
        config.limits.park_after = Some(Duration::ZERO);
        // After the server has looked at it, and before the CLI does.
        let change = "[ -e $HERE/change ] && find \"$HOME/.claude/projects\" -name '*.jsonl' \
                      -exec sed -i 's/new[.]txt/other.txt/g' {} +";
        start_cli_through(config, change);
    })
    .await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    let change = world.config.data.join("change");
    std::fs::write(&change, "")?;
    world.answer(&asked, Answer::allow()).await;
    let again = world.asked(session).await;
    std::fs::remove_file(&change)?;
    assert_ne!(again.id, asked.id);
    assert_eq!(again.tool_use_id, asked.tool_use_id, "it comes under the same name");
    assert!(again.request.as_str().contains("other.txt"), "{}", again.request);
    assert!(!world.has_file("other.txt") && !world.has_file("new.txt"));
    let closed = world.client.approval(asked.id).await?;
    assert_eq!(closed.stage, Stage::Cancelled);
    assert!(closed.why.as_ref().unwrap().contains("another input"), "{:?}", closed.why);
    world.answer(&again, Answer::deny("that is not what I saw")).await;
    world.at_rest(session).await;
    assert_eq!(world.stages(session).await, [Stage::Cancelled, Stage::Done]);
    assert!(!world.has_file("other.txt") && !world.has_file("new.txt"));
    world.close().await
}

/// A refusal that ends the turn needs no process.
async fn parked_and_stopped(cli: Cli) -> Outcome {
    let world =
        World::with(cli, WRITE, |config| config.limits.park_after = Some(Duration::ZERO)).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.answer(&asked, Answer::deny_and_stop("no")).await;
    let head = world.at_rest(session).await;
    assert_eq!((head.state(), head.generation), (State::Idle, 1));
    world.say(session, "Go on.").await;
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    world.close().await
}

async fn expired(cli: Cli) -> Outcome {
    let limit = Some(Duration::from_millis(200));
    let world = World::with(cli, WRITE, |config| config.limits.approval_expiry = limit).await;
    let session = world.create("Write it.").await;
    world.until(session, "asking", Head::is_asking).await;
    world.at_rest(session).await;
    assert_eq!(world.stages(session).await, [Stage::Expired]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    assert!(!world.has_file("new.txt"));
    world.close().await
}

/// The call of a sub-agent is not in the transcript of its session, so it cannot be brought back. Nobody
/// waits for it to get there: answers are delivered, and a server that stops is done in time. What was
/// asked is still asked then, and the model is told what came of it.
async fn agent_asks(cli: Cli) -> Outcome {
    const DELEGATE: &str = r#"
otherwise = "It is done."

[[answer]]
when = { agent = true, tool = "Write" }
text = "I wrote it."

[[answer]]
when = { agent = true }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { text = "Make the call again" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { text = "Delegate it" }
tool = { name = "Agent", input = { description = "Write a file", prompt = "Write the file.", subagent_type = "general-purpose", run_in_background = false } }
"#;
    let world = World::with(cli, DELEGATE, |config| {
        config.limits.park_after = Some(Duration::from_millis(100));
        config.limits.shutdown_within = Duration::from_secs(1);
    })
    .await;
    let session = world.create("Delegate it.").await;
    let asked = world.asked(session).await;
    assert!(asked.agent.is_some(), "{asked:?}");
    // It would be parked by now.
    tokio::time::sleep(Duration::from_millis(500)).await;
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    assert_eq!(world.head(session).await.generation, 1);
    assert_eq!(world.last_text(session).await, "It is done.");
    assert!(world.has_file("new.txt"));
    std::fs::remove_file(world.lab.work().join("new.txt"))?;

    let session = world.create("Delegate it.").await;
    let asked = world.asked(session).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let world = tokio::time::timeout(Duration::from_secs(240), world.restart()).await?;
    assert_eq!(world.head(session).await.state(), State::Parked);
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Done]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done], "it is one turn");
    world.close().await
}
