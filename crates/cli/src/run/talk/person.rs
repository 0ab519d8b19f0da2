//! What the person does.

use std::time::Duration;

use countersign::SessionHandle;
use tokio::time::Instant;

use super::{HUNG_UP, Leave, Next, TICK, Talk};
use crate::failure::Failure;
use crate::run::dialog::Reaction;
use crate::run::dialog::prompt::Typed;
use crate::run::signals::Asks;
use crate::run::terminal::keys::{Input, Key};
use crate::run::view::line::{Line, Tone};

/// Within this time a second Ctrl-C means the end of the session.
const AGAIN: Duration = Duration::from_secs(2);

/// Whoever was typing when a dialog opened, or answering the one before it, is not answering it until
/// there is a pause of this length. A key that is held down is longer silent before it repeats than
/// [`READING`].
pub(super) const TYPING: Duration = Duration::from_millis(700);

/// Nobody reads a dialog and answers it within this time. Keys that come earlier were meant for
/// something else, or for the dialog before.
pub(super) const READING: Duration = Duration::from_millis(200);

impl Talk {
    pub(super) async fn key(
        &mut self,
        key: &Key,
        handle: &SessionHandle,
        idle: bool,
    ) -> Result<Option<Next>, Failure> {
        match key {
            Key::Ctrl('c') => return self.ctrl_c(handle, idle),
            Key::Ctrl('z') => {
                self.terminal.suspend().await?;
                self.back();
            }
            _ if self.is_asking() => self.answer(key).await?,
            key if idle => match self.prompt.key(key) {
                Typed::Stay => self.typed = Some(Instant::now()),
                Typed::Said(text) => {
                    self.typed = None;
                    return Ok(Some(Next::Said(text)));
                }
                Typed::End => return Ok(Some(Next::Leave(Leave::Done))),
            },
            _ => self.typed = Some(Instant::now()),
        }
        Ok(None)
    }

    /// Waits until the person, or a signal, does not want to wait any more.
    pub(super) async fn given_up(&mut self) -> Result<Leave, Failure> {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                input = self.terminal.next() => match input {
                    Ok(Input::Key(Key::Ctrl('c'))) => return Ok(Leave::CtrlC),
                    Ok(Input::Key(Key::Ctrl('z'))) => self.terminal.suspend().await?,
                    Ok(Input::Key(_)) => self.typed = Some(Instant::now()),
                    Ok(Input::Resized(columns, rows)) => self.terminal.resize(columns, rows)?,
                    Err(_) => return Ok(Leave::Signal(HUNG_UP)),
                },
                asks = self.signals.next() => return Ok(match asks {
                    Asks::Interrupt => Leave::CtrlC,
                    Asks::End(code) => Leave::Signal(code),
                }),
                _ = tick.tick() => {}
            }
            self.draw(false)?;
        }
    }

    /// Whether a dialog is shown.
    pub(super) fn is_asking(&self) -> bool {
        self.interrupting.is_none() && self.desk.shown().is_some()
    }

    /// The terminal was somebody else's. What is pressed first may still be meant for that.
    fn back(&mut self) {
        self.listens = Instant::now() + READING;
    }

    /// Whether the dialog does not take keys yet.
    pub(super) fn is_deaf(&self) -> bool {
        self.is_asking() && Instant::now() < self.listens
    }

    pub(super) async fn answer(&mut self, key: &Key) -> Result<(), Failure> {
        if self.is_deaf() {
            self.listens = Instant::now() + TYPING;
            return Ok(());
        }
        self.typed = Some(Instant::now());
        let Some(dialog) = self.desk.dialog() else { return Ok(()) };
        let reaction = match dialog.key(key) {
            Reaction::Edit(text, suffix) => {
                let shown = self.desk.shown();
                let edited = self.terminal.edit(text, suffix).await;
                self.signals.forget_interrupts();
                self.back();
                // It may have been withdrawn meanwhile.
                let lines = self.desk.clear_withdrawn();
                self.decided(lines)?;
                let is_the_same = self.desk.shown() == shown;
                match (edited, self.desk.dialog()) {
                    (Ok(Some(text)), Some(dialog)) if is_the_same => dialog.edited(&text),
                    (Err(error), _) => {
                        let words = format!("the editor cannot be used: {error}");
                        Reaction::Print(vec![Line::of(Tone::Bad, &words)])
                    }
                    _ => Reaction::Stay,
                }
            }
            reaction => reaction,
        };
        match reaction {
            Reaction::Stay | Reaction::Edit(..) => {}
            Reaction::Print(lines) => self.terminal.print(lines)?,
            Reaction::Decided(decision) => {
                let line = self.desk.answer(decision);
                self.decided(line.into_iter().collect())?;
            }
        }
        Ok(())
    }

    pub(super) fn ctrl_c(
        &mut self,
        handle: &SessionHandle,
        idle: bool,
    ) -> Result<Option<Next>, Failure> {
        let again = self.ctrl_c.is_some_and(|at| at.elapsed() < AGAIN);
        let leave = Ok(Some(Next::Leave(Leave::CtrlC)));
        if idle {
            if self.desk.shown().is_some() {
                let lines = self.desk.refuse_all();
                self.decided(lines)?;
                return Ok(None);
            }
            if self.prompt.clear() {
                return Ok(None);
            }
            // What runs in the background is interrupted like anything else.
            if !handle.snapshot().is_running {
                return leave;
            }
        }
        if again || self.interrupting.is_some() {
            return leave;
        }
        self.ctrl_c = Some(Instant::now());
        let handle = handle.clone();
        self.interrupting = Some(Box::pin(async move { handle.interrupt().await }));
        Ok(None)
    }
}
