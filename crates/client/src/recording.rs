//! Recording a session as it goes.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use countersign_record::{CreateError, End, Header, Recorder, RecorderOptions};

use crate::builder::SessionBuilder;
use crate::options::Launch;
use crate::session::Place;

/// A tape to be made of a session.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    path: PathBuf,
}

impl SessionBuilder {
    /// Records all that goes over the pipes of the session, byte for byte, in a new file.
    ///
    /// A tape has secrets on it: `countersign_record::redact` takes them out. Nothing that goes
    /// wrong with the tape reaches the session; it is said in the log. Once the session has ended,
    /// the tape is whole and on the disk, which is waited for, but not longer than 30 s.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.tape = Some(Tape { path: path.into() });
        self
    }
}

impl Tape {
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
        Recorder::create(&self.path, &header, options)
    }
}

/// How the tape says that the process ended.
pub(crate) fn end_of(status: Option<ExitStatus>) -> Option<End> {
    let status = status?;
    status.code().map(End::Code).or_else(|| status.signal().map(End::Signal))
}
