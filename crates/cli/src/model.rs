//! `countersign model`: the scripted model for a CLI in another terminal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use countersign_lab::model::{End, LoggedRequest, ModelOptions, ScriptedModel};
use countersign_lab::script::Script;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;
use crate::output::Output;

/// Answer the requests of a real CLI as a script says, until Ctrl-C
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The script
    script: PathBuf,
    /// The port on 127.0.0.1; any free one if it is not given
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Give a variable of the script a value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    variables: Vec<(String, String)>,
    /// Write every request to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Reads `name=value`.
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

impl Args {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let script = Script::load(&self.script)?;
        let given = |name: &String| self.variables.iter().any(|(known, _)| known == name);
        let file = self.script.display();
        if let Some(missing) = script.needs.iter().find(|name| !given(name)) {
            return Err(Failure::new(format!("{file} needs a value for {missing}"))
                .hint(format!("Give it with --set {missing}=VALUE.")));
        }
        if let Some((name, _)) = self.variables.iter().find(|(name, _)| !script.takes(name)) {
            return Err(Failure::new(format!("{file} has no variable {name}")));
        }
        Runtime::new()?.block_on(serve(self, script, output))?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn serve(args: &Args, script: Script, output: &mut Output) -> Result<(), Failure> {
    // Before the server is announced, so that it can be ended from then on.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut options = ModelOptions::new().port(args.port);
    if let Some(log) = &args.log {
        options = options.log_file(log);
    }
    let model = options.start(script).await?;
    for (name, value) in &args.variables {
        model.set(name, value);
    }
    announce(&model, output)?;
    let printed = tokio::select! {
        printed = print_requests(&model, output) => printed,
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    };
    let left = model.unused();
    model.stop().await?;
    printed?;
    for entry in left {
        say(output, "not played", &entry.to_string())?;
    }
    Ok(())
}

/// Says one thing at once, for whoever watches.
fn say(output: &mut Output, what: &str, line: &str) -> Result<(), Failure> {
    if output.is_json() {
        output.json(&BTreeMap::from([(what, line)]))?;
    } else if what == "request" {
        output.line(line)?;
    } else {
        output.line(format_args!("{what}: {line}"))?;
    }
    output.flush()
}

/// Says where the server is, and how to point a CLI at it.
fn announce(model: &ScriptedModel, output: &mut Output) -> Result<(), Failure> {
    let environment = model.environment();
    if output.is_json() {
        let environment: BTreeMap<_, _> = environment.into_iter().collect();
        output.json(&json!({"url": model.url(), "environment": environment}))?;
    } else {
        output.line(model.url())?;
        output.line("")?;
        output.line("Start the CLI with an otherwise empty environment (HOME, PATH) and:")?;
        output.line("")?;
        for (name, value) in environment {
            output.line(format_args!("export {name}={value}"))?;
        }
        output.line("")?;
    }
    output.flush()
}

/// Prints each request when it comes, and how it ended if that is out of the ordinary.
async fn print_requests(model: &ScriptedModel, output: &mut Output) -> Result<(), Failure> {
    let mut seen = 0;
    let mut open: Vec<Arc<LoggedRequest>> = Vec::new();
    loop {
        let lines = model
            .wait_until(|model| {
                let mut lines = Vec::new();
                for request in model.requests_after(seen) {
                    seen = request.number;
                    lines.push(request.to_string());
                    open.push(request);
                }
                open.retain(|request| match request.end() {
                    None => true,
                    Some(End::Complete) => false,
                    Some(end) => {
                        lines.push(format!("#{} {end}", request.number));
                        false
                    }
                });
                (!lines.is_empty()).then_some(lines)
            })
            .await;
        for line in lines {
            say(output, "request", &line)?;
        }
    }
}
