//! Sessions that are found by words.

use super::lists::all;
use super::sample::{self, frame, said};
use super::tester::{Reason, Tester, same};
use crate::id::{MessageId, SessionId};
use crate::session::{Deleted, MessageContent, MessageEdited, MessageRemoved, Renamed};
use crate::store::{SessionFilter, Write};

async fn found(tester: &Tester, words: &str) -> Result<Vec<SessionId>, Reason> {
    let filter = SessionFilter { words: Some(words.into()), ..SessionFilter::default() };
    let mut found = all(tester, filter, 2).await?;
    found.sort();
    Ok(found)
}

pub(super) async fn words(tester: &Tester) -> Result<(), Reason> {
    let titled = tester.create("Repair the Login page").await?;
    let spoken = tester.running().await?;
    let texts = vec![
        said(MessageId::new(), "Please fix src/main.rs, the ÄRGER begins at line 42."),
        frame(1, "I have replaced `unwrap()` by the question mark operator: 版本控制."),
    ];
    tester.happen(spoken.session, texts).await?;
    let spoken = spoken.session;
    let checks: [(&str, &[SessionId]); 29] = [
        ("login", &[titled]),
        ("LOGIN", &[titled]),
        ("page login", &[titled]),
        ("repair pa", &[titled]),
        // A title is found by parts of its words, too.
        ("ogi", &[titled]),
        ("login nothing", &[]),
        ("fix", &[spoken]),
        ("main", &[spoken]),
        ("main.rs", &[spoken]),
        ("src/main.rs", &[spoken]),
        ("ärger", &[spoken]),
        ("42", &[spoken]),
        // The last word may be the beginning of one, the others may not.
        ("begi", &[spoken]),
        ("begi line", &[]),
        ("line begi", &[spoken]),
        ("egins", &[]),
        // What was said by whom does not matter.
        ("unwrap", &[spoken]),
        ("fix unwrap", &[spoken]),
        ("版本", &[spoken]),
        ("控制", &[spoken]),
        ("版权", &[]),
        // One word in the title, the other in what was said: that of another session does not count.
        ("running fix", &[spoken]),
        ("login fix", &[]),
        ("the", &[titled, spoken]),
        ("", &[titled, spoken]),
        ("  \t\n", &[titled, spoken]),
        ("\"fix\"", &[spoken]),
        ("fix*", &[spoken]),
        ("nothing", &[]),
    ];
    for (words, expected) in checks {
        let mut expected = expected.to_vec();
        expected.sort();
        let found = found(tester, words).await?;
        same("what is found", &(words, expected), &(words, found))?;
    }
    let renamed = Renamed { title: "Something else".into(), by: sample::person() };
    tester.happen(titled, vec![renamed.into()]).await?;
    same("by the old title", &Vec::new(), &found(tester, "login").await?)?;
    same("by the new title", &vec![titled], &found(tester, "something").await?)?;
    let message = MessageId::new();
    let (content, by) = (MessageContent::text("Completely different"), sample::person());
    let edited = MessageEdited { message, content, by };
    tester.happen(titled, vec![said(message, "Ordinary"), edited.into()]).await?;
    same("by what it was changed to", &vec![titled], &found(tester, "completely").await?)?;
    // What is said in its first message is a title as well.
    let untitled = SessionId::new();
    let first = vec![sample::created(""), said(MessageId::new(), "Unheard of\nand more")];
    tester.happen(untitled, first).await?;
    same("by its first message", &vec![untitled], &found(tester, "unheard of more").await?)?;
    let delete = Write::to(untitled, vec![Deleted { by: sample::person() }.into()]);
    tester.write(delete).await?;
    same("after it was deleted", &Vec::new(), &found(tester, "unheard").await?)
}

pub(super) async fn hostile(tester: &Tester) -> Result<(), Reason> {
    let plain = tester.create("Zzz").await?;
    let odd = tester.create("100% of _ 'quotes' \"and\" \\ C++ \0 -> ok").await?;
    let long = "x".repeat(200_000);
    let many = "word ".repeat(20_000);
    for words in [
        "'",
        "\"",
        "\"\"",
        "'; DROP TABLE events; --",
        "\\",
        "\\'",
        "%",
        "_",
        "*",
        "(",
        ")",
        "()",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "NEAR(a b, 5)",
        "a AND",
        "^a",
        "-a",
        "+a",
        "a:b",
        "text:a",
        "{a}",
        "[a]",
        "a & b",
        "a | b",
        "!a",
        "a <-> b",
        "a:*",
        "':*",
        "$1",
        "?1",
        "\0",
        "a\0b",
        "\u{202e}",
        "\u{1f600}",
        "\u{fffd}",
        "İ",
        "ß",
        "कि",
        "ก",
        "e\u{301}",
        &long,
        &many,
    ] {
        let found = found(tester, words).await?;
        same("whether a plain title is found", &false, &found.contains(&plain))?;
    }
    for words in ["100", "C++", "quotes", "->", "\\", "and ok", "%"] {
        same("an odd title", &vec![odd], &found(tester, words).await?)?;
    }
    same("the log", &1, &tester.log(plain).await?.len())
}

pub(super) async fn long(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("long").await?;
    let many: String = (0..50_000).map(|n| format!("w{n} ")).collect();
    let odd = "ä".repeat(100_000);
    let texts = vec![said(MessageId::new(), &many), said(MessageId::new(), &odd)];
    tester.happen(session, texts).await?;
    same("at the beginning", &vec![session], &found(tester, "w17 w18 w1999").await?)?;
    same("far behind", &Vec::new(), &found(tester, "w49999").await?)?;
    same("a long word", &vec![session], &found(tester, &"Ä".repeat(300)).await?)
}

/// What is taken back before anybody has heard it is not found any more.
pub(super) async fn unsaid(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("").await?;
    let [first, second] = [MessageId::new(), MessageId::new()];
    tester.happen(session, vec![said(first, "apples"), said(second, "pears")]).await?;
    for word in ["apples", "pears"] {
        same("what is said", &vec![session], &found(tester, word).await?)?;
    }
    let edit = |text| {
        let (message, by) = (first, sample::person());
        vec![MessageEdited { message, content: MessageContent::text(text), by }.into()]
    };
    tester.happen(session, edit("plums")).await?;
    tester.happen(session, edit("cherries")).await?;
    let gone = MessageRemoved { message: second, by: sample::person() };
    tester.happen(session, vec![gone.into()]).await?;
    for word in ["apples", "pears", "plums"] {
        same("what is not said any more", &Vec::new(), &found(tester, word).await?)?;
    }
    same("what is said now", &vec![session], &found(tester, "cherries").await?)?;
    same("the title", "cherries", &tester.head(session).await?.title)
}
