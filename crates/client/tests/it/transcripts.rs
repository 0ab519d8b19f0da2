//! Sessions on disk, in files as the CLI writes them and as nobody should.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use countersign::protocol::RawJson;
use countersign::protocol::ids::{AgentId, SessionId};
use countersign::transcript::{
    ForkOptions, ListOptions, MessageOptions, ProjectKey, Sessions, StoredBody, StoredMessage,
    TranscriptError,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A configuration folder with one project.
struct Home {
    folder: tempfile::TempDir,
}

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("projects/-work")).unwrap();
        Self { folder }
    }

    fn sessions(&self) -> Sessions {
        Sessions::at(self.folder.path())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("projects/-work").join(name)
    }

    fn write(&self, session: &str, lines: &[Value]) {
        fs::write(self.file(&format!("{session}.jsonl")), text(lines)).unwrap();
    }

    fn read(&self, session: &SessionId) -> Vec<Value> {
        let text = fs::read_to_string(self.file(&format!("{session}.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn id() -> SessionId {
    SessionId::from(SESSION)
}

fn entry(kind: &str, uuid: &str, parent: Option<&str>, content: Value) -> Value {
    json!({
        "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/work",
        "sessionId": SESSION, "version": "2.1.325", "gitBranch": "main", "type": kind,
        "message": {"role": kind, "content": content}, "uuid": uuid,
        "timestamp": "2026-01-01T00:00:00.000Z",
    })
}

fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    entry("user", uuid, parent, json!(text))
}

/// One block of a response.
fn block(uuid: &str, parent: &str, response: &str, block: Value) -> Value {
    let mut entry = entry("assistant", uuid, Some(parent), json!([block]));
    entry["message"]["id"] = json!(response);
    entry
}

fn says(uuid: &str, parent: &str, response: &str, text: &str) -> Value {
    block(uuid, parent, response, json!({"type": "text", "text": text}))
}

fn calls(uuid: &str, parent: &str, response: &str, call: &str) -> Value {
    block(
        uuid,
        parent,
        response,
        json!({"type": "tool_use", "id": call, "name": "Read", "input": {}}),
    )
}

fn gives(uuid: &str, parent: &str, call: &str) -> Value {
    let result = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
    entry("user", uuid, Some(parent), result)
}

fn with(mut entry: Value, name: &str, value: impl Into<Value>) -> Value {
    entry[name] = value.into();
    entry
}

fn messages(home: &Home, options: &MessageOptions) -> Vec<StoredMessage> {
    home.sessions().messages(&id(), options).unwrap().map(Result::unwrap).collect()
}

/// The uuids of what a reader sees.
#[track_caller]
fn check(lines: &[Value], expected: &[&str]) {
    let home = Home::new();
    home.write(SESSION, lines);
    let seen = messages(&home, &MessageOptions::new());
    let seen: Vec<_> = seen.iter().map(|message| message.uuid.as_str()).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_conversation_is_read_from_its_end() {
    check(
        &[user("a", None, "hi"), says("b", "a", "r1", "ho"), user("c", Some("b"), "bye")],
        &["a", "b", "c"],
    );
}

#[test]
fn what_was_rewound_is_not_read() {
    check(
        &[
            user("a", None, "hi"),
            says("b", "a", "r1", "no"),
            user("c", Some("a"), "again"),
            says("d", "c", "r2", "yes"),
        ],
        &["a", "c", "d"],
    );
}

#[test]
fn parallel_calls_are_put_back_with_their_results() {
    // Each result has its own call for a parent, so two of the three are branches.
    check(
        &[
            user("p", None, "read all"),
            says("t", "p", "r1", "I will."),
            calls("c1", "t", "r1", "x1"),
            calls("c2", "c1", "r1", "x2"),
            calls("c3", "c2", "r1", "x3"),
            gives("g1", "c1", "x1"),
            gives("g2", "c2", "x2"),
            gives("g3", "c3", "x3"),
            says("e", "g1", "r2", "Done."),
        ],
        &["p", "t", "c1", "c2", "c3", "g2", "g3", "g1", "e"],
    );
}

#[test]
fn a_result_with_another_parent_is_found_by_its_call() {
    check(
        &[
            user("p", None, "go"),
            calls("c1", "p", "r1", "x1"),
            calls("c2", "c1", "r1", "x2"),
            with(gives("g2", "gone", "x2"), "sourceToolAssistantUUID", "c2"),
            gives("g3", "gone", "x1"),
            gives("g1", "c1", "x1"),
            says("e", "g1", "r2", "Done."),
        ],
        // The call x1 has its answer already.
        &["p", "c1", "c2", "g2", "g1", "e"],
    );
}

#[test]
fn what_is_not_for_a_reader_is_left_out() {
    let summary = with(user("s", None, "so far"), "isCompactSummary", true);
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "y",
        "parentUuid": "s", "logicalParentUuid": "old", "content": "compacted"});
    let lines = [
        user("old", None, "before"),
        summary,
        boundary,
        with(user("m", Some("y"), "meta"), "isMeta", true),
        user("a", Some("m"), "hi"),
        with(user("side", Some("a"), "side"), "isSidechain", true),
        with(user("team", Some("a"), "team"), "teamName", "reds"),
        with(user("last", Some("a"), "caveat"), "isMeta", true),
        json!({"type": "hologram", "uuid": "h", "parentUuid": "a"}),
    ];
    check(&lines, &["s", "a"]);
    let home = Home::new();
    home.write(SESSION, &lines);
    let seen = messages(&home, &MessageOptions::new().with_system_messages());
    assert!(seen[0].is_compact_summary);
    let boundary = StoredBody::System {
        subtype: Some("compact_boundary".into()),
        content: Some("compacted".into()),
    };
    assert_eq!(seen[1].body, boundary);
    assert_eq!(seen.len(), 3);
}

#[test]
fn a_page_is_a_part_of_the_whole() {
    let home = Home::new();
    home.write(
        SESSION,
        &[user("a", None, "1"), user("b", Some("a"), "2"), user("c", Some("b"), "3")],
    );
    let page = messages(&home, &MessageOptions::new().offset(1).limit(1));
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].uuid.as_str(), "b");
    assert_eq!(page[0].parent_uuid.as_ref().unwrap().as_str(), "a");
    assert_eq!(page[0].session_id, Some(id()));
    let StoredBody::User(said) = &page[0].body else { panic!("{:?}", page[0].body) };
    assert_eq!(said.content.texts().collect::<Vec<_>>(), ["2"]);
}

#[test]
fn a_message_of_another_shape_is_carried_as_it_is() {
    let home = Home::new();
    let mut odd = user("a", None, "");
    odd["message"] = json!({"role": "user", "content": {"hologram": 7}});
    home.write(SESSION, &[odd.clone()]);
    let seen = messages(&home, &MessageOptions::new());
    assert!(matches!(seen[0].body, StoredBody::Malformed { .. }));
    assert_eq!(seen[0].raw.as_str(), odd.to_string());
}

#[test]
fn circles_and_twins_end() {
    let circle = [user("a", Some("b"), "1"), user("b", Some("a"), "2"), user("c", Some("b"), "3")];
    check(&circle, &["a", "b", "c"]);
    check(&[user("a", Some("a"), "own parent")], &["a"]);
    // Of twins the last counts.
    let twins = [user("a", None, "1"), user("b", Some("a"), "2"), user("a", None, "other")];
    check(&twins, &["a"]);
}

#[test]
fn what_is_broken_is_passed_over() {
    let home = Home::new();
    let mut bytes = b"\xff\xfe not text\n[1]\nnull\n{\"type\":5,\"uuid\":{}}\n\n{\"half\n".to_vec();
    bytes.extend(text(&[user("a", None, "hi"), says("b", "a", "r", "ho")]).as_bytes());
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = user("c", Some("b"), "DEEP").to_string().replace("\"DEEP\"", &deep);
    bytes.extend(format!("{deep}\n").as_bytes());
    bytes.extend(text(&[user("d", Some("c"), "on")]).as_bytes());
    bytes.extend(b"{\"type\":\"user\",\"uuid\":\"e\",\"parentUuid\":\"d\",\"mess");
    fs::write(home.file(&format!("{SESSION}.jsonl")), bytes).unwrap();
    let seen = messages(&home, &MessageOptions::new());
    let seen: Vec<_> = seen.iter().map(|message| message.uuid.as_str()).collect();
    assert_eq!(seen, ["a", "b", "d"], "what is too deep is a link and no message");
    // The torn line stays where it is, and does not take the title with it.
    home.sessions().rename(&id(), "Torn").unwrap();
    let info = home.sessions().info(&id()).unwrap().unwrap();
    assert_eq!(info.custom_title.as_deref(), Some("Torn"));
}

#[test]
fn an_id_that_is_not_a_uuid_never_becomes_a_path() {
    let home = Home::new();
    let outside = home.folder.path().join("outside.jsonl");
    fs::write(&outside, text(&[user("a", None, "secret")])).unwrap();
    for bad in ["../../outside", "", "..", "a/b", "11111111222243338444555555555555"] {
        let bad = SessionId::from(bad);
        let sessions = home.sessions();
        let errors = [
            sessions.info(&bad).err(),
            sessions.messages(&bad, &MessageOptions::new()).err(),
            sessions.rename(&bad, "x").err(),
            sessions.delete(&bad).err(),
            sessions.fork(&bad, &ForkOptions::new()).err(),
        ];
        for error in errors {
            assert!(matches!(error, Some(TranscriptError::NotASessionId { .. })), "{error:?}");
        }
    }
    assert!(outside.exists());
    let error = home.sessions().delete(&id()).unwrap_err();
    assert!(matches!(error, TranscriptError::NotFound { .. }), "{error}");
}

#[test]
fn a_list_shows_what_stands_at_both_ends() {
    let home = Home::new();
    let mut lines = vec![
        with(user("m", None, "<local-command-stdout>x"), "isMeta", true),
        user("c", None, "<command-name>/init</command-name>"),
        with(user("a", None, "Fix\nthe test"), "entrypoint", "cli"),
        gives("g", "a", "x"),
    ];
    // The middle is not read: it has a title that nobody sees.
    let filler = "x".repeat(1000);
    lines.extend((0..100).map(|n| says(&format!("f{n}"), "a", "r", &filler)));
    lines.push(json!({"type": "custom-title", "customTitle": "in the middle"}));
    lines.extend((0..100).map(|n| says(&format!("h{n}"), "a", "r", &filler)));
    lines.push(with(says("z", "a", "r", "end"), "gitBranch", "topic"));
    // Only fields of the line itself count, not what is said in it.
    lines.push(says("q", "a", "r", r#"{"customTitle":"no","tag":"no"}"#));
    lines.push(json!({"type": "last-prompt", "lastPrompt": "And now?"}));
    home.write(SESSION, &lines);
    let info = home.sessions().info(&id()).unwrap().unwrap();
    assert_eq!(info.summary, "And now?");
    assert_eq!(info.first_prompt.as_deref(), Some("Fix the test"));
    assert_eq!(info.custom_title, None);
    assert_eq!(info.git_branch.as_deref(), Some("main"));
    assert_eq!(info.cwd.as_deref(), Some(Path::new("/work")));
    assert_eq!(info.created_at.unwrap().to_string(), "2026-01-01T00:00:00Z");
    assert_eq!(info.project.as_str(), "-work");
    assert!(!info.is_programmatic());
    assert!(!info.archived);
    assert_eq!(info.tag, None);

    let sessions = home.sessions();
    sessions.rename(&id(), "  A title ").unwrap();
    sessions.tag(&id(), Some("v\u{200b}1 ")).unwrap();
    sessions.archive(&id()).unwrap();
    let info = sessions.info(&id()).unwrap().unwrap();
    assert_eq!((info.summary.as_str(), info.tag.as_deref()), ("A title", Some("v1")));
    assert!(info.archived);
    sessions.tag(&id(), None).unwrap();
    sessions.unarchive(&id()).unwrap();
    let info = sessions.info(&id()).unwrap().unwrap();
    assert_eq!((info.tag, info.archived), (None, false));
    for blank in ["", " ", "\n"] {
        assert!(matches!(sessions.rename(&id(), blank), Err(TranscriptError::Empty { .. })));
        assert!(matches!(sessions.tag(&id(), Some(blank)), Err(TranscriptError::Empty { .. })));
    }
}

#[test]
fn a_first_prompt_longer_than_what_is_read_is_shown_all_the_same() {
    let home = Home::new();
    let long = format!("Look at \"this\"\n{}", "y\n".repeat(100_000));
    // In the order in which the CLI writes its fields.
    let line = format!(
        r#"{{"parentUuid":null,"type":"user","message":{{"role":"user","content":{}}},"uuid":"a"}}"#,
        json!(long)
    );
    fs::write(home.file(&format!("{SESSION}.jsonl")), line).unwrap();
    let info = home.sessions().info(&id()).unwrap().unwrap();
    assert!(info.summary.starts_with("Look at \"this\" y y"), "{}", info.summary);
}

#[test]
fn a_list_is_sorted_and_has_pages() {
    let home = Home::new();
    let ids: Vec<String> =
        (0..5).map(|n| format!("{n}1111111-2222-4333-8444-555555555555")).collect();
    for (n, id) in ids.iter().enumerate() {
        home.write(
            id,
            &[with(
                user("a", None, &format!("prompt {n}")),
                "entrypoint",
                if n == 2 { "sdk-cli" } else { "cli" },
            )],
        );
        let file =
            fs::File::options().append(true).open(home.file(&format!("{id}.jsonl"))).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + n as u64);
        file.set_modified(time).unwrap();
    }
    // None of these is a session that a list shows.
    home.write(
        "21111111-2222-4333-8444-555555555556",
        &[with(user("a", None, "x"), "isSidechain", true)],
    );
    home.write("21111111-2222-4333-8444-555555555557", &[json!({"type": "permission-mode"})]);
    fs::write(home.file("21111111-2222-4333-8444-555555555558.jsonl"), "").unwrap();
    home.write("notes", &[user("a", None, "x")]);
    fs::create_dir(home.file("21111111-2222-4333-8444-555555555559.jsonl")).unwrap();
    let shown = |options: &ListOptions| -> Vec<String> {
        let list = home.sessions().list(options).unwrap();
        list.iter().map(|info| info.summary.clone()).collect()
    };
    let all = ["prompt 4", "prompt 3", "prompt 2", "prompt 1", "prompt 0"];
    assert_eq!(shown(&ListOptions::new()), all);
    assert_eq!(shown(&ListOptions::new().offset(1).limit(2)), all[1..3]);
    assert_eq!(
        shown(&ListOptions::new().without_programmatic().offset(1).limit(2)),
        ["prompt 3", "prompt 1"]
    );
    let elsewhere = Sessions::at(home.folder.path().join("none"));
    assert_eq!(elsewhere.list(&ListOptions::new()).unwrap(), []);
}

#[test]
fn the_sessions_of_a_folder_are_those_of_its_working_trees_too() {
    let home = Home::new();
    let root = tempfile::tempdir().unwrap();
    let (main, tree, other) =
        (root.path().join("main"), root.path().join("tree"), root.path().join("main-two"));
    let git = main.join(".git/worktrees/tree");
    for folder in [&git, &tree, &other, &main.join("sub")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(git.join("gitdir"), format!("{}/.git\n", tree.display())).unwrap();
    fs::write(git.join("commondir"), "../..\n").unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    for (n, folder) in [&main, &tree, &other, &main.join("sub")].into_iter().enumerate() {
        let project = home.folder.path().join("projects").join(ProjectKey::of(folder).as_str());
        fs::create_dir_all(&project).unwrap();
        let file = project.join(format!("{n}1111111-2222-4333-8444-555555555555.jsonl"));
        fs::write(file, text(&[user("a", None, &n.to_string())])).unwrap();
    }
    let shown = |sessions: Sessions| -> Vec<String> {
        let list = sessions.list(&ListOptions::new()).unwrap();
        let mut shown: Vec<_> = list.into_iter().map(|info| info.summary).collect();
        shown.sort();
        shown
    };
    let sessions = home.sessions();
    assert_eq!(shown(sessions.clone().in_directory(&main)), ["0", "1"]);
    assert_eq!(shown(sessions.clone().in_directory(&tree)), ["0", "1"]);
    assert_eq!(shown(sessions.clone().in_directory(main.join("sub"))), ["0", "1", "3"]);
    assert_eq!(shown(sessions.clone().in_directory(&tree).without_worktrees()), ["1"]);
    assert_eq!(shown(sessions.clone().in_directory(&other)), ["2"]);
    assert_eq!(shown(sessions), ["0", "1", "2", "3"]);
}

#[test]
fn sub_agents_are_listed_and_read() {
    let home = Home::new();
    home.write(SESSION, &[user("a", None, "go")]);
    let folder = home.file(SESSION).join("subagents");
    fs::create_dir_all(folder.join("workflows/w1")).unwrap();
    let side = |entry| with(entry, "isSidechain", true);
    let lines = text(&[
        side(user("s1", None, "do it")),
        side(calls("s2", "s1", "r", "x1")),
        side(calls("s3", "s2", "r", "x2")),
        side(gives("s4", "s3", "x2")),
        side(gives("s5", "s2", "x1")),
        side(says("s6", "s5", "r2", "done")),
    ]);
    fs::write(folder.join("agent-abc.jsonl"), &lines).unwrap();
    let meta = r#"{"agentType":"general","description":"Do it","toolUseId":"toolu_1","parentAgentId":"up","spawnDepth":2}"#;
    fs::write(folder.join("agent-abc.meta.json"), meta).unwrap();
    fs::write(folder.join("workflows/w1/agent-def.jsonl"), &lines).unwrap();
    // A link could lead anywhere.
    std::os::unix::fs::symlink(&folder, folder.join("workflows/loop")).unwrap();

    let agents = home.sessions().subagents(&id()).unwrap();
    let ids: Vec<_> = agents.iter().map(|agent| agent.agent_id.as_str()).collect();
    assert_eq!(ids, ["abc", "def"]);
    assert_eq!(agents[0].agent_type.as_deref(), Some("general"));
    assert_eq!(agents[0].metadata.as_ref().map(RawJson::as_str), Some(meta));
    assert_eq!(agents[1].metadata, None);
    let read = |agent: &str| {
        home.sessions().subagent_messages(&id(), &AgentId::from(agent), &MessageOptions::new())
    };
    let said: Vec<_> = read("abc").unwrap().map(Result::unwrap).collect();
    let uuids: Vec<_> = said.iter().map(|message| message.uuid.as_str()).collect();
    assert_eq!(uuids, ["s1", "s2", "s3", "s4", "s5", "s6"]);
    assert_eq!(said[0].parent_tool_use_id.as_ref().unwrap().as_str(), "toolu_1");
    assert_eq!(said[0].parent_agent_id.as_ref().unwrap().as_str(), "up");
    assert!(matches!(read("../abc"), Err(TranscriptError::NoSuchAgent { .. })));

    home.sessions().delete(&id()).unwrap();
    assert!(!home.file(SESSION).exists());
    assert_eq!(fs::read_dir(home.file("")).unwrap().count(), 0);
}

#[test]
fn a_fork_has_the_same_messages_under_other_ids() {
    let home = Home::new();
    let lines = [
        with(user("a", None, "hi"), "slug", "funny-name"),
        json!({"type": "progress", "uuid": "p", "parentUuid": "a", "isSidechain": false}),
        with(says("b", "p", "r", "ho"), "mood", json!({"price": 1.5})),
        with(user("side", Some("b"), "side"), "isSidechain", true),
        json!({"type": "content-replacement", "sessionId": SESSION, "replacements": [{"a": 1}]}),
        json!({"type": "content-replacement", "sessionId": "another", "replacements": [{"b": 1}]}),
        with(user("c", Some("b"), "more"), "logicalParentUuid", "a"),
        says("d", "c", "r2", "end"),
    ];
    home.write(SESSION, &lines);
    let sessions = home.sessions();
    sessions.rename(&id(), "Title").unwrap();
    let fork = sessions.fork(&id(), &ForkOptions::new()).unwrap();
    let copy = home.read(&fork);
    let kinds: Vec<_> = copy.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["user", "assistant", "user", "assistant", "content-replacement", "custom-title"]
    );
    for (copy, original) in copy.iter().zip([0, 2, 6, 7]) {
        assert_eq!(copy["message"], lines[original]["message"]);
        assert_eq!(copy["sessionId"], json!(fork));
        let from = json!({"sessionId": SESSION, "messageUuid": lines[original]["uuid"]});
        assert_eq!(copy["forkedFrom"], from);
        assert_ne!(copy["uuid"], lines[original]["uuid"]);
        assert_eq!(copy.get("slug"), None);
    }
    assert_eq!(copy[1]["mood"], json!({"price": 1.5}));
    assert_eq!(copy[0]["parentUuid"], json!(null));
    assert_eq!(copy[1]["parentUuid"], copy[0]["uuid"], "progress is left out of the chain");
    assert_eq!(copy[2]["parentUuid"], copy[1]["uuid"]);
    assert_eq!(copy[2]["logicalParentUuid"], copy[0]["uuid"]);
    assert_eq!(copy[2]["timestamp"], lines[6]["timestamp"]);
    assert_ne!(copy[3]["timestamp"], lines[7]["timestamp"], "the end of the fork is the latest");
    assert_eq!(copy[4]["replacements"], json!([{"a": 1}]));
    assert_eq!(sessions.info(&fork).unwrap().unwrap().summary, "Title (fork)");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(home.file(&format!("{fork}.jsonl"))).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);

    let options = ForkOptions::new().up_to_message("b").title(" Short ");
    let short = sessions.fork(&id(), &options).unwrap();
    let said = sessions.messages(&short, &MessageOptions::new()).unwrap().count();
    assert_eq!(said, 2);
    assert_eq!(sessions.info(&short).unwrap().unwrap().summary, "Short");
    let error = sessions.fork(&id(), &ForkOptions::new().up_to_message("nope")).unwrap_err();
    assert!(matches!(error, TranscriptError::NoSuchMessage { .. }), "{error}");
    let left = fs::read_dir(home.file("")).unwrap().count();
    assert_eq!(left, 3, "nothing is left of the fork that failed");
    home.write(SESSION, &[json!({"type": "tag", "tag": "x"})]);
    let error = sessions.fork(&id(), &ForkOptions::new()).unwrap_err();
    assert!(matches!(error, TranscriptError::NothingToFork { .. }), "{error}");
}

/// How much memory this process has had at most, in bytes.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
#[expect(clippy::disallowed_methods, reason = "memory is that of a process, so it has to be one")]
fn a_large_transcript_is_read_in_little_memory() {
    const VARIABLE: &str = "COUNTERSIGN_TEST_LARGE_TRANSCRIPT";
    if let Some(home) = std::env::var_os(VARIABLE) {
        let before = most_memory();
        let sessions = Sessions::at(home);
        assert_eq!(sessions.list(&ListOptions::new()).unwrap().len(), 1);
        let listed = most_memory();
        let messages = sessions.messages(&id(), &MessageOptions::new().offset(10)).unwrap();
        let said: usize = messages.map(|message| message.unwrap().raw.as_str().len()).sum();
        assert!(said > 8 << 20, "{said}");
        let fork = sessions.fork(&id(), &ForkOptions::new()).unwrap();
        sessions.delete(&fork).unwrap();
        let after = most_memory();
        assert!(listed - before < 2 << 20, "{before} {listed}");
        assert!(after - before < 24 << 20, "{before} {after}");
        return;
    }
    let home = Home::new();
    let mut file = fs::File::create(home.file(&format!("{SESSION}.jsonl"))).unwrap();
    let megabyte = "x".repeat(1 << 20);
    writeln!(file, "{}", user("n0", None, "hi")).unwrap();
    for n in 1..20 {
        writeln!(file, "{}", user(&format!("n{n}"), Some(&format!("n{}", n - 1)), &megabyte))
            .unwrap();
    }
    // The index passes over what it does not know, but has to find its end.
    for _ in 0..285 {
        writeln!(file, r#"{{"type":"file-history-snapshot","data":"{megabyte}"}}"#).unwrap();
    }
    writeln!(file, "{}", user("end", Some("n19"), "bye")).unwrap();
    assert!(file.metadata().unwrap().len() > 300 << 20);
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "transcripts::a_large_transcript_is_read_in_little_memory"])
        .env(VARIABLE, home.folder.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the links are: it ends, no message is given twice, and each is one of the file.
    #[test]
    fn any_tree_can_be_read(
        links in prop::collection::vec((0u8..12, prop::option::of(0u8..12), 0u8..4, 0u8..5), 0..40)
    ) {
        let lines: Vec<_> = links.iter().map(|(uuid, parent, response, kind)| {
            let (uuid, parent) = (uuid.to_string(), parent.map(|parent| parent.to_string()));
            let under = parent.as_deref().unwrap_or_default();
            let (response, call) = (format!("r{response}"), format!("x{response}"));
            match kind {
                0 => user(&uuid, parent.as_deref(), "text"),
                1 => calls(&uuid, under, &response, &call),
                2 => gives(&uuid, under, &call),
                3 => with(says(&uuid, under, &response, "text"), "isSidechain", true),
                _ => says(&uuid, under, &response, "text"),
            }
        }).collect();
        let home = Home::new();
        home.write(SESSION, &lines);
        if !lines.is_empty() {
            let seen = messages(&home, &MessageOptions::new());
            let mut uuids: Vec<_> = seen.iter().map(|message| message.uuid.clone()).collect();
            uuids.sort();
            let all = uuids.len();
            uuids.dedup();
            prop_assert_eq!(uuids.len(), all);
            for message in &seen {
                let line: Value = serde_json::from_str(message.raw.as_str()).unwrap();
                prop_assert!(lines.contains(&line));
            }
            if let Ok(fork) = home.sessions().fork(&id(), &ForkOptions::new()) {
                home.sessions().messages(&fork, &MessageOptions::new()).unwrap().for_each(drop);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_transcript(bytes in prop::collection::vec(any::<u8>(), 1..400)) {
        let home = Home::new();
        fs::write(home.file(&format!("{SESSION}.jsonl")), bytes).unwrap();
        home.sessions().list(&ListOptions::new()).unwrap();
        messages(&home, &MessageOptions::new());
    }
}
