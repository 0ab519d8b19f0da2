//! Sessions that go on in another home folder.

use std::fs;
use std::path::{Path, PathBuf};

use countersign::park::{MarkError, ParkingToken, Raised, ResumeError, Resumed};
use countersign::{Environment, SessionBuilder};
use countersign_lab::Lab;
use libtest_mimic::Trial;

use super::{WRITE_TWICE, asks_next, kept, last_request, new_file, nobody, parked, resume};
use crate::kit::{Cli, Outcome, V197, WRITE, builder, close, lab, on_all, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("parking::in_another_home_folder", V197, elsewhere),
        on_all("parking::in_another_home_folder_and_back", V197, there_and_back),
        on_all("parking::with_a_history_of_its_own_in_each_home_folder", V197, diverged),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Another home folder has nothing of the session: the transcript is brought there.
async fn elsewhere(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = parked(builder(&lab)).await;
    let home = lab.root().join("another-home");
    let Resumed { mut session, raised, .. } =
        resume(at_home(&lab, &home), &token, |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    assert!(home.join(".claude/projects").is_dir());
    close(session, lab).await;
    Ok(())
}

/// The session comes back to where it was with all that it did elsewhere.
async fn there_and_back(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE_TWICE).await;
    let (token, elsewhere) = parked_elsewhere(&lab).await?;
    let agent = elsewhere.with_extension("").join("subagents/agent-1.jsonl");
    fs::create_dir_all(agent.parent().unwrap())?;
    fs::write(&agent, "{}\n")?;
    let Resumed { mut session, raised, .. } =
        resume(builder(&lab), &token, |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(fs::read_to_string(lab.work().join("second.txt"))?, "second\n");
    if matches!(cli, Cli::Real(_)) {
        // The model has its first call and the second.
        let told = last_request(&lab);
        assert!(told.contains("new.txt") && told.contains("second.txt"), "{told}");
    }
    assert!(transcript(&lab.home()).with_extension("").join("subagents/agent-1.jsonl").exists());
    close(session, lab).await;
    Ok(())
}

/// Neither of two histories is thrown away.
async fn diverged(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE_TWICE).await;
    let (token, _) = parked_elsewhere(&lab).await?;
    let here = transcript(&lab.home());
    let mut history = fs::read_to_string(&here)?;
    history.push_str("{\"type\":\"user\",\"uuid\":\"0d9a3a6e-7c4e-4a53-9d1e-1f2b8f0a7c11\"}\n");
    fs::write(&here, &history)?;
    let tried = Box::pin(builder(&lab).resume_parked(&token, |ask| Ok(ask.allow())));
    let tried = soon("the resume", tried).await;
    let diverged = |error: &MarkError| matches!(error, MarkError::Diverged { .. });
    assert!(matches!(&tried, Err(ResumeError::Transcript(error)) if diverged(error)), "{tried:?}");
    assert_eq!(fs::read_to_string(&here)?, history);
    lab.close().await?;
    Ok(())
}

/// Parks at home, goes on in another home folder, and parks there on the next call. Says where the
/// transcript is.
async fn parked_elsewhere(lab: &Lab) -> std::io::Result<(ParkingToken, PathBuf)> {
    let token = parked(builder(lab)).await;
    let home = lab.root().join("another-home");
    let elsewhere = at_home(lab, &home).on_permission(nobody);
    let Resumed { session, raised, .. } = resume(elsewhere, &token, |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    asks_next(&session, &token).await;
    let token = soon("parking", session.park()).await.map_err(|(_, error)| error).unwrap();
    Ok((kept(&token), transcript(&home)))
}

/// A builder for sessions in another home folder.
fn at_home(lab: &Lab, home: &Path) -> SessionBuilder {
    fs::create_dir_all(home).unwrap();
    let (_, mut environment) = lab.for_a_client().unwrap();
    environment.insert("HOME".to_owned(), home.to_string_lossy().into_owned());
    builder(lab).environment(Environment::replace(environment))
}

/// The only transcript in a home folder.
fn transcript(home: &Path) -> PathBuf {
    let folders = fs::read_dir(home.join(".claude/projects")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    let mut files = files.map(|file| file.unwrap().path());
    files.find(|file| file.extension().is_some_and(|extension| extension == "jsonl")).unwrap()
}
