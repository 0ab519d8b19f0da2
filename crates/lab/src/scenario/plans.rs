//! Plans and questions: the two tools that exist to ask a person.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, at_least, ensure, is_result, serve};
use crate::driver::{Cli, with};
use crate::lab::{Lab, Launch};

/// The model writes its plan to the file that the CLI names, shows it, and does it.
const PLAN: &str = r##"
[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { error = true, tool = "ExitPlanMode" }
text = "I will think again."

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "The plan is done."
"##;

/// The model changes its plan when it is told to.
const PLAN_TWICE: &str = r##"
[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Test it.\n2. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
text = "The plan is approved."
"##;

const QUESTION: &str = r#"
[[answer]]
[answer.tool]
name = "AskUserQuestion"
[answer.tool.input]
questions = [
    { question = "Which color?", header = "Color", multiSelect = false, options = [
        { label = "Red", description = "Warm" }, { label = "Green", description = "Calm" } ] },
    { question = "Which fruits?", header = "Fruits", multiSelect = true, options = [
        { label = "Apple", description = "Round" }, { label = "Plum", description = "Small" } ] },
]

[[answer]]
text = "I see."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "plan-approve",
        "A plan that is approved is carried out, each edit asked for.",
        PLAN,
        |lab| Box::pin(approve(lab)),
    ),
    Scenario::new(
        "plan-approve-accept-edits",
        "A plan can be approved together with the edits that it takes.",
        PLAN,
        |lab| Box::pin(approve_with_edits(lab)),
    ),
    Scenario::new(
        "plan-keep-planning",
        "A plan that is not approved goes back with what the person said.",
        PLAN,
        |lab| Box::pin(keep_planning(lab)),
    ),
    Scenario::new(
        "plan-twice",
        "A plan that went back comes again, and is approved then.",
        PLAN_TWICE,
        |lab| Box::pin(twice(lab)),
    ),
    Scenario::new(
        "plan-edited",
        "A plan can be approved as the person has changed it.",
        PLAN,
        |lab| Box::pin(edited(lab)),
    ),
    Scenario::new(
        "plan-enter",
        "The model enters plan mode by itself, and nobody is asked.",
        r#"
        [[answer]]
        tool = { name = "EnterPlanMode", input = {} }

        [[answer]]
        text = "Now I plan."
        "#,
        |lab| Box::pin(enter(lab)),
    ),
    Scenario::new(
        "plan-settings-file",
        "In plan mode a settings file is a matter of safety: the person is asked, or auto mode refuses.",
        r#"
        [[answer]]
        tool = { name = "Write", input = { file_path = "${cwd}/.git/config", content = "" } }

        [[answer]]
        text = "That was it."
        "#,
        |lab| Box::pin(settings_file(lab)),
    ),
    Scenario::new(
        "question",
        "A question is put to the person, and the model reads the answers.",
        QUESTION,
        |lab| Box::pin(question(lab)),
    ),
    Scenario::new(
        "question-free-text",
        "A question can be answered in the person's own words, and with notes.",
        QUESTION,
        |lab| Box::pin(question_free_text(lab)),
    ),
    Scenario::new("question-refused", "A question can be refused.", QUESTION, |lab| {
        Box::pin(question_refused(lab))
    }),
];

/// Runs the script of the plan, with this answer to the plan and every file allowed. Returns how
/// many files were asked for, besides the result.
async fn planned(
    cli: &mut Cli,
    lab: &Lab,
    answer: impl Fn(&Value) -> Value + Sync,
) -> Result<(Value, usize), super::ScenarioError> {
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Make a plan.").await?;
    let (mut plans, mut files) = (Vec::new(), 0);
    let reply = |ask: &Value| {
        let input = &ask["request"]["input"];
        if ask["request"]["tool_name"] == "ExitPlanMode" {
            plans.push(ask.clone());
            return Reply::Success(answer(input));
        }
        files += 1;
        Reply::Success(json!({"behavior": "allow", "updatedInput": input}))
    };
    let result = serve(cli, "a result", is_result, reply).await?;
    ensure(plans.len() == 1, "the plan is put to the client once", &json!(plans))?;
    for ask in &plans {
        let plan = ask["request"]["input"]["plan"].as_str().unwrap_or_default();
        ensure(plan.contains("Write it."), "the plan is in the request", ask)?;
    }
    ensure(lab.home().join(".claude/plans").is_dir(), "the plan is a file", &result)?;
    Ok((result, files))
}

async fn approve(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("plan")).await?;
    let answer = |input: &Value| json!({"behavior": "allow", "updatedInput": input});
    let (result, files) = planned(&mut cli, lab, answer).await?;
    ensure(result["result"] == "The plan is done.", "the plan is carried out", &result)?;
    ensure(files == 1, "the edit is asked for", &json!(files))?;
    Ok(vec![cli.close().await?])
}

async fn approve_with_edits(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("plan")).await?;
    let answer = |input: &Value| {
        json!({
            "behavior": "allow", "updatedInput": input,
            "updatedPermissions":
                [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
        })
    };
    let (result, files) = planned(&mut cli, lab, answer).await?;
    ensure(result["result"] == "The plan is done.", "the plan is carried out", &result)?;
    ensure(files == 0, "the edit is not asked for", &json!(files))?;
    Ok(vec![cli.close().await?])
}

async fn keep_planning(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("plan")).await?;
    let answer = |_: &Value| json!({"behavior": "deny", "message": "Add a test."});
    let (result, _) = planned(&mut cli, lab, answer).await?;
    ensure(result["result"] == "I will think again.", "the model goes on planning", &result)?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is done", &result)?;
    Ok(vec![cli.close().await?])
}

async fn twice(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("plan")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Make a plan.").await?;
    let ask = cli.asked("can_use_tool").await?;
    ensure(ask["request"]["tool_name"] == "ExitPlanMode", "the plan is shown", &ask)?;
    cli.deny(&ask, "Test it first.").await?;
    let ask = cli.asked("can_use_tool").await?;
    let plan = ask["request"]["input"]["plan"].as_str().unwrap_or_default();
    ensure(plan.contains("Test it."), "the plan has changed", &ask)?;
    cli.allow(&ask).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "The plan is approved.", "the turn goes on", &result)?;
    Ok(vec![cli.close().await?])
}

async fn edited(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("plan")).await?;
    let answer = |input: &Value| {
        let input = with(input.clone(), "plan", "# Plan\n\n1. Write it twice.\n");
        json!({"behavior": "allow", "updatedInput": input})
    };
    let (result, _) = planned(&mut cli, lab, answer).await?;
    ensure(result["result"] == "The plan is done.", "the plan is carried out", &result)?;
    Ok(vec![cli.close().await?])
}

async fn enter(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Think first.").await?;
    let reply = |_: &Value| Reply::Error("nothing should be asked");
    let entered = |frame: &Value| frame["subtype"] == "status" && frame["permissionMode"] == "plan";
    serve(&mut cli, "the mode to be plan", entered, reply).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Now I plan.", "the turn goes on", &result)?;
    Ok(vec![cli.close().await?])
}

async fn settings_file(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("plan")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Write it.").await?;
    let mut asked = 0;
    let reply = |_: &Value| {
        asked += 1;
        Reply::Success(json!({"behavior": "deny", "message": "Not today."}))
    };
    let result = serve(&mut cli, "a result", is_result, reply).await?;
    let asks = usize::from(!at_least(lab, 325));
    ensure(asked == asks, "the person is asked as the version does", &json!(asked))?;
    ensure(!lab.work().join(".git/config").exists(), "nothing is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn question(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Ask me.").await?;
    let ask = cli.asked("can_use_tool").await?;
    ensure(ask["request"]["tool_name"] == "AskUserQuestion", "the question is asked", &ask)?;
    let answers = json!({"Which color?": "Green", "Which fruits?": "Apple, Plum"});
    let input = with(ask["request"]["input"].clone(), "answers", answers);
    cli.answer(&ask, json!({"behavior": "allow", "updatedInput": input})).await?;
    let read = cli.wait("a tool result", |frame| frame["type"] == "user").await?;
    let text = read.to_string();
    let both = text.contains("Green") && text.contains("Apple, Plum");
    ensure(both, "the model reads the answers", &read)?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}

async fn question_free_text(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Ask me.").await?;
    let ask = cli.asked("can_use_tool").await?;
    let answers = json!({"Which color?": "The color of the sea", "Which fruits?": "Apple"});
    let input = with(ask["request"]["input"].clone(), "answers", answers);
    let notes = json!({"Which fruits?": {"notes": "A green one."}});
    let input = with(input, "annotations", notes);
    cli.answer(&ask, json!({"behavior": "allow", "updatedInput": input})).await?;
    let read = cli.wait("a tool result", |frame| frame["type"] == "user").await?;
    let text = read.to_string();
    let both = text.contains("The color of the sea") && text.contains("A green one.");
    ensure(both, "the model reads the words and the notes", &read)?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}

async fn question_refused(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Ask me.").await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.deny(&ask, "Decide yourself.").await?;
    let read = cli.wait("a tool result", |frame| frame["type"] == "user").await?;
    ensure(read.to_string().contains("Decide yourself."), "the model reads the reason", &read)?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}
