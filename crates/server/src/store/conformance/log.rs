//! The log.

use jiff::SignedDuration;

use super::agree::agrees;
use super::sample::{self, Running, life, noted, raw};
use super::tester::{Reason, Tester, same, same_events, wrong};
use crate::id::{MessageId, SessionId};
use crate::session::{
    Created, Deleted, Event, Frame, Happening, Image, MessageContent, MessageQueued,
};
use crate::store::{PAGE_BYTES, Write};

pub(super) async fn every_kind(tester: &Tester) -> Result<(), Reason> {
    let session = SessionId::new();
    let mut all = life(session);
    all.push(Deleted { by: sample::person() }.into());
    let mut missing: Vec<_> = Happening::KINDS.to_vec();
    missing.retain(|kind| !all.iter().any(|happening| happening.kind() == *kind));
    same("the kinds that this test does not know", &Vec::<&str>::new(), &missing)?;
    all.pop();

    let (events, heads) = tester.write(Write::to(session, all.clone())).await?;
    let got: Vec<_> = events.iter().map(|event| event.happening.clone()).collect();
    same("what was written", &all, &got)?;
    let log = tester.log(session).await?;
    same_events("the log", &events, &log)?;
    let got: Vec<_> = log.iter().map(|event| event.happening.clone()).collect();
    same("what is in the log", &all, &got)?;
    same("the head", &heads, &vec![tester.head(session).await?])?;
    agrees(&*tester.store, session).await
}

pub(super) async fn odd_text(tester: &Tester) -> Result<(), Reason> {
    let odd = "a\0b \u{1}\u{7f} ' \" \\ \\u0000 % _ \u{feff} \u{1f600} e\u{301} \u{10ffff} $1 ?1";
    let running = tester.running().await?;
    let session = running.session;
    let message = MessageId::new();
    let frames = [
        r#"{"type":"x","nul":"\u0000","half":"\ud800","big":12345678901234567890123,"f":1.10}"#,
        r#"{ "z" : 1 , "a" : "\u00e4 ä \ud83d\ude00 \n" , "a":2}"#,
        r#"[[],{},"",null,-0.0,1e400]"#,
    ];
    let images = vec![Image { media_type: odd.into(), data: odd.into() }];
    let content = MessageContent { text: odd.into(), images };
    let queued = MessageQueued { message, content, now: true, first: true, by: sample::person() };
    let renamed = crate::session::Renamed { title: odd.into(), by: sample::person() };
    let labels = sample::labels(&[odd, &"long".repeat(2000), ""]);
    let labelled = crate::session::Labelled { labels, by: sample::person() };
    let mut all: Vec<Happening> =
        frames.iter().map(|frame| Frame { generation: 1, line: raw(frame) }.into()).collect();
    all.extend([queued.into(), renamed.into(), labelled.into()]);
    tester.happen(session, all.clone()).await?;
    let log = tester.log(session).await?;
    let got: Vec<_> = log.iter().rev().take(all.len()).rev().map(|e| e.happening.clone()).collect();
    same("what is in the log", &all, &got)?;
    let lines: Vec<_> = got
        .iter()
        .filter_map(|happening| match happening {
            Happening::Frame(frame) => Some(frame.line.as_str().to_owned()),
            _ => None,
        })
        .collect();
    same("the lines", &frames.map(str::to_owned).to_vec(), &lines)?;
    let folder = format!("/{odd}/{}", "deep/".repeat(1000));
    let creation = Created { folder, ..sample::creation(odd) };
    let other = SessionId::new();
    tester.happen(other, vec![creation.into()]).await?;
    agrees(&*tester.store, session).await?;
    agrees(&*tester.store, other).await
}

pub(super) async fn large(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let text = "many words ".repeat(400_000);
    let large = sample::frame(1, &text);
    tester.happen(running.session, vec![large.clone()]).await?;
    let log = tester.log(running.session).await?;
    match log.last() {
        Some(event) if event.happening == large => agrees(&*tester.store, running.session).await,
        _ => wrong("an event of 4 MiB is not what it was"),
    }
}

pub(super) async fn numbers(tester: &Tester) -> Result<(), Reason> {
    let (one, two) = (tester.create("one").await?, tester.create("two").await?);
    let mut positions = Vec::new();
    for n in 0..5 {
        let write = Write::to(one, vec![noted("a"), noted("b")]).and_to(two, vec![noted("c")]);
        let (events, _) = tester.write(write).await?;
        let numbers: Vec<_> = events.iter().map(|event| (event.session, event.seq)).collect();
        same("the numbers", &vec![(one, 2 + 2 * n), (one, 3 + 2 * n), (two, 2 + n)], &numbers)?;
        positions.extend(events.iter().map(|event| event.position));
    }
    same("whether positions grow", &true, &positions.is_sorted_by(|a, b| a < b))?;
    same(
        "the last position",
        &positions.last().copied().unwrap_or_default(),
        &tester.store.last_position().await?,
    )
}

fn numbers_of(events: &[std::sync::Arc<Event>]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

pub(super) async fn parts(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("long").await?;
    tester.happen(session, (2..=10).map(|n| noted(&n.to_string())).collect()).await?;
    let other = tester.create("another").await?;
    tester.happen(other, vec![noted("not this")]).await?;
    let store = &tester.store;
    let checks = [
        (0, 3, vec![1, 2, 3]),
        (3, 3, vec![4, 5, 6]),
        (8, 100, vec![9, 10]),
        (10, 5, vec![]),
        (u64::MAX, 5, vec![]),
        (0, 0, vec![]),
    ];
    for (after, limit, expected) in checks {
        let got = store.events(session, after, limit).await?;
        same("events after a number", &expected, &numbers_of(&got))?;
    }
    let checks = [
        (11, 3, vec![8, 9, 10]),
        (u64::MAX, 2, vec![9, 10]),
        (4, 100, vec![1, 2, 3]),
        (1, 5, vec![]),
        (0, 5, vec![]),
        (5, 0, vec![]),
    ];
    for (before, limit, expected) in checks {
        let got = store.events_before(session, before, limit).await?;
        same("events before a number", &expected, &numbers_of(&got))?;
    }
    let none = store.events(SessionId::new(), 0, 10).await?;
    same("events of an unknown session", &0, &none.len())
}

/// Pages are bounded by what they weigh, and one that is too heavy by itself comes alone.
pub(super) async fn heavy(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("heavy").await?;
    let third = "x".repeat(PAGE_BYTES / 3);
    for text in [&*third, &third, &third, &"y".repeat(PAGE_BYTES + 1), "light"] {
        tester.happen(session, vec![noted(text)]).await?;
    }
    let store = &tester.store;
    let (mut pages, mut of_all) = (Vec::<Vec<u64>>::new(), Vec::new());
    loop {
        let after = pages.iter().flatten().last().copied().unwrap_or_default();
        let page = numbers_of(&store.events(session, after, 100).await?);
        if page.is_empty() {
            break;
        }
        pages.push(page);
    }
    same("pages forwards", &vec![vec![1, 2, 3], vec![4], vec![5], vec![6]], &pages)?;
    let mut position = 0;
    loop {
        let page = store.all_events(position, &[], 100).await?;
        let Some(last) = page.last() else { break };
        position = last.position;
        of_all.push(numbers_of(&page));
    }
    same("pages of all", &pages, &of_all)?;
    let mut backwards = Vec::new();
    loop {
        let before = backwards.last().and_then(|page: &Vec<u64>| page.first().copied());
        let page = numbers_of(&store.events_before(session, before.unwrap_or(99), 100).await?);
        if page.is_empty() {
            break;
        }
        backwards.push(page);
    }
    same("pages backwards", &vec![vec![6], vec![5], vec![3, 4], vec![1, 2]], &backwards)
}

pub(super) async fn of_kinds(tester: &Tester) -> Result<(), Reason> {
    let (one, two) = (tester.create("one").await?, tester.create("two").await?);
    for session in [one, two, one, one] {
        tester.happen(session, vec![noted("a")]).await?;
    }
    let store = &tester.store;
    let noted = ["session.noted"];
    let both = ["session.noted", "session.created", "' OR TRUE --"];
    let checks = [
        (&noted[..], u64::MAX, 10, vec![4, 3, 2]),
        (&noted, u64::MAX, 2, vec![4, 3]),
        (&noted, 4, 10, vec![3, 2]),
        (&noted, 2, 10, vec![]),
        (&noted, 9, 0, vec![]),
        (&both, 9, 10, vec![4, 3, 2, 1]),
        (&["no.such"], 9, 10, vec![]),
        (&[], 9, 10, vec![4, 3, 2, 1]),
    ];
    for (kinds, before, limit, expected) in checks {
        let got = store.events_of(one, kinds, before, limit).await?;
        same("events of these kinds", &expected, &numbers_of(&got))?;
    }
    let none = store.events_of(SessionId::new(), &both, 9, 10).await?;
    same("those of an unknown session", &0, &none.len())?;
    // A page is bounded by what it weighs, as others are.
    let third = "x".repeat(PAGE_BYTES / 3);
    tester.happen(two, (0..4).map(|_| self::noted(&third)).collect()).await?;
    let page = store.events_of(two, &noted, 99, 100).await?;
    same("a page that is heavy", &vec![6, 5], &numbers_of(&page).into_iter().take(2).collect())?;
    same("whether it is bounded", &true, &(page.len() < 5))
}

pub(super) async fn of_all(tester: &Tester) -> Result<(), Reason> {
    let (one, two) = (tester.create("one").await?, tester.create("two").await?);
    for session in [one, two, one, two] {
        tester.happen(session, vec![noted("a")]).await?;
    }
    let store = &tester.store;
    let all = store.all_events(0, &[], 100).await?;
    let order: Vec<_> = all.iter().map(|event| (event.session, event.seq)).collect();
    same("all", &vec![(one, 1), (two, 1), (one, 2), (two, 2), (one, 3), (two, 3)], &order)?;
    let (first, rest) = (all.get(..2).unwrap_or_default(), all.get(2..).unwrap_or_default());
    same_events("the first two", first, &store.all_events(0, &[], 2).await?)?;
    let position = first.last().map(|event| event.position).unwrap_or_default();
    same_events("those after them", rest, &store.all_events(position, &[], 100).await?)?;
    same_events("by kind", rest, &store.all_events(0, &["session.noted"], 100).await?)?;
    let both = ["session.noted", "session.created", "no.such", "' OR TRUE --"];
    same_events("by several kinds", &all, &store.all_events(0, &both, 100).await?)?;
    same("of an unknown kind", &0, &store.all_events(0, &["no.such"], 100).await?.len())?;
    let last = store.last_position().await?;
    same("after the last", &0, &store.all_events(last, &[], 100).await?.len())?;
    same("far after the last", &0, &store.all_events(u64::MAX, &[], 100).await?.len())
}

pub(super) async fn times(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("timed").await?;
    for hours in [0, 5, -24 * 365, 1] {
        tester.time.pass(SignedDuration::from_hours(hours));
        let head = tester.happen(session, vec![noted("now")]).await?;
        let now = tester.time.last();
        same("when something last happened", &now, &head.updated_at)?;
        let last = tester.log(session).await?.last().map(|event| event.at);
        same("the time of the event", &Some(now), &last)?;
    }
    let running = Running::new(SessionId::new());
    let (events, _) = tester.write(Write::to(running.session, running.beginning())).await?;
    let first = events.first().map(|event| event.at);
    let all_at_once = events.iter().all(|event| Some(event.at) == first);
    same("whether what is written at once has one time", &true, &all_at_once)?;
    agrees(&*tester.store, session).await
}
