//! `sessions`, `send`, `audit` and `backup`: sessions of a server, from a terminal.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::served::Served;
use crate::serving::WRITE;

/// The model says what it was told, and takes its time where it is asked to.
const ECHO: &str = r#"
[[answer]]
when = { text = "slowly" }
times = 1
text = "So slow."
delay = "10m"

[[answer]]
when = { text = "/./" }
text = "You said: ${text}"
"#;

#[test]
fn sessions_are_made_listed_shown_and_found() {
    let served = Served::new(ECHO);
    let made = served.ok(&["sessions", "new", "Count to three.", "--title", "Counting"]);
    let id = made.out.trim();
    assert!(made.err.contains(&format!("countersign watch {}", &id[id.len() - 8..])), "{made:?}");
    assert_eq!(served.last_text(id), "You said: Count to three.");
    let other = served.session_with("Sing.", &["--label", "loud", "--label", "late"]);
    served.rest(&other);

    let listed = served.ok(&["sessions", "list"]);
    let at = |text: &str| listed.out.find(text).unwrap_or_else(|| panic!("{text} in {listed:?}"));
    assert!(at("Sing.") < at("Counting"), "the last one comes first: {listed:?}");
    assert!(listed.out.contains("#late  #loud"), "{listed:?}");
    assert!(listed.err.contains("countersign sessions show "), "{listed:?}");
    let ids = |arguments: &[&str]| -> Vec<Value> {
        let all = served.json(&[&["sessions", "list"], arguments].concat());
        all.into_iter().map(|view| view["id"].clone()).collect()
    };
    assert_eq!(ids(&["--label", "loud"]), [json!(other)]);
    assert_eq!(ids(&["--label", "quiet"]), [Value::Null; 0]);
    assert_eq!(ids(&["three"]), [json!(id)], "in what was said");
    assert_eq!(ids(&["--state", "ready", "--by-age", "-n", "1"]), [json!(other)]);
    assert_eq!(ids(&["--state", "parked"]), [Value::Null; 0]);
    assert_eq!(ids(&["--folder", served.work().to_str().unwrap()]).len(), 2);
    assert_eq!(served.run(&["sessions", "list", "--state", "sleeping"]).code, Some(2));

    let shown = served.ok(&["sessions", "show", id]);
    for part in [id, "Counting", "state    ready", "❯ Count to three.", "You said: Count to three."]
    {
        assert!(shown.out.contains(part), "{part} in {}", shown.out);
    }
    assert_eq!(shown.out.matches("You said").count(), 1, "{}", shown.out);
    let used = served.ok(&["sessions", "usage", id]);
    assert!(used.out.contains("1 turn,"), "{used:?}");
    assert_eq!(served.object(&["sessions", "usage"])["turns"], 2);
    let all = served.ok(&["sessions", "usage"]);
    assert!(all.out.contains("2 turns") && all.out.contains("2 ready"), "{all:?}");
}

#[test]
fn what_is_not_named_well_is_not_guessed() {
    let served = Served::new(ECHO);
    let one = served.session("One.");
    // What happens last is in the second one.
    served.rest(&one);
    let two = served.session("Two.");
    assert_eq!(served.head("latest")["id"], *two);
    assert_eq!(served.head(&one[one.len() - 8..])["id"], *one);
    assert_eq!(served.head(&one.to_uppercase())["id"], *one);
    // Made within the same few milliseconds, they begin alike.
    for (name, says) in [
        (&one[..4], "several sessions have ids"),
        ("abc", "there is no session"),
        ("00000000", "there is no session"),
        ("One.", "there is no session"),
        ("00000000-0000-7000-8000-000000000000", "there is no session"),
    ] {
        let wrong = served.run(&["sessions", "show", name]);
        assert_eq!(wrong.code, Some(2), "{name}: {wrong:?}");
        assert!(wrong.err.contains(says), "{name}: {wrong:?}");
        assert!(wrong.err.contains("countersign sessions list"), "{name}: {wrong:?}");
    }
    assert_eq!(served.run(&["approve", "abcd"]).code, Some(2));
    let outside = served.run(&["sessions", "new", "x", "--folder", "/"]);
    assert_eq!(outside.code, Some(2), "{outside:?}");
    assert!(outside.err.contains("folder"), "{outside:?}");
}

#[test]
fn a_session_is_changed_stopped_brought_back_and_deleted() {
    let served = Served::new(ECHO);
    let id = served.session("Hello.");
    served.rest(&id);
    served.ok(&["sessions", "rename", &id, "Greetings"]);
    served.ok(&["sessions", "label", &id, "a", "b"]);
    served.ok(&["sessions", "label", &id, "--add", "c", "--remove", "a"]);
    assert_eq!(served.run(&["sessions", "label", &id]).code, Some(2));
    served.ok(&["sessions", "mode", &id, "plan"]);
    served.ok(&["sessions", "model", &id, "opus"]);
    served.ok(&["send", &id, "Now?"]);
    served.rest(&id);
    let head = served.head(&id);
    assert_eq!(head["title"], "Greetings");
    assert_eq!(head["labels"], json!(["b", "c"]));
    assert_eq!((&head["mode"], &head["model"]), (&json!("plan"), &json!("opus")), "{head}");
    let bypass = served.run(&["sessions", "mode", &id, "bypass-permissions"]);
    assert_eq!(bypass.code, Some(2), "{bypass:?}");
    assert!(bypass.err.contains("allow_bypass"), "{bypass:?}");

    // What has a process is neither archived nor deleted.
    assert_eq!(served.run(&["sessions", "delete", &id, "--yes"]).code, Some(1));
    served.ok(&["sessions", "stop", &id]);
    let events = served.rest(&id);
    assert!(events.iter().any(|event| event["kind"] == "session.stop_asked"));
    assert_eq!(served.head(&id)["state"], "ended");
    served.ok(&["sessions", "resume", &id]);
    served.ok(&["send", &id, "Are you back?"]);
    assert_eq!(served.last_text(&id), "You said: Are you back?");
    served.ok(&["sessions", "stop", &id]);
    served.rest(&id);
    served.ok(&["sessions", "archive", &id]);
    assert_eq!(served.json(&["sessions", "list"]), [Value::Null; 0]);
    assert_eq!(served.json(&["sessions", "list", "--archived"]).len(), 1);
    // It is found there as well.
    served.ok(&["sessions", "archive", &id[id.len() - 8..], "--undo"]);
    assert_eq!(served.json(&["sessions", "list"]).len(), 1);

    let copy = served.object(&["sessions", "fork", &id, "And you?", "--title", "A copy"]);
    let copy = copy["session"].as_str().unwrap();
    assert_eq!(served.last_text(copy), "You said: And you?");
    let shown = served.ok(&["sessions", "show", copy]);
    assert!(shown.out.contains("A copy") && shown.out.contains("a copy of "), "{shown:?}");

    let kept = served.run(&["sessions", "delete", &id]);
    assert_eq!(kept.code, Some(4), "nobody can be asked: {kept:?}");
    let deleted = served.object(&["sessions", "delete", &id, "--yes"]);
    assert_eq!(deleted, json!({"session": id, "deleted": true}));
    assert_eq!(served.run(&["sessions", "show", &id]).code, Some(2));
}

#[test]
fn messages_wait_and_can_be_changed_until_they_are_sent() {
    let served = Served::new(ECHO);
    let id = served.session("Do it slowly.");
    let queue = || -> Vec<String> {
        let queue = served.json(&["sessions", "queue", "list", &id]);
        queue.iter().map(|message| message["content"]["text"].as_str().unwrap().into()).collect()
    };
    // The first one is on its way when its turn has begun.
    while !queue().is_empty() {}
    for text in ["one", "two", "three"] {
        served.ok(&["send", &id, text]);
    }
    let listed = served.ok(&["sessions", "queue", "list", &id]);
    assert!(listed.out.starts_with(" 1  ") && listed.out.contains("three"), "{listed:?}");
    served.ok(&["sessions", "queue", "order", &id, "3"]);
    assert_eq!(queue(), ["three", "one", "two"]);
    served.ok(&["sessions", "queue", "remove", &id, "2"]);
    served.ok(&["sessions", "queue", "edit", &id, "2", "two and a half"]);
    assert_eq!(queue(), ["three", "two and a half"]);
    assert_eq!(served.run(&["sessions", "queue", "remove", &id, "3"]).code, Some(2));

    served.ok(&["sessions", "interrupt", &id]);
    assert_eq!(served.last_text(&id), "You said: two and a half");
    let late = served.run(&["sessions", "interrupt", &id]);
    assert_eq!(late.code, Some(1), "{late:?}");
    assert!(late.err.contains("nothing to interrupt"), "{late:?}");
    let nothing = served.ok(&["sessions", "queue", "list", &id]);
    assert!(nothing.err.contains("nothing waits"), "{nothing:?}");
}

#[test]
fn words_come_from_standard_input_and_pictures_from_files() {
    let served = Served::new(ECHO);
    let id = served.session("Hello.");
    served.rest(&id);
    let mut send = served.command(&["send", &id, "-", "--image", "dot.png"]);
    // The smallest picture that there is.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    fs::write(served.work().join("dot.png"), png).unwrap();
    send.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = send.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe").unwrap();
    assert!(child.wait().unwrap().success());
    let events = served.rest(&id);
    let queued = events.iter().rfind(|event| event["kind"] == "message.queued").unwrap();
    assert_eq!(queued["body"]["content"]["text"], "from a pipe");
    assert_eq!(queued["body"]["content"]["images"][0]["media_type"], "image/png");
    fs::write(served.work().join("dot.png"), "<svg/>").unwrap();
    let wrong = served.run(&["send", &id, "x", "--image", "dot.png"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("no picture that the model can see"), "{wrong:?}");
    assert_eq!(served.run(&["send", &id, " "]).code, Some(2));
}

#[test]
fn who_decided_what_is_told_and_can_be_taken_along() {
    let served = Served::new(WRITE);
    let id = served.session("Write it.");
    let asked = served.ask(&id);
    served.ok(&["deny", &asked, "not like this"]);
    served.rest(&id);
    let entries = served.json(&["audit", "--kind", "approval.answered"]);
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["by"]["name"], "first start");
    assert_eq!(entries[0]["by"]["from"], "127.0.0.1");
    let text = served.ok(&["audit", "--approval", &asked]);
    assert!(text.out.contains("not like this") && text.out.contains("first start"), "{text:?}");
    assert_eq!(served.json(&["audit", "--until", "2020-01-01T00:00:00Z"]), [Value::Null; 0]);
    served.ok(&["audit", "--session", &id, "--export", "audit.jsonl"]);
    let lines = fs::read_to_string(served.work().join("audit.jsonl")).unwrap();
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{lines}");
    assert!(lines.contains("not like this"), "{lines}");
    let again = served.run(&["audit", "--export", "audit.jsonl"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    served.ok(&["audit", "--export", "audit.jsonl", "--force"]);

    let copied = served.ok(&["backup"]);
    assert!(served.path("data").join(copied.out.trim()).is_file(), "{copied:?}");
    let kinds: Vec<_> = served.json(&["audit"]).iter().map(|entry| entry["kind"].clone()).collect();
    assert!(kinds.contains(&json!("store.copied")), "{kinds:?}");
}

#[test]
fn what_models_say_does_not_control_the_terminal() {
    const HOSTILE: &str = "\\u001b[2J\\u001b]0;owned\\u0007\\u202etxt";
    let script = format!(
        r#"
[[answer]]
text = "{HOSTILE}"
tool = {{ name = "Bash", input = {{ command = "echo {HOSTILE}" }}, result = "{HOSTILE}" }}

[[answer]]
text = "{HOSTILE} again"
"#
    );
    let served = Served::new(&script);
    let hostile = "\u{1b}[2J\u{202e}";
    let id = served.session_with(hostile, &["--label", "\u{202e}label"]);
    let asked = served.ask(&id);
    let mut said = vec![served.ok(&["inbox"]), served.ok(&["inbox", &asked])];
    said.push(served.ok(&["approve", &asked]));
    served.rest(&id);
    said.push(served.ok(&["sessions", "list"]));
    said.push(served.ok(&["sessions", "show", &id]));
    said.push(served.ok(&["watch", &id, "--until-idle"]));
    said.push(served.ok(&["audit"]));
    said.push(served.run(&["sessions", "show", hostile]));
    said.push(served.run(&["token", "create", "x", "-o", hostile]));
    for ran in said {
        for text in [&ran.out, &ran.err] {
            let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(bad, None, "{text}");
        }
    }
}
