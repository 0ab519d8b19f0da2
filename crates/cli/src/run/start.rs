//! The start of a session: it may take long, and can be given up.

use std::time::Duration;

use countersign::{Session, SessionBuilder};
use tokio::time::{Instant, interval_at};

use super::ending;
use super::options::with_what_it_knows;
use super::signals::{Asks, Signals};
use crate::failure::{Exit, Failure};

/// How long the CLI may take before it is said that it is waited for, and how often it is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is said then.
pub(crate) const STARTING: &str = "starting Claude Code…";

/// What came of it.
#[derive(Debug)]
pub(crate) enum Start {
    Session(Box<Session>),
    /// It was given up, with this exit code.
    Left(u8),
}

/// Starts the CLI, until a signal says otherwise. `tell` is called when it takes long, and again every
/// second, with the time that it took until then.
///
/// When it is given up, all that was started is killed, at the latest when the runtime ends.
pub(crate) async fn start(
    builder: SessionBuilder,
    signals: &mut Signals,
    mut tell: impl FnMut(Duration),
) -> Result<Start, Failure> {
    let begin = Instant::now();
    let mut waited = interval_at(begin + PATIENCE, PATIENCE);
    let mut starting = Box::pin(async { with_what_it_knows(builder).await.connect().await });
    loop {
        tokio::select! {
            session = &mut starting => return match session {
                Ok(session) => Ok(Start::Session(Box::new(session))),
                Err(error) => Err(ending::not_begun(&error)),
            },
            asks = signals.next() => return Ok(Start::Left(match asks {
                Asks::Interrupt => Exit::Interrupted.into(),
                Asks::End(code) => code,
            })),
            _ = waited.tick() => tell(begin.elapsed()),
        }
    }
}
