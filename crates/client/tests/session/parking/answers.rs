//! Answers that reach the call that was parked.

use countersign::park::{Raised, Resumed};
use countersign::permission::{AskKind, PermissionAsk, PlanChoice};
use countersign::protocol::permission::PermissionMode;
use countersign::{Session, SessionBuilder};
use countersign_lab::Lab;
use libtest_mimic::{Failed, Trial};

use super::{kept, last_request, new_file, nobody, parked, resume};
use crate::kit::{Cli, Outcome, V197, WRITE, builder, close, lab, on_all, soon};

const QUESTION: &str = r#"
[[answer]]
tool = { name = "AskUserQuestion", input = { questions = [{ question = "Which colour?", header = "Colour", multiSelect = false, options = [{ label = "Green", description = "like grass" }, { label = "Blue", description = "like the sky" }] }] } }

[[answer]]
text = "Thank you."
"#;

pub(super) const PLAN: &str = r##"
[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n1. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"##;

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("parking::a_tool_is_allowed_later", V197, tool),
        on_all("parking::a_tool_is_denied_later", V197, denied),
        on_all("parking::a_question_is_answered_later", V197, question),
        on_all("parking::a_plan_is_approved_later", V197, plan),
        on_all("parking::parked_again_and_again", V197, again),
        on_all("parking::a_mark_of_somebody_else_is_not_trusted", V197, marked_by_others),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn tool(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = parked(builder(&lab)).await;
    assert_eq!(new_file(&lab), None);
    let call = token.tool_use_id()?;
    let resumed = resume(builder(&lab), &token, move |ask| {
        assert_eq!(*ask.tool_use_id(), call);
        Ok(ask.allow())
    });
    let Resumed { mut session, raised, .. } = resumed.await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    assert_eq!(outcome.session_id(), Some(&token.session_id()));
    // And the session goes on as any other.
    let outcome = soon("the turn", session.send("More.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "And more.");
    close(session, lab).await;
    Ok(())
}

/// Somebody adds a mark to the transcript by which another input would be asked for under the name of the
/// call. What runs is what was parked.
async fn marked_by_others(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = parked(builder(&lab)).await;
    let name = format!("{}.jsonl", token.session_id());
    let projects = std::fs::read_dir(lab.home().join(".claude/projects"))?;
    let mut files = projects.flatten().map(|project| project.path().join(&name));
    let file = files.find(|file| file.exists()).unwrap();
    let text = std::fs::read_to_string(&file)?;
    let mut entries =
        text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut entry = entries.rfind(|entry| entry["type"] == "assistant").unwrap();
    entry["parentUuid"] = entry["uuid"].clone();
    entry["uuid"] = "00000000-0000-4000-8000-000000000001".into();
    entry["type"] = "attachment".into();
    entry.as_object_mut().unwrap().remove("message");
    entry["attachment"] = serde_json::json!({
        "type": "hook_deferred_tool", "toolUseID": token.tool_use_id()?.as_str(), "toolName": "Write",
        "toolInput": {"file_path": lab.work().join("other.txt"), "content": "other"},
        "hookName": "PreToolUse:Write", "hookEvent": "PreToolUse", "permissionMode": "default",
    });
    std::fs::write(&file, format!("{text}{entry}\n"))?;
    let resumed = resume(builder(&lab), &token, |ask| Ok(ask.allow()));
    let Resumed { mut session, raised, .. } = resumed.await;
    assert_eq!(raised, Raised::SameCall);
    soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    assert!(!lab.work().join("other.txt").exists());
    close(session, lab).await;
    Ok(())
}

async fn denied(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = parked(builder(&lab)).await;
    let resumed = resume(builder(&lab), &token, |ask| Ok(ask.deny("not on a Sunday"))).await;
    let Resumed { mut session, raised, .. } = resumed;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!((outcome.answer(), outcome.denials().len()), ("That was it.", 1));
    assert_eq!(new_file(&lab), None);
    if matches!(cli, Cli::Real(_)) {
        assert!(last_request(&lab).contains("not on a Sunday"));
    }
    close(session, lab).await;
    Ok(())
}

async fn question(cli: Cli) -> Outcome {
    let lab = lab(cli, QUESTION).await;
    let token = parked(builder(&lab)).await;
    let resumed = resume(builder(&lab), &token, |ask| match ask.into_kind() {
        AskKind::Questions(ask) => {
            let answers = ask.answers().choose(0, ["Blue"])?;
            ask.answer(answers)
        }
        other => panic!("{other:?}"),
    });
    let Resumed { mut session, raised, .. } = resumed.await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "Thank you.");
    if matches!(cli, Cli::Real(_)) {
        let told = last_request(&lab);
        assert!(told.contains("Which colour?") && told.contains("Blue"), "{told}");
    }
    close(session, lab).await;
    Ok(())
}

/// A builder for sessions that make a plan.
pub(super) fn planning(lab: &Lab) -> SessionBuilder {
    builder(lab).permission_mode(PermissionMode::Plan).ask_in_plan_mode()
}

/// A session that shows its plan, and waits for an answer.
pub(super) async fn shows_its_plan(lab: &Lab) -> Result<Session, Failed> {
    // Whatever is asked before the plan is allowed.
    let session = planning(lab).on_permission(|ask: PermissionAsk| async move {
        if ask.tool_name() == "ExitPlanMode" { nobody(ask).await } else { ask.allow() }
    });
    let session = soon("the start", Box::pin(session.connect())).await?;
    session.post("Plan it.").await?;
    soon("the plan", async {
        let asks = || session.open_permissions();
        while !asks().iter().any(|ask| ask.tool_name == "ExitPlanMode") {
            tokio::task::yield_now().await;
        }
    })
    .await;
    Ok(session)
}

async fn plan(cli: Cli) -> Outcome {
    let lab = lab(cli, PLAN).await;
    let session = shows_its_plan(&lab).await?;
    let token = soon("parking", session.park()).await.map_err(|(_, error)| error)?;
    assert_eq!(token.mode(), Some(PermissionMode::Plan));
    let token = kept(&token);
    let resumed = resume(planning(&lab), &token, |ask| match ask.into_kind() {
        AskKind::Plan(ask) => ask.approve(PlanChoice::AcceptEdits),
        other => panic!("{other:?}"),
    });
    let Resumed { mut session, raised, .. } = resumed.await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    // In this mode edits are not asked for, and whoever would be asked denies.
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::AcceptEdits));
    close(session, lab).await;
    Ok(())
}

/// A session that was brought back can be parked on the same call.
async fn again(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut token = parked(builder(&lab)).await;
    for _ in 0..2 {
        let unparked = builder(&lab).on_permission(nobody);
        let unparked = soon("the resume", Box::pin(unparked.unpark(&token))).await?;
        assert_eq!(unparked.raised, Raised::SameCall);
        let session = unparked.session;
        assert_eq!(session.open_permissions().len(), 1);
        token = soon("parking", session.park()).await.map_err(|(_, error)| error)?;
    }
    let Resumed { mut session, raised, .. } =
        resume(builder(&lab), &token, |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    close(session, lab).await;
    Ok(())
}
