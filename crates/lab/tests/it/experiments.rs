//! Experiments on the simulated CLI, and how they are run.

use std::fs::{File, Permissions, TryLockError};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_lab::experiment::{
    Case, Expectation, Expected, Experiment, Options, Progress, Results, Verdict, run,
};
use countersign_lab::{Installed, Program, Version};
use countersign_record::{Tail, TapeReader};

fn simulated() -> Program {
    simulated_as(Version::TESTED[0])
}

fn simulated_as(version: Version) -> Program {
    Program::simulated(PathBuf::from(env!("CARGO_BIN_EXE_countersign-sim")), version)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A program of our own in place of the CLI.
fn program(folder: &Path, script: &str) -> Program {
    let path = folder.join("program");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    Program::Real(Installed::elsewhere(Version::TESTED[0], path))
}

// One test a version, so that they run side by side.

#[test]
fn the_simulated_newest_cli_gives_the_verdicts_of_the_real_one() {
    gives_the_verdicts_of_the_real_one(0);
}

#[test]
fn the_simulated_cli_in_between_gives_the_verdicts_of_the_real_one() {
    gives_the_verdicts_of_the_real_one(1);
}

#[test]
fn the_simulated_oldest_cli_gives_the_verdicts_of_the_real_one() {
    gives_the_verdicts_of_the_real_one(2);
}

const _: () = assert!(Version::TESTED.len() == 3, "each of them has its test above");

fn gives_the_verdicts_of_the_real_one(place: usize) {
    let version = Version::TESTED[place];
    let out = tempfile::tempdir().unwrap();
    let all = Experiment::all();
    let (program, options) = (simulated_as(version), Options::new(out.path()));
    let results = runtime().block_on(run(&all, &program, &options, |_| ())).unwrap();
    assert_eq!(all.len(), results.experiments.len());
    let expected = Expected::committed().unwrap();
    let mut surprises = Vec::new();
    for (experiment, observed) in all.iter().zip(&results.experiments) {
        let wanted = without_the_model(expected.of(experiment, version).unwrap(), experiment);
        if !wanted.is_met_by(&observed.verdict) {
            let (id, verdict) = (experiment.id(), &observed.verdict);
            surprises.push(format!("{wanted:?}, but {id} on {version} {verdict}"));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// What is expected where no model is asked.
fn without_the_model(wanted: Expectation, experiment: &Experiment) -> Expectation {
    let Expectation::Differs { mut findings, reason } = wanted else { return wanted };
    for case in experiment.cases() {
        let of_the_model = case.facts().iter().filter(|fact| fact.is_of_the_model());
        for name in of_the_model.map(|fact| case.full_name(fact.finding())) {
            findings.retain(|finding| *finding != name);
        }
    }
    match findings.is_empty() {
        true => Expectation::AsDocumented,
        false => Expectation::Differs { findings, reason },
    }
}

#[test]
fn every_experiment_has_a_verdict_for_every_version_and_a_name_of_its_own() {
    let expected = Expected::committed().unwrap();
    let all = Experiment::all();
    for experiment in &all {
        for version in Version::TESTED {
            let wanted = expected.of(experiment, version);
            assert!(wanted.is_some(), "{} on {version}", experiment.id());
            let applies = wanted != Some(Expectation::DoesNotApply);
            assert_eq!(applies, experiment.applies_to(version), "{}", experiment.id());
        }
        for name in [experiment.id(), experiment.name(), &experiment.id().to_lowercase()] {
            assert_eq!(Experiment::named(name).unwrap().id(), experiment.id());
        }
        let mut names: Vec<_> = experiment.cases().iter().map(Case::name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(names.len() == 1 || !names.contains(&""), "{names:?}");
    }
    for id in expected.experiments() {
        assert!(all.iter().any(|experiment| experiment.id() == id), "no experiment {id}");
    }
}

#[test]
fn the_document_has_every_experiment_and_explains_what_differs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (told, differs) = document.split_once("\n## Where experiments differ\n").unwrap();
    let expected = Expected::committed().unwrap();
    for experiment in Experiment::all() {
        let heading = format!("\n## {}. {}\n", experiment.id(), experiment.name());
        assert!(told.contains(&heading), "docs/protocol.md has no {heading:?}");
        for version in Version::TESTED {
            if let Some(Expectation::Differs { .. }) = expected.of(&experiment, version) {
                let begins = format!("**{} on ", experiment.id());
                let explains =
                    |line: &str| line.starts_with(&begins) && line.contains(&version.to_string());
                let found = differs.lines().any(explains);
                assert!(found, "{} on {version} is not explained", experiment.id());
            }
        }
    }
}

#[test]
fn results_and_tapes_are_kept_and_replaced() {
    let out = tempfile::tempdir().unwrap();
    let experiment = Experiment::named("A").unwrap();
    let folder = Results::folder(out.path(), &simulated());
    assert!(folder.ends_with("2.1.325-simulated"));
    for _ in 0..2 {
        let mut told = Vec::new();
        let note = |progress: Progress<'_>| match progress {
            Progress::Begins(experiment) => told.push(format!("begins {}", experiment.id())),
            Progress::Ends(observed) => told.push(format!("ends {}", observed.experiment)),
            _ => {}
        };
        let options = Options::new(out.path()).jobs(NonZero::<usize>::MIN);
        let results = runtime().block_on(run(&[experiment], &simulated(), &options, note)).unwrap();
        assert_eq!(told, ["begins A", "ends A"]);
        assert_eq!(Results::read(&folder).unwrap(), Some(results.clone()));
        let observed = &results.experiments[0];
        assert_eq!(observed.summary.mode.as_deref(), Some("default"));
        assert!(observed.summary.from_cli > observed.summary.control_responses);
        assert!(!observed.tapes.is_empty());
        for tape in &observed.tapes {
            whole(&folder.join(tape));
        }
    }
    // Another experiment is added to the file.
    let (other, options) = ([Experiment::named("B").unwrap()], Options::new(out.path()));
    runtime().block_on(run(&other, &simulated(), &options, |_| ())).unwrap();
    let kept = Results::read(&folder).unwrap().unwrap();
    let letters: Vec<_> = kept.experiments.iter().map(|one| one.experiment.as_str()).collect();
    assert_eq!(letters, ["A", "B"]);
}

#[test]
fn a_file_that_holds_no_results_is_not_written_over() {
    let out = tempfile::tempdir().unwrap();
    let folder = Results::folder(out.path(), &simulated());
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("results.json"), "something else").unwrap();
    let (experiments, options) = ([Experiment::named("B").unwrap()], Options::new(out.path()));
    let begun = |_: Progress<'_>| panic!("nothing is to be played");
    let error = runtime().block_on(run(&experiments, &simulated(), &options, begun)).unwrap_err();
    assert!(error.to_string().contains("results.json"), "{error}");
    assert_eq!(std::fs::read(folder.join("results.json")).unwrap(), b"something else");
}

fn whole(tape: &Path) {
    let mut reader = TapeReader::open(tape).unwrap();
    assert_eq!(reader.header().cli.as_deref(), Some("2.1.325"));
    assert!(reader.header().argv.iter().any(|word| word == "--input-format"));
    assert!(reader.by_ref().all(|record| record.is_ok()));
    assert_eq!(reader.tail(), Tail::Whole, "{}", tape.display());
}

#[test]
fn a_program_that_says_nothing_breaks_the_experiment_and_no_other() {
    let out = tempfile::tempdir().unwrap();
    // It reads everything and answers nothing.
    let program = program(out.path(), "exec cat > /dev/null");
    let options = Options::new(out.path()).patience(Duration::from_millis(200));
    let experiments = [Experiment::named("A").unwrap(), Experiment::named("B").unwrap()];
    let results = runtime().block_on(run(&experiments, &program, &options, |_| ())).unwrap();
    assert_eq!(results.experiments.len(), 2);
    for observed in &results.experiments {
        let Verdict::Broken { error } = &observed.verdict else { panic!("{}", observed.verdict) };
        // What was said until then is told.
        assert!(error.contains("initialize"), "{error}");
        assert!(!observed.tapes.is_empty());
    }
}

#[test]
fn nothing_is_left_running_when_the_run_is_dropped() {
    let out = tempfile::tempdir().unwrap();
    let lock = out.path().join("lock");
    let file = File::create(&lock).unwrap();
    // It holds the lock as long as it runs.
    let program = program(out.path(), &format!("exec flock {} sleep 1000", lock.display()));
    let (experiments, options) = ([Experiment::named("B").unwrap()], Options::new(out.path()));
    runtime().block_on(async {
        tokio::select! {
            results = run(&experiments, &program, &options, |_| ()) => panic!("{results:?}"),
            () = held(&file) => {}
        }
        // Given once the process is gone.
        tokio::task::spawn_blocking(move || file.lock()).await.unwrap().unwrap();
    });
}

/// Waits until somebody else holds a lock.
async fn held(file: &File) {
    while !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        file.unlock().unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
