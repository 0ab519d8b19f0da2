//! Sessions that go on in another home folder.

use countersign::Environment;
use countersign::park::{Raised, Resumed};
use libtest_mimic::Trial;

use super::{new_file, parked, resume};
use crate::kit::{Cli, Outcome, V197, WRITE, builder, close, lab, on_all, soon};

pub(super) fn trials() -> Vec<Trial> {
    [on_all("parking::in_another_home_folder", V197, elsewhere)].into_iter().flatten().collect()
}

/// Another home folder has nothing of the session: the transcript is brought there.
async fn elsewhere(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = parked(builder(&lab)).await;
    let (_, mut environment) = lab.for_a_client()?;
    let home = lab.root().join("another-home");
    std::fs::create_dir(&home)?;
    environment.insert("HOME".to_owned(), home.to_string_lossy().into_owned());
    let builder = builder(&lab).environment(Environment::replace(environment));
    let Resumed { mut session, raised, .. } = resume(builder, &token, |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    assert!(home.join(".claude/projects").is_dir());
    close(session, lab).await;
    Ok(())
}
