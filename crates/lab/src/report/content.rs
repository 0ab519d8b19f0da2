//! What a report says.

use super::Report;
use super::block::{Block, Cell, Table, Tone};
use super::changes::changes;
use crate::experiment::{Finding, Observed, Results, Verdict};

/// The longest value that is shown in a table.
const LONGEST: usize = 160;

/// The experiments that are told in one table: modes, and who is asked.
const IN_NUMBERS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// Everything that is said about results.
pub(super) fn of(report: &Report) -> Vec<Block> {
    let results = report.results();
    let names: Vec<_> = results.iter().map(name).collect();
    let mut blocks =
        vec![heading(1, &format!("Experiments on Claude Code {}", names.join(", ")), "top")];
    blocks.push(Block::Text(
        "Each experiment puts a question to a version of the CLI, offline, with a scripted model, \
         and sets what it finds against the documented facts. *As documented*: every fact was \
         found. *Differs*: something else was found, which for some versions is known. *Broken*: it \
         did not get to its end."
            .to_owned(),
    ));
    blocks.push(heading(2, "Verdicts", "verdicts"));
    blocks.push(Block::Table(verdicts(report)));
    blocks.push(heading(2, "Modes and permissions in numbers", "numbers"));
    blocks.push(Block::Table(numbers(results)));
    for pair in results.windows(2) {
        if let [old, new] = pair {
            blocks.extend(changed(old, new));
        }
    }
    for observed in experiments(results) {
        blocks.extend(experiment(observed, report));
    }
    blocks
}

/// What a program is called.
fn name(results: &Results) -> String {
    if results.simulated {
        format!("{} (simulated)", results.version)
    } else {
        results.version.clone()
    }
}

fn heading(level: u8, text: &str, anchor: &str) -> Block {
    Block::Heading { level, text: text.to_owned(), anchor: anchor.to_owned() }
}

/// Every experiment, as one of the programs has it.
fn experiments(results: &[Results]) -> Vec<&Observed> {
    let mut seen: Vec<&Observed> = Vec::new();
    for observed in results.iter().flat_map(|results| &results.experiments) {
        if !seen.iter().any(|known| known.experiment == observed.experiment) {
            seen.push(observed);
        }
    }
    seen
}

/// An experiment as this program has it.
fn of_program<'a>(results: &'a Results, experiment: &str) -> Option<&'a Observed> {
    results.experiments.iter().find(|observed| observed.experiment == experiment)
}

fn anchor(observed: &Observed) -> String {
    format!("{}-{}", observed.experiment.to_lowercase(), observed.name)
}

/// Experiments and versions.
fn verdicts(report: &Report) -> Table {
    let results = report.results();
    let mut head = vec!["experiment".to_owned()];
    head.extend(results.iter().map(name));
    let row = |observed: &Observed| {
        let title = format!("{} {}", observed.experiment, observed.name);
        let mut cells = vec![Cell::new(title).to(anchor(observed))];
        for results in results {
            cells.push(match of_program(results, &observed.experiment) {
                Some(observed) => {
                    let is_known = report.reason(observed, results).is_some();
                    verdict(&observed.verdict, is_known).to(anchor(observed))
                }
                None => Cell::new("not run").tone(Tone::Faint),
            });
        }
        cells
    };
    Table { head, rows: experiments(results).into_iter().map(row).collect() }
}

fn verdict(verdict: &Verdict, is_known: bool) -> Cell {
    match verdict {
        Verdict::AsDocumented => Cell::new("as documented").tone(Tone::Good),
        Verdict::Differs { differences } if is_known => {
            Cell::new(format!("differs ({}), as known", differences.len()))
        }
        Verdict::Differs { differences } => {
            Cell::new(format!("differs ({})", differences.len())).tone(Tone::Bad)
        }
        Verdict::Broken { .. } => Cell::new("broken").tone(Tone::Bad),
        Verdict::DoesNotApply => Cell::new("–").tone(Tone::Faint),
    }
}

/// What was said, in numbers.
fn numbers(results: &[Results]) -> Table {
    let head = [
        "experiment",
        "version",
        "reported mode",
        "from the CLI",
        "to the CLI",
        "control responses",
        "permission requests",
        "answers",
        "tools asked for",
        "cost (USD)",
    ];
    let mut rows = Vec::new();
    for observed in experiments(results) {
        if !IN_NUMBERS.contains(&observed.experiment.as_str()) {
            continue;
        }
        // The name stands in the first row of an experiment, and its letter in the others.
        let mut title = format!("{} {}", observed.experiment, observed.name);
        for results in results {
            let Some(observed) = of_program(results, &observed.experiment) else { continue };
            let summary = &observed.summary;
            let tools: Vec<_> = summary.tools_asked_for.iter().map(String::as_str).collect();
            let title = std::mem::replace(&mut title, observed.experiment.clone());
            rows.push(vec![
                Cell::new(title).to(anchor(observed)),
                Cell::new(name(results)),
                Cell::new(summary.mode.clone().unwrap_or_default()),
                Cell::new(summary.from_cli.to_string()),
                Cell::new(summary.to_cli.to_string()),
                Cell::new(summary.control_responses.to_string()),
                Cell::new(summary.permission_requests.to_string()),
                Cell::new(summary.permission_answers.to_string()),
                Cell::new(tools.join(", ")),
                Cell::new(summary.cost.map(|cost| format!("{cost:.4}")).unwrap_or_default()),
            ]);
        }
    }
    Table { head: head.map(ToOwned::to_owned).to_vec(), rows }
}

/// What one version does that the one before it does not.
fn changed(old: &Results, new: &Results) -> Vec<Block> {
    let (before, after) = (name(old), name(new));
    let title = format!("What changed from {before} to {after}");
    let mut blocks = vec![heading(2, &title, &format!("changes-{}-{}", old.version, new.version))];
    let changes = changes(old, new);
    if changes.is_empty() {
        blocks.push(Block::Text("Nothing that the experiments look at.".to_owned()));
        return blocks;
    }
    let value = |value: Option<String>| match value {
        Some(text) => Cell::new(bounded(&text)),
        None => Cell::new("not asked").tone(Tone::Faint),
    };
    let rows = changes.into_iter().map(|change| {
        let experiment = of_program(new, &change.experiment).map(anchor).unwrap_or_default();
        vec![
            Cell::new(change.experiment).to(experiment),
            Cell::new(change.finding),
            value(change.old),
            value(change.new),
        ]
    });
    let head = vec!["".to_owned(), "finding".to_owned(), before, after];
    blocks.push(Block::Table(Table { head, rows: rows.collect() }));
    blocks
}

/// One experiment on all programs.
fn experiment(observed: &Observed, report: &Report) -> Vec<Block> {
    let results = report.results();
    let title = format!("{}. {}", observed.experiment, observed.name);
    let mut blocks = vec![heading(2, &title, &anchor(observed))];
    blocks.push(Block::Question(observed.question.clone()));
    blocks.push(Block::Table(findings(&observed.experiment, results)));
    for results in results {
        let Some(observed) = of_program(results, &observed.experiment) else { continue };
        if let Verdict::Broken { error } = &observed.verdict {
            blocks.push(Block::Text(format!("On {} it did not get to its end:", name(results))));
            blocks.push(Block::Verbatim(error.clone()));
        }
        if let Some(reason) = report.reason(observed, results) {
            let name = name(results);
            blocks.push(Block::Text(format!("That {name} differs is known: {reason}.")));
        }
        let folder = if results.simulated { "-simulated" } else { "" };
        let tapes = observed.tapes.iter().map(|tape| format!("{}{folder}/{tape}", results.version));
        blocks.push(Block::Tapes { title: name(results), tapes: tapes.collect() });
    }
    blocks
}

/// What was found on each program.
fn findings(experiment: &str, results: &[Results]) -> Table {
    let mut names: Vec<&str> = Vec::new();
    let all = results.iter().filter_map(|results| of_program(results, experiment));
    for finding in all.flat_map(|observed| &observed.findings) {
        if !names.contains(&finding.name.as_str()) {
            names.push(&finding.name);
        }
    }
    let mut head = vec!["finding".to_owned()];
    head.extend(results.iter().map(name));
    let row = |finding: &&str| {
        let mut cells = vec![Cell::new(*finding)];
        for results in results {
            let observed = of_program(results, experiment);
            let found = observed
                .and_then(|observed| observed.findings.iter().find(|known| known.name == *finding));
            cells.push(found.map_or_else(|| Cell::new("–").tone(Tone::Faint), found_cell));
        }
        cells
    };
    Table { head, rows: names.iter().map(row).collect() }
}

fn found_cell(finding: &Finding) -> Cell {
    let found = bounded(&finding.text());
    match &finding.documented {
        None => Cell::new(found),
        Some(_) if finding.is_as_documented() => Cell::new(found).tone(Tone::Good),
        Some(documented) => {
            let text = format!("{found} (documented: {})", bounded(documented));
            Cell::new(text).tone(Tone::Bad)
        }
    }
}

fn bounded(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let shown: String = text.chars().take(LONGEST).collect();
    format!("{shown}…")
}
