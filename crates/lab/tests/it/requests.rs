//! What a request of the CLI says. The words are those of the versions that are named.

use countersign_lab::script::{Request, RequestKind};
use serde_json::{Value, json};

fn kind(body: &Value) -> RequestKind {
    Request::new(body).kind()
}

/// A request with tools of the CLI.
fn with_tools(system: &str, last: &str) -> Value {
    json!({
        "model": "m",
        "system": [{"type": "text", "text": system}],
        "tools": [{"name": "Bash", "description": "", "input_schema": {}}],
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}, {"role": "user", "content": last}],
    })
}

#[test]
fn side_jobs_are_told_from_the_conversation() {
    let main = "\nYou are an interactive agent that helps users with software engineering tasks.";
    assert_eq!(kind(&with_tools(main, "go on")), RequestKind::Main);
    // Titles and the like, in all versions.
    assert_eq!(kind(&json!({"tools": [], "messages": []})), RequestKind::Side);
    // What the user might say next, in all versions.
    let suggestion = "[SUGGESTION MODE: Suggest what the user might naturally type next]";
    assert_eq!(kind(&with_tools(main, suggestion)), RequestKind::Side);
    // A web search is a request of its own, with a tool of the API.
    let search = json!({"tools": [{"type": "web_search_20250305", "name": "web_search"}]});
    assert_eq!(kind(&search), RequestKind::Side);
    // The summary for /compact: 2.1.62, and 2.1.120 to 2.1.325.
    let summary = "You are a helpful AI assistant tasked with summarizing conversations.";
    assert_eq!(kind(&with_tools(summary, "Your task is to")), RequestKind::Side);
    let summary = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- Do NOT use Read";
    assert_eq!(kind(&with_tools(main, summary)), RequestKind::Side);
}

#[test]
fn subagents_are_told_from_the_conversation() {
    // From 2.1.197 on.
    let header = "x-anthropic-billing-header: cc_version=2.1.325.f3b; cc_is_subagent=true;";
    assert_eq!(kind(&with_tools(header, "count")), RequestKind::Agent);
    // All versions.
    let notes = "You are an agent.\n\nNotes:\n- Agent threads always have their cwd reset between bash calls";
    assert_eq!(kind(&with_tools(notes, "count")), RequestKind::Agent);
}

#[test]
fn what_the_cli_adds_is_not_said_by_the_user() {
    // 2.1.62 puts reminders before the words of the user, 2.1.325 has messages of the system, too.
    let body = json!({"messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>\nToday's date is 2026-11-15.\n</system-reminder>\n"},
            {"type": "text", "text": "plan it"},
            {"type": "image", "source": {}},
        ]},
        {"role": "system", "content": "# Environment"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [
                {"type": "text", "text": "Exit code 1"},
                {"type": "text", "text": "oh"},
            ]},
            {"type": "tool_result", "tool_use_id": "t0"},
        ]},
        {"role": "system", "content": [{"type": "text", "text": "more"}]},
    ], "system": "You are an agent."});
    let request = Request::new(&body);
    assert_eq!(request.first_text().as_deref(), Some("plan it"));
    assert_eq!(request.last_text().as_deref(), Some("plan it"));
    assert_eq!(request.new_text(), None);
    assert_eq!(request.system_text(), "You are an agent.\n# Environment\nmore");
    let results = request.tool_results();
    assert_eq!(results, request.new_tool_results());
    assert_eq!(results.len(), 2);
    assert_eq!((results[0].id.as_str(), results[0].tool.as_deref()), ("t1", Some("Bash")));
    assert_eq!((results[0].text.as_str(), results[0].is_error), ("Exit code 1\noh", true));
    assert_eq!((results[1].tool.as_deref(), results[1].text.as_str()), (None, ""));
    assert!(!results[1].is_error);
}

#[test]
fn the_working_directory_is_where_each_version_says_it() {
    // 2.1.62 and 2.1.197, in the system prompt.
    let body = json!({"system": [{"type": "text", "text": "# Environment\nYou have been invoked in the following environment: \n - Primary working directory: /home/dev/my proj\n - Is a git repository: false\n"}]});
    assert_eq!(Request::new(&body).working_directory(), Some("/home/dev/my proj"));
    // 2.1.325, in a message of the system.
    let body = json!({"messages": [
        {"role": "user", "content": "Primary working directory: /not/this"},
        {"role": "system", "content": [{"type": "text", "text": "# Environment\n - Primary working directory: /home/dev/proj\n - Platform: linux"}]},
    ]});
    assert_eq!(Request::new(&body).working_directory(), Some("/home/dev/proj"));
    // Subagents, in all versions.
    let body = json!({"system": "<env>\nWorking directory: /home/dev/proj\nIs directory a git repo: No\n"});
    assert_eq!(Request::new(&body).working_directory(), Some("/home/dev/proj"));
    // Words about it name none.
    let body = json!({"system": "The working directory persists between commands."});
    assert_eq!(Request::new(&body).working_directory(), None);
}

#[test]
fn the_plan_file_is_where_each_version_says_it() {
    let says = |role: &str, text: &str| json!({"messages": [{"role": role, "content": [{"type": "text", "text": text}]}]});
    let path = Some("/home/dev/.claude/plans/plan-it-wobbly.md");
    let full = "<system-reminder>\nPlan mode is active.\n## Plan File Info:\nNo plan file exists yet. You should create your plan at /home/dev/.claude/plans/plan-it-wobbly.md using the Write tool.\nYou should build your plan\n</system-reminder>";
    let again =
        "A plan file already exists at /home/dev/.claude/plans/plan-it-wobbly.md. You can read it";
    let sparse =
        "Read-only except plan file (/home/dev/.claude/plans/plan-it-wobbly.md). End turns with";
    let exited =
        "The plan file is located at /home/dev/.claude/plans/plan-it-wobbly.md if you need";
    assert_eq!(Request::new(&says("user", full)).plan_file(), path);
    for text in [full, again, sparse, exited] {
        assert_eq!(Request::new(&says("system", text)).plan_file(), path, "{text}");
    }
    let result = json!({"messages": [
        {"role": "user", "content": full.replace("wobbly", "older")},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "Your plan has been saved to: /home/dev/.claude/plans/plan-it-wobbly.md\nYou can refer back"}]},
    ]});
    assert_eq!(Request::new(&result).plan_file(), path);
    let spaces = "create your plan at /home/a b/x.mdx/plans/y.md using";
    assert_eq!(
        Request::new(&says("system", spaces)).plan_file(),
        Some("/home/a b/x.mdx/plans/y.md")
    );
    assert_eq!(Request::new(&says("user", "create your plan at /not/this.md")).plan_file(), None);
    assert_eq!(Request::new(&says("system", "create your plan at once")).plan_file(), None);
}
