//! The flags of `serve`, which set keys of the configuration.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use countersign_server::config;

/// What is said on the command line in the place of the configuration file.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct FlagArgs {
    /// The configuration file [default: ~/.config/countersign/server.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address to listen on, as 127.0.0.1:7787; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// A folder that sessions may use, with all that is in it; can be said several times
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,
    /// The folder for everything that the server keeps [default: ~/.local/share/countersign]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Where sessions are kept: sqlite, sqlite:FILE, or the URL of a PostgreSQL database
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// A PEM file with the certificate
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the key of the certificate
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Where people find the server, as https://agents.example.org
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A further host that requests may name; can be said several times
    #[arg(long = "allowed-host", value_name = "HOST")]
    allowed_hosts: Vec<String>,
    /// Listen for other machines without TLS: something in front of the server speaks it
    #[arg(long)]
    allow_non_loopback_without_tls: bool,
    /// The program claude; else CLAUDE_CODE_PATH says where it is, or it is looked for
    #[arg(long, value_name = "PATH")]
    cli: Option<PathBuf>,
    /// How many processes of the CLI run at once
    #[arg(long, value_name = "COUNT")]
    live: Option<usize>,
    /// Sessions may be created in the mode in which next to nothing is asked for
    #[arg(long)]
    allow_bypass: bool,
    /// How much is logged, on standard error
    #[arg(long, value_enum, value_name = "LEVEL")]
    log_level: Option<LogLevel>,
    /// How it is logged
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// How it is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl From<FlagArgs> for config::Flags {
    fn from(said: FlagArgs) -> Self {
        Self {
            config: said.config,
            listen: said.listen,
            allow_non_loopback_without_tls: said.allow_non_loopback_without_tls,
            public_url: said.public_url,
            allowed_hosts: said.allowed_hosts,
            tls_certificate: said.tls_cert,
            tls_key: said.tls_key,
            data: said.data,
            store: said.store,
            roots: said.roots,
            cli: said.cli,
            live_processes: said.live,
            allow_bypass: said.allow_bypass,
            log_level: said.log_level.map(|level| match level {
                LogLevel::Error => config::LogLevel::Error,
                LogLevel::Warn => config::LogLevel::Warn,
                LogLevel::Info => config::LogLevel::Info,
                LogLevel::Debug => config::LogLevel::Debug,
                LogLevel::Trace => config::LogLevel::Trace,
            }),
            log_format: said.log_format.map(|format| match format {
                LogFormat::Text => config::LogFormat::Text,
                LogFormat::Json => config::LogFormat::Json,
            }),
        }
    }
}
