//! Recording a session as it goes.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use countersign_record::{CreateError, End, Header, Recorder, RecorderOptions};

use crate::builder::SessionBuilder;
use crate::options::{ChildEnvironment, Launch};
use crate::session::Place;

/// A tape to be made of a session.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    path: PathBuf,
    /// Which process of the session it is of, counted from 1.
    number: u32,
}

impl SessionBuilder {
    /// Records all that goes over the pipes of the session, byte for byte, in a new file. When the
    /// session has been closed, the tape is whole.
    ///
    /// A tape has secrets on it: `countersign_record::redact` takes them out. A file that exists is
    /// not touched: the session does not start. Nothing that goes wrong with the tape later reaches
    /// the session; it is said in the log.
    ///
    /// A session that is [begun anew](crate::Session::begin_fresh) in another process has a tape
    /// for each: `a.tape`, then `a-2.tape`.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.tape = Some(Tape { path: path.into(), number: 1 });
        self
    }
}

impl Tape {
    /// The tape of the next process of the same session.
    pub(crate) fn next(&self) -> Self {
        Self { path: self.path.clone(), number: self.number + 1 }
    }

    fn file(&self) -> PathBuf {
        if self.number == 1 {
            return self.path.clone();
        }
        let mut name = self.path.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{}", self.number));
        if let Some(extension) = self.path.extension() {
            name.push(".");
            name.push(extension);
        }
        self.path.with_file_name(name)
    }

    pub(crate) fn create(&self, launch: &Launch) -> Result<Recorder, CreateError> {
        let options = RecorderOptions::default()
            // The owner of a session waits for nobody.
            .patience(Duration::ZERO)
            .on_trouble(|trouble| tracing::warn!(%trouble, "the tape is not complete"));
        let mut header = Header::new(jiff::Timestamp::now());
        header.argv = std::iter::once(launch.program.path().as_os_str())
            .chain(launch.arguments.iter().map(OsString::as_os_str))
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        header.cli = launch.program.version_if_cheap().map(|version| version.to_string());
        header.cwd = Place::of(launch).cwd.display().to_string();
        header.tool = concat!("countersign ", env!("CARGO_PKG_VERSION")).to_owned();
        header.env = names(&launch.environment);
        Recorder::create(self.file(), &header, options)
    }
}

/// The names of the variables that the CLI is given.
fn names(environment: &ChildEnvironment) -> Vec<String> {
    let ChildEnvironment { clear, remove, set } = environment;
    let inherited =
        std::env::vars_os().map(|(name, _)| name).filter(|name| !clear && !remove.contains(name));
    let names = inherited.chain(set.iter().map(|(name, _)| name.clone()));
    let names: BTreeSet<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.into_iter().collect()
}

/// How the tape says that the process ended.
pub(crate) fn end_of(status: Option<ExitStatus>) -> Option<End> {
    let status = status?;
    status.code().map(End::Code).or_else(|| status.signal().map(End::Signal))
}
