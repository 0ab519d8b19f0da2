//! Moving the bytes of one stream, and recording them on the way.

use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::format::{Channel, Note};
use crate::recorder::Recorder;

/// How much is read at a time; a pipe has up to 64 KiB ready, a socket some more.
const CHUNK: usize = 128 * 1024;

/// How much a pipe can hold at most, as Linux has it by default. So much may still be there of
/// what a process wrote before it ended.
const PIPE_CAPACITY: usize = 1024 * 1024;

/// What tells that a writer has no reader any more, or a reader no writer.
const GONE: PollFlags = PollFlags::HUP.union(PollFlags::ERR);

/// One direction of a session.
#[derive(Debug)]
pub(super) struct Pump {
    pub(super) channel: Channel,
    pub(super) from: File,
    pub(super) to: File,
    pub(super) recorder: Option<Recorder>,
    /// Closed by its writer when the child has ended.
    pub(super) child_gone: PipeReader,
    /// How long to go on after the child has ended, where somebody else holds the stream open.
    pub(super) linger: Duration,
}

/// Why a pump has stopped.
#[derive(Debug)]
enum Stopped {
    /// The writer closed the stream.
    Closed,
    /// Nobody reads on the other side any more.
    Refused,
    /// The child has ended, and what is left of the stream is not its own.
    ChildGone,
    /// The stream cannot be read.
    Failed(io::Error),
}

/// What there is to do.
struct Ready {
    /// The stream can be read, if only to see its end.
    data: bool,
    /// Nobody reads on the other side any more.
    refused: bool,
    child_gone: bool,
}

/// What happened after the child had ended.
struct Drain {
    until: Instant,
    read: usize,
}

impl Pump {
    /// Moves bytes until there is nothing to be moved any more; then closes both ends.
    ///
    /// Bytes are recorded before they are passed on, and passed on at once. When the reader of
    /// one end goes away, the other end is closed as well, so that the writer notices as it
    /// would without us.
    pub(super) fn run(mut self) {
        let stopped = self.pump();
        let Self { channel, from, to, recorder, child_gone, linger } = self;
        let note = match stopped {
            // Noted first: whatever comes because the stream is closed comes later on the tape.
            Stopped::Closed => Some(Note::Closed { channel }),
            Stopped::Failed(error) => Some(comment(format!("{channel}: cannot be read: {error}"))),
            Stopped::ChildGone if channel == Channel::In => None,
            Stopped::ChildGone => Some(comment(format!("{channel}: open after the CLI had ended"))),
            Stopped::Refused => {
                drop((from, to));
                // A child that ends closes its input as well; that is no news.
                let ended = channel == Channel::In && ends_within(&child_gone, linger);
                (!ended).then(|| comment(format!("{channel}: its reader closed it")))
            }
        };
        if let (Some(note), Some(recorder)) = (note, recorder) {
            recorder.note(note);
        }
    }

    fn pump(&mut self) -> Stopped {
        let mut buffer = vec![0; CHUNK];
        let mut drain: Option<Drain> = None;
        loop {
            let ready = match self.wait(drain.as_ref().map(|drain| drain.until)) {
                Ok(ready) => ready,
                Err(error) => return Stopped::Failed(error),
            };
            if ready.refused {
                self.record_rest(&mut buffer);
                return Stopped::Refused;
            }
            if ready.child_gone && drain.is_none() {
                // Nobody reads what would still go in.
                if self.channel == Channel::In {
                    return Stopped::ChildGone;
                }
                drain = Some(Drain { until: Instant::now() + self.linger, read: 0 });
            }
            if ready.data {
                let read = match self.read(&mut buffer) {
                    Ok([]) => return Stopped::Closed,
                    Ok(bytes) => bytes,
                    Err(error) => return Stopped::Failed(error),
                };
                if let Some(drain) = &mut drain {
                    drain.read += read.len();
                }
                if self.forward(read).is_err() {
                    self.record_rest(&mut buffer);
                    return Stopped::Refused;
                }
            }
            // All that the child wrote itself is passed on, however slow the client is.
            if let Some(drain) = &drain
                && Instant::now() >= drain.until
                && (!ready.data || drain.read >= PIPE_CAPACITY)
            {
                return Stopped::ChildGone;
            }
        }
    }

    /// Waits until there is something to do, or until that time.
    fn wait(&self, until: Option<Instant>) -> io::Result<Ready> {
        let mut fds = [
            PollFd::new(&self.from, PollFlags::IN),
            PollFd::new(&self.to, PollFlags::empty()),
            PollFd::new(&self.child_gone, PollFlags::IN),
        ];
        // Once the child has ended there is no need to be told again and again.
        let count = if until.is_some() { 2 } else { 3 };
        loop {
            let timeout = until.and_then(|until| {
                let left = until.saturating_duration_since(Instant::now());
                Timespec::try_from(left).ok()
            });
            match poll(fds.get_mut(..count).unwrap_or_default(), timeout.as_ref()) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let [from, to, child_gone] = fds.map(|fd| fd.revents());
        Ok(Ready {
            data: from.intersects(PollFlags::IN.union(GONE)),
            refused: to.intersects(GONE),
            child_gone: child_gone.intersects(PollFlags::IN.union(GONE)),
        })
    }

    /// Reads what is there, and records it.
    fn read<'a>(&self, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let read = loop {
            match (&self.from).read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        if let Some(recorder) = &self.recorder {
            recorder.record(self.channel, bytes);
        }
        Ok(bytes)
    }

    /// Passes bytes on, and waits until they are taken.
    fn forward(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match (&self.to).write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A client may have made its end non-blocking, and shares that with us.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut fds = [PollFd::from_borrowed_fd(self.to.as_fd(), PollFlags::OUT)];
                    match poll(&mut fds, None) {
                        Ok(_) | Err(rustix::io::Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Records what the child wrote before its reader went away; it believes that it arrived.
    fn record_rest(&self, buffer: &mut [u8]) {
        let mut recorded = 0;
        while self.channel != Channel::In && recorded < PIPE_CAPACITY {
            let mut fds = [PollFd::new(&self.from, PollFlags::IN)];
            if !matches!(poll(&mut fds, Some(&Timespec::default())), Ok(1)) {
                return;
            }
            match self.read(buffer) {
                Ok([]) | Err(_) => return,
                Ok(bytes) => recorded += bytes.len(),
            }
        }
    }
}

/// Whether the child ends before that time has passed.
fn ends_within(child_gone: &PipeReader, time: Duration) -> bool {
    let mut fds = [PollFd::new(child_gone, PollFlags::IN)];
    matches!(poll(&mut fds, Timespec::try_from(time).ok().as_ref()), Ok(1))
}

fn comment(text: String) -> Note {
    Note::Comment { text }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, pipe};
    use std::os::fd::OwnedFd;

    use super::*;

    /// A pump of standard output with its ends: where the child writes, where the client reads,
    /// and what is dropped when the child ends.
    fn pump(linger: Duration) -> (Pump, PipeWriter, PipeReader, PipeWriter) {
        let (from, child) = pipe().unwrap();
        let (client, to) = pipe().unwrap();
        let (child_gone, alive) = pipe().unwrap();
        let pump = Pump {
            channel: Channel::Out,
            from: OwnedFd::from(from).into(),
            to: OwnedFd::from(to).into(),
            recorder: None,
            child_gone,
            linger,
        };
        (pump, child, client, alive)
    }

    #[test]
    fn what_the_child_wrote_is_passed_on_however_late_the_client_reads() {
        let (mut pump, mut child, mut client, alive) = pump(Duration::ZERO);
        // As much as the pipe takes; the client has not read anything yet, and its pipe is full.
        let filled = (&pump.to).write(&[b'-'; 65_536]).unwrap();
        child.write_all(&[b'x'; 60_000]).unwrap();
        drop(alive);
        // Somebody else still holds the stream open: `child` is not dropped.
        let pumping = std::thread::spawn(move || (pump.pump(), pump));
        let mut read = vec![0; filled + 60_000];
        client.read_exact(&mut read).unwrap();
        assert!(read.iter().skip(filled).all(|byte| *byte == b'x'));
        let (stopped, _pump) = pumping.join().unwrap();
        assert!(matches!(stopped, Stopped::ChildGone), "{stopped:?}");
    }

    #[test]
    fn somebody_who_writes_for_ever_is_cut_off() {
        let (mut pump, mut child, mut client, alive) = pump(Duration::ZERO);
        drop(alive);
        let writing = std::thread::spawn(move || while child.write_all(&[b'x'; 4096]).is_ok() {});
        let reading = std::thread::spawn(move || io::copy(&mut client, &mut io::sink()));
        let stopped = pump.pump();
        assert!(matches!(stopped, Stopped::ChildGone), "{stopped:?}");
        drop(pump);
        writing.join().unwrap();
        reading.join().unwrap().unwrap();
    }
}
