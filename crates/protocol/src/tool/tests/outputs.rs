//! Results, with every field that is documented.

use super::{check_output, raw};
use crate::tool::{AgentOutput, ReadOutput, ToolOutput};

#[test]
fn shell() {
    check_output(
        "Bash",
        ToolOutput::Bash,
        r#"{"stdout":"o","stderr":"e","interrupted":false,"isImage":false,
            "backgroundTaskId":"b1","backgroundedByUser":true,"timedOutAfterMs":120000,
            "returnCodeInterpretation":"no match","noOutputExpected":true,
            "persistedOutputPath":"/p","persistedOutputSize":9,"rawOutputPath":"/r",
            "structuredContent":[{"type":"text"}],
            "gitOperation":{"commit":{"sha":"abc","kind":"cherry-picked","branch":"main"},
                "push":{"branch":"main"},"branch":{"ref":"main","action":"rebased"},
                "pr":{"number":1,"url":"https://example.com/1","action":"auto-merge-enabled"}},
            "dangerouslyDisableSandbox":true,"backgroundCwdHint":"h",
            "backgroundEndsWithFinalResponse":true,"backgroundWakesOwner":true,
            "staleReadFileStateHint":"s","ghRateLimitHint":"g"}"#,
    );
    check_output(
        "Bash",
        ToolOutput::Bash,
        r#"{"stdout":"","stderr":"","interrupted":false,"isImage":false}"#,
    );
    check_output(
        "Monitor",
        ToolOutput::Monitor,
        r#"{"taskId":"m1","timeoutMs":300000,"persistent":false}"#,
    );
    check_output(
        "KillShell",
        ToolOutput::TaskStop,
        r#"{"message":"m","task_id":"b1","task_type":"local_bash","command":"ls"}"#,
    );
}

#[test]
fn files_read() {
    for json in [
        r#"{"type":"text","file":{"filePath":"/a","content":"x\n","numLines":2,"startLine":1,
            "totalLines":2,"truncatedByTokenCap":true}}"#,
        r#"{"file":{"base64":"AA==","type":"image/png","originalSize":1,"dimensions":{
            "originalWidth":1,"originalHeight":2,"displayWidth":3,"displayHeight":4}},
            "type":"image"}"#,
        r#"{"type":"notebook","file":{"filePath":"/a.ipynb","cells":[{"a":1}]}}"#,
        r#"{"type":"pdf","file":{"filePath":"/a.pdf","base64":"AA==","originalSize":1}}"#,
        r#"{"type":"parts","file":{"filePath":"/a.pdf","originalSize":1,"count":2,
            "outputDir":"/d"},"firstPage":3}"#,
        r#"{"type":"file_unchanged","file":{"filePath":"/a"},"source":"seeded"}"#,
    ] {
        check_output("Read", ToolOutput::Read, json);
    }
    let new = ToolOutput::parse("Read", &raw(r#"{"type":"film","file":{}}"#));
    assert!(matches!(new, Ok(ToolOutput::Read(ReadOutput::Other(_)))));
}

#[test]
fn files_written() {
    let hunk = r#"{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-a","+b"]}"#;
    let diff = r#"{"filename":"a","status":"modified","additions":1,"deletions":1,"changes":2,
        "patch":"@@","repository":null}"#;
    check_output(
        "Write",
        ToolOutput::Write,
        &format!(
            r#"{{"type":"update","filePath":"/a","content":"b","structuredPatch":[{hunk}],
                "originalFile":"a","gitDiff":{diff},"userModified":false,"staged":true}}"#
        ),
    );
    check_output(
        "Write",
        ToolOutput::Write,
        r#"{"type":"create","filePath":"/a","content":"b","structuredPatch":[],
            "originalFile":null}"#,
    );
    check_output(
        "Edit",
        ToolOutput::Edit,
        &format!(
            r#"{{"filePath":"/a","oldString":"a","newString":"b","originalFile":"a",
                "structuredPatch":[{hunk}],"userModified":false,"replaceAll":true,
                "gitDiff":{diff},"staged":false}}"#
        ),
    );
    check_output(
        "NotebookEdit",
        ToolOutput::NotebookEdit,
        r#"{"new_source":"b","old_source":"a","cell_id":"c","cell_type":"code",
            "language":"python","edit_mode":"replace","error":"e","notebook_path":"/a.ipynb",
            "original_file":"{}","updated_file":"{}"}"#,
    );
}

#[test]
fn searches() {
    check_output(
        "Glob",
        ToolOutput::Glob,
        r#"{"durationMs":6.5,"numFiles":1,"filenames":["a"],"truncated":true,"totalMatches":2,
            "countIsComplete":false,"timedOut":true}"#,
    );
    check_output(
        "Grep",
        ToolOutput::Grep,
        r#"{"mode":"count","numFiles":1,"filenames":[],"content":"a:1","numLines":1,
            "numMatches":2,"totalFiles":3,"totalLines":4,"appliedLimit":5,"appliedOffset":6,
            "timedOut":false}"#,
    );
    check_output(
        "WebFetch",
        ToolOutput::WebFetch,
        r#"{"bytes":1,"code":200,"codeText":"OK","result":"r","durationMs":2,"url":"u"}"#,
    );
    check_output(
        "WebSearch",
        ToolOutput::WebSearch,
        r#"{"query":"q","results":[{"tool_use_id":"srvtoolu_1","content":[{"title":"t",
            "url":"u"}]},"a comment"],"durationSeconds":1.5,"searchCount":1}"#,
    );
    let results = r#"{"query":"q","results":["half a \ud83d"],"durationSeconds":1}"#;
    assert!(ToolOutput::parse("WebSearch", &raw(results)).is_ok());
}

#[test]
fn agents() {
    for json in [
        r#"{"status":"completed","agentId":"a1","agentType":"t",
            "content":[{"type":"text","text":"x"}],"prompt":"p","totalToolUseCount":1,
            "totalDurationMs":258,"totalTokens":30,"usage":{"input_tokens":10,
            "output_tokens":20},"resolvedModel":"m","modelsUsed":["m","n"],
            "toolsUsed":["Write"],"toolStats":{"readCount":0,"searchCount":1,"bashCount":2,
            "editFileCount":3,"linesAdded":4,"linesRemoved":5,"otherToolCount":6},
            "worktreePath":"/w","worktreeBranch":"b","canContinueAgent":true}"#,
        r#"{"status":"async_launched","agentId":"a1","description":"d","prompt":"p",
            "outputFile":"/o","isAsync":true,"canReadOutputFile":true,"canContinueAgent":false,
            "resolvedModel":"m","modelsUsed":["m"]}"#,
        r#"{"status":"remote_launched","taskId":"t1","sessionUrl":"u","description":"d",
            "prompt":"p","outputFile":"/o"}"#,
    ] {
        check_output("Agent", ToolOutput::Agent, json);
        check_output("Task", ToolOutput::Agent, json);
    }
    let new = ToolOutput::parse("Agent", &raw(r#"{"status":"teleported"}"#));
    assert!(matches!(new, Ok(ToolOutput::Agent(AgentOutput::Other(_)))));
    check_output(
        "Workflow",
        ToolOutput::Workflow,
        r#"{"status":"async_launched","taskId":"t1","taskType":"local_workflow",
            "workflowName":"n","runId":"r1","summary":"s","transcriptDir":"/t",
            "scriptPath":"/s","sessionUrl":"u","warning":"w","error":"e"}"#,
    );
}

#[test]
fn the_task_list() {
    check_output(
        "TodoWrite",
        ToolOutput::TodoWrite,
        r#"{"oldTodos":[],"newTodos":[{"content":"a","status":"completed","activeForm":"b"}]}"#,
    );
    check_output(
        "TaskCreate",
        ToolOutput::TaskCreate,
        r#"{"task":{"id":"1","subject":"a","description":"b"}}"#,
    );
    check_output("TaskGet", ToolOutput::TaskGet, r#"{"task":null}"#);
    check_output(
        "TaskGet",
        ToolOutput::TaskGet,
        r#"{"task":{"id":"1","subject":"a","description":"b","status":"pending","blocks":["2"],
            "blockedBy":["3"]}}"#,
    );
    check_output(
        "TaskUpdate",
        ToolOutput::TaskUpdate,
        r#"{"success":true,"taskId":"1","updatedFields":["status"],"error":"e",
            "statusChange":{"from":"pending","to":"in_progress"}}"#,
    );
    check_output(
        "TaskList",
        ToolOutput::TaskList,
        r#"{"tasks":[{"id":"1","subject":"a","status":"pending","owner":"o","blockedBy":[]}]}"#,
    );
}

#[test]
fn questions_and_plans() {
    check_output(
        "AskUserQuestion",
        ToolOutput::AskUserQuestion,
        r#"{"questions":[{"question":"Which?","header":"Colour","multiSelect":false,
            "options":[{"label":"Red","description":"r"}]}],"answers":{"Which?":["Red"]},
            "response":"Later","annotations":{"Which?":{"unanswered":"skipped"}},
            "afkTimeoutMs":60000}"#,
    );
    check_output("AskUserQuestion", ToolOutput::AskUserQuestion, r#"{"answers":{}}"#);
    check_output(
        "ExitPlanMode",
        ToolOutput::ExitPlanMode,
        r#"{"plan":null,"isAgent":false,"filePath":"/p.md","hasTaskTool":true,
            "planWasEdited":true,"awaitingLeaderApproval":true,"requestId":"r1"}"#,
    );
    check_output("EnterPlanMode", ToolOutput::EnterPlanMode, r#"{"message":"m"}"#);
}

#[test]
fn everything_else() {
    check_output(
        "EnterWorktree",
        ToolOutput::EnterWorktree,
        r#"{"worktreePath":"/w","worktreeBranch":"b","message":"m"}"#,
    );
    check_output(
        "ExitWorktree",
        ToolOutput::ExitWorktree,
        r#"{"action":"keep","originalCwd":"/c","worktreePath":"/w","worktreeBranch":"b",
            "tmuxSessionName":"t","discardedFiles":1,"discardedCommits":2,"message":"m"}"#,
    );
    check_output(
        "CronCreate",
        ToolOutput::CronCreate,
        r#"{"id":"c1","humanSchedule":"daily","recurring":true,"durable":false,
            "nextFireAt":1700000000000}"#,
    );
    check_output("CronDelete", ToolOutput::CronDelete, r#"{"id":"c1"}"#);
    check_output(
        "CronList",
        ToolOutput::CronList,
        r#"{"jobs":[{"id":"c1","cron":"0 9 * * *","humanSchedule":"daily","prompt":"p",
            "recurring":true,"durable":false}]}"#,
    );
    check_output(
        "ScheduleWakeup",
        ToolOutput::ScheduleWakeup,
        r#"{"scheduledFor":1700000000000,"clampedDelaySeconds":60,"wasClamped":true,
            "stopped":true,"cancelledWakeups":1}"#,
    );
    check_output(
        "ReportFindings",
        ToolOutput::ReportFindings,
        r#"{"count":1,"level":"low","findings":[{"file":"a.rs","summary":"s",
            "failure_scenario":"f"}]}"#,
    );
}

#[test]
fn mcp() {
    for json in [
        r#"[{"type":"text","text":"3"}]"#,
        r#"{"content":"3","structuredContent":{"sum":3}}"#,
        r#"{"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":3}}"#,
    ] {
        check_output("mcp__calc__add", ToolOutput::Mcp, json);
    }
    check_output(
        "ListMcpResources",
        ToolOutput::ListMcpResources,
        r#"[{"uri":"u","name":"n","mimeType":"text/plain","description":"d","server":"s"}]"#,
    );
    check_output(
        "ReadMcpResource",
        ToolOutput::ReadMcpResource,
        r#"{"contents":[{"uri":"u","mimeType":"m","text":"t","blobSavedTo":"/b"}],"error":"e"}"#,
    );
    check_output(
        "ReadMcpResourceDir",
        ToolOutput::ReadMcpResourceDir,
        r#"{"resources":[{"uri":"u","name":"n","mimeType":"m"}],"error":"e"}"#,
    );
    check_output(
        "RefreshMcpTools",
        ToolOutput::RefreshMcpTools,
        r#"[{"server":"s","status":"not_connected","toolCount":1,"added":["a"],"removed":["b"],
            "error":"e"}]"#,
    );
}

#[test]
fn a_call_that_moved_aside_whatever_the_tool() {
    for tool in ["Bash", "Glob", "EnterPlanMode", "mcp__calc__add", "NeverHeardOf"] {
        check_output(tool, ToolOutput::Detached, r#"{"detachedToolCall":true}"#);
    }
    let other = ToolOutput::parse("NeverHeardOf", &raw(r#"{"ok":true}"#)).unwrap();
    assert_eq!(other, ToolOutput::Other);
}
