//! What a person sees: how long until a session is on the screen of a browser, and how long until a piece
//! of what the model says is.
//!
//! The CLI says when it wrote each piece ([`clocked`]); a script on the page notes when the piece came
//! to the page and when it was painted (`watch.js`). Somebody who follows the stream of the API does the
//! same beside it.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_e2e::Browser;
use countersign_server::id::SessionId;
use countersign_server::service::NewMessage;
use serde_json::Value;

use super::long::Long;
use super::script::{PACES, speak};
use super::views::{table, time_row};
use crate::clocked;
use crate::load::figures::{Times, ratio};
use crate::load::report::{Cell, Report, Table, now};
use crate::load::stage::{PATIENCE, Served, Stage, until};
use crate::load::subscriber::Watching;
use crate::load::{Failure, Options};

/// How often a page is opened, at most.
const OPENED: u64 = 20;

/// How long a page took: until something of it was painted, and until all was loaded.
const SHOWN: &str = "
    const done = arguments[arguments.length - 1];
    const look = () => {
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      const [page] = performance.getEntriesByType('navigation');
      if (paint && page.loadEventEnd) done([paint.startTime, page.loadEventEnd]);
      else requestAnimationFrame(look);
    };
    look();";

/// When each piece was somewhere, by when it was written: in microseconds.
type Seen = BTreeMap<u64, u64>;

/// Where pieces were seen.
#[derive(Default)]
struct Sight {
    by_subscriber: Seen,
    placed: Seen,
    painted: Seen,
}

/// What was seen in a browser.
struct Screen {
    painted: Vec<Times>,
    loaded: Vec<Times>,
    /// One for each pace.
    said: Vec<Sight>,
}

pub(super) async fn measure(
    options: &Options,
    stage: &Stage,
    served: &Served,
    sessions: &[Long],
    report: &mut Report,
) -> Result<(), Failure> {
    now("page: in a browser");
    let mut seen = None;
    countersign_e2e::test("load_page", async |browser| {
        seen = Some(look(browser, options, stage, served, sessions).await);
    })
    .await;
    let Screen { painted, loaded, said } = seen.ok_or("the browser was not used")??;
    let about = format!("opened {} times", options.reads.min(OPENED));
    let mut opened = table("page, a session in a browser", &about, sessions);
    time_row(&mut opened, "until it is first painted", &painted);
    time_row(&mut opened, "until all is loaded", &loaded);
    report.add(opened);
    let about = format!("{} pieces at each pace, since the CLI wrote them", options.pieces);
    let columns = ["p50", "p95", "most", "ratio, p50", "ratio, p95"];
    let mut pieces = Table::new("page, what is said", about, &columns);
    for (pace, sight) in PACES.iter().zip(&said) {
        let plain = times(&sight.by_subscriber);
        for (what, seen) in [
            ("to a subscriber of the API", &sight.by_subscriber),
            ("to its place on the page", &sight.placed),
            ("to the screen", &sight.painted),
        ] {
            let what = format!("a word every {pace}, {what}");
            let times = times(seen);
            report.expect(&what, options.pieces, times.count());
            let cells = [times.p50(), times.p95(), times.most()].map(Cell::Time);
            let by = |of: fn(&Times) -> Duration| Cell::Ratio(ratio(of(&times), of(&plain)));
            let ratios = [by(Times::p50), by(Times::p95)];
            pieces.row(what, &[cells.as_slice(), &ratios].concat());
        }
    }
    report.add(pieces);
    Ok(())
}

/// How old pieces were.
fn times(seen: &Seen) -> Times {
    seen.iter().map(|(written, at)| Duration::from_micros(at.saturating_sub(*written))).collect()
}

async fn look(
    browser: &Browser,
    options: &Options,
    stage: &Stage,
    served: &Served,
    sessions: &[Long],
) -> Result<Screen, Failure> {
    let link = served.client.create_login_link().await?;
    browser.open(link.url.expose()).await;
    browser.until("location.pathname === '/' && document.body.dataset.live === 'yes'").await;
    let mut painted = vec![Times::default(); sessions.len()];
    let mut loaded = painted.clone();
    for _ in 0..options.reads.min(OPENED) {
        for (long, times) in sessions.iter().zip(painted.iter_mut().zip(&mut loaded)) {
            open(browser, served, long.session).await;
            let shown = browser.run_async(SHOWN).await;
            let time = |place: usize| {
                let milliseconds = shown.get(place).and_then(Value::as_f64);
                milliseconds.map(|time| Duration::from_secs_f64(time.max(0.0) / 1000.0))
            };
            times.0.add(time(0).ok_or("the browser does not say when it painted")?);
            times.1.add(time(1).ok_or("the browser does not say when it had loaded")?);
        }
    }
    let session = served.client.create_session(&stage.session(None)).await?.session;
    open(browser, served, session).await;
    browser.run(include_str!("watch.js")).await;
    let mut said = Vec::new();
    for pace in PACES {
        said.push(watch(browser, options, served, session, pace).await?);
    }
    Ok(Screen { painted, loaded, said })
}

/// Opens the page of a session, and waits until it is live.
async fn open(browser: &Browser, served: &Served, session: SessionId) {
    browser.open(&format!("{}/sessions/{session}", served.address)).await;
    browser.until("document.body.dataset.live === 'yes'").await;
}

/// Has something said at this pace, and looks when it is seen where.
async fn watch(
    browser: &Browser,
    options: &Options,
    served: &Served,
    session: SessionId,
    pace: &str,
) -> Result<Sight, Failure> {
    let after = served.client.session(session).await?.head.seq;
    let heard = listen(served, session, after, options.pieces);
    let said = async {
        let message = NewMessage { text: speak(pace), ..NewMessage::default() };
        Ok(served.client.send(session, &message).await?)
    };
    let (by_subscriber, _) = tokio::try_join!(heard, said)?;
    // What was said in pieces is said as a whole before the turn ends, and not in the next one.
    let mut following = served.client.follow(session, Some(after)).await?;
    until(&mut following, |event| event.kind == "turn.ended").await?;
    let all: Vec<_> = by_subscriber.keys().map(|time| format!("'{time}'")).collect();
    let all = format!("[{}].every((time) => time in watched.painted)", all.join(","));
    browser.until(&all).await;
    let told = browser.run("return window.watched").await;
    let of = |what: &str| -> Result<Seen, Failure> {
        let noted = told.get(what).ok_or("the page has noted nothing")?;
        let noted: Seen = serde_json::from_value(noted.clone())?;
        Ok(noted.into_iter().filter(|(time, _)| by_subscriber.contains_key(time)).collect())
    };
    let (placed, painted) = (of("placed")?, of("painted")?);
    Ok(Sight { by_subscriber, placed, painted })
}

/// Follows the stream of a session until so many pieces have come.
async fn listen(
    served: &Served,
    session: SessionId,
    after: u64,
    pieces: u64,
) -> Result<Seen, Failure> {
    let path = format!("/sessions/{session}/stream");
    let mut stream = Watching::new(served)?.open(&path, after).await?.into_pieces();
    let read = async {
        let (mut seen, mut rest) = (Seen::new(), Vec::new());
        while (seen.len() as u64) < pieces {
            let piece = stream.next().await?.ok_or("the stream has ended")?;
            let at = clocked::now();
            rest.extend_from_slice(&piece);
            for time in clocked::times_in(&String::from_utf8_lossy(&rest)) {
                seen.entry(time).or_insert(at);
            }
            // The beginning of one may have come.
            rest.drain(..rest.len().saturating_sub(clocked::MARK.len() - 1));
        }
        Ok(seen)
    };
    tokio::time::timeout(PATIENCE, read).await.map_err(|_| "not all pieces came")?
}
