//! What is on the screen.

use std::time::Duration;

use countersign::Session;
use tokio::time::Instant;

use super::Talk;
use super::person::{READING, TYPING};
use crate::failure::Failure;
use crate::run::feed::About;
use crate::run::start::STARTING;
use crate::run::view::call::span;
use crate::run::view::line::{Line, Tone};
use crate::run::view::place::Place;

/// What is shown while there is no session yet.
pub(super) fn starting(waited: Duration) -> Line {
    let waited = span(Duration::from_secs(waited.as_secs()));
    Line::of(Tone::Accent, "✻ ").and(Tone::Dim, &format!("{STARTING} {waited} · Ctrl-C ends"))
}

impl Talk {
    pub(super) fn greet(&mut self, session: &Session, place: &Place) -> Result<(), Failure> {
        let snapshot = session.snapshot();
        let mut parts = vec![format!("countersign {}", env!("CARGO_PKG_VERSION"))];
        parts.extend(snapshot.version.map(|version| format!("Claude Code {version}")));
        parts.extend(snapshot.permission_mode.map(|mode| format!("mode {mode}")));
        parts.push(place.cwd().display().to_string());
        let line = Line::of(Tone::Dim, &parts.join(" · ")).hanging(2);
        let lines = self.feed.about(About::Notices, vec![line]);
        Ok(self.terminal.print(lines)?)
    }

    /// What the person says stays on the screen.
    pub(super) fn repeat(&mut self, text: &str) -> Result<(), Failure> {
        let lines = text.lines().enumerate().map(|(number, line)| {
            let sign = if number == 0 { "❯ " } else { "  " };
            Line::of(Tone::Accent, sign).and(Tone::Bold, line).hanging(2)
        });
        let lines = lines.collect();
        let lines = self.feed.about(About::User, lines);
        Ok(self.terminal.print(lines)?)
    }

    /// Says once which session it is.
    pub(super) fn introduce(&mut self, model: &str, session: &str) -> Result<(), Failure> {
        let words = format!("{model} · session {session}");
        if self.introduced.as_ref() != Some(&words) {
            let lines = self.feed.notice(Tone::Dim, &words);
            self.terminal.print(lines)?;
            self.introduced = Some(words);
        }
        Ok(())
    }

    /// Says what became of dialogs.
    pub(super) fn decided(&mut self, lines: Vec<Line>) -> Result<(), Failure> {
        if !lines.is_empty() {
            // A key for one that is gone may be on its way.
            self.typed = Some(Instant::now());
        }
        let lines = self.feed.about(About::Calls, lines);
        Ok(self.terminal.print(lines)?)
    }

    /// Draws what changes: a dialog, the prompt, or what is running.
    pub(super) fn draw(&mut self, idle: bool) -> Result<(), Failure> {
        let (columns, rows) = (self.terminal.columns(), self.terminal.rows());
        let mut panel = Vec::new();
        if self.is_asking() {
            if self.opened != self.desk.shown() {
                self.open();
            }
            self.print_above(columns, rows)?;
            let (count, is_deaf) = (self.desk.count(), self.is_deaf());
            if let Some(dialog) = self.desk.dialog() {
                if let Some((number, of)) = count {
                    panel.push(Line::of(Tone::Warn, &format!("{number} of {of}")));
                }
                panel.extend(dialog.lines(columns, rows - panel.len()));
            }
            if is_deaf {
                // In the place of the line that says which keys there are.
                panel.pop();
                panel.push(Line::of(Tone::Dim, "…").kept());
            }
        } else if idle {
            panel.extend(self.feed.live(columns));
            panel.push(Line::new());
            panel.extend(self.prompt.lines());
            let mode = Line::of(Tone::Accent, &self.mode);
            let hint = " · Enter sends · Alt-Enter: another line · /help · Ctrl-D ends";
            panel.push(mode.and(Tone::Dim, hint).cut(columns).kept());
        } else {
            panel.extend(self.feed.live(columns));
            panel.push(Line::new());
            panel.push(self.status().cut(columns));
        }
        Ok(self.terminal.show(panel)?)
    }

    /// Opens the dialog that is asked for now.
    pub(super) fn open(&mut self) {
        self.opened = self.desk.shown();
        self.is_above = false;
        let typing = self.typed.map(|at| at + TYPING);
        self.listens =
            typing.into_iter().chain([Instant::now() + READING]).max().unwrap_or(self.listens);
    }

    /// Prints once what does not fit into the panel, which may be so when it opens or only when the
    /// window is made smaller.
    fn print_above(&mut self, columns: usize, rows: usize) -> Result<(), Failure> {
        if self.is_above {
            return Ok(());
        }
        // One row may be needed to say how many there are.
        let opening = self.desk.dialog().map(|dialog| dialog.opening(columns, rows - 1));
        let opening = opening.unwrap_or_default();
        self.is_above = !opening.is_empty();
        Ok(self.terminal.print(opening)?)
    }

    pub(super) fn status(&self) -> Line {
        if self.interrupting.is_some() {
            return Line::of(Tone::Warn, "interrupting… Ctrl-C again ends the session");
        }
        let what = if self.feed.is_thinking() { "thinking" } else { "working" };
        let took = span(Duration::from_secs(self.since.elapsed().as_secs()));
        let took = if took == "0 ms" { String::new() } else { format!(" {took}") };
        Line::of(Tone::Accent, "✻ ").and(Tone::Dim, &format!("{what}{took} · Ctrl-C interrupts"))
    }
}
