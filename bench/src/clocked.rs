//! A simulated CLI that says what time it is.
//!
//! Where the script has the [`MARK`], the CLI says when that piece of text went out: a thread between the
//! CLI and its client writes the time in its place, right before it writes the line to the pipe of the
//! client. The whole message, which follows its pieces, says the same times as they did. Whoever sees
//! such a text knows how old it is. The clock is that of the day, because a browser has no other one in
//! common with the processes around it.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::thread;

use countersign_lab::sim::Launch;
use nix::time::{ClockId, clock_gettime};

use crate::stamps::close_stdout;

/// What a script says where the time is to be said: this letter, and as many digits as there are.
pub const MARK: &str = "t0000000000000000";

/// Before the digits.
const LETTER: char = 't';

/// Microseconds on the clock of the day.
#[must_use]
pub fn now() -> u64 {
    let Ok(time) = clock_gettime(ClockId::CLOCK_REALTIME) else { return 0 };
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    part(time.tv_sec()) * 1_000_000 + part(time.tv_nsec()) / 1000
}

/// The times that are said in a text, in their order.
#[must_use]
pub fn times_in(text: &str) -> Vec<u64> {
    let digits = MARK.len() - LETTER.len_utf8();
    let number = |(at, _): (usize, &str)| {
        let number = text.get(at + LETTER.len_utf8()..)?.get(..digits)?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?
    };
    text.match_indices(LETTER).filter_map(number).collect()
}

/// Is a simulated CLI, as [`Launch::run`] is.
pub(crate) fn run(launch: &Launch) -> ExitCode {
    let passing = between();
    let code = launch.run();
    if let Ok(passing) = passing {
        // The CLI is done, but what it said last may be on its way.
        close_stdout();
        drop(passing.join());
    }
    code
}

/// Puts itself between the standard output of this process and whoever reads it.
fn between() -> io::Result<thread::JoinHandle<()>> {
    let to_client: OwnedFd = rustix::io::dup(rustix::stdio::stdout())?;
    let (cli_says, from_cli) = rustix::pipe::pipe()?;
    rustix::stdio::dup2_stdout(&from_cli)?;
    thread::Builder::new().spawn(move || pass(File::from(cli_says), File::from(to_client)))
}

/// Passes lines on until there are no more, or nobody wants them.
fn pass(from: File, mut to: File) {
    let (mut from, mut line) = (BufReader::new(from), String::new());
    let mut said = Said::default();
    loop {
        line.clear();
        match from.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.contains(MARK) {
            line = said.timed(&line, now());
        }
        if to.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// The times that the pieces of a message say.
#[derive(Debug, Default)]
struct Said {
    times: Vec<u64>,
    /// Whether the whole was said: the next piece is of another message.
    is_whole: bool,
}

impl Said {
    /// The line with times in it: this one in a piece, and in a whole message those of its pieces.
    fn timed(&mut self, line: &str, now: u64) -> String {
        let is_piece = line.contains(r#""type":"stream_event""#);
        if is_piece && std::mem::take(&mut self.is_whole) {
            self.times.clear();
        }
        self.is_whole |= !is_piece;
        let digits = MARK.len() - LETTER.len_utf8();
        let timed = |(number, part): (usize, &str)| {
            if is_piece {
                self.times.push(now);
            }
            let of_whole = self.times.get(number).copied().unwrap_or_default();
            let time = if is_piece { now } else { of_whole };
            format!("{LETTER}{time:0digits$}{part}")
        };
        let (before, _) = line.split_once(MARK).unwrap_or((line, ""));
        let after = line.split(MARK).skip(1).enumerate().map(timed);
        std::iter::once(before.to_owned()).chain(after).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{MARK, Said, now, times_in};

    #[test]
    fn a_whole_message_says_the_times_of_its_pieces() {
        let mut said = Said::default();
        let piece = format!(r#"{{"type":"stream_event","text":"{MARK} "}}"#);
        let first = said.timed(&piece, 1_700_000_000_000_001);
        assert_eq!(first, r#"{"type":"stream_event","text":"t1700000000000001 "}"#);
        said.timed(&piece, 1_700_000_000_000_002);
        let whole = format!(r#"{{"type":"assistant","text":"at {MARK}, then {MARK}"}}"#);
        let times = [1_700_000_000_000_001, 1_700_000_000_000_002];
        assert_eq!(times_in(&said.timed(&whole, 3)), times);
        // The CLI may say it again.
        assert_eq!(times_in(&said.timed(&whole, 4)), times);
        said.timed(&piece, 1_700_000_000_000_005);
        assert_eq!(times_in(&said.timed(&whole, 6)), [1_700_000_000_000_005, 0]);
    }

    #[test]
    fn the_time_has_as_many_digits_as_the_mark() {
        assert_eq!(format!("t{}", now()).len(), MARK.len());
        assert_eq!(times_in("the t12 of t1700000000000001t"), [1_700_000_000_000_001]);
    }
}
