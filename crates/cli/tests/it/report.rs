//! `lab report` and `lab drift` on versions of the real CLI: what the experiments find is what the
//! committed verdicts say.

use std::fs;
use std::path::Path;

use countersign_lab::experiment::{Expected, Experiment, Results};
use countersign_lab::{Version, Versions};
use serde_json::Value;

use crate::support::{Ran, command, ran};

/// The command, which finds Node.js where this machine has it.
fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let versions = Versions::in_default_folder().unwrap();
    let mut command = command(folder);
    command.args(arguments).env("PATH", std::env::var_os("PATH").unwrap());
    ran(command.env("COUNTERSIGN_CLI_CACHE", versions.folder()))
}

/// The versions that are asked, oldest first: the two newest, and with `./test --full` all three.
fn asked() -> Vec<Version> {
    let full = std::env::var_os("COUNTERSIGN_TEST_FULL").is_some();
    let mut versions = Version::TESTED.to_vec();
    versions.sort();
    versions.drain(..if full { 0 } else { versions.len() - 2 });
    versions
}

/// Takes minutes, and is most of what the experiments cost: they are run here and nowhere else.
#[test]
fn versions_do_what_the_committed_verdicts_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // The package manager is set up for this process, and not for the command.
    let versions = Versions::in_default_folder().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for version in asked() {
            versions.install(version).await.unwrap();
            versions.sdk(version).await.unwrap().unwrap();
        }
    });
    let names: Vec<String> = asked().iter().map(Version::to_string).collect();
    let told = run(path, &["lab", "report", "--versions", &names.join(",")]);
    let out = path.join("report");
    let wrong = surprises(&out, &asked());
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), told.err);
    assert_eq!((told.code, told.out.as_str()), (Some(0), "report/report.md\nreport/report.html\n"));
    assert!(told.err.ends_with(" 0 surprises\n"), "{}", told.err);
    let begun = told.err.lines().filter(|line| line.contains(" done)")).count();
    assert_eq!(begun, Experiment::all().len() * names.len(), "each is told: {}", told.err);

    let text = fs::read_to_string(out.join("report.md")).unwrap();
    for pair in names.windows(2) {
        let expected = format!("## What changed from {} to {}", pair[0], pair[1]);
        assert!(text.contains(&expected), "{expected} is not in the report");
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for experiment in Experiment::all() {
        assert!(page.contains(experiment.name()), "{} is not in the page", experiment.name());
    }

    // Only `./test --full` runs the experiments once more for it.
    let full = std::env::var_os("COUNTERSIGN_TEST_FULL").is_some();
    let from = if full { ["--out", "drift"].as_slice() } else { &["--no-run", "--out", "report"] };
    let arguments = [&["lab", "drift", "2.1.197", "2.1.325", "--json"], from].concat();
    let told = run(path, &arguments);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""));
    let drift: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(drift["experiments"]["is"], "compared", "{drift}");
}

/// Where a verdict is another than the one that is committed. One that is better counts, too: what
/// is said about the version is no longer true then.
fn surprises(out: &Path, versions: &[Version]) -> Vec<String> {
    let expected = Expected::committed().unwrap();
    let mut wrong = Vec::new();
    for &version in versions {
        let results = Results::read(&out.join(version.to_string())).unwrap();
        let Some(results) = results else {
            wrong.push(format!("there are no results of {version}"));
            continue;
        };
        for experiment in Experiment::all() {
            let id = experiment.id();
            let observed = results.experiments.iter().find(|observed| observed.experiment == id);
            let wanted = expected.of(&experiment, version).unwrap();
            match observed {
                Some(observed) if wanted.is_met_by(&observed.verdict) => {}
                Some(observed) => wrong.push(format!(
                    "{id} on {version}: expected was {wanted:?}, but it {}",
                    observed.verdict
                )),
                None => wrong.push(format!("{id} on {version} was not run")),
            }
        }
    }
    wrong
}
