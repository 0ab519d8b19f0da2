//! T: what it costs to start a process.

use std::time::Duration;

use serde_json::json;

use super::look::is_init;
use super::{Case, Experiment, Outcome, Trial, TrialError, V197};
use crate::driver::Speaker;
use crate::lab::Launch;
use crate::script::RequestKind;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "T",
    "cost-of-a-process",
    "A process is started, with and without `--bare`. How long until it answers `initialize`, \
     and until a turn begins; how much memory does it take, and how large is its first request? \
     Everything here is measured: the middle one of three.",
    &[Case::only(
        r#"
        [[answer]]
        when = { text = "Say" }
        text = "Something."
        "#,
        &[],
        |trial| Box::pin(steps(trial)),
    )],
);

/// What one process took.
struct Cost {
    initialize: Duration,
    init: Duration,
    memory: u64,
    /// None on the simulated CLI, which asks no model.
    request: Option<usize>,
}

async fn steps(trial: &mut Trial) -> Outcome {
    for bare in [false, true] {
        // Older versions have no such flag.
        if bare && trial.version() < V197 {
            continue;
        }
        let mut costs = Vec::new();
        for _ in 0..3 {
            let launch = if bare { Launch::new().arg("--bare") } else { Launch::new() };
            costs.push(one(trial, launch).await?);
        }
        let with = if bare { ", with --bare" } else { "" };
        let initialize = middle(&costs, |cost| cost.initialize);
        trial.measured(&format!("initialize is answered after{with}"), initialize);
        trial.measured(&format!("init comes after{with}"), middle(&costs, |cost| cost.init));
        let megabytes = middle(&costs, |cost| cost.memory) / 1000;
        trial.found(&format!("resident memory then{with} (MB)"), megabytes);
        if let Some(bytes) = middle(&costs, |cost| cost.request) {
            trial.found(&format!("first request to the model{with} (kB)"), bytes / 1000);
        }
    }
    Ok(())
}

fn middle<T: Ord + Copy + Default>(costs: &[Cost], of: impl Fn(&Cost) -> T) -> T {
    let mut all: Vec<_> = costs.iter().map(of).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

async fn one(trial: &mut Trial, launch: Launch) -> Result<Cost, TrialError> {
    let before = trial.lab().model().model_requests().len();
    let mut cli = trial.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Say something.").await?;
    cli.wait("init", is_init).await?;
    let memory = resident(cli.pid());
    cli.result().await?;
    let log = cli.close().await?.log;
    let said = || log.iter().filter(|said| said.by == Speaker::Cli);
    let answer = said().find(|said| said.frame["type"] == "control_response");
    let init = said().find(|said| is_init(&said.frame));
    let requests = trial.lab().model().model_requests();
    let mut requests = requests.iter().skip(before);
    let main = requests.find(|request| request.kind == Some(RequestKind::Main));
    Ok(Cost {
        initialize: answer.map(|said| said.after).unwrap_or_default(),
        init: init.map(|said| said.after).unwrap_or_default(),
        memory,
        request: main.map(|request| request.bytes),
    })
}

/// The memory of a process in kB; 0 when it is gone.
fn resident(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}
