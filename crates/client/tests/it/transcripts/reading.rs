//! What a reader sees of a transcript, whatever is in it.

use std::fs;

use countersign::protocol::RawJson;
use countersign::protocol::ids::AgentId;
use countersign::transcript::{
    ForkOptions, ListOptions, MessageOptions, StoredBody, TranscriptError,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Home, SESSION, calls, gives, id, messages, says, text, user, with};

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

/// As 2.1.62 writes them on a busy machine.
#[test]
fn messages_that_are_written_before_their_parents_are_read() {
    check(&[says("b", "a", "r1", "ho"), user("a", None, "hi")], &["a", "b"]);
    check(
        &[
            user("c", Some("b"), "bye"),
            user("a", None, "hi"),
            says("d", "c", "r2", "bye, too"),
            says("b", "a", "r1", "ho"),
        ],
        &["a", "b", "c", "d"],
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
fn results_of_the_same_time_are_in_the_order_of_their_calls() {
    let late = |entry| with(entry, "timestamp", "2026-01-01T00:00:01.000Z");
    let lines = |first: Value, second: Value| {
        [
            user("p", None, "go"),
            calls("c1", "p", "r1", "x1"),
            calls("c2", "c1", "r1", "x2"),
            calls("c3", "c2", "r1", "x3"),
            first,
            second,
            gives("g1", "c1", "x1"),
            says("e", "g1", "r2", "Done."),
        ]
    };
    let (two, three) = (gives("g2", "c2", "x2"), gives("g3", "c3", "x3"));
    let by_call = ["p", "c1", "c2", "c3", "g2", "g3", "g1", "e"];
    check(&lines(three.clone(), two.clone()), &by_call);
    let by_time = ["p", "c1", "c2", "c3", "g3", "g2", "g1", "e"];
    check(&lines(late(two), three), &by_time);
}

#[test]
fn a_response_of_very_many_calls_is_read() {
    let mut lines = vec![user("p", None, "go"), calls("c0", "p", "r", "x0")];
    for n in 1..20_000 {
        lines.push(calls(&format!("c{n}"), "c0", "r", &format!("x{n}")));
        lines.push(gives(&format!("g{n}"), &format!("c{n}"), &format!("x{n}")));
    }
    lines.push(gives("g0", "c0", "x0"));
    let home = Home::new();
    home.write(SESSION, &lines);
    assert_eq!(messages(&home, &MessageOptions::new()).len(), lines.len());
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
