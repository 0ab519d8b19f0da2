//! Recording: a handle that takes bytes, and a thread that writes the tape.

mod cut;
mod queue;
mod writer;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use self::cut::MAX_PIECE;
use self::queue::Queue;
use self::writer::Writer;
use crate::format::{Channel, End, Header, Note};

/// Records what goes over the channels of a process.
///
/// It is given the bytes as they are read, in chunks of any size, and makes lines of them. The
/// order of the calls is the order on the tape; so whoever records something *before* passing it
/// on makes cause and effect visible there.
///
/// A handle is cheap to clone, and can be used from any thread. Recording never waits for the
/// disk but when the queue between the two is full, and then not for long: see
/// [`RecorderOptions`]. Nothing that goes wrong with the tape is an error here, because the
/// session that is recorded must not suffer from it. It is told to a callback once, and by
/// [`health`](Self::health); what is missing on the tape is noted there as a gap.
///
/// When the last handle is dropped without [`finish`](Self::finish), what was recorded is still
/// written, but the tape does not say how the process ended. The drop waits for the disk as long
/// as recording would.
///
/// ```
/// use countersign_record::{Channel, End, Header, Recorder, RecorderOptions, Tail, TapeReader};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("session.tape");
/// let header = Header::new("2026-11-16T08:00:00Z".parse()?);
///
/// let recorder = Recorder::create(&path, &header, RecorderOptions::default())?;
/// recorder.record(Channel::In, b"{\"type\":");
/// recorder.record(Channel::In, b"\"user\"}\n");
/// let report = recorder.finish(End::Code(0));
/// assert_eq!((report.records, report.lost_bytes, report.finished), (2, 0, true));
///
/// let mut reader = TapeReader::open(&path)?;
/// assert_eq!(reader.by_ref().count(), 2);
/// assert_eq!(reader.tail(), Tail::Whole);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    handle: Arc<Handle>,
}

/// What all clones of a [`Recorder`] share.
#[derive(Debug)]
struct Handle {
    queue: Arc<Queue>,
    alarm: Arc<Alarm>,
    patience: Duration,
    finish_patience: Duration,
}

/// How a [`Recorder`] works.
#[derive(Debug)]
pub struct RecorderOptions {
    queue_bytes: usize,
    patience: Duration,
    finish_patience: Duration,
    alarm: Alarm,
}

impl Default for RecorderOptions {
    /// A queue of 64 MiB, 5 seconds to wait for room in it, 30 seconds to finish.
    fn default() -> Self {
        Self {
            queue_bytes: 64 * 1024 * 1024,
            patience: Duration::from_secs(5),
            finish_patience: Duration::from_secs(30),
            alarm: Alarm { rung: AtomicBool::new(false), call: None },
        }
    }
}

impl RecorderOptions {
    /// How many bytes may wait to be written.
    #[must_use]
    pub const fn queue_bytes(mut self, bytes: usize) -> Self {
        self.queue_bytes = bytes;
        self
    }

    /// How long [`Recorder::record`] waits when the queue is full, before it drops the bytes.
    ///
    /// Once it has waited in vain it does not wait again until the disk gets on. Code that must
    /// not block at all, such as an async task, says zero.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How long [`Recorder::finish`] waits for the disk.
    #[must_use]
    pub const fn finish_patience(mut self, patience: Duration) -> Self {
        self.finish_patience = patience;
        self
    }

    /// What is called the first time that something goes wrong with the tape.
    ///
    /// It is called from the thread that writes, or from one that records.
    #[must_use]
    pub fn on_trouble(mut self, call: impl Fn(&Trouble) + Send + Sync + 'static) -> Self {
        self.alarm.call = Some(Box::new(call));
        self
    }
}

/// What went wrong with a tape. The session goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// The file cannot be written to.
    #[error("the tape cannot be written: {message}")]
    Write {
        /// What the system says.
        message: String,
    },
    /// The disk is slower than what is recorded.
    #[error("the tape is written too slowly: no room in the queue after {waited:?}")]
    Stalled {
        /// How long was waited for room.
        waited: Duration,
    },
    /// The disk did not take what was left in time.
    #[error("the tape was not finished within {waited:?}")]
    NotFinished {
        /// How long was waited.
        waited: Duration,
    },
}

/// How a recorder is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// How many records are in the file.
    pub records: u64,
    /// How many bytes are in the file.
    pub bytes: u64,
    /// How many bytes of the channels were lost.
    pub lost_bytes: u64,
    /// What is wrong at present. The recorder keeps trying.
    pub trouble: Option<Trouble>,
}

/// How a recording went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many records are in the file.
    pub records: u64,
    /// How many bytes were written; those of a batch that failed are not counted.
    pub bytes: u64,
    /// How many bytes of the channels are not on the tape.
    pub lost_bytes: u64,
    /// The tape has its end, and is safe on the disk.
    pub finished: bool,
    /// The first thing that went wrong, whether or not it came right again.
    pub trouble: Option<Trouble>,
}

/// Why there is no recorder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// There is such a file already.
    #[error(
        "{path} exists, and a tape is never overwritten: name a new file, or a folder for one file \
         a run",
        path = path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be created.
    #[error("cannot create the tape {path}: {source}", path = path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no thread to write it.
    #[error("cannot start the thread that writes the tape: {0}")]
    Thread(#[source] io::Error),
}

impl Recorder {
    /// Starts a tape in a new file, which only its owner may read.
    ///
    /// A file that exists is not touched, except a device such as `/dev/null`, in which nothing
    /// can be overwritten.
    ///
    /// # Errors
    ///
    /// When the file cannot be created. That it cannot be written to shows later.
    pub fn create(
        path: impl AsRef<Path>,
        header: &Header,
        options: RecorderOptions,
    ) -> Result<Self, CreateError> {
        let path = path.as_ref();
        let opened = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
        let file = match opened {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let device = path.metadata().is_ok_and(|file| file.file_type().is_char_device());
                if !device {
                    return Err(CreateError::Exists { path: path.to_owned() });
                }
                OpenOptions::new().append(true).open(path)
            }
            opened => opened,
        };
        let file = file.map_err(|source| CreateError::Create { path: path.to_owned(), source })?;
        Self::to_file(file, header, options)
    }

    /// Starts a tape in a file that is open already: a pipe, say, to somebody who reads along.
    ///
    /// # Errors
    ///
    /// When the system has no thread for it.
    pub fn to_file(
        file: File,
        header: &Header,
        options: RecorderOptions,
    ) -> Result<Self, CreateError> {
        let queue = Arc::new(Queue::new(options.queue_bytes));
        let alarm = Arc::new(options.alarm);
        let writer = Writer::new(Arc::clone(&queue), Arc::clone(&alarm), file, header);
        // The thread is not joined but waited for through the queue: a disk that hangs must not
        // hang whoever finishes.
        std::thread::Builder::new()
            .name("tape".into())
            .spawn(move || writer.run())
            .map_err(CreateError::Thread)?;
        let RecorderOptions { patience, finish_patience, .. } = options;
        Ok(Self { handle: Arc::new(Handle { queue, alarm, patience, finish_patience }) })
    }

    /// Records bytes of a channel, as they were read.
    pub fn record(&self, channel: Channel, bytes: &[u8]) {
        let Handle { queue, alarm, patience, .. } = &*self.handle;
        for chunk in bytes.chunks(MAX_PIECE) {
            if let Err(trouble) = queue.push(channel, chunk, *patience) {
                alarm.ring(&trouble);
            }
        }
    }

    /// Records a note.
    pub fn note(&self, note: Note) {
        self.handle.queue.push_note(note);
    }

    /// How the recorder is doing.
    #[must_use]
    pub fn health(&self) -> Health {
        self.handle.queue.health()
    }

    /// Ends the tape: writes how the process ended, and makes sure that it is on the disk.
    ///
    /// What is recorded after this, through another handle, is ignored.
    #[must_use]
    pub fn finish(&self, end: End) -> Report {
        let Handle { queue, finish_patience, .. } = &*self.handle;
        queue.close(Some(end));
        queue.wait_for_end(*finish_patience).unwrap_or_else(|| {
            let trouble = Trouble::NotFinished { waited: *finish_patience };
            self.handle.alarm.ring(&trouble);
            let Health { records, bytes, lost_bytes, .. } = queue.health();
            Report { records, bytes, lost_bytes, finished: false, trouble: Some(trouble) }
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close(None);
        // After `finish` this has been waited for.
        drop(self.queue.wait_for_end(self.patience));
    }
}

/// What [`RecorderOptions::on_trouble`] was given.
type OnTrouble = Box<dyn Fn(&Trouble) + Send + Sync>;

/// Tells about the first trouble, and about no other.
struct Alarm {
    rung: AtomicBool,
    call: Option<OnTrouble>,
}

impl Alarm {
    fn ring(&self, trouble: &Trouble) {
        if let Some(call) = &self.call
            && !self.rung.swap(true, Ordering::Relaxed)
        {
            call(trouble);
        }
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").field("rung", &self.rung).finish_non_exhaustive()
    }
}
