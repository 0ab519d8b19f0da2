//! A page that was open all the time shows what a page shows that is opened now.

use std::collections::BTreeMap;

use countersign_page::transcript::{LIVE, Patch, TRANSCRIPT, Transcript};
use countersign_server::session::{Event, Happening, TurnEnd, TurnEnded};
use proptest::prelude::*;
use serde_json::json;

use crate::log::{assistant, call, failed, frame, log, plain, recordings, result};

/// The elements with ids in some HTML, each with the one around it, in their order.
fn elements(html: &str, around: &str) -> Vec<(String, String)> {
    let mut open = vec![around.to_owned()];
    let mut found = Vec::new();
    for tag in html.split('<').skip(1) {
        let tag = tag.split_once('>').unwrap().0;
        let name = tag.split([' ', '\n']).next().unwrap();
        if tag.starts_with('/') {
            open.pop();
            continue;
        }
        let around = open.last().unwrap().clone();
        let id = tag.split_once(" id=\"").map(|(_, rest)| rest.split_once('"').unwrap().0);
        found.extend(id.map(|id| (id.to_owned(), around.clone())));
        if !["img", "br", "hr", "input"].contains(&name) {
            open.push(id.map_or(around, str::to_owned));
        }
    }
    assert_eq!(open, [around], "what is opened is closed: {html}");
    found
}

/// All of it at once.
fn whole(events: &[Event]) -> String {
    let mut transcript = Transcript::new("/project");
    for event in events {
        transcript.event(event);
    }
    transcript.html().into_string()
}

/// What is in each element of a page, in its order.
type Page = BTreeMap<String, Vec<String>>;

fn put(page: &mut Page, elements: Vec<(String, String)>) {
    for (id, around) in elements {
        page.get_mut(&around).unwrap().push(id.clone());
        assert!(page.insert(id.clone(), Vec::new()).is_none(), "{id} is there twice");
    }
}

/// A page that was told of each event, and was patched after each. Nothing may be put where there is
/// nothing, or twice. Comes with what was put last into the lines of calls and folds.
fn patched(events: &[Event]) -> (Page, BTreeMap<String, String>) {
    let mut transcript = Transcript::new("/project");
    let mut page = Page::from([(TRANSCRIPT.to_owned(), Vec::new())]);
    let mut lines = BTreeMap::new();
    for event in events {
        transcript.event(event);
        for patch in transcript.patches() {
            match patch {
                Patch::Add { to, id, html } => {
                    assert!(page.contains_key(&to), "{id} comes into {to}, which is not there");
                    let new = elements(html.as_str(), &to);
                    assert_eq!(new.first(), Some(&(id, to)));
                    put(&mut page, new);
                }
                Patch::Fill { id, html } => {
                    assert!(page.contains_key(&id), "{id} changes, and is not there");
                    if id.ends_with("-line") {
                        lines.insert(id, html.into_string());
                    }
                }
                // Nothing goes but what is being said.
                other => assert_eq!(other, Patch::Remove { id: LIVE.to_owned() }),
            }
        }
    }
    (page, lines)
}

fn is_the_same(events: &[Event]) {
    let mut loaded = Page::from([(TRANSCRIPT.to_owned(), Vec::new())]);
    let html = whole(events);
    put(&mut loaded, elements(&html, TRANSCRIPT));
    let (page, lines) = patched(events);
    assert_eq!(loaded, page);
    for (id, line) in lines {
        assert!(html.contains(&format!("id=\"{id}\">{line}</summary>")), "{id}: {line}: {html}");
    }
}

#[test]
fn of_every_recording() {
    for version in ["2.1.197", "2.1.325"] {
        let mut shown = 0;
        for (name, frames) in recordings(version) {
            let events = log(frames.iter().map(frame));
            let outcome = std::panic::catch_unwind(|| is_the_same(&events));
            assert!(outcome.is_ok(), "{version} {name}");
            shown += usize::from(!whole(&events).is_empty());
        }
        assert!(shown > 30, "{version}: {shown}");
    }
}

/// What an agent does stands in its thread: also after its result, and where its call is not known.
#[test]
fn of_agents() {
    let agent = || call(None, "agent", "Agent", &json!({"description": "d", "prompt": "p"}));
    let says = |text: &str| assistant(Some("agent"), &json!({"type": "text", "text": text}));
    let ends = || result(None, "agent", "started", &json!({}));
    for happenings in [
        vec![agent(), says("one"), ends()],
        vec![agent(), ends(), says("one"), says("two")],
        vec![says("one"), says("two"), ends()],
    ] {
        let events = log(happenings);
        is_the_same(&events);
        let html = whole(&events);
        let thread = html.split("class=\"thread\"").nth(1).unwrap();
        assert!(thread.contains("one"), "{html}");
    }
}

/// Threads in threads, by calls that stand in folds, are shown only so deep, and what comes deeper stands
/// with what is around it: also on a page that was told of the folds long ago.
#[test]
fn of_threads_in_folds() {
    let input = json!({"file_path": "/project/a"});
    let name = |number: usize| format!("c{number}");
    let mut happenings = vec![call(None, "c0", "Agent", &input)];
    for number in 1..12 {
        let holder = name(number - 1);
        happenings.push(call(Some(&holder), &name(number), "Read", &input));
        happenings.push(assistant(Some(&holder), &json!({"type": "text", "text": "words"})));
    }
    let events = log(happenings);
    is_the_same(&events);
    let html = whole(&events);
    assert_eq!(html.matches("words").count(), 11);
    for (id, around) in elements(&html, TRANSCRIPT) {
        let is_in_a_fold = around.starts_with("f-") && around.ends_with("-body");
        assert!(!is_in_a_fold || id.starts_with("c-"), "{id} stands in {around}");
    }
}

/// A call that is without a result when its turn ends says that nobody knows what became of it.
#[test]
fn of_a_call_that_was_cut_off() {
    let input = json!({"command": "sleep 100"});
    let ended = TurnEnded {
        end: TurnEnd::CutOff,
        ..serde_json::from_value(json!({"turn": uuid(), "end": "cut_off"})).unwrap()
    };
    let events = log([call(None, "c1", "Bash", &input), Happening::TurnEnded(ended)]);
    is_the_same(&events);
    let html = whole(&events);
    assert!(html.contains("not known whether it ran"), "{html}");
}

/// What the process says of its end is not said again of the session.
#[test]
fn of_a_session_that_failed() {
    let ended = json!({"generation": 1, "why": "there is no CLI", "failed": true});
    let failed = |why: &str| read_happening("session.failed", &json!({"why": why}));
    let count = |why: &str| {
        let events = log([read_happening("process.ended", &ended), failed(why)]);
        is_the_same(&events);
        whole(&events).matches("there is no CLI").count()
    };
    assert_eq!(count("there is no CLI"), 1);
    assert_eq!(count("it has failed too often: there is no CLI"), 2);
}

fn read_happening(kind: &str, body: &serde_json::Value) -> Happening {
    Happening::read(kind, &body.to_string()).unwrap()
}

/// A fold says what it is about, and what in it is not as it should be.
#[test]
fn of_what_folds_say() {
    let line = |happenings: Vec<Happening>| {
        let events = log(happenings);
        is_the_same(&events);
        let html = whole(&events);
        let line = html.split("<summary").nth(1).unwrap().split_once('>').unwrap().1;
        plain(line.split_once("</summary>").unwrap().0)
    };
    let read = |id: &str| call(None, id, "Read", &json!({"file_path": "/project/src/main.rs"}));
    let done = |id: &str| result(None, id, "text", &json!({}));
    assert_eq!(line(vec![read("c1")]), "Read src/main.rs");
    assert_eq!(line(vec![read("c1"), read("c2"), done("c1")]), "Read 2 files");
    let wrong = line(vec![read("c1"), read("c2"), done("c1"), failed("c2", "no such file")]);
    assert_eq!(wrong, "Read 2 files ✗ 1 failed");
    assert_eq!(line(vec![read("c1"), failed("c1", "gone"), done("c1")]), "Read src/main.rs");
}

/// Who decided is said on the line of a call; what they said with it is below, however long it is.
#[test]
fn of_what_was_decided() {
    let approval = countersign_server::id::ApprovalId::new();
    let long = "why ".repeat(125);
    let told = long.trim();
    let by = json!({"kind": "person", "name": "ada", "token": uuid(), "from": "127.0.0.1"});
    let opened = read_happening(
        "approval.opened",
        &json!({"approval": approval, "kind": "tool", "tool": "Bash", "tool_use_id": "c1",
            "request": {}, "generation": 1}),
    );
    let answered = read_happening(
        "approval.answered",
        &json!({"approval": approval, "answer": {"deny": {"message": told}}, "by": by}),
    );
    let events = log([
        call(None, "c1", "Bash", &json!({"command": "make"})),
        opened,
        answered,
        failed("c1", "The user does not want it."),
    ]);
    is_the_same(&events);
    let html = whole(&events);
    let (line, rest) = html.split_once("</summary>").unwrap();
    assert!(line.contains("refused · denied by ada") && !line.contains("why why"), "{line}");
    assert!(rest.contains(&format!("Denied by ada: “{told}”.")), "{rest}");
}

/// A text that is one long block is not sent anew for each word of it.
#[test]
fn of_a_long_block_as_it_is_written() {
    let piece = |event: serde_json::Value| {
        json!({"type": "stream_event", "event": event, "parent_tool_use_id": null, "session_id": "s",
            "uuid": "u"})
        .to_string()
    };
    let mut transcript = Transcript::new("/project");
    let begins = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "text", "text": ""}});
    transcript.delta(&piece(begins));
    let (mut sent, mut times) = (0, 0);
    for number in 0..20_000 {
        let word = format!("word{number} ");
        transcript.delta(&piece(json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": word}})));
        for patch in transcript.patches() {
            if let Patch::Fill { id, html } = patch {
                assert_eq!(id, "live-tail");
                (sent, times) = (sent + html.as_str().len(), times + 1);
            }
        }
    }
    assert!(times > 900, "{times}: short ones are");
    let length = 20_000 * "word12345 ".len();
    assert!(sent < 60 * length, "{sent} bytes were sent of {length}");
}

/// What is in the context is what the model last said with, and not what an agent did.
#[test]
fn of_the_context() {
    let says = |agent: Option<&str>, read: u64| {
        frame(
            &json!({"type": "assistant", "parent_tool_use_id": agent, "session_id": "s", "uuid": "u",
            "message": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "x"}],
                "usage": {"input_tokens": 1, "cache_read_input_tokens": read, "output_tokens": 5}}}),
        )
    };
    let mut transcript = Transcript::new("/project");
    assert_eq!(transcript.context(), None);
    for event in log([says(None, 100), says(None, 200), says(Some("agent"), 7)]) {
        transcript.event(&event);
    }
    assert_eq!(transcript.context(), Some(206));
}

fn uuid() -> String {
    countersign_server::id::TurnId::new().to_string()
}

/// Something that a session could do next.
fn step() -> impl Strategy<Value = (u8, u8, u8)> {
    (0_u8..6, 0_u8..4, 0_u8..3)
}

proptest! {
    /// In whatever order calls, texts and results of agents come.
    #[test]
    fn of_anything(steps in prop::collection::vec(step(), 0..30)) {
        let mut made: i32 = 0;
        let happenings = steps.iter().map(|(what, which, agent)| {
            let last = format!("c{}", made - 1);
            let agents = [None, Some("elsewhere"), Some(&*last).filter(|_| made > 0)];
            let agent = agents[usize::from(*agent)];
            match what {
                0 => assistant(agent, &json!({"type": "text", "text": "words"})),
                1..=3 => {
                    let (id, tool) = (format!("c{made}"), ["Read", "Bash", "Agent", "Grep"][usize::from(*which)]);
                    made += 1;
                    call(agent, &id, tool, &json!({"command": "x", "file_path": "/project/a", "pattern": "p", "description": "d", "prompt": "p"}))
                }
                4 => result(agent, &format!("c{which}"), "done", &json!({})),
                _ => frame(&json!({"type": "system", "subtype": "status", "status": null, "session_id": "s", "uuid": "u"})),
            }
        });
        is_the_same(&log(happenings.collect::<Vec<_>>()));
    }
}
