//! `countersign-lab model`: the scripted model for a CLI in another terminal.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::output::{Failure, Output};
use crate::guard;
use crate::model::{End, LoggedRequest, ModelOptions, ScriptedModel};
use crate::script::Script;

/// Answer the requests of a real CLI as a script says, until Ctrl-C
#[derive(Debug, clap::Args)]
pub(super) struct Args {
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

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let script = Script::load(&args.script)?;
    let given = |name: &String| args.variables.iter().any(|(known, _)| known == name);
    if let Some(missing) = script.needs.iter().find(|name| !given(name)) {
        let file = args.script.display();
        return Err(Failure::new(format!(
            "{file} needs a value for {missing}; give it with --set {missing}=VALUE"
        )));
    }
    for (name, _) in &args.variables {
        if !script.takes(name) {
            let file = args.script.display();
            return Err(Failure::new(format!("{file} has no variable {name}")));
        }
    }
    Runtime::new()?.block_on(serve(args, script, output))
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
        output.line(format!("not played: {entry}"))?;
    }
    Ok(())
}

/// Says where the server is, and how to point a CLI at it.
fn announce(model: &ScriptedModel, output: &mut Output) -> Result<(), io::Error> {
    output.line(model.url())?;
    output.line("")?;
    output.line("Start the CLI with an otherwise empty environment (HOME, PATH) and:")?;
    output.line("")?;
    output.line(format!("export ANTHROPIC_BASE_URL={}", model.url()))?;
    // What a CLI needs to run offline, beside `HOME` and `PATH`.
    for (name, value) in
        [("ANTHROPIC_API_KEY", guard::DUMMY_KEY)].into_iter().chain(guard::SWITCHES)
    {
        output.line(format!("export {name}={value}"))?;
    }
    output.line("")
}

/// Prints each request when it comes, and how it ended if that is out of the ordinary.
async fn print_requests(model: &ScriptedModel, output: &mut Output) -> Result<(), io::Error> {
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
            output.line(line)?;
        }
    }
}
