//! The load test: what a server takes that has much to do.
//!
//! The server is a process of its own, the CLI is the simulated one, and everything goes over the
//! API. The exceptions are said where they are made: a hundred thousand parked sessions (`copies.rs`), and
//! sessions with ten thousand messages (`page/long.rs`), are put into the data folder beforehand.

mod copies;
mod fanout;
mod figures;
mod latency;
mod live;
mod operations;
mod page;
mod proc;
mod report;
mod script;
mod stage;
mod stored;
mod subscriber;

use std::error::Error;
use std::time::Instant;

use clap::{Parser, ValueEnum};

use self::report::Report;

/// Why something could not be measured.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Something that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// Many sessions with a process each
    Live,
    /// Many sessions that wait for a person without a process
    Parked,
    /// What an approval takes, beside a client without a server
    Latency,
    /// Many who watch
    Fanout,
    /// The same work with ever more sessions in the store
    Growth,
    /// The web page: its weight, a long session, what is said until it is on the screen
    Page,
}

/// Measure a server that has much to do
#[derive(Clone, Debug, Parser)]
pub struct Options {
    /// What is measured; everything if it is not said
    #[arg(long, value_delimiter = ',', value_name = "WHAT")]
    only: Vec<Measure>,
    /// How many sessions are alive at once
    #[arg(long, default_value_t = 1000)]
    live: u64,
    /// How many sessions are parked
    #[arg(long, default_value_t = 100_000)]
    parked: u64,
    /// How many approvals are timed
    #[arg(long, default_value_t = 1000)]
    rounds: u64,
    /// How many subscribers there are
    #[arg(long, default_value_t = 100)]
    subscribers: u64,
    /// How many events they are told
    #[arg(long, default_value_t = 3000)]
    events: u64,
    /// How many sessions there are when the same is measured again
    #[arg(long, value_delimiter = ',', default_values_t = [10, 1000, 10_000, 100_000])]
    growth: Vec<u64>,
    /// How often a request is timed, at most
    #[arg(long, default_value_t = 200)]
    reads: u64,
    /// How many sessions are really run, and really parked, to be answered
    #[arg(long, default_value_t = 50)]
    answers: u64,
    /// How many messages a long session has
    #[arg(long, default_value_t = 10_000)]
    messages: u64,
    /// How many pieces of what is said are timed on their way to the screen, at each pace
    #[arg(long, default_value_t = 400)]
    pieces: u64,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Keep what the servers kept, and say where
    #[arg(long)]
    keep: bool,
}

impl Options {
    fn wants(&self, measure: Measure) -> bool {
        self.only.is_empty() || self.only.contains(&measure)
    }
}

/// Measures, prints what came of it, and says whether nothing was lost.
///
/// # Errors
///
/// When it cannot be measured.
pub async fn run(options: &Options) -> Result<bool, Failure> {
    let began = Instant::now();
    proc::open_as_many_files_as_may_be()?;
    let mut report = Report::new(!options.json);
    if options.wants(Measure::Latency) {
        Box::pin(latency::measure(options, &mut report)).await?;
    }
    if options.wants(Measure::Fanout) {
        Box::pin(fanout::measure(options, &mut report)).await?;
    }
    if options.wants(Measure::Live) {
        Box::pin(live::measure(options, &mut report)).await?;
    }
    let parked = options.wants(Measure::Parked).then_some(options.parked);
    let growth = if options.wants(Measure::Growth) { options.growth.clone() } else { Vec::new() };
    if parked.is_some() || !growth.is_empty() {
        Box::pin(stored::measure(options, parked, &growth, &mut report)).await?;
    }
    if options.wants(Measure::Page) {
        Box::pin(page::measure(options, &mut report)).await?;
    }
    Ok(report.finish(began.elapsed()))
}
