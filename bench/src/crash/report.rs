//! What came of it, for people and for programs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the report is what it is for")]

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Options;
use super::judge::{Findings, Wrong};

/// How much is said of each kind of mistake.
const EXAMPLES: usize = 5;

/// Prints what was found.
pub(super) fn print(found: &Findings, options: &Options, seed: u64, took: Duration) {
    let count = |wrong: Wrong| found.wrong.get(&wrong).map_or(0, Vec::len);
    if options.json {
        let wrong: Map<String, Value> = Wrong::ALL
            .iter()
            .map(|wrong| (wrong.words().1.to_owned(), count(*wrong).into()))
            .collect();
        let happened: Map<String, Value> = found
            .happened
            .iter()
            .map(|(what, number)| ((*what).to_owned(), (*number).into()))
            .collect();
        let report = json!({
            "cli": options.cli,
            "store": options.store.name(),
            "seed": seed,
            "seconds": took.as_secs_f64(),
            "wrong": wrong,
            "happened": happened,
        });
        println!("{report}");
    } else {
        let (cli, store, runs) = (&options.cli, options.store.name(), options.runs);
        println!("{cli} on {store}, {runs} kills, {took:.0?}, --seed {seed}\n");
        println!("| what must not be | count |\n|---|---:|");
        for wrong in Wrong::ALL {
            println!("| {} | {} |", wrong.words().0, count(wrong));
        }
        println!("\n| what there was | count |\n|---|---:|");
        for (what, number) in &found.happened {
            println!("| {what} | {number} |");
        }
    }
    for (wrong, what) in &found.wrong {
        for text in what.iter().take(EXAMPLES) {
            let text: String = text.chars().take(2000).collect();
            eprintln!("{}: {text}", wrong.words().0);
        }
        if let Some(more) = what.len().checked_sub(EXAMPLES).filter(|more| *more > 0) {
            eprintln!("{}: and {more} more", wrong.words().0);
        }
    }
}

/// Says where everything was kept.
pub(super) fn kept(folder: &Path) {
    eprintln!("kept in {}", folder.display());
}
