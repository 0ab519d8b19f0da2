//! How many subscribers are told how fast, and that each is told everything.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_server::api::view::ListAllEvents;
use countersign_server::id::SessionId;
use tokio::task::JoinSet;

use super::report::{Cell, Report, Table, now};
use super::stage::{PATIENCE, Served, Stage, each};
use super::subscriber::{Told, Watching};
use super::{Failure, Options, proc};

/// How many clients write at once: what they write shares its way to the disk.
const WRITERS: usize = 32;

/// How many sessions the events are of, when all are watched.
const SESSIONS: u64 = 100;

/// What came of it.
struct Outcome {
    /// From the first command until the last subscriber had the last event.
    took: Duration,
    /// The processor time of the server.
    processor: Duration,
    /// What was written after the last command was taken until everybody knew.
    tail: Duration,
    deliveries: u64,
    missing: u64,
    out_of_order: u64,
    lagged: u64,
    bytes: u64,
}

pub(super) async fn measure(options: &Options, report: &mut Report) -> Result<(), Failure> {
    now("fanout: events to many subscribers");
    let stage = Stage::open(options).await?;
    let served = stage.serve(&stage.host).await?;
    let new = stage.session(None);
    let client = served.client.clone();
    let sessions = each(SESSIONS, WRITERS, move |_| {
        let (client, new) = (client.clone(), new.clone());
        async move { Ok(client.create_session(&new).await?.session) }
    });
    let sessions = Arc::new(sessions.await?);
    let first = sessions.first().copied().ok_or("no session")?;
    let about = format!("{} events, {WRITERS} clients that write", options.events);
    let mut table = Table::new("fanout", about, &[]);
    for column in [
        "subscribers",
        "events written",
        "events delivered",
        "processor time a delivery",
        "the last one had the last event after",
        "bytes a delivery",
        "told that it lags",
        "missing",
        "out of order",
    ] {
        table.column(column);
    }
    let one = Arc::new(vec![first]);
    for (what, sessions) in [("one session", &one), ("all sessions", &sessions)] {
        for count in [0, 1, options.subscribers] {
            let outcome = deliver(&served, sessions, what, count, options.events).await?;
            let seconds = outcome.took.as_secs_f64();
            let each = outcome.deliveries.max(1);
            let processor = outcome.processor / u32::try_from(each)?;
            table.row(
                format!("{what}, {count} watch"),
                &[
                    Cell::Count(count),
                    Cell::Rate(options.events as f64 / seconds),
                    Cell::Rate(outcome.deliveries as f64 / seconds),
                    if count == 0 { Cell::None } else { Cell::Time(processor) },
                    if count == 0 { Cell::None } else { Cell::Time(outcome.tail) },
                    Cell::Count(outcome.bytes / each),
                    Cell::Count(outcome.lagged),
                    Cell::Count(outcome.missing),
                    Cell::Count(outcome.out_of_order),
                ],
            );
            report.expect("events that a subscriber was not told", 0, outcome.missing);
            report.expect("events out of their order", 0, outcome.out_of_order);
            report.expect("events delivered", count * options.events, outcome.deliveries);
        }
    }
    report.add(table);
    served.stop().await?;
    stage.close().await
}

/// Writes events, and has subscribers watch.
async fn deliver(
    served: &Served,
    sessions: &Arc<Vec<SessionId>>,
    what: &str,
    subscribers: u64,
    events: u64,
) -> Result<Outcome, Failure> {
    let (path, after) = match (sessions.first(), what) {
        (Some(session), "one session") => {
            let head = served.client.session(*session).await?.head;
            (format!("/sessions/{session}/stream"), head.seq)
        }
        _ => ("/stream".to_owned(), last_position(served).await?),
    };
    let watching = Watching::new(served)?;
    let mut readers = JoinSet::new();
    // The number that a stream begins after comes as well.
    let lines = usize::try_from(events)? + 1;
    for _ in 0..subscribers {
        let subscriber = watching.open(&path, after).await?;
        readers.spawn(async move { tokio::time::timeout(PATIENCE, subscriber.read(lines)).await });
    }
    let before = proc::processor_time(served.pid())?;
    let began = Instant::now();
    write(served, sessions, events).await?;
    let written = Instant::now();
    let mut all = Vec::new();
    while let Some(read) = readers.join_next().await {
        all.push(read?.map_err(|_| "a subscriber waits for an event that does not come")??);
    }
    let last = all.iter().filter_map(|told| told.last).max().unwrap_or(written).max(written);
    let processor = proc::processor_time(served.pid())?.saturating_sub(before);
    let mut outcome = Outcome {
        took: last - began,
        processor,
        tail: last - written,
        deliveries: 0,
        missing: 0,
        out_of_order: 0,
        lagged: 0,
        bytes: 0,
    };
    let expected = if what == "one session" {
        (after + 1..=after + events).collect()
    } else {
        positions(served, after).await?
    };
    for told in &all {
        count(told, &expected, &mut outcome);
    }
    Ok(outcome)
}

/// Counts what one subscriber was told.
fn count(told: &Told, expected: &[u64], outcome: &mut Outcome) {
    let told_events = told.numbers.get(1..).unwrap_or_default();
    outcome.deliveries += told_events.len() as u64;
    outcome.lagged += told.lagged;
    outcome.bytes += told.bytes;
    outcome.out_of_order +=
        told_events.windows(2).filter(|pair| matches!(pair, [a, b] if a >= b)).count() as u64;
    let known: std::collections::HashSet<_> = told_events.iter().collect();
    outcome.missing += expected.iter().filter(|number| !known.contains(number)).count() as u64;
}

/// Has events written: titles that change.
async fn write(
    served: &Served,
    sessions: &Arc<Vec<SessionId>>,
    events: u64,
) -> Result<(), Failure> {
    let (client, sessions) = (served.client.clone(), Arc::clone(sessions));
    let done = each(events, WRITERS, move |number| {
        let client = client.clone();
        let place = usize::try_from(number).unwrap_or_default() % sessions.len().max(1);
        let session = sessions.get(place).copied();
        async move {
            let session = session.ok_or("no session")?;
            client.rename(session, &format!("The list of the harbour, {number}")).await?;
            Ok(())
        }
    });
    done.await.map(drop)
}

async fn last_position(served: &Served) -> Result<u64, Failure> {
    Ok(positions(served, 0).await?.last().copied().unwrap_or_default())
}

/// The positions of all events after this one, as the log has them.
async fn positions(served: &Served, after: u64) -> Result<Vec<u64>, Failure> {
    let mut all: Vec<u64> = Vec::new();
    loop {
        let after = all.last().copied().unwrap_or(after);
        let wanted = ListAllEvents { after: Some(after), limit: Some(500) };
        let part = served.client.all_events(&wanted).await?;
        all.extend(part.items.iter().map(|event| event.position));
        if !part.more || part.items.is_empty() {
            return Ok(all);
        }
    }
}
