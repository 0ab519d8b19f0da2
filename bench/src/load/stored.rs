//! Sessions that are nothing but rows: what a server takes that has many, and how that grows.

use std::fs;
use std::time::{Duration, Instant};

use countersign_server::api::view::{ListSessions, Part};
use countersign_server::client::Client;

use super::copies::Original;
use super::figures::{Times, ratio};
use super::operations::{Operation, Took, answer_parked, park, requests, sessions};
use super::proc::Memory;
use super::report::{Cell, Report, Table, now};
use super::stage::{Served, Stage};
use super::{Failure, Options};

/// How long a session keeps its process while a person is asked.
const PARK_AFTER: Duration = Duration::from_millis(500);

/// What was measured with so many sessions.
struct Size {
    sessions: u64,
    started: Duration,
    memory: Memory,
    /// After everything was done.
    memory_later: Memory,
    took: Took,
    /// How large the store is.
    bytes: u64,
    /// What all pages of the list took, and of the inbox; how many there were.
    pages: Option<[(Duration, u64); 2]>,
}

pub(super) async fn measure(
    options: &Options,
    parked: Option<u64>,
    growth: &[u64],
    report: &mut Report,
) -> Result<(), Failure> {
    let stage = Stage::open(options).await?;
    let mut host = stage.host.clone();
    host.park_after = Some(PARK_AFTER);
    let served = stage.serve(&host).await?;
    let first = park(1, &stage, &served).await?;
    served.stop().await?;
    let first = first.first().copied().ok_or("nothing was parked")?;
    let original = Original::read(&stage, first.session, first.number).await?;

    let mut sizes: Vec<u64> = growth.iter().copied().chain(parked).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (mut there, mut measured, mut ran) = (1, Vec::new(), Vec::new());
    for size in sizes {
        let missing = size.saturating_sub(there);
        now(&format!("stored: {size} sessions, {missing} of them to be written"));
        original.write(&stage, missing).await?;
        there += missing;
        let served = stage.serve(&host).await?;
        let memory = Memory::of(served.pid())?;
        let wants_pages = parked == Some(size);
        let pages = if wants_pages { Some(all_pages(&served.client).await?) } else { None };
        let mut took = Took::new();
        requests(options, &served, &mut took).await?;
        let totals = served.client.usage().await?;
        report.expect("sessions in the store", there, totals.sessions.values().sum());
        if let Some([(_, listed), (_, asked)]) = pages {
            report.expect("sessions on all pages", there, listed);
            report.expect("approvals on all pages", totals.open_approvals, asked);
        }
        ran.extend(sessions(options, &stage, &served, &mut took).await?);
        let asked = park(options.answers, &stage, &served).await?;
        answer_parked(&asked, &served, &mut took).await?;
        ran.extend(asked.iter().map(|asked| asked.number));
        there += 2 * options.answers;
        let memory_later = Memory::of(served.pid())?;
        let started = starts(&stage, &host, served).await?;
        let bytes = store_bytes(&stage)?;
        let sessions = size;
        measured.push(Size { sessions, started, memory, memory_later, took, bytes, pages });
    }
    let expected = u64::try_from(ran.len())?;
    report.expect("commands that ran once", expected, stage.ran_once(ran)?);
    if let Some(size) = measured.iter().find(|size| Some(size.sessions) == parked) {
        report.add(parked_table(size, &original));
    }
    if !growth.is_empty() {
        let measured: Vec<_> =
            measured.iter().filter(|size| growth.contains(&size.sessions)).collect();
        for table in growth_tables(&measured) {
            report.add(table);
        }
    }
    stage.close().await
}

/// How long a server takes to start: the middle one of three.
async fn starts(
    stage: &Stage,
    host: &crate::host::Host,
    served: Served,
) -> Result<Duration, Failure> {
    let mut times = vec![served.started];
    served.stop().await?;
    for _ in 0..2 {
        let again = stage.serve(host).await?;
        times.push(again.started);
        again.stop().await?;
    }
    times.sort_unstable();
    Ok(times.get(1).copied().unwrap_or_default())
}

/// Reads all pages of the list, and of the inbox.
async fn all_pages(client: &Client) -> Result<[(Duration, u64); 2], Failure> {
    let began = Instant::now();
    let (mut after, mut listed) = (None, 0);
    loop {
        let wanted = ListSessions { after, limit: Some(500), ..ListSessions::default() };
        let page = client.sessions(&wanted).await?;
        listed += page.items.len() as u64;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let list = (began.elapsed(), listed);
    let began = Instant::now();
    let (mut after, mut asked) = (None, 0);
    loop {
        let page = client.inbox(&Part { after, limit: Some(500) }).await?;
        asked += page.items.len() as u64;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok([list, (began.elapsed(), asked)])
}

/// How large the store is, with its log.
fn store_bytes(stage: &Stage) -> Result<u64, Failure> {
    let mut bytes = 0;
    for entry in fs::read_dir(&stage.host.data)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("countersign.db") {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

fn parked_table(size: &Size, original: &Original) -> Table {
    let about = format!("{} parked sessions, {} events each", size.sessions, original.events());
    let mut table = Table::new("parked", about, &["p50", "p99", "most", "processor time"]);
    let mut one =
        |what: &str, cell: Cell| table.row(what, &[cell, Cell::None, Cell::None, Cell::None]);
    one("sessions", Cell::Count(size.sessions));
    one("the store on disk", Cell::Memory(size.bytes));
    one("the server starts within", Cell::Time(size.started));
    one("memory of the server, started (PSS)", Cell::Memory(size.memory.proportional));
    one("memory of the server, started (RSS)", Cell::Memory(size.memory.resident));
    one(
        "memory of the server, after all of this (PSS)",
        Cell::Memory(size.memory_later.proportional),
    );
    if let Some([list, inbox]) = size.pages {
        one("all pages of the list, 500 each", Cell::Time(list.0));
        one("all pages of the inbox, 500 each", Cell::Time(inbox.0));
    }
    for operation in Operation::ALL {
        let Some(times) = size.took.get(&operation) else { continue };
        let [p50, p99, most] = [times.p50(), times.p99(), times.most()].map(Cell::Time);
        let processor = Some(times.processor_each()).filter(|time| !time.is_zero());
        let processor = processor.map_or(Cell::None, Cell::Time);
        table.row(operation.words(), &[p50, p99, most, processor]);
    }
    table
}

/// The times, and how often they are those with the fewest sessions.
fn growth_tables(sizes: &[&Size]) -> [Table; 3] {
    let mut times = Table::new("growth", "p50, by the number of sessions in the store", &[]);
    let mut ratios = Table::new("growth, as a ratio", "to that with the fewest", &[]);
    let about = "of the server, for one request";
    let mut processor = Table::new("growth, in processor time", about, &[]);
    for size in sizes {
        for table in [&mut times, &mut ratios, &mut processor] {
            table.column(size.sessions.to_string());
        }
    }
    let mut row = |what: &str, of: &dyn Fn(&Size) -> Duration| {
        let all: Vec<_> = sizes.iter().map(|size| of(size)).collect();
        let least = all.first().copied().unwrap_or_default();
        times.row(what, &all.iter().map(|time| Cell::Time(*time)).collect::<Vec<_>>());
        let by = |time: &Duration| Cell::Ratio(ratio(*time, least));
        ratios.row(what, &all.iter().map(by).collect::<Vec<_>>());
    };
    row("the server starts within", &|size| size.started);
    for operation in Operation::ALL {
        row(operation.words(), &|size| {
            size.took.get(&operation).map(Times::p50).unwrap_or_default()
        });
    }
    let memory: Vec<_> = sizes.iter().map(|size| Cell::Memory(size.memory.proportional)).collect();
    times.row("memory of the server, started (PSS)", &memory);
    let least = sizes.first().map_or(1, |size| size.memory.proportional.max(1));
    let by = |size: &&Size| Cell::Ratio(size.memory.proportional as f64 / least as f64);
    ratios.row("memory of the server, started (PSS)", &sizes.iter().map(by).collect::<Vec<_>>());
    for operation in Operation::ALL {
        let each = |size: &&Size| {
            let each = size.took.get(&operation).map(Times::processor_each);
            each.filter(|time| !time.is_zero()).map_or(Cell::None, Cell::Time)
        };
        let cells: Vec<_> = sizes.iter().map(each).collect();
        if cells.iter().any(|cell| !matches!(cell, Cell::None)) {
            processor.row(operation.words(), &cells);
        }
    }
    [times, ratios, processor]
}
