//! A terminal with a program in it: keys go in, and what is on the screen can be read.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Pty as Terminal, open};

/// Longer than anything here ever takes.
const LIMIT: Duration = Duration::from_secs(240);

/// A command for [`Pty::start`], with an empty environment.
#[expect(clippy::disallowed_methods, reason = "its process ends when its terminal does")]
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command
}

/// What came out so far.
struct State {
    parser: vt100::Parser,
    /// All of it, as it came.
    bytes: Vec<u8>,
    is_over: bool,
    /// Nobody looks any more.
    is_left: bool,
}

/// A terminal with a program in it.
pub(crate) struct Pty {
    child: Child,
    terminal: Arc<Terminal>,
    state: Arc<(Mutex<State>, Condvar)>,
}

/// How a program ended.
pub(crate) struct Ended {
    pub(crate) code: u32,
    /// What is on the screen and above it.
    pub(crate) screen: String,
    /// All that was written to the terminal.
    pub(crate) bytes: Vec<u8>,
    /// Whether the terminal is as it was: the cursor is there, and pasting is as usual.
    pub(crate) is_restored: bool,
}

fn some(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

impl Pty {
    pub(crate) fn start(command: Command, (columns, rows): (u16, u16)) -> Self {
        let (terminal, slave) = open().unwrap();
        terminal.resize(Size::new(rows, columns)).unwrap();
        let child = pty_process::blocking::Command::from(command).spawn(slave).unwrap();
        let terminal = Arc::new(terminal);
        let output = Arc::clone(&terminal);
        let parser = vt100::Parser::new(some(rows), some(columns), 1000);
        let state = State { parser, bytes: Vec::new(), is_over: false, is_left: false };
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                // The end of a pseudo-terminal is an error.
                let count = (&*output).read(&mut buffer).unwrap_or(0);
                let mut state = shared.0.lock().unwrap();
                let bytes = buffer.get(..count).unwrap();
                state.parser.process(bytes);
                state.bytes.extend(bytes);
                state.is_over = count == 0 || state.is_left;
                shared.1.notify_all();
                if count == 0 || state.is_left {
                    return;
                }
            }
        });
        Self { child, terminal, state }
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        (&*self.terminal).write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until this is on the screen, and gives the screen.
    pub(crate) fn see(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until this is on the screen or above it: what comes next may make it scroll away.
    pub(crate) fn see_go_by(&self, text: &str) {
        self.wait(text, with_what_is_above, |screen| screen.contains(text));
    }

    /// Waits until the screen is like this.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        self.wait(what, |parser| parser.screen().contents(), is_so)
    }

    fn wait(
        &self,
        what: &str,
        look: impl Fn(&mut vt100::Parser) -> String,
        is_so: impl Fn(&str) -> bool,
    ) -> String {
        let deadline = Instant::now() + LIMIT;
        let mut state = self.state.0.lock().unwrap();
        loop {
            let screen = look(&mut state.parser);
            if is_so(&screen) {
                show(what, &screen);
                return screen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let why = if state.is_over { "the program has ended" } else { "it took too long" };
            assert!(!state.is_over && !left.is_zero(), "{what} is not there: {why}\n{screen}\n---");
            state = self.state.1.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Gives the window another size.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.state.0.lock().unwrap().parser.set_size(some(rows), some(columns));
        self.terminal.resize(Size::new(rows, columns)).unwrap();
    }

    /// Takes the terminal away from the program, and waits for its end.
    pub(crate) fn take_away(mut self) -> u32 {
        self.state.0.lock().unwrap().is_left = true;
        // The reader notices with what is written next, and lets go of it. A program that has just
        // begun may not know yet that it is told of sizes.
        for columns in (70..).take(600) {
            self.terminal.resize(Size::new(20, columns)).unwrap();
            let state = self.state.0.lock().unwrap();
            let patience = Duration::from_millis(100);
            if self
                .state
                .1
                .wait_timeout_while(state, patience, |state| !state.is_over)
                .unwrap()
                .0
                .is_over
            {
                break;
            }
        }
        drop(self.terminal);
        let (over, is_over) = mpsc::sync_channel(1);
        std::thread::spawn(move || over.send(exit_code(&mut self.child)));
        is_over.recv_timeout(LIMIT).unwrap()
    }

    /// The process in the terminal.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of the program.
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + LIMIT;
        let mut state = self.state.0.lock().unwrap();
        while !state.is_over {
            let left = deadline.saturating_duration_since(Instant::now());
            let screen = state.parser.screen().contents();
            assert!(!left.is_zero(), "it does not end\n{screen}\n---");
            state = self.state.1.wait_timeout(state, left).unwrap().0;
        }
        let code = exit_code(&mut self.child);
        let shown = state.parser.screen();
        let is_restored = !shown.hide_cursor() && !shown.bracketed_paste();
        let screen = with_what_is_above(&mut state.parser);
        show("the end", &screen);
        Ended { code, screen, bytes: state.bytes.clone(), is_restored }
    }
}

/// The exit code of a program that may have been ended by a signal.
fn exit_code(child: &mut Child) -> u32 {
    let status = child.wait().unwrap();
    status.code().map_or(1, |code| u32::try_from(code).unwrap())
}

/// The screen, with what has scrolled away.
fn with_what_is_above(parser: &mut vt100::Parser) -> String {
    let screen = parser.screen_mut();
    let (rows, columns) = screen.size();
    let mut lines = Vec::new();
    let above = screen.scrollback_len();
    for back in (1..=above).rev() {
        screen.set_scrollback(back);
        lines.extend(screen.rows(0, columns.get()).take(1));
    }
    screen.set_scrollback(0);
    lines.extend(screen.rows(0, columns.get()).take(rows.get().into()));
    lines.join("\n").trim_end().to_owned()
}

/// For somebody who wants to see it.
fn show(what: &str, screen: &str) {
    if std::env::var_os("COUNTERSIGN_TEST_SHOW").is_some() {
        drop(writeln!(std::io::stderr(), "=== {what}\n{screen}\n==="));
    }
}
