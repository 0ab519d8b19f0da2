//! Inputs, with every field that is documented.

use super::{check_input, raw};
use crate::tool::{Answer, ToolInput, current_name};

#[test]
fn shell() {
    check_input(
        "Bash",
        ToolInput::Bash,
        r#"{"command":"ls","description":"List","timeout":1500.5,"run_in_background":true,
            "dangerouslyDisableSandbox":false}"#,
    );
    check_input("Bash", ToolInput::Bash, r#"{"command":"ls"}"#);
    check_input(
        "Monitor",
        ToolInput::Monitor,
        r#"{"description":"logs","timeout_ms":300000,"command":"tail -f log","persistent":false,
            "ws":{"url":"wss://example.com","protocols":["a"]}}"#,
    );
    check_input("TaskStop", ToolInput::TaskStop, r#"{"task_id":"b1","shell_id":"b1"}"#);
}

#[test]
fn files() {
    check_input(
        "Read",
        ToolInput::Read,
        r#"{"file_path":"/a","offset":1,"limit":2,"pages":"1-5","allow_large":true}"#,
    );
    check_input("Write", ToolInput::Write, r#"{"file_path":"/a","content":"x\n"}"#);
    check_input(
        "Edit",
        ToolInput::Edit,
        r#"{"file_path":"/a","old_string":"x","new_string":"y","replace_all":false}"#,
    );
    check_input(
        "NotebookEdit",
        ToolInput::NotebookEdit,
        r##"{"notebook_path":"/a.ipynb","new_source":"# A","cell_id":"c1","cell_type":"markdown",
            "edit_mode":"insert"}"##,
    );
}

#[test]
fn searches() {
    check_input("Glob", ToolInput::Glob, r#"{"pattern":"*.rs","path":"/src"}"#);
    check_input(
        "Grep",
        ToolInput::Grep,
        r#"{"pattern":"fn","path":"/src","glob":"*.rs","output_mode":"content","-A":1,"-B":2,
            "-C":3,"context":4,"-n":true,"-i":false,"-o":true,"type":"rust","head_limit":0,
            "offset":5,"multiline":true}"#,
    );
    check_input(
        "WebFetch",
        ToolInput::WebFetch,
        r#"{"url":"https://example.com/","prompt":"What is it?","offset":100}"#,
    );
    check_input(
        "WebSearch",
        ToolInput::WebSearch,
        r#"{"query":"rust","allowed_domains":["a.org"],"blocked_domains":["b.org"]}"#,
    );
}

#[test]
fn agents() {
    check_input(
        "Agent",
        ToolInput::Agent,
        r#"{"description":"look","prompt":"Look.","subagent_type":"general-purpose",
            "model":"haiku","effort":"xhigh","run_in_background":false,"name":"scout",
            "isolation":"worktree","mode":"plan"}"#,
    );
    check_input("Skill", ToolInput::Skill, r#"{"skill":"pdf","args":"a.pdf"}"#);
    check_input(
        "Workflow",
        ToolInput::Workflow,
        r#"{"script":"x","name":"n","scriptPath":"/w.js","args":[1,{"a":2}],
            "resumeFromRunId":"r1","title":"t","description":"d"}"#,
    );
    check_input("ListAgents", ToolInput::ListAgents, r#"{"channel":"c","q":"scout"}"#);
    check_input("SendUserMessage", ToolInput::SendUserMessage, r#"{"message":"Done."}"#);
}

#[test]
fn the_task_list() {
    check_input(
        "TodoWrite",
        ToolInput::TodoWrite,
        r#"{"todos":[{"content":"a","status":"pending","activeForm":"doing a"}]}"#,
    );
    check_input(
        "TaskCreate",
        ToolInput::TaskCreate,
        r#"{"subject":"a","description":"do a","activeForm":"doing a","metadata":{"k":[1]}}"#,
    );
    check_input("TaskGet", ToolInput::TaskGet, r#"{"taskId":"1"}"#);
    check_input(
        "TaskUpdate",
        ToolInput::TaskUpdate,
        r#"{"taskId":"1","subject":"a","description":"do a","activeForm":"doing a",
            "status":"deleted","addBlocks":["2"],"addBlockedBy":["3"],"owner":"scout",
            "metadata":{"k":null}}"#,
    );
    check_input("TaskList", ToolInput::TaskList, "{}");
}

#[test]
fn questions_and_plans() {
    let asked = r#"{"questions":[{"question":"Which?","header":"Colour","multiSelect":true,
        "options":[{"label":"Red","description":"r","preview":"p"},{"label":"Green"}]}],
        "answers":{"Which?":"Red, Green","And?":["Red"]},
        "annotations":{"Which?":{"notes":"n","preview":"p","unanswered":"replied_in_chat"}},
        "metadata":{"source":"s"},"response":"Later"}"#;
    check_input("AskUserQuestion", ToolInput::AskUserQuestion, asked);
    let Ok(ToolInput::AskUserQuestion(input)) = ToolInput::parse("AskUserQuestion", &raw(asked))
    else {
        panic!()
    };
    let answers = input.answers.unwrap();
    assert_eq!(answers.get("Which?"), Some(&Answer::from("Red, Green")));
    assert_eq!(answers.get("And?"), Some(&Answer::List(vec!["Red".to_owned()])));

    check_input("EnterPlanMode", ToolInput::EnterPlanMode, "{}");
    check_input("ExitPlanMode", ToolInput::ExitPlanMode, "{}");
    check_input(
        "ExitPlanMode",
        ToolInput::ExitPlanMode,
        r#"{"plan":"1. go","planFilePath":"/plans/a.md",
            "allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}"#,
    );
}

#[test]
fn everything_else() {
    check_input("EnterWorktree", ToolInput::EnterWorktree, r#"{"name":"a","path":"/b"}"#);
    check_input(
        "ExitWorktree",
        ToolInput::ExitWorktree,
        r#"{"action":"remove","discard_changes":true}"#,
    );
    check_input(
        "CronCreate",
        ToolInput::CronCreate,
        r#"{"cron":"0 9 * * *","prompt":"Good morning","recurring":true,"durable":false}"#,
    );
    check_input("CronDelete", ToolInput::CronDelete, r#"{"id":"c1"}"#);
    check_input("CronList", ToolInput::CronList, "{}");
    check_input(
        "ScheduleWakeup",
        ToolInput::ScheduleWakeup,
        r#"{"delaySeconds":90.5,"reason":"wait","prompt":"Look again","stop":false,"noop":true}"#,
    );
    check_input(
        "ReportFindings",
        ToolInput::ReportFindings,
        r#"{"findings":[{"file":"a.rs","line":1,"summary":"s","short_summary":"ss",
            "failure_scenario":"f","category":"correctness","verdict":"CONFIRMED",
            "outcome":"no_change_needed"}],"level":"max"}"#,
    );
    check_input("ProposeGoal", ToolInput::ProposeGoal, r#"{"condition":"c","ask_user":true}"#);
    check_input("ListMcpResourcesTool", ToolInput::ListMcpResources, r#"{"server":"s"}"#);
    check_input("ReadMcpResourceTool", ToolInput::ReadMcpResource, r#"{"server":"s","uri":"u"}"#);
    check_input(
        "ReadMcpResourceDirTool",
        ToolInput::ReadMcpResourceDir,
        r#"{"server":"s","uri":"u"}"#,
    );
    check_input("RefreshMcpTools", ToolInput::RefreshMcpTools, r#"{"server":"s"}"#);
}

#[test]
fn old_names() {
    check_input("Task", ToolInput::Agent, r#"{"description":"look","prompt":"Look."}"#);
    check_input("KillShell", ToolInput::TaskStop, r#"{"shell_id":"b1"}"#);
    check_input("KillBash", ToolInput::TaskStop, r#"{"shell_id":"b1"}"#);
    check_input("ListPeers", ToolInput::ListAgents, "{}");
    check_input("Brief", ToolInput::SendUserMessage, r#"{"message":"Done."}"#);
    check_input("ListMcpResources", ToolInput::ListMcpResources, "{}");
    check_input("ReadMcpResource", ToolInput::ReadMcpResource, r#"{"server":"s","uri":"u"}"#);
    check_input("ReadMcpResourceDir", ToolInput::ReadMcpResourceDir, r#"{"server":"s","uri":"u"}"#);
    assert_eq!(current_name("mcp__a__Task"), "mcp__a__Task");
}
