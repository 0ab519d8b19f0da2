//! Forks, and what must not be changed.

use std::fs;

use countersign::protocol::ids::SessionId;
use countersign::transcript::{ForkOptions, MessageOptions, TranscriptError};
use serde_json::json;

use super::{Home, SESSION, id, says, text, user, with};

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
