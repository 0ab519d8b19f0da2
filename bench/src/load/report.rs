//! What was measured, for people and for programs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the report is what it is for")]

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// One figure.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Count(u64),
    Time(Duration),
    /// In bytes.
    Memory(u64),
    /// So many a second.
    Rate(f64),
    Ratio(f64),
    /// It was not measured there.
    None,
}

impl Cell {
    fn text(self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Time(time) => in_words(time),
            Self::Memory(bytes) if bytes < 10 << 20 => format!("{} kB", bytes >> 10),
            Self::Memory(bytes) => format!("{:.1} MB", bytes as f64 / f64::from(1 << 20)),
            Self::Rate(rate) => format!("{rate:.0}/s"),
            Self::Ratio(ratio) if ratio < 10.0 => format!("{ratio:.2}"),
            Self::Ratio(ratio) => format!("{ratio:.1}"),
            Self::None => "–".to_owned(),
        }
    }

    /// In seconds, bytes, or as it is.
    fn value(self) -> Value {
        match self {
            Self::Count(number) | Self::Memory(number) => json!(number),
            Self::Time(time) => json!(time.as_secs_f64()),
            Self::Rate(number) | Self::Ratio(number) => json!(number),
            Self::None => Value::Null,
        }
    }
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 0.01 => format!("{:.2} ms", seconds * 1e3),
        _ if seconds < 0.1 => format!("{:.1} ms", seconds * 1e3),
        _ if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

/// Figures in rows and columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    name: &'static str,
    about: String,
    columns: Vec<String>,
    rows: Vec<(String, Vec<Cell>)>,
}

impl Table {
    pub(super) fn new(name: &'static str, about: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { name, about: about.into(), columns, rows: Vec::new() }
    }

    pub(super) fn column(&mut self, name: impl Into<String>) {
        self.columns.push(name.into());
    }

    pub(super) fn row(&mut self, what: impl Into<String>, cells: &[Cell]) {
        self.rows.push((what.into(), cells.to_vec()));
    }

    fn print(&self) {
        println!("\n## {}: {}\n", self.name, self.about);
        println!("| | {} |", self.columns.join(" | "));
        println!("|---|{}", "---:|".repeat(self.columns.len()));
        for (what, cells) in &self.rows {
            let cells: Vec<_> = cells.iter().map(|cell| cell.text()).collect();
            println!("| {what} | {} |", cells.join(" | "));
        }
    }

    fn value(&self) -> Value {
        let rows = self.rows.iter().map(|(what, cells)| {
            let cells = self.columns.iter().zip(cells);
            let cells = cells.map(|(column, cell)| (column.clone(), cell.value()));
            (what.clone(), Value::Object(cells.collect()))
        });
        Value::Object(rows.collect())
    }
}

/// Everything that was measured.
#[derive(Debug)]
pub(super) struct Report {
    /// Whether it is printed while it comes; it is JSON in the end otherwise.
    at_once: bool,
    tables: Vec<Table>,
    wrong: Vec<String>,
}

impl Report {
    pub(super) const fn new(at_once: bool) -> Self {
        Self { at_once, tables: Vec::new(), wrong: Vec::new() }
    }

    pub(super) fn add(&mut self, table: Table) {
        if self.at_once {
            table.print();
        }
        self.tables.push(table);
    }

    /// Looks whether there is as much of something as there has to be.
    pub(super) fn expect(&mut self, what: &str, expected: u64, found: u64) {
        if expected != found {
            self.wrong.push(format!("{what}: {found} in the place of {expected}"));
        }
    }

    /// Looks whether there is less of something than there may be.
    pub(super) fn expect_below(&mut self, what: &str, bound: u64, found: u64) {
        if found >= bound {
            self.wrong.push(format!("{what}: {found}, which is not below {bound}"));
        }
    }

    /// Prints what was not yet, and says whether nothing was wrong.
    pub(super) fn finish(&self, took: Duration) -> bool {
        if self.at_once {
            println!("\nmeasured in {}", in_words(took));
        } else {
            let mut tables = Map::new();
            for table in &self.tables {
                tables.insert(table.name.to_owned(), table.value());
            }
            let seconds = took.as_secs_f64();
            println!("{}", json!({"figures": tables, "wrong": self.wrong, "seconds": seconds}));
        }
        for wrong in &self.wrong {
            eprintln!("{wrong}");
        }
        self.wrong.is_empty()
    }
}

/// Says what is done now, since it may take a while.
pub(super) fn now(what: &str) {
    eprintln!("{what}");
}

/// Says where everything was kept.
pub(super) fn kept(folder: &Path) {
    eprintln!("kept in {}", folder.display());
}
