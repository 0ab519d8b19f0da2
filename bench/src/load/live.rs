//! Many sessions that have a process each at the same time, all of which wait for a person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_server::api::view::ListSessions;
use countersign_server::client::{Client, Followed, Following};
use countersign_server::id::ApprovalId;
use countersign_server::session::{Answer, Process};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::figures::Times;
use super::proc::{Memory, open_files, processor_time};
use super::report::{Cell, Report, Table, now};
use super::stage::{AT_ONCE, PATIENCE, Stage, approval_of, each};
use super::{Failure, Options};

/// How often somebody looks while sessions start.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn measure(options: &Options, report: &mut Report) -> Result<(), Failure> {
    let count = options.live;
    now(&format!("live: {count} sessions at the same time"));
    let stage = Stage::open(options).await?;
    let mut host = stage.host.clone();
    host.live_processes = usize::try_from(count)? + 1;
    let served = stage.serve(&host).await?;
    let client = served.client.clone();
    let before = Memory::of(served.pid())?;
    let mut inbox = client.follow_inbox(Some(0)).await?;
    let looker = Looker::start(&client);

    let numbers: Vec<u64> = (0..count).map(|_| stage.number()).collect();
    let new: Arc<Vec<_>> = Arc::new(numbers.iter().map(|number| stage.asking(*number)).collect());
    let began = Instant::now();
    let maker = client.clone();
    let making = each(count, AT_ONCE, move |number| {
        let (client, new) = (maker.clone(), Arc::clone(&new));
        async move {
            let place = usize::try_from(number)?;
            let new = new.get(place).ok_or("no such session")?;
            Ok(client.create_session(new).await?.session)
        }
    });
    let (made, asked) = tokio::join!(making, opened(&mut inbox, count));
    let (made, asked) = (made?, asked?);
    let all_live = began.elapsed();
    let starting = looker.stop().await;

    let (alive, clis) = processes(&client).await?;
    report.expect("sessions made", count, u64::try_from(made.len())?);
    report.expect("sessions that wait, with a process", count, alive);
    let after = Memory::of(served.pid())?;
    let files = open_files(served.pid())?;
    let idle = processor_time(served.pid())?;
    let looker = Looker::start(&client);
    let waited = Duration::from_secs(if count < 100 { 1 } else { 10 });
    tokio::time::sleep(waited).await;
    let idle = processor_time(served.pid())?.saturating_sub(idle);
    let waiting = looker.stop().await;

    let looker = Looker::start(&client);
    let began = Instant::now();
    let (answerer, approvals) = (client.clone(), Arc::new(asked));
    let answering = each(count, AT_ONCE, move |number| {
        let (client, approvals) = (answerer.clone(), Arc::clone(&approvals));
        async move {
            let place = usize::try_from(number)?;
            let approval = *approvals.get(place).ok_or("no such approval")?;
            let began = Instant::now();
            client.answer(approval, Answer::allow()).await?;
            Ok(began.elapsed())
        }
    });
    let (taken, done) = tokio::join!(answering, closed(&mut inbox, count));
    let taken: Times = taken?.into_iter().collect();
    done?;
    let all_done = began.elapsed();
    let answering = looker.stop().await;
    report.expect("commands that ran once", count, stage.ran_once(numbers)?);

    let mut table = Table::new("live", format!("{count} sessions, each with its CLI"), &["figure"]);
    let each_of = |bytes: u64| bytes / count.max(1);
    table.row("sessions that wait with a process", &[Cell::Count(alive)]);
    table.row("until all of them ask", &[Cell::Time(all_live)]);
    table.row("memory of the server before (PSS)", &[Cell::Memory(before.proportional)]);
    table.row("memory of the server with all of them (PSS)", &[Cell::Memory(after.proportional)]);
    table.row("memory of the server with all of them (RSS)", &[Cell::Memory(after.resident)]);
    let more = after.proportional.saturating_sub(before.proportional);
    table.row("memory of the server, for each", &[Cell::Memory(each_of(more))]);
    table.row("memory of a CLI (PSS)", &[Cell::Memory(each_of(clis))]);
    table.row("memory of all CLIs (PSS)", &[Cell::Memory(clis)]);
    table.row("open files of the server", &[Cell::Count(files)]);
    let share = idle.as_secs_f64() / waited.as_secs_f64();
    table.row("processors in use while all wait", &[Cell::Ratio(share)]);
    for (what, times) in [
        ("a page of the list, while they start", &starting),
        ("a page of the list, while all wait", &waiting),
        ("a page of the list, while all are answered", &answering),
        ("an answer, until it is on disk, 16 at once", &taken),
    ] {
        table.row(format!("{what}, p50"), &[Cell::Time(times.p50())]);
        table.row(format!("{what}, p99"), &[Cell::Time(times.p99())]);
    }
    table.row("until all were answered and have run", &[Cell::Time(all_done)]);
    report.add(table);
    served.stop().await?;
    stage.close().await
}

/// Waits until so much was asked.
async fn opened(inbox: &mut Following, count: u64) -> Result<Vec<ApprovalId>, Failure> {
    let mut asked = Vec::new();
    while (asked.len() as u64) < count {
        asked.extend(event(inbox, "approval.opened").await?.as_ref().and_then(approval_of));
    }
    Ok(asked)
}

/// Waits until so much is not asked any more.
async fn closed(inbox: &mut Following, count: u64) -> Result<(), Failure> {
    let mut closed = 0;
    while closed < count {
        closed += u64::from(event(inbox, "approval.closed").await?.is_some());
    }
    Ok(())
}

/// The next event, if it is of this kind.
async fn event(
    inbox: &mut Following,
    kind: &str,
) -> Result<Option<countersign_server::api::view::EventView>, Failure> {
    let next = tokio::time::timeout(PATIENCE, inbox.next()).await;
    match next.map_err(|_| "nothing happens any more")?.ok_or("the stream has ended")?? {
        Followed::Event(event) if event.kind == kind => Ok(Some(event)),
        _ => Ok(None),
    }
}

/// How many sessions wait with a process, and how much memory their processes have.
async fn processes(client: &Client) -> Result<(u64, u64), Failure> {
    let (mut alive, mut memory, mut after) = (0, 0, None);
    loop {
        let state = Some("waiting".to_owned());
        let wanted = ListSessions { state, after, limit: Some(500), ..ListSessions::default() };
        let page = client.sessions(&wanted).await?;
        for view in page.items {
            if let Process::Alive { process: Some(process), .. } = view.head.process {
                alive += 1;
                memory += Memory::of(u32::try_from(process.pid())?)?.proportional;
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok((alive, memory));
        }
    }
}

/// Somebody who looks at the list again and again.
struct Looker {
    stop: CancellationToken,
    tasks: TaskTracker,
    looking: tokio::task::JoinHandle<Times>,
}

impl Looker {
    fn start(client: &Client) -> Self {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let (client, told) = (client.clone(), stop.clone());
        let looking = tasks.spawn(async move {
            let mut times = Times::default();
            while !told.is_cancelled() {
                let began = Instant::now();
                if client.sessions(&ListSessions::default()).await.is_ok() {
                    times.add(began.elapsed());
                }
                tokio::time::sleep(LOOK).await;
            }
            times
        });
        Self { stop, tasks, looking }
    }

    async fn stop(self) -> Times {
        self.stop.cancel();
        self.tasks.close();
        self.looking.await.unwrap_or_default()
    }
}
