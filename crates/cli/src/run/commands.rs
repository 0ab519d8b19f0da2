//! What can be said to this program instead of to Claude.

use clap::ValueEnum as _;
use countersign::SessionHandle;
use countersign::protocol::permission::PermissionMode;

use super::options::Mode;
use crate::output::plain;

/// A command of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Mode(Option<String>),
    Model(Option<String>),
    Quit,
}

const HELP: &str = "\
/help          this
/mode [MODE]   say or change the permission mode
/model [NAME]  say or change the model
/quit          end; so does Ctrl-D
Other commands, such as /clear and /compact, go to Claude Code as they are.
Ctrl-C interrupts a turn; twice, or with nothing running, it ends the session.
Alt-Enter, or \\ and Enter, begins another line; ↑ and ↓ bring messages back.";

impl Command {
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (command, argument) = (words.next()?, words.next().map(str::to_owned));
        if words.next().is_some() {
            return None;
        }
        match (command, argument) {
            ("/help", None) => Some(Self::Help),
            ("/mode", argument) => Some(Self::Mode(argument)),
            ("/model", argument) => Some(Self::Model(argument)),
            ("/quit" | "/exit", None) => Some(Self::Quit),
            _ => None,
        }
    }

    /// Does it, and says what came of it.
    pub(crate) async fn run(self, handle: &SessionHandle) -> String {
        let snapshot = handle.snapshot();
        let done = match self {
            Self::Help | Self::Quit => return HELP.to_owned(),
            Self::Mode(None) => {
                let modes: Vec<_> = Mode::value_variants()
                    .iter()
                    .filter_map(|mode| Some(mode.to_possible_value()?.get_name().to_owned()))
                    .collect();
                let mode = snapshot.permission_mode.map(|mode| mode.to_string());
                let mode = mode.unwrap_or_else(|| "not known".to_owned());
                return format!("the mode is {mode}; there are {}", modes.join(", "));
            }
            Self::Mode(Some(name)) => match Mode::from_str(&name, true) {
                Ok(mode) => {
                    let mode = PermissionMode::from(mode);
                    let changed = handle.set_permission_mode(mode.clone()).await;
                    changed.map(|()| format!("the mode is {mode} now"))
                }
                Err(_) => return format!("there is no mode {name}; /mode says which there are"),
            },
            Self::Model(None) => {
                let model = snapshot.model.as_deref().unwrap_or("not known before the first turn");
                let models: Vec<_> =
                    handle.models().iter().map(|model| model.value.clone()).collect();
                return format!("the model is {model}; there are {}", models.join(", "));
            }
            Self::Model(Some(name)) => {
                let changed = handle.set_model(name.clone()).await;
                changed.map(|model| format!("the model is {} now", model.unwrap_or(name)))
            }
        };
        done.unwrap_or_else(|error| plain(&error.to_string()))
    }
}
