//! Plans: the choices that the terminal has.

use countersign::permission::{
    AskKind, EnterPlanAsk, HandlerFailure, PermissionAnswer, PermissionAsk, PlanAsk, PlanChoice,
};
use countersign::protocol::content::ContentBlock;
use countersign::protocol::permission::PermissionMode;
use countersign::protocol::request::ListPermissionRules;
use countersign::turn::Outcome as TurnOutcome;
use countersign::{Session, SessionBuilder};
use countersign_lab::Lab;
use libtest_mimic::{Failed, Trial};

use crate::asking::{Noted, requests, say, start};
use crate::kit::{Cli, Outcome, V62, V197, V325, builder, close, lab, on_all, soon};

/// The model writes its plan to the file that the CLI names, shows it, and does it.
const PLAN: &str = r##"
[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = { allowedPrompts = [ { tool = "Bash", prompt = "run the tests" } ] } }

[[answer]]
when = { error = true, tool = "ExitPlanMode" }
text = "I read: ${result}"

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "The plan is done."

[[answer]]
text = "And more."
"##;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("plans::accept_edits", V62, accept_edits),
        on_all("plans::approve_manually", V62, manually),
        on_all("plans::keep_planning", V62, keep_planning),
        on_all("plans::keep_planning_with_a_picture", V62, with_a_picture),
        on_all("plans::clear_context", V62, clear_context),
        on_all("plans::clear_context_where_messages_are_sent_as_they_are", V325, clear_verbatim),
        on_all("plans::feedback_is_no_command", V325, feedback_like_a_command),
        on_all("plans::an_edited_plan", V62, edited),
        on_all("plans::prompts_are_granted", V62, granted),
        on_all("plans::there_is_no_plan", V62, no_plan),
        on_all("plans::entering_plan_mode_is_refused", V62, not_entered),
        on_all("plans::entering_plan_mode_is_allowed", V62, entered),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Answers plans with this, and allows everything else; notes what was asked.
fn deciding(
    lab: &Lab,
    asked: &Noted<String>,
    decide: fn(PlanAsk) -> PermissionAnswer,
) -> SessionBuilder {
    let asked = asked.clone();
    let handler = move |ask: PermissionAsk| {
        asked.note(ask.tool_name().to_owned());
        async move {
            match ask.into_kind() {
                AskKind::Plan(plan) => decide(plan),
                AskKind::Tool(ask) => ask.allow(),
                other => panic!("{other:?}"),
            }
        }
    };
    builder(lab).permission_mode(PermissionMode::Plan).on_permission(handler)
}

/// A turn in which a plan is decided about.
async fn planned(
    cli: Cli,
    script: &str,
    decide: fn(PlanAsk) -> PermissionAnswer,
) -> Result<(Lab, Session, TurnOutcome, Vec<String>), Failed> {
    planned_with(cli, script, |builder| builder, decide).await
}

/// [`planned`] in a session that is set up otherwise.
async fn planned_with(
    cli: Cli,
    script: &str,
    set_up: fn(SessionBuilder) -> SessionBuilder,
    decide: fn(PlanAsk) -> PermissionAnswer,
) -> Result<(Lab, Session, TurnOutcome, Vec<String>), Failed> {
    let lab = lab(cli, script).await;
    let asked = Noted::default();
    let mut session = start(set_up(deciding(&lab, &asked, decide))).await?;
    let outcome = say(&mut session, "Make a plan of secret things.").await?;
    Ok((lab, session, outcome, asked.all()))
}

async fn accept_edits(cli: Cli) -> Outcome {
    let (lab, session, outcome, asked) = planned(cli, PLAN, |plan| {
        assert_eq!(plan.plan(), Some("# Plan\n\n1. Write it.\n"));
        assert_eq!(plan.choices().len(), 3);
        assert_eq!(plan.allowed_prompts()[0].prompt, "run the tests");
        plan.approve(PlanChoice::AcceptEdits).unwrap()
    })
    .await?;
    assert_eq!(outcome.answer(), "The plan is done.");
    assert_eq!(asked, ["ExitPlanMode"]);
    assert!(lab.work().join("new.txt").exists());
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::AcceptEdits));
    close(session, lab).await;
    Ok(())
}

async fn manually(cli: Cli) -> Outcome {
    let (lab, session, outcome, asked) =
        planned(cli, PLAN, |plan| plan.approve(PlanChoice::ApproveManually).unwrap()).await?;
    assert_eq!(outcome.answer(), "The plan is done.");
    assert_eq!(asked, ["ExitPlanMode", "Write"]);
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::Default));
    close(session, lab).await;
    Ok(())
}

async fn keep_planning(cli: Cli) -> Outcome {
    let (lab, session, outcome, asked) =
        planned(cli, PLAN, |plan| plan.keep_planning("test it as well")).await?;
    assert!(outcome.answer().contains("test it as well"), "{}", outcome.answer());
    assert_eq!(asked, ["ExitPlanMode"]);
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::Plan));
    assert!(!lab.work().join("new.txt").exists());
    close(session, lab).await;
    Ok(())
}

/// A picture of one pixel. What follows its end makes it as long as pictures are: the CLI reads it
/// in many pieces.
fn picture() -> String {
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg";
    pixel.to_owned() + &"A".repeat(2_000_002)
}

async fn with_a_picture(cli: Cli) -> Outcome {
    let (lab, mut session, outcome, _) = planned(cli, PLAN, |plan| {
        let picture = serde_json::json!({
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": picture()},
        });
        let picture: ContentBlock = serde_json::from_value(picture).unwrap();
        plan.keep_planning_with("like this", vec![picture])
    })
    .await?;
    assert!(outcome.answer().contains("like this"), "{}", outcome.answer());
    // The request that has the feedback has the picture.
    if let Some(requests) = requests(cli, &lab) {
        // 2.1.325 may make a picture smaller.
        let last = requests.last().unwrap()["messages"].as_array().unwrap().last().unwrap();
        let blocks = last["content"].as_array().unwrap();
        let place = |what: &str| blocks.iter().position(|block| block["type"] == what);
        let shown = blocks.iter().map(|block| format!("{block:.300}")).collect::<Vec<_>>();
        let (result, image) = (place("tool_result"), place("image"));
        assert!(result.is_some() && result < image, "{shown:?}");
    }
    // It was part of that turn, and is no turn of its own.
    let outcome = say(&mut session, "Go on.").await?;
    assert!(outcome.unasked.is_empty());
    close(session, lab).await;
    Ok(())
}

async fn feedback_like_a_command(cli: Cli) -> Outcome {
    let (lab, mut session, outcome, _) = planned(cli, PLAN, |plan| {
        let words = serde_json::json!({ "type": "text", "text": "/clear the table first" });
        plan.keep_planning_with("not yet", vec![serde_json::from_value(words).unwrap()])
    })
    .await?;
    assert!(outcome.answer().contains("not yet"), "{}", outcome.answer());
    if let Some(requests) = requests(cli, &lab) {
        let last = requests.last().unwrap()["messages"].to_string();
        assert!(last.contains("/clear the table first"), "{last}");
    }
    let before = outcome.session_id().cloned();
    let outcome = say(&mut session, "Go on.").await?;
    assert_eq!(outcome.session_id(), before.as_ref(), "the conversation was cleared");
    close(session, lab).await;
    Ok(())
}

async fn clear_context(cli: Cli) -> Outcome {
    carried_out_anew(cli, |builder| builder).await
}

async fn clear_verbatim(cli: Cli) -> Outcome {
    carried_out_anew(cli, SessionBuilder::verbatim_prompts).await
}

async fn carried_out_anew(cli: Cli, set_up: fn(SessionBuilder) -> SessionBuilder) -> Outcome {
    let script = r##"
        [[answer]]
        tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

        [[answer]]
        tool = { name = "ExitPlanMode", input = {} }

        [[answer]]
        when = { text = "Implement the following plan", first = "Implement the following plan" }
        tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

        [[answer]]
        when = { first = "Implement the following plan", tool = "Write" }
        text = "The plan is done."
    "##;
    let (lab, mut session, outcome, asked) = planned_with(cli, script, set_up, |plan| {
        plan.approve(PlanChoice::ClearContextAndAcceptEdits).unwrap()
    })
    .await?;
    assert_eq!(asked, ["ExitPlanMode"]);
    let fresh = outcome.fresh_start.clone().unwrap();
    assert_eq!(fresh.plan, "# Plan\n\n1. Write it.\n");
    let before = outcome.session_id().cloned();
    let turn = soon("the new conversation", session.begin_fresh(&fresh)).await?;
    let outcome = soon("the turn", turn.finish()).await?;
    assert_eq!(outcome.answer(), "The plan is done.");
    assert!(outcome.fresh_start.is_none());
    // Nobody was asked for the edit.
    assert!(lab.work().join("new.txt").exists());
    assert_ne!(outcome.session_id(), before.as_ref());
    assert_eq!(session.snapshot().session_id.as_ref(), outcome.session_id());
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::AcceptEdits));
    if let Some(requests) = requests(cli, &lab) {
        let last = requests.last().unwrap()["messages"].to_string();
        assert!(last.contains("1. Write it."), "{last}");
        assert!(!last.contains("secret things"), "{last}");
    }
    close(session, lab).await;
    Ok(())
}

async fn edited(cli: Cli) -> Outcome {
    let file = Noted::<String>::default();
    let noted = file.clone();
    let lab = lab(cli, PLAN).await;
    let handler = move |ask: PermissionAsk| {
        let noted = noted.clone();
        async move {
            let AskKind::Plan(plan) = ask.into_kind() else { panic!("only the plan is asked for") };
            if let Some(file) = plan.file() {
                noted.note(file.to_owned());
            }
            plan.edited("# Plan\n\n1. Measure.\n").approve(PlanChoice::AcceptEdits)
        }
    };
    let builder = builder(&lab).permission_mode(PermissionMode::Plan).on_permission(handler);
    let mut session = start(builder).await?;
    let outcome = say(&mut session, "Make a plan.").await?;
    assert_eq!(outcome.answer(), "The plan is done.");
    let told = outcome.tool_calls[1].result.as_ref().unwrap().text();
    if cli.version() >= V197 {
        assert!(told.contains("1. Measure.") && !told.contains("1. Write it."), "{told}");
        let [file] = &file.all()[..] else { panic!("there is no file") };
        assert_eq!(std::fs::read_to_string(file)?, "# Plan\n\n1. Measure.\n");
    } else {
        assert!(told.contains("1. Write it."), "{told}");
    }
    close(session, lab).await;
    Ok(())
}

/// The CLI takes the rules: it would have dropped the mode with them.
async fn granted(cli: Cli) -> Outcome {
    let (lab, session, outcome, asked) = planned(cli, PLAN, |plan| {
        plan.granting_prompts().approve(PlanChoice::AcceptEdits).unwrap()
    })
    .await?;
    assert_eq!(outcome.answer(), "The plan is done.");
    assert_eq!(asked, ["ExitPlanMode"]);
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::AcceptEdits));
    if cli == Cli::Real(V325) {
        let rules = session.call(ListPermissionRules::new()).await?;
        let rules = serde_json::to_string(&rules)?;
        assert!(rules.contains("Bash(prompt: run the tests)"), "{rules}");
    }
    close(session, lab).await;
    Ok(())
}

async fn no_plan(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        tool = { name = "ExitPlanMode", input = {} }

        [[answer]]
        text = "I begin."
    "#;
    let (lab, session, outcome, asked) = planned(cli, script, |plan| {
        assert_eq!(plan.plan(), None);
        assert_eq!(plan.choices(), [PlanChoice::ApproveManually]);
        plan.approve(PlanChoice::ApproveManually).unwrap()
    })
    .await?;
    assert_eq!((outcome.answer(), &*asked), ("I begin.", &["ExitPlanMode".to_owned()][..]));
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::Default));
    close(session, lab).await;
    Ok(())
}

const ENTER: &str = r#"
[[answer]]
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
text = "I read: ${result}"
"#;

async fn not_entered(cli: Cli) -> Outcome {
    let refuse: [fn(EnterPlanAsk) -> Result<_, HandlerFailure>; 3] =
        [|ask| Ok(ask.deny("just do it")), |_| Err("just do it".into()), |_| panic!("just do it")];
    for (number, refuse) in refuse.into_iter().enumerate() {
        let lab = lab(cli, ENTER).await;
        let builder = builder(&lab)
            .permission_mode(PermissionMode::AcceptEdits)
            .on_enter_plan_mode(move |ask| async move { refuse(ask) });
        let mut session = start(builder).await?;
        let outcome = say(&mut session, "Think about it.").await?;
        let reason = if number == 2 { "panicked" } else { "just do it" };
        assert!(outcome.answer().contains(reason), "{}", outcome.answer());
        assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::AcceptEdits));
        close(session, lab).await;
    }
    Ok(())
}

async fn entered(cli: Cli) -> Outcome {
    let lab = lab(cli, ENTER).await;
    let asked = Noted::default();
    let noted = asked.clone();
    let builder = builder(&lab).on_enter_plan_mode(move |ask: EnterPlanAsk| {
        noted.note(ask.input().tool_name.clone());
        async move { Ok::<_, HandlerFailure>(ask.allow()) }
    });
    let mut session = start(builder).await?;
    say(&mut session, "Think about it.").await?;
    assert_eq!(asked.all(), ["EnterPlanMode"]);
    assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::Plan));
    close(session, lab).await;
    Ok(())
}
