//! `watch`: what happens, as it happens, whatever becomes of the connection.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::served::Served;
use crate::serving::WRITE;

/// A watcher, and what it says.
struct Watcher {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Watcher {
    fn new(served: &Served, arguments: &[&str]) -> Self {
        let mut watch = served.command(&[&["watch"], arguments].concat());
        let mut child = watch.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// The next line that has this in it.
    fn see(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.out.read_line(&mut line).unwrap();
            assert!(read > 0, "{part} was not told");
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Bytes as they come, until they have this in them.
    fn see_piece(&mut self, part: &str) {
        let (mut seen, mut byte) = (Vec::new(), [0]);
        while !String::from_utf8_lossy(&seen).contains(part) {
            self.out.read_exact(&mut byte).unwrap();
            seen.extend(byte);
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Half of a sentence, and then nothing for a long time.
const HALF: &str = r#"
[[answer]]
text = "one two three"
pace = "20ms"
hang = 4

[[answer]]
text = "never said"
"#;

#[test]
fn text_is_shown_while_it_is_written() {
    let served = Served::new(HALF);
    let session = served.session_with("", &["--title", "Half"]);
    let mut watcher = Watcher::new(&served, &[&session]);
    watcher.see("Half");
    served.ok(&["send", &session, "Say something."]);
    watcher.see("❯ Say something.");
    // The turn is not over, and never will be.
    watcher.see_piece("one ");
    served.ok(&["sessions", "stop", &session]);
    watcher.see("stops the session");
}

#[test]
fn what_is_asked_and_decided_elsewhere_is_seen() {
    let served = Served::new(WRITE);
    let mut inbox = Watcher::new(&served, &[]);
    let session = served.session("Write it.");
    inbox.see("Write it.");
    inbox.see("Write new.txt");
    inbox.see("1 + new");
    inbox.see("countersign approve ");
    let mut watcher = Watcher::new(&served, &[&session]);
    watcher.see("I will write it.");
    watcher.see("? Write new.txt");
    let command = watcher.see("countersign approve ");
    let id = command.trim().rsplit_once(' ').unwrap().1.to_owned();
    served.ok(&["approve", &id]);
    inbox.see("⇒ first start: allowed");
    watcher.see("⇒ first start: allowed");
    watcher.see("It is: ");
    watcher.see("— ");
    // Later the same is told once, without what could be typed then.
    let story = served.ok(&["watch", &session, "--until-idle", "--history", "500"]);
    assert_eq!(story.out.matches("I will write it.").count(), 1, "{}", story.out);
    assert_eq!(story.out.matches("It is: ").count(), 1, "{}", story.out);
    assert!(story.out.contains("? Write new.txt"), "{}", story.out);
    assert!(!story.out.contains("countersign approve"), "{}", story.out);
}

#[test]
fn a_watcher_goes_on_where_it_was_when_the_server_is_back() {
    let mut served = Served::new(WRITE);
    let session = served.session("Write it.");
    let asked = served.ask(&session);
    let mut watcher = Watcher::new(&served, &[&session, "--json", "--history", "500"]);
    let mut inbox = Watcher::new(&served, &[]);
    inbox.see("countersign deny");
    watcher.see("approval.opened");
    // Something that it is told live, so that it listens.
    served.ok(&["sessions", "rename", &session, "Another title"]);
    watcher.see("session.renamed");
    served.kill();
    watcher.see("reconnecting");
    served.start(&[], &[]);
    served.ok(&["approve", &asked]);
    inbox.see("⇒ first start: allowed");
    let mut numbers = Vec::new();
    loop {
        let event: Value = serde_json::from_str(&watcher.see("\"seq\"")).unwrap();
        numbers.push(event["seq"].as_u64().unwrap());
        if event["kind"] == "turn.ended" {
            break;
        }
    }
    let first = numbers[0];
    let expected: Vec<_> = (first..).take(numbers.len()).collect();
    assert_eq!(numbers, expected, "none is missing, none comes twice");
}
