//! `countersign run`: a session in the terminal.
//!
//! | | |
//! |---|---|
//! | `options` | the command line, and the session that it means |
//! | `start` | the start of the session, which can be given up |
//! | `talk` | a session on a terminal: what happens is shown, and the person decides |
//! | `desk` | what the session asks, on its way to the person and back |
//! | `dialog` | dialogs: keys go in, lines come out, and at the end a decision |
//! | `feed` | what happens in a turn, as lines |
//! | `view` | calls, results, changes and notices, as lines |
//! | `terminal` | keys, the screen, the editor, and the state of the terminal |
//! | `alone` | a session without a terminal: nobody is asked |
//! | `background` | agents that go on when a turn is over |
//! | `events` | what happens, as JSON |
//!
//! One task does it all: it reads the turn, the keyboard, the desk and the signals, and draws. What
//! is asked comes to it over the desk, and the handlers of the session wait there for the answer.
//! When that task is gone, they refuse.

mod alone;
mod background;
mod commands;
mod desk;
mod dialog;
mod ending;
mod events;
mod feed;
pub(crate) mod options;
mod signals;
mod start;
pub(crate) mod talk;
mod terminal;
pub(crate) mod view;

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

pub(crate) use self::options::Args;
pub(crate) use self::talk::Job;
pub(crate) use self::view::place::Place;
use crate::failure::{Exit, Failure};
use crate::output::Output;

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        let prompt = self.what_to_say()?;
        let builder = self.builder()?;
        let place = Place::new(self.folder()?);
        let has_a_terminal = output.has_a_terminal();
        let goes_on = self.interactive || prompt.is_none();
        if goes_on && !has_a_terminal {
            let failure = match prompt {
                Some(_) => Failure::new("there is no terminal for a conversation")
                    .hint("Leave out -i, or run it in a terminal and without --json."),
                None => Failure::new("there is nothing to do").hint(
                    "Say what to do: countersign run PROMPT. In a terminal and without --json it can \
                     also be a conversation.",
                ),
            };
            return Err(failure.code(Exit::Usage));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            match prompt {
                Some(prompt) if !has_a_terminal => {
                    Box::pin(alone::run(builder, place, prompt, output)).await
                }
                prompt => {
                    let colours = output.has_colours();
                    let can_be_resumed = true;
                    let job = Job { builder, place, prompt, goes_on, can_be_resumed, colours };
                    Box::pin(talk::run(job)).await
                }
            }
        })
    }

    /// What to say first, if anything.
    fn what_to_say(&self) -> Result<Option<String>, Failure> {
        let is_piped = !std::io::stdin().is_terminal();
        let text = match self.prompt.as_deref() {
            Some("-") => read()?,
            None if is_piped && !self.interactive => read()?,
            Some(text) => text.to_owned(),
            None => return Ok(None),
        };
        if text.trim().is_empty() {
            let failure = Failure::new("the prompt is empty");
            return Err(failure.hint("Say what to do: countersign run PROMPT.").code(Exit::Usage));
        }
        Ok(Some(text))
    }
}

fn read() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}
