//! Sessions that go on: resumed, continued, forked, cut off.

use std::path::PathBuf;

use countersign::protocol::ids::{MessageUuid, SessionId};
use countersign::transcript::{MessageOptions, ProjectKey, Sessions};
use countersign::{ConnectError, SessionBuilder};
use countersign_lab::Lab;
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V62, V325, builder, lab, on_all, soon};

const TALK: &str = r#"
[[answer]]
text = "One."

[[answer]]
text = "Two."

[[answer]]
text = "Three."
"#;

const ID: &str = "11111111-2222-4333-8444-555555555555";
const OTHER_ID: &str = "11111111-2222-4333-8444-666666666666";

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("sessions::resume_goes_on_with_the_conversation", V62, resume),
        on_all("sessions::the_latest_session_goes_on", V62, latest),
        on_all("sessions::a_fork_leaves_the_session_as_it_is", V62, fork),
        on_all("sessions::a_given_id_is_used_once", V62, given_id),
        on_all("sessions::resume_at_drops_what_follows", V62, resume_at),
        on_all("sessions::a_drop_of_another_turn_is_refused", V325, drops_turn),
        on_all("sessions::a_session_that_is_not_there_is_said", V62, unknown),
        on_all("sessions::without_persistence_nothing_is_written", V62, unsaved),
        on_all("sessions::a_folder_that_leads_elsewhere_is_not_used", V62, elsewhere),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What came of a session with one message.
pub(crate) struct Talk {
    pub(crate) session: SessionId,
    /// The id that was known before the message was sent.
    known: Option<SessionId>,
    pub(crate) answer: String,
    message: MessageUuid,
}

/// Holds a session with one message.
pub(crate) async fn talk(builder: SessionBuilder, prompt: &str) -> Talk {
    let mut session = soon("the start", builder.connect()).await.unwrap();
    let known = session.snapshot().session_id;
    let turn = session.send(prompt).await.unwrap();
    let message = turn.message_id().unwrap().clone();
    let outcome = soon("the turn", turn.finish()).await.unwrap();
    assert_eq!(outcome.error(), None);
    let id = outcome.session_id().unwrap().clone();
    assert_eq!(session.snapshot().session_id.as_ref(), Some(&id));
    let end = session.close().await;
    assert!(end.still_running.is_empty() && end.errors.is_empty(), "{end:?}");
    Talk { session: id, known, answer: outcome.answer().to_owned(), message }
}

fn sessions(lab: &Lab) -> Sessions {
    Sessions::at(lab.home().join(".claude")).in_directory(lab.work())
}

pub(crate) fn transcript(lab: &Lab, session: &SessionId) -> PathBuf {
    let project = ProjectKey::of(&lab.work());
    let projects = lab.home().join(".claude/projects");
    projects.join(project.as_str()).join(format!("{session}.jsonl"))
}

/// The ids of the messages of a conversation.
fn messages(lab: &Lab, session: &SessionId) -> Vec<MessageUuid> {
    let messages = sessions(lab).messages(session, &MessageOptions::new()).unwrap();
    messages.map(|message| message.unwrap().uuid).collect()
}

/// Whether the model was shown these texts, and not those. The simulated CLI asks no model.
pub(crate) fn model_saw(cli: Cli, lab: &Lab, seen: &[&str], not_seen: &[&str]) {
    if matches!(cli, Cli::Simulated(_)) {
        return;
    }
    let requests = lab.model().requests();
    let conversation = requests.iter().rfind(|request| !request.tool_names().is_empty()).unwrap();
    let said = serde_json::to_string(conversation.messages()).unwrap();
    for text in seen {
        assert!(said.contains(text), "{text} is not in {said}");
    }
    for text in not_seen {
        assert!(!said.contains(text), "{text} is in {said}");
    }
}

async fn resume(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    let first = talk(builder(&lab), "The first.").await;
    assert_eq!((first.known, &*first.answer), (None, "One."));
    let second = talk(builder(&lab).resume(first.session.as_str()), "The second.").await;
    assert_eq!(second.known.as_ref(), Some(&first.session), "it is known at the start");
    assert_eq!((&second.session, &*second.answer), (&first.session, "Two."));
    model_saw(cli, &lab, &["The first.", "One.", "The second."], &[]);
    assert_eq!(messages(&lab, &first.session).len(), 4);
    lab.close().await?;
    Ok(())
}

async fn latest(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    // Where there is none yet, a new one begins.
    let first = talk(builder(&lab).continue_latest(), "The first.").await;
    let second = talk(builder(&lab).continue_latest(), "The second.").await;
    assert_eq!((second.known, &second.session), (None, &first.session));
    assert_eq!(second.answer, "Two.");
    model_saw(cli, &lab, &["The first.", "The second."], &[]);
    lab.close().await?;
    Ok(())
}

async fn fork(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    let first = talk(builder(&lab), "The first.").await;
    let before = std::fs::read_to_string(transcript(&lab, &first.session))?;
    let forked = builder(&lab).resume(first.session.as_str()).fork();
    let second = talk(forked, "The second.").await;
    assert_eq!(second.known, None, "a fork has an id of its own, which is not known yet");
    assert_ne!(second.session, first.session);
    let named = builder(&lab).resume(first.session.as_str()).fork().session_id(ID);
    let third = talk(named, "The third.").await;
    assert_eq!((third.known, third.session.as_str()), (Some(SessionId::from(ID)), ID));
    model_saw(cli, &lab, &["The first.", "The third."], &["The second."]);
    assert_eq!(std::fs::read_to_string(transcript(&lab, &first.session))?, before);
    lab.close().await?;
    Ok(())
}

async fn given_id(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    let first = talk(builder(&lab).session_id(ID), "The first.").await;
    assert_eq!((first.known, first.session.as_str()), (Some(SessionId::from(ID)), ID));
    assert!(transcript(&lab, &first.session).exists());
    let again = soon("the start", builder(&lab).session_id(ID).connect()).await;
    says(again.map(drop), "already in use");
    lab.close().await?;
    Ok(())
}

async fn resume_at(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    let first = talk(builder(&lab).session_id(ID), "The first.").await;
    let first_turn = messages(&lab, &first.session);
    let second = talk(builder(&lab).resume(ID), "The second.").await;
    let cut = builder(&lab).resume(ID).resume_at(first_turn.last().unwrap().clone());
    let cut = if cli.version() >= V325 { cut.resume_drops_turn(second.message) } else { cut };
    let third = talk(cut, "The third.").await;
    assert_eq!((third.session.as_str(), third.known), (ID, Some(SessionId::from(ID))));
    model_saw(cli, &lab, &["The first.", "The third."], &["The second."]);
    let left = messages(&lab, &first.session);
    assert_eq!((left.len(), left.get(..2)), (4, Some(&first_turn[..])));
    lab.close().await?;
    Ok(())
}

async fn drops_turn(cli: Cli) -> Outcome {
    if matches!(cli, Cli::Simulated(_)) {
        // It takes the flag, and does not look at what is dropped.
        return Ok(());
    }
    let lab = lab(cli, TALK).await;
    let first = talk(builder(&lab).session_id(ID), "The first.").await;
    let end = messages(&lab, &first.session).pop().unwrap();
    talk(builder(&lab).resume(ID), "The second.").await;
    let before = messages(&lab, &first.session);
    // It would drop the second turn, and not the first.
    let cut = builder(&lab).resume(ID).resume_at(end).resume_drops_turn(first.message);
    says(soon("the start", cut.connect()).await.map(drop), "--resume-drops-turn");
    assert_eq!(messages(&lab, &first.session), before);
    lab.close().await?;
    Ok(())
}

async fn unknown(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    for builder in [builder(&lab).resume(OTHER_ID), builder(&lab).resume(OTHER_ID).fork()] {
        let connected = soon("the start", builder.connect()).await;
        says(connected.map(drop), &format!("No conversation found with session ID: {OTHER_ID}"));
    }
    lab.close().await?;
    Ok(())
}

/// The session did not start, and the CLI said why: once.
fn says(connected: Result<(), ConnectError>, words: &str) {
    let error = connected.err().unwrap();
    let ConnectError::Ended(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(1), "{end:?}");
    assert_eq!(error.to_string().matches(words).count(), 1, "{error}");
}

async fn unsaved(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    let first = talk(builder(&lab).without_persistence(), "The first.").await;
    assert!(!transcript(&lab, &first.session).exists());
    let resumed = soon("the start", builder(&lab).resume(first.session.as_str()).connect()).await;
    says(resumed.map(drop), "No conversation found");
    lab.close().await?;
    Ok(())
}

async fn elsewhere(cli: Cli) -> Outcome {
    let lab = lab(cli, TALK).await;
    let (link, other) = (lab.work().join("link"), lab.work().join("other"));
    std::fs::create_dir(&other)?;
    std::os::unix::fs::symlink(&other, &link)?;
    let exact = |folder: &PathBuf| builder(&lab).cwd(folder).exact_cwd();
    let started = soon("the start", exact(&link).connect()).await;
    match started {
        Err(ConnectError::Elsewhere { wanted, found }) => {
            assert_eq!((wanted, found), (link.clone(), other.clone()));
        }
        started => panic!("{started:?}"),
    }
    assert_eq!(talk(exact(&other), "Hello.").await.answer, "One.");
    lab.close().await?;
    Ok(())
}
