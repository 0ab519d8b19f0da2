//! Plans and questions.

use std::time::Duration;

use countersign_server::client::Followed;
use countersign_server::service::ForkSession;
use countersign_server::session::{
    Allow, Answer, ApprovalKind, ApprovePlan, Happening, KeepPlanning, NewRule, Parent, PlanWay,
    QuestionAnswer, Reply, Skip, Stage, State, TurnEnd,
};
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, World, on_all, start_cli_through};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("plans::accept_edits", accept_edits),
        on_all("plans::approve_manually", manually),
        on_all("plans::keep_planning", keep_planning),
        on_all("plans::edited", edited),
        on_all("plans::clear_context", clear_context),
        on_all("plans::clear_context_keeps_rules_and_budget", inherited),
        on_all("plans::clear_context_while_parked", clear_context_parked),
        on_all("plans::parked_and_approved", parked_and_approved),
        on_all("plans::entering_plan_mode", entering),
        on_all("plans::not_entering_plan_mode", not_entering),
        on_all("questions::answered", answered),
        on_all("questions::skipped", skipped),
        on_all("questions::replied_to", replied),
        on_all("questions::parked_and_answered", question_parked),
        on_all("questions::told_to_a_cli_that_is_lost", question_told),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The model writes its plan to the file that the CLI names, shows it, and does it.
const PLAN: &str = r##"
[[answer]]
when = { text = "Implement the following plan" }
tool = { name = "Write", input = { file_path = "${cwd}/fresh.txt", content = "fresh\n" } }

[[answer]]
when = { first = "Implement the following plan" }
text = "It is done afresh."

[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

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

fn approve(choice: PlanWay) -> ApprovePlan {
    ApprovePlan { choice, plan: None, grant_prompts: false, compact: false }
}

async fn accept_edits(cli: Cli) -> Outcome {
    let world = World::new(cli, PLAN).await;
    let session = world.create_in("Make a plan.", "plan").await;
    let asked = world.asked(session).await;
    assert_eq!((asked.kind, asked.round), (ApprovalKind::Plan, Some(1)));
    assert!(asked.request.as_str().contains("1. Write it."), "{}", asked.request);
    world.answer(&asked, Answer::Plan(approve(PlanWay::AcceptEdits))).await;
    let head = world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(head.mode.as_str(), "acceptEdits");
    assert_eq!(world.last_text(session).await, "The plan is done.");
    world.close().await
}

async fn manually(cli: Cli) -> Outcome {
    let world = World::new(cli, PLAN).await;
    let session = world.create_in("Make a plan.", "plan").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::Plan(approve(PlanWay::ApproveManually))).await;
    world
        .until(session, "at the next question", |head| {
            head.approvals.values().any(|pending| pending.kind == ApprovalKind::Tool)
        })
        .await;
    let asked = world.asked(session).await;
    assert_eq!(asked.tool, "Write");
    world.answer(&asked, Answer::allow()).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.mode.as_str(), "default");
    assert!(world.has_file("new.txt"));
    world.close().await
}

async fn keep_planning(cli: Cli) -> Outcome {
    let world = World::new(cli, PLAN).await;
    let session = world.create_in("Make a plan.", "plan").await;
    let asked = world.asked(session).await;
    let more = KeepPlanning { feedback: "test it as well".to_owned(), images: Vec::new() };
    world.answer(&asked, Answer::KeepPlanning(more)).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.mode.as_str(), "plan");
    assert!(world.last_text(session).await.contains("test it as well"));
    assert!(!world.has_file("new.txt"));
    world.close().await
}

async fn edited(cli: Cli) -> Outcome {
    let world = World::new(cli, PLAN).await;
    let session = world.create_in("Make a plan.", "plan").await;
    let asked = world.asked(session).await;
    let plan = Some("# Another plan\n".to_owned());
    let approved = ApprovePlan { plan, compact: true, ..approve(PlanWay::AcceptEdits) };
    world.answer(&asked, Answer::Plan(approved)).await;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    let frames = world.log(session).await.join("\n");
    assert!(frames.contains("Another plan"), "{frames}");
    let sent =
        world.count(session, |happening| matches!(happening, Happening::MessageSent(_))).await;
    assert_eq!(sent, 2, "the conversation was compacted after it");
    world.close().await
}

async fn clear_context(cli: Cli) -> Outcome {
    let world = World::new(cli, PLAN).await;
    let session = world.create_in("Make a plan.", "plan").await;
    let asked = world.asked(session).await;
    // What is about this session is not silently left out.
    for more in [
        ApprovePlan { compact: true, ..approve(PlanWay::ClearContext) },
        ApprovePlan { grant_prompts: true, ..approve(PlanWay::ClearContext) },
    ] {
        let refused = world.client.answer(asked.id, Answer::Plan(more)).await.unwrap_err();
        assert_eq!(refused.problem().unwrap().status(), 422, "{refused}");
    }
    world.answer(&asked, Answer::Plan(approve(PlanWay::ClearContext))).await;
    world.at_rest(session).await;
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    afresh(&world, &asked).await;
    world.close().await
}

/// The plan is carried out in a session of its own, which knows where it comes from.
async fn afresh(world: &World, asked: &countersign_server::session::Approval) {
    let given = world.client.approval(asked.id).await.unwrap().given.unwrap();
    let child = given.child.unwrap();
    let head = world.at_rest(child).await;
    assert_eq!(head.parent, Some(Parent::Plan { session: asked.session, approval: asked.id }));
    assert_eq!(head.mode.as_str(), "acceptEdits");
    assert!(world.has_file("fresh.txt") && !world.has_file("new.txt"));
    assert_eq!(world.last_text(child).await, "It is done afresh.");
    assert_eq!(world.stages(asked.session).await, [Stage::Done]);
}

/// What was allowed for the session is allowed for the one that carries out its plan and for a copy; what
/// is spent is spent for the first.
async fn inherited(cli: Cli) -> Outcome {
    const WITH_RULE: &str = r##"
otherwise = "Done."

[[answer]]
when = { text = '/Touch|Implement the following plan/' }
tool = { name = "Bash", input = { command = "touch it.txt" } }

[[answer]]
when = { text = "Make a plan" }
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Do it.\n" } }

[[answer]]
when = { tool = "Write" }
tool = { name = "ExitPlanMode", input = {} }
"##;
    let world = World::new(cli, WITH_RULE).await;
    let mut new = world.new_session("Touch one.");
    new.options.limits.budget_usd = Some(10.0);
    let session = world.client.create_session(&new).await?.session;
    let asked = world.asked(session).await;
    let rule =
        NewRule { tool: "Bash".to_owned(), content: Some("touch:*".to_owned()), destination: None };
    let allow = Allow { rules: vec![rule], ..Allow::default() };
    world.answer(&asked, Answer::Allow(allow)).await;
    world.at_rest(session).await;
    world.client.set_mode(session, "plan".into()).await?;
    world.until(session, "in plan mode", |head| head.mode.as_str() == "plan").await;
    world.say(session, "Make a plan.").await;
    let asked = world.asked(session).await;
    let parent = world.head(session).await;
    world.answer(&asked, Answer::Plan(approve(PlanWay::ClearContext))).await;
    let child = world.client.approval(asked.id).await?.given.unwrap().child.unwrap();
    let head = world.at_rest(child).await;
    assert_eq!(world.stages(child).await, [], "nobody was asked");
    assert_eq!(head.rules.rules[0].approval, parent.rules.rules[0].approval);
    let left = head.options.limits.budget_usd.unwrap();
    assert!((left - (10.0 - parent.usage.cost_usd)).abs() < 1e-9 && left < 10.0, "{left}");

    world.at_rest(session).await;
    let fork = ForkSession { prompt: Some("Touch two.".to_owned()), ..ForkSession::default() };
    let copy = world.client.fork(session, &fork).await?.session;
    let head = world.head(copy).await;
    assert_eq!(head.options.limits.budget_usd, Some(10.0));
    assert_eq!(head.rules.rules.len(), 1);
    world.close().await
}

async fn clear_context_parked(cli: Cli) -> Outcome {
    let world =
        World::with(cli, PLAN, |config| config.limits.park_after = Some(Duration::ZERO)).await;
    let session = world.create_in("Make a plan.", "plan").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.answer(&asked, Answer::Plan(approve(PlanWay::ClearContext))).await;
    let head = world.at_rest(session).await;
    assert_eq!((head.state(), head.generation), (State::Idle, 1));
    afresh(&world, &asked).await;
    world.close().await
}

async fn parked_and_approved(cli: Cli) -> Outcome {
    let world =
        World::with(cli, PLAN, |config| config.limits.park_after = Some(Duration::ZERO)).await;
    let session = world.create_in("Make a plan.", "plan").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.answer(&asked, Answer::Plan(approve(PlanWay::AcceptEdits))).await;
    let head = world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(head.mode.as_str(), "acceptEdits");
    world.close().await
}

/// The model enters plan mode by itself.
const ENTER: &str = r#"
[[answer]]
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { error = true }
text = "I read: ${result}"

[[answer]]
text = "I am planning."
"#;

async fn entering(cli: Cli) -> Outcome {
    let world = World::new(cli, ENTER).await;
    let session = world.create("Do it.").await;
    let asked = world.asked(session).await;
    assert_eq!(asked.kind, ApprovalKind::EnterPlan);
    world.answer(&asked, Answer::allow()).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.mode.as_str(), "plan");
    assert_eq!(world.stages(session).await, [Stage::Done]);
    world.close().await
}

async fn not_entering(cli: Cli) -> Outcome {
    let world = World::new(cli, ENTER).await;
    let session = world.create("Do it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::deny("just do it")).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.mode.as_str(), "default");
    assert!(world.last_text(session).await.contains("just do it"));
    world.close().await
}

/// Where the call does not come back, the model is told of the answer; and if the CLI is gone before it
/// took note of that, the next one is told.
async fn question_told(cli: Cli) -> Outcome {
    const ASK: &str = r#"
otherwise = "I was told nothing."

[[answer]]
when = { text = "Green" }
text = "Green it is."

[[answer]]
when = { text = "Ask me" }
tool = { name = "AskUserQuestion", input_json = '''{"questions": [
    {"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "Warm"}, {"label": "Green", "description": "Calm"}]}
]}''' }
"#;
    let world = World::with(cli, ASK, |config| {
        // A CLI that does not hear what is said to it, for as long as there is such a file.
        let cli = config.cli.path.clone().unwrap();
        let deaf = format!(
            "[ -e $HERE/deaf ] && {{ grep --line-buffered -v 'session was paused' | '{}' \"$@\"; exit; }}",
            cli.display()
        );
        start_cli_through(config, &deaf);
        config.limits.park_after = Some(Duration::ZERO);
    })
    .await;
    let session = world.create("Ask me.").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.forget_call(&asked).await;
    let deaf = world.config.data.join("deaf");
    std::fs::write(&deaf, "")?;
    let mut following = world.client.follow(session, Some(0)).await?;
    let green = QuestionAnswer { choose: vec!["Green".to_owned()], ..Default::default() };
    world.answer(&asked, Answer::Answers(vec![green])).await;
    let told = async {
        loop {
            match following.next().await.unwrap().unwrap() {
                Followed::Event(event) if event.kind == "session.noted" => break,
                _ => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(240), told).await?;
    std::fs::remove_file(&deaf)?;
    world.kill_cli(session).await;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "Green it is.");
    assert_eq!(world.stages(session).await, [Stage::Done]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done], "it is one turn");
    world.close().await
}

const QUESTIONS: &str = r#"
[[answer]]
tool = { name = "AskUserQuestion", input_json = '''{"questions": [
    {"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "Warm"}, {"label": "Green", "description": "Calm"}]},
    {"question": "Which fruits?", "header": "Fruits", "multiSelect": true, "options": [
        {"label": "Apple", "description": "Round"}, {"label": "Plum", "description": "Small"}]}
]}''' }

[[answer]]
text = "I read: ${result}"
"#;

async fn answered(cli: Cli) -> Outcome {
    let world = World::new(cli, QUESTIONS).await;
    let session = world.create("Ask me.").await;
    let asked = world.asked(session).await;
    assert_eq!(asked.kind, ApprovalKind::Question);
    world.answer(&asked, answers()).await;
    world.at_rest(session).await;
    let told = world.last_text(session).await;
    assert!(told.contains("Green") && told.contains("Apple, Plum, and pears"), "{told}");
    world.close().await
}

fn answers() -> Answer {
    let one = QuestionAnswer { choose: vec!["Green".to_owned()], ..Default::default() };
    let several = QuestionAnswer {
        choose: vec!["Apple".to_owned(), "Plum".to_owned()],
        text: Some("and pears".to_owned()),
        note: None,
    };
    Answer::Answers(vec![one, several])
}

async fn skipped(cli: Cli) -> Outcome {
    let world = World::new(cli, QUESTIONS).await;
    let session = world.create("Ask me.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::Skip(Skip {})).await;
    world.at_rest(session).await;
    assert_eq!(world.stages(session).await, [Stage::Done]);
    world.close().await
}

async fn replied(cli: Cli) -> Outcome {
    let world = World::new(cli, QUESTIONS).await;
    let session = world.create("Ask me.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::Reply(Reply { text: "Neither, I am blind.".to_owned() })).await;
    world.at_rest(session).await;
    assert!(world.last_text(session).await.contains("Neither, I am blind."));
    world.close().await
}

async fn question_parked(cli: Cli) -> Outcome {
    let world =
        World::with(cli, QUESTIONS, |config| config.limits.park_after = Some(Duration::ZERO)).await;
    let session = world.create("Ask me.").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.answer(&asked, answers()).await;
    world.at_rest(session).await;
    let told = world.last_text(session).await;
    assert!(told.contains("Green") && told.contains("Apple, Plum, and pears"), "{told}");
    world.close().await
}
