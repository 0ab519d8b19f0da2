//! What the server writes about itself, to standard error.

use std::io::{self, IsTerminal as _};

use countersign_server::config::{Log, LogFormat, LogLevel};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::failure::Failure;

/// Writes to standard error from now on, as the configuration says.
pub(crate) fn begin(log: &Log, colours: bool) -> Result<(), Failure> {
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let layer = match log.format {
        LogFormat::Text => layer.with_ansi(colours && io::stderr().is_terminal()).boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    let registry = tracing_subscriber::registry().with(layer.with_filter(targets(log.level)));
    Ok(registry.try_init()?)
}

/// Who may write how much.
///
/// At the level `trace` the client library writes what the CLI and the model say, and libraries write
/// what goes over connections, tokens included. Neither belongs into a log, so neither is asked for it.
fn targets(level: LogLevel) -> Targets {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    // The longest name that fits a target decides, and each also stands for what begins with it.
    Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("countersign", level.min(LevelFilter::DEBUG))
        .with_target("countersign_server", level)
        .with_target("countersign_cli", level)
}

#[cfg(test)]
mod tests {
    use countersign_server::config::LogLevel;
    use tracing::Level;

    use super::targets;

    #[test]
    fn nobody_is_asked_for_what_people_and_models_say() {
        let all = targets(LogLevel::Trace);
        assert!(all.would_enable("countersign_server::hub", &Level::TRACE));
        assert!(all.would_enable("countersign::session", &Level::DEBUG));
        for payload in ["countersign::session", "countersign_protocol", "hyper::proto", "rustls"] {
            assert!(!all.would_enable(payload, &Level::TRACE), "{payload}");
        }
        let few = targets(LogLevel::Error);
        assert!(!few.would_enable("hyper::proto", &Level::WARN));
        assert!(!few.would_enable("countersign::session", &Level::WARN));
        assert!(few.would_enable("countersign_server::hub", &Level::ERROR));
    }
}
