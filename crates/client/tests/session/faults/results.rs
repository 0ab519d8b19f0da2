//! Results that cannot be read: a turn ends all the same, and with its own result only.

use countersign::turn::Outcome as TurnOutcome;
use countersign::{Dropped, Session, TurnError};
use serde_json::{Value, json};

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("writes_a_result_that_is_too_long", too_long, ends_and_says_so),
        fault("writes_a_result_that_is_malformed", malformed, ends_with_the_reason),
        fault("writes_a_result_of_another_turn_badly", of_another, waits_for_its_own),
        fault("writes_an_echo_that_cannot_be_read", bad_echoes, knows_that_it_is_taken_up),
        fault("writes_results_of_others", of_others, takes_none_of_them),
        fault("drops_messages", drops, each_turn_ends_and_says_why),
        fault("is_idle_after_a_line_that_is_none", idle_after_noise, ends_with_the_reason_it_has),
    ]
}

const LONGEST: usize = 100_000;

async fn short_lines(stage: &Stage) -> Session {
    connect(stage.builder().max_line(LONGEST)).await
}

async fn turn(session: &mut Session) -> Result<TurnOutcome, TurnError> {
    let turn = session.send("Go on.").await?;
    soon("the end of the turn", turn.finish()).await
}

/// Reads a message, says that it was taken up, and gives its id.
fn take_up(puppet: &mut Puppet) -> Value {
    let uuid = puppet.read_type("user")["uuid"].clone();
    echo(puppet, &uuid, "Go on.");
    uuid
}

fn echo(puppet: &mut Puppet, uuid: &Value, text: &str) {
    let message = json!({ "role": "user", "content": text });
    // The id comes last, as the CLI has it.
    puppet.write(format!(
        r#"{{"type":"user","message":{message},"session_id":"s","uuid":{uuid},"isReplay":true}}"#
    ));
    puppet.write("\n");
}

fn result(puppet: &mut Puppet, text: &str) {
    puppet.say(&json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text,
        "total_cost_usd": 2.5, "session_id": "s",
    }));
}

/// The next turn has nothing to do with it.
async fn goes_on(session: &mut Session) -> Outcome {
    assert_eq!(turn(session).await?.answer(), "next");
    Ok(())
}

fn too_long(puppet: &mut Puppet) {
    puppet.open();
    take_up(puppet);
    let text = "x".repeat(2 * LONGEST);
    // Its type stands after everything that is long.
    puppet.write(format!(
        r#"{{"result":"{text}","subtype":"success","is_error":false,"total_cost_usd":2.5,"#
    ));
    puppet.write("\"session_id\":\"s\",\"type\":\"result\"}\n");
    take_up(puppet);
    result(puppet, "next");
    puppet.read_all();
}

async fn ends_and_says_so(stage: Stage) -> Outcome {
    let mut session = short_lines(&stage).await;
    let error = turn(&mut session).await.unwrap_err();
    let TurnError::ResultTooLong { length } = error else { panic!("{error:?}") };
    assert!(length > 2 * LONGEST as u64, "{length}");
    assert!(error.to_string().contains("SessionBuilder::max_line"), "{error}");
    // What is short is known.
    let snapshot = session.snapshot();
    assert!(!snapshot.is_running && snapshot.results == 1, "{snapshot:?}");
    assert_eq!(snapshot.total_cost_usd.to_string(), "2.5");
    goes_on(&mut session).await?;
    soon("the end", session.close()).await;
    Ok(())
}

fn malformed(puppet: &mut Puppet) {
    puppet.open();
    take_up(puppet);
    puppet.say(&json!({ "type": "result", "subtype": "success", "is_error": "no" }));
    take_up(puppet);
    puppet.write("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"resu\n");
    take_up(puppet);
    result(puppet, "next");
    puppet.read_all();
}

async fn ends_with_the_reason(stage: Stage) -> Outcome {
    let mut session = short_lines(&stage).await;
    for _ in 0..2 {
        let error = turn(&mut session).await.unwrap_err();
        assert!(matches!(error, TurnError::ResultUnreadable { .. }), "{error:?}");
        assert!(!session.snapshot().is_running);
    }
    assert_eq!(session.stats().malformed, 2);
    goes_on(&mut session).await?;
    soon("the end", session.close()).await;
    Ok(())
}

/// Before the message is taken up, a background task has its turn, and others have theirs.
fn of_another(puppet: &mut Puppet) {
    puppet.open();
    let uuid = puppet.read_type("user")["uuid"].clone();
    let text = "x".repeat(2 * LONGEST);
    puppet.say(&json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text,
        "origin": { "kind": "task-notification" },
    }));
    puppet.say(&json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text,
        "user_message_uuids": ["of another"],
    }));
    puppet.say(&json!({
        "type": "result", "subtype": "success", "is_error": "no",
        "user_message_uuid": "of another",
    }));
    echo(puppet, &uuid, "Go on.");
    result(puppet, "next");
    puppet.read_all();
}

async fn waits_for_its_own(stage: Stage) -> Outcome {
    let mut session = short_lines(&stage).await;
    goes_on(&mut session).await?;
    soon("the end", session.close()).await;
    Ok(())
}

fn bad_echoes(puppet: &mut Puppet) {
    puppet.open();
    for is_long in [true, false] {
        let uuid = puppet.read_type("user")["uuid"].clone();
        if is_long {
            echo(puppet, &uuid, &"x".repeat(2 * LONGEST));
        } else {
            puppet.say(&json!({ "type": "user", "message": 5, "uuid": uuid, "isReplay": true }));
        }
        // With what it says of itself alone, it would be somebody else's.
        puppet.say(&json!({
            "type": "result", "subtype": "success", "is_error": false, "result": "next",
            "origin": { "kind": "task-notification" },
        }));
    }
    puppet.read_all();
}

async fn knows_that_it_is_taken_up(stage: Stage) -> Outcome {
    let mut session = short_lines(&stage).await;
    goes_on(&mut session).await?;
    goes_on(&mut session).await?;
    soon("the end", session.close()).await;
    Ok(())
}

fn idle() -> Value {
    json!({
        "type": "system", "subtype": "session_state_changed", "state": "idle", "session_id": "s",
        "uuid": "u",
    })
}

fn idle_after_noise(puppet: &mut Puppet) {
    puppet.open();
    // Of the turn before: nothing has begun.
    let uuid = puppet.read_type("user")["uuid"].clone();
    puppet.write("This is no result.\n");
    puppet.say(&idle());
    echo(puppet, &uuid, "Go on.");
    puppet.write("Nor is this.\n");
    puppet.say(&idle());
    take_up(puppet);
    puppet.say(&idle());
    result(puppet, "next");
    puppet.read_all();
}

async fn ends_with_the_reason_it_has(stage: Stage) -> Outcome {
    let mut session = short_lines(&stage).await;
    let error = turn(&mut session).await.unwrap_err();
    assert!(matches!(error, TurnError::ResultUnreadable { .. }), "{error:?}");
    goes_on(&mut session).await?;
    soon("the end", session.close()).await;
    Ok(())
}

fn lifecycle(puppet: &mut Puppet, uuid: &Value, state: &str) {
    puppet.say(&json!({ "type": "command_lifecycle", "command_uuid": uuid, "state": state }));
}

fn drops(puppet: &mut Puppet) {
    puppet.open();
    for state in ["cancelled", "discarded", "refused", "completed"] {
        let uuid = puppet.read_type("user")["uuid"].clone();
        lifecycle(puppet, &json!("of another"), state);
        lifecycle(puppet, &uuid, "queued");
        lifecycle(puppet, &uuid, state);
        puppet.say(&idle());
    }
    // It began, and what came of it is that there is nothing.
    let uuid = puppet.read_type("user")["uuid"].clone();
    lifecycle(puppet, &uuid, "started");
    lifecycle(puppet, &uuid, "refused");
    puppet.say(&idle());
    // It began, and what came of it is told by its result.
    let uuid = puppet.read_type("user")["uuid"].clone();
    lifecycle(puppet, &uuid, "started");
    lifecycle(puppet, &uuid, "cancelled");
    result(puppet, "next");
    puppet.read_all();
}

async fn each_turn_ends_and_says_why(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    let expected = [
        Dropped::Withdrawn,
        Dropped::Discarded,
        Dropped::Refused,
        Dropped::Known,
        Dropped::Refused,
    ];
    for expected in expected {
        let error = turn(&mut session).await.unwrap_err();
        assert!(matches!(error, TurnError::Dropped(why) if why == expected), "{error:?}");
        let mut watch = session.watch();
        soon("the end", watch.wait_for(|snapshot| !snapshot.is_running)).await.unwrap();
    }
    goes_on(&mut session).await?;
    soon("the end", session.close()).await;
    Ok(())
}

fn result_for(puppet: &mut Puppet, uuid: &Value, text: &str) {
    puppet.say(&json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text,
        "user_message_uuids": [uuid], "session_id": "s",
    }));
}

fn of_others(puppet: &mut Puppet) {
    puppet.open();
    // A message that was taken up, and put back because of another.
    let uuid = take_up(puppet);
    result_for(puppet, &json!("of another"), "other");
    result_for(puppet, &uuid, "next");
    // Without names, as older versions have it. Nobody reads the result of the first.
    puppet.read_type("user");
    result(puppet, "unread");
    puppet.read_type("user");
    result(puppet, "next");
    // The first is not answered when the second comes.
    puppet.read_type("user");
    let uuid = puppet.read_type("user")["uuid"].clone();
    result(puppet, "other");
    echo(puppet, &uuid, "Go on.");
    result(puppet, "next");
    // The same, of a message that is not echoed.
    puppet.read_type("user");
    puppet.read_type("user");
    result(puppet, "other");
    result(puppet, "next");
    // One that shares the turn of the first.
    puppet.read_type("user");
    let uuid = puppet.read_type("user")["uuid"].clone();
    echo(puppet, &uuid, "Go on.");
    result(puppet, "next");
    puppet.read_all();
}

async fn takes_none_of_them(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    goes_on(&mut session).await?;
    drop(session.send("First.").await?);
    let mut watch = session.watch();
    soon("the result", watch.wait_for(|snapshot| !snapshot.is_running)).await.unwrap();
    goes_on(&mut session).await?;
    for _ in 0..3 {
        session.post("First.").await?;
        goes_on(&mut session).await?;
    }
    soon("the end", session.close()).await;
    Ok(())
}
