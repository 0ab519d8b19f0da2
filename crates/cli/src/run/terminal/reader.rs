//! The thread that reads keys.
//!
//! Keys are not read by the task that talks: when a terminal is taken away while it is read,
//! crossterm takes its end for a key that is not complete and never comes back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time;

use super::is_gone;
use super::keys::Input;

/// How often the thread looks whether the keyboard is somebody else's, and the task whether there
/// is still a terminal. A key is not waited for that long.
const LOOK: Duration = Duration::from_millis(50);

/// Reads keys until it is told to stop.
#[derive(Debug)]
pub(crate) struct Reader {
    inputs: mpsc::Receiver<io::Result<Input>>,
    stop: Arc<AtomicBool>,
    ended: std::sync::mpsc::Receiver<()>,
}

impl Reader {
    pub(crate) fn start() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (to, inputs) = mpsc::channel(64);
        let (end, ended) = std::sync::mpsc::sync_channel(1);
        let told = Arc::clone(&stop);
        thread::Builder::new().name("keys".to_owned()).spawn(move || {
            read(&told, &to);
            drop(end);
        })?;
        Ok(Self { inputs, stop, ended })
    }

    /// What comes next. Cancel safe.
    ///
    /// # Errors
    /// When nothing will come any more.
    pub(crate) async fn next(&mut self) -> io::Result<Input> {
        tokio::select! {
            input = self.inputs.recv() => input.unwrap_or_else(|| Err(ended())),
            () = gone() => Err(ended()),
        }
    }

    /// Lets go of the keyboard. What was typed and not asked for is forgotten.
    pub(crate) async fn stop(mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let all_read = async { while self.inputs.recv().await.is_some() {} };
        tokio::select! { () = all_read => {}, () = gone() => {} }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.inputs.close();
        // The next key may be meant for the next reader. A thread that never comes back reads none.
        let _ended_or_stuck = self.ended.recv_timeout(4 * LOOK);
    }
}

fn read(stop: &AtomicBool, to: &mpsc::Sender<io::Result<Input>>) {
    while !stop.load(Ordering::SeqCst) && !is_gone() {
        let event = match crossterm::event::poll(LOOK) {
            Ok(true) => crossterm::event::read(),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        let is_over = event.is_err();
        let input = event.map(Input::of).transpose();
        if input.is_some_and(|input| to.blocking_send(input).is_err()) || is_over {
            return;
        }
    }
}

/// Returns when the terminal is gone.
async fn gone() {
    while !is_gone() {
        time::sleep(LOOK).await;
    }
}

fn ended() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
