//! What the CLI writes to its standard error: always read, and the last of it kept.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_record::{Channel, Recorder};
use tokio::net::unix::pipe::Receiver;

use crate::counters::Counters;

/// How much of it is kept.
const KEPT: usize = 8 * 1024;

/// The last that was written.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<VecDeque<u8>>>);

impl LastWords {
    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes.iter().skip(bytes.len().saturating_sub(KEPT)));
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    pub(super) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Who is told what the CLI writes to its standard error, chunk by chunk as it comes.
pub(crate) type OnStderr = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Reads until the end, so that the CLI never waits for room in the pipe.
pub(super) async fn drain(
    pipe: Receiver,
    words: LastWords,
    counters: Arc<Counters>,
    recorder: Option<Recorder>,
    mut told: Option<OnStderr>,
) {
    // Not held across waiting: most sessions never write anything.
    while pipe.readable().await.is_ok() {
        let mut buffer = [0; 4096];
        match pipe.try_read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                counters.stderr(count as u64);
                if let Some(recorder) = &recorder {
                    recorder.record(Channel::Err, bytes);
                }
                tracing::trace!(text = %String::from_utf8_lossy(bytes), "standard error of the CLI");
                words.add(bytes);
                let tell = || told.iter().for_each(|told| told(bytes));
                // The CLI must not lose its standard error because of it.
                if catch_unwind(AssertUnwindSafe(tell)).is_err() {
                    tracing::error!("who is told of standard error panicked, and is told no more");
                    told = None;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
