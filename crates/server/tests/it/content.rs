//! What is sent in comes back as what it is, or is refused with a problem: script stays text, folders
//! stay within their roots, and no body makes the server fail.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::house::Answer;
use crate::running::Running;

const SCRIPT: &str = "</script><img src=x onerror=alert(1)>\u{202e}\u{2028}\"'`${7*7}{{7*7}}";

/// It is JSON that no browser takes for anything else.
fn inert(answer: &Answer, kind: &str) {
    assert_eq!(answer.header("content-type"), Some(kind), "{answer:?}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
}

#[tokio::test]
async fn script_in_every_text_comes_back_as_text() {
    let server = Running::new().await;
    // A rule has no blanks outside of parentheses, and the mark for the end of a line is one.
    let rule = format!("Bash({})", SCRIPT.replace('\u{2028}', ""));
    let options = json!({"append_system_prompt": SCRIPT, "allowed_tools": [rule],
        "fallback_model": SCRIPT, "effort": SCRIPT});
    let title = SCRIPT.replace('\u{2028}', "");
    let session = server
        .session(&json!({"title": title, "labels": [title], "model": SCRIPT, "options": options}))
        .await;
    let at = format!("/api/v1/sessions/{session}");
    let message = json!({"text": SCRIPT}).to_string();
    let sent = server.json(&format!("POST {at}/messages"), &message).await;
    assert_eq!(sent.status, 202, "{sent:?}");
    let shown = server.json(&format!("GET {at}"), "").await;
    inert(&shown, "application/json");
    for (pointer, text) in [
        ("/title", &*title),
        ("/labels/0", &title),
        ("/model", SCRIPT),
        ("/options/append_system_prompt", SCRIPT),
        ("/options/allowed_tools/0", &rule),
    ] {
        assert_eq!(shown.json().pointer(pointer), Some(&Value::from(text)), "{pointer}");
    }
    let events = server.json(&format!("GET {at}/events"), "").await;
    inert(&events, "application/json");
    let said = json!({"text": SCRIPT});
    let queued = events.json().get("items").and_then(Value::as_array).cloned().unwrap();
    let queued = queued.iter().find(|event| event.get("kind") == Some(&"message.queued".into()));
    assert_eq!(queued.unwrap().pointer("/body/content"), Some(&said));
    for list in ["sessions", "approvals", "audit", "events", "inbox", "tokens", "usage", "server"] {
        inert(&server.json(&format!("GET /api/v1/{list}"), "").await, "application/json");
    }
    inert(&server.json("GET /api/v1/audit/export", "").await, "application/x-ndjson");
    // What is wrong is said with what was sent, and is no page either.
    let folder = json!({"folder": format!("/{SCRIPT}")}).to_string();
    for (line, body) in [
        ("POST /api/v1/sessions", &*folder),
        ("GET /api/v1/sessions/%3Cscript%3Ealert(1)%3C%2Fscript%3E", ""),
        ("GET /api/v1/sessions?state=%3Cscript%3E", ""),
        ("GET /api/v1/sessions?after=%3Cscript%3E", ""),
        ("GET /%3Cscript%3Ealert(1)%3C/script%3E", ""),
    ] {
        let refused = server.json(line, body).await;
        assert!((400..500).contains(&refused.status), "{line}: {refused:?}");
        inert(&refused, "application/problem+json");
    }
    server.end().await;
}

#[tokio::test]
async fn a_folder_out_of_the_roots_is_refused_however_it_is_written() {
    let server = Running::new().await;
    let root = server.root();
    symlink(server.at("outside"), root.join("link")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("/proc/self/root", root.join("deep")).unwrap();
    let long = "a/".repeat(5000);
    let paths = [
        server.at("outside"),
        root.join("../outside"),
        root.join("project/../../outside"),
        root.join("link"),
        root.join("up"),
        root.join("up/outside"),
        root.join("loop"),
        root.join("deep/etc"),
        root.join("nothing"),
        root.join("project\0/../../outside"),
        root.join("project\0"),
        root.join(&long),
        root.join("a".repeat(300)),
        "/".into(),
        "".into(),
        "project".into(),
        "~/".into(),
        "file:///etc".into(),
        "/proc/self/cwd".into(),
    ];
    let project = root.join("project");
    for path in &paths {
        for refused in [server.folder(path, &[]).await, server.folder(&project, &[path]).await] {
            assert_eq!((refused.status, &*refused.problem()), (422, "folder"), "{path:?}");
            // What is behind a link is not told.
            assert!(!refused.body.contains("outside\""), "{refused:?}");
        }
    }
    assert_eq!(server.folder(&project, &[&root]).await.status, 201);
    server.end().await;
}

/// A session is made in what a link led to, and stays there when the link is turned elsewhere.
#[tokio::test]
async fn a_link_that_is_turned_later_leads_nobody_out() {
    let server = Running::new().await;
    let root = server.root();
    symlink(root.join("project"), root.join("link")).unwrap();
    let made = server.folder(&root.join("link"), &[&root.join("link")]).await.json();
    std::fs::remove_file(root.join("link")).unwrap();
    symlink(server.at("outside"), root.join("link")).unwrap();
    let session = made.get("session").and_then(Value::as_str).unwrap();
    let shown = server.json(&format!("GET /api/v1/sessions/{session}"), "").await.json();
    let project = Value::from(root.join("project").to_str().unwrap());
    assert_eq!(shown.pointer("/folder"), Some(&project));
    assert_eq!(shown.pointer("/options/add_dirs/0"), Some(&project));
    server.end().await;
}

#[tokio::test]
async fn no_body_makes_the_server_fail() {
    let server = Running::new().await;
    let session = server.session(&json!({})).await;
    let at = format!("/api/v1/sessions/{session}");
    let project = server.root().join("project").display().to_string();
    let deep = format!("{}{}", "[".repeat(40_000), "]".repeat(40_000));
    let deep_map = format!(
        r#"{{"folder":"{project}","options":{{"mcp_servers":{{"a":{}1{}}}}}}}"#,
        "{\"a\":".repeat(5000),
        "}".repeat(5000)
    );
    let create = "POST /api/v1/sessions".to_owned();
    let with = |rest: &str| format!(r#"{{"folder":"{project}",{rest}}}"#);
    for (line, body) in [
        (create.clone(), deep.clone()),
        (create.clone(), deep_map),
        (create.clone(), with(r#""title":"a","title":"b""#)),
        (create.clone(), with(r#""unknown":1"#)),
        (create.clone(), with(r#""title":1"#)),
        (create.clone(), with(r#""labels":"a""#)),
        (create.clone(), with(r#""labels":["a\u0000"]"#)),
        (create.clone(), with(r#""title":"a\u0000b""#)),
        (create.clone(), with(r#""mode":"everything""#)),
        (create.clone(), with(r#""options":{"limits":{"budget_usd":1e400}}"#)),
        (create.clone(), with(r#""options":{"limits":{"budget_usd":-1}}"#)),
        (create.clone(), with(r#""options":{"limits":{"turn_seconds":18446744073709551616}}"#)),
        (create.clone(), with(r#""options":{"limits":{"turn_seconds":-1}}"#)),
        (create.clone(), with(r#""options":{"limits":{"turns_a_message":4294967296}}"#)),
        (create.clone(), with(&format!(r#""title":"{}""#, "a".repeat(201)))),
        (create.clone(), with(r#""prompt":"\ud800""#)),
        (create.clone(), "null".to_owned()),
        (create.clone(), "[]".to_owned()),
        (create.clone(), format!("[\"{project}\"]")),
        ("POST /api/v1/tokens".to_owned(), r#"["a","admin",null]"#.to_owned()),
        (format!("PUT {at}/archived"), "[true]".to_owned()),
        (format!("POST {at}/fork"), "[null,null]".to_owned()),
        // The model is not forgotten because somebody did not say which.
        (format!("PUT {at}/model"), "{}".to_owned()),
        (format!("PUT {at}/model"), String::new()),
        (create.clone(), String::new()),
        (create, "{\"folder\":".to_owned()),
        (format!("PUT {at}/labels"), json!({"labels": vec!["a".repeat(65)]}).to_string()),
        (
            format!("PUT {at}/messages"),
            json!({"order": ["00000000-0000-0000-0000-000000000000"]}).to_string(),
        ),
        (format!("POST {at}/interrupt"), r#"{"turn":"not a uuid"}"#.to_owned()),
        (format!("POST {at}/messages"), deep),
    ] {
        let answer = server.json(&line, &body).await;
        let short: String = body.chars().take(120).collect();
        assert!((400..500).contains(&answer.status), "{line} {short}: {answer:?}");
        answer.problem();
    }
    let broken = server.bytes(&format!("PUT {at}/title"), b"{\"title\":\"\xff\xfe\"}").await;
    assert_eq!((broken.status, &*broken.problem()), (400, "not-json"));
    let large = json!({"title": "a".repeat(200_000)}).to_string();
    let refused = server.json(&format!("PUT {at}/title"), &large).await;
    assert_eq!((refused.status, &*refused.problem()), (413, "too-large"));
    server.end().await;
}

#[tokio::test]
async fn numbers_and_places_that_cannot_be_are_refused_with_a_problem() {
    let server = Running::new().await;
    let session = server.session(&json!({})).await;
    for line in [
        "GET /api/v1/sessions?after=nowhere".to_owned(),
        "GET /api/v1/approvals?after=nowhere".to_owned(),
        "GET /api/v1/inbox?after=nowhere".to_owned(),
        "GET /api/v1/audit?after=nowhere".to_owned(),
        "GET /api/v1/audit/export?after=nowhere".to_owned(),
        "GET /api/v1/audit?since=yesterday".to_owned(),
        "GET /api/v1/sessions?limit=-1".to_owned(),
        "GET /api/v1/sessions?limit=99999999999999999999999".to_owned(),
        "GET /api/v1/sessions?unknown=1".to_owned(),
        "GET /api/v1/events?before=3".to_owned(),
        "GET /api/v1/stream?before=3".to_owned(),
        "GET /api/v1/sessions?state=open&state=idle".to_owned(),
        format!("GET /api/v1/sessions/{session}/events?after=-1"),
        format!("GET /api/v1/sessions/{session}/events?after=18446744073709551616"),
        format!("GET /api/v1/sessions/{session}/stream?after=x"),
    ] {
        let refused = server.json(&line, "").await;
        assert_eq!((refused.status, &*refused.problem()), (400, "bad-parameter"), "{line}");
    }
    // The largest numbers are numbers.
    let most = u64::MAX;
    for line in [
        format!("GET /api/v1/sessions/{session}/events?after={most}"),
        format!("GET /api/v1/sessions/{session}/events?before={most}"),
        format!("GET /api/v1/sessions/{session}/stream?after={most}"),
        format!("GET /api/v1/stream?after={most}"),
        format!("GET /api/v1/events?after={most}"),
        format!("GET /api/v1/sessions?limit={most}"),
        "GET /api/v1/sessions?q=%00".to_owned(),
        "GET /api/v1/sessions?q=%22%20AND%20OR%20NEAR(%20*%20%5E%20-%20%3A".to_owned(),
        "GET /api/v1/sessions?folder=%00&label=%00".to_owned(),
        "GET /api/v1/audit?kind=%00%27%3B--".to_owned(),
    ] {
        let answer = server.json(&line, "").await;
        assert_eq!(answer.status, 200, "{line}: {answer:?}");
    }
    server.end().await;
}

#[tokio::test]
async fn a_copy_of_the_store_is_made_where_there_was_none() {
    let server = Running::new().await;
    let made = server.json("POST /api/v1/backup", "").await;
    assert_eq!(made.status, 201, "{made:?}");
    let file = made.json().get("file").and_then(Value::as_str).unwrap().to_owned();
    assert!(server.at("data/backups").join(file).is_file());
    server.end().await;
}

/// Whoever follows a link is let in and comes to a page, whose links lead somewhere.
#[tokio::test]
async fn a_browser_that_is_signed_in_sees_a_page() {
    let server = Running::new().await;
    let html = "Accept: text/html";
    let stranger = server.ask("GET /", &[html], "").await;
    assert_eq!(stranger.status, 303, "{stranger:?}");
    let session = server.session(&serde_json::json!({})).await;
    let page = server.ask("GET /", &[&server.admin, html], "").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    for link in page.body.split("href=\"").skip(1) {
        let to = link.split('"').next().unwrap();
        let there = server.ask(&format!("GET {to}"), &[&server.admin], "").await;
        assert_eq!(there.status, 200, "{to}: {there:?}");
    }
    let told = server.ask(&format!("GET /sessions/{session}"), &[&server.admin, html], "").await;
    assert_eq!(told.status, 200);
    server.end().await;
}

/// What would be too much, or what no CLI could be started with, is refused when a session is made.
#[tokio::test]
async fn a_session_that_could_not_be_started_is_not_made() {
    let server = Running::new().await;
    let long = "x".repeat(70_000);
    let many: Vec<_> = (0..257).map(|n| format!("Bash({n})")).collect();
    for options in [
        json!({"append_system_prompt": long}),
        json!({"allowed_tools": many}),
        json!({"disallowed_tools": ["x".repeat(1025)]}),
        json!({"allowed_tools": [""]}),
        json!({"allowed_tools": ["Bash("]}),
        json!({"fallback_model": "x".repeat(201)}),
        json!({"fallback_model": " "}),
        json!({"effort": "a\nb"}),
        json!({"mcp_servers": {"": {"command": "true"}}}),
        json!({"mcp_servers": {"a": ["secret-canary"]}}),
        json!({"mcp_servers": {"a": {"type": "sdk", "name": "a"}}}),
        json!({"mcp_servers": {"a": {"command": "x".repeat(300_000)}}}),
        json!({"limits": {"turn_seconds": u64::MAX}}),
    ] {
        let body = json!({"folder": server.root().join("project"), "options": options});
        let text = body.to_string();
        let answer = server.json("POST /api/v1/sessions", &text).await;
        let expected = if text.len() > 100_000 { 413 } else { 422 };
        assert_eq!(answer.status, expected, "{}: {answer:?}", &text[..text.len().min(200)]);
        assert!(!answer.body.contains("canary"), "{answer:?}");
    }
    let body = json!({"folder": server.root().join("project"), "model": "x".repeat(201)});
    let answer = server.json("POST /api/v1/sessions", &body.to_string()).await;
    assert_eq!(answer.status, 422, "{answer:?}");
    server.session(&json!({"options": {"allowed_tools": ["Bash(npm test:*)", "Read"]}})).await;
    server.end().await;
}

/// A list of values is not taken for an object of them, however deep it is.
#[tokio::test]
async fn a_list_is_no_object() {
    let server = Running::new().await;
    let folder = server.root().join("project");
    let session = server.session(&json!({})).await;
    let none = "0192f0c1-2345-7000-8000-000000000000";
    for (line, body) in [
        (
            format!("POST /api/v1/approvals/{none}/answer"),
            json!({"answer": {"deny": ["no", true]}}),
        ),
        (
            format!("POST /api/v1/approvals/{none}/answer"),
            json!({"answer": {"allow": {"rules": [["Bash", null, null]]}}}),
        ),
        (
            "POST /api/v1/sessions".to_owned(),
            json!({"folder": folder, "options": {"limits": [1.0]}}),
        ),
        (
            format!("POST /api/v1/sessions/{session}/messages"),
            json!({"text": "", "images": [["image/png", ""]]}),
        ),
    ] {
        let answer = server.json(&line, &body.to_string()).await;
        assert_eq!((answer.status, &*answer.problem()), (422, "bad-body"), "{line} {answer:?}");
    }
    server.end().await;
}

#[tokio::test]
async fn a_label_has_no_comma() {
    let server = Running::new().await;
    let body = json!({"folder": server.root().join("project"), "labels": ["a,b"]}).to_string();
    let answer = server.json("POST /api/v1/sessions", &body).await;
    assert_eq!((answer.status, &*answer.problem()), (422, "invalid"), "{answer:?}");
    let session = server.session(&json!({"labels": ["a b"]})).await;
    let line = format!("PUT /api/v1/sessions/{session}/labels");
    let answer = server.json(&line, &json!({"labels": ["a", ","]}).to_string()).await;
    assert_eq!(answer.status, 422, "{answer:?}");
    server.end().await;
}
