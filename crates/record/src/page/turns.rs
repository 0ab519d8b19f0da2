//! Which frames belong to a turn, and which answer which.

use std::collections::HashMap;

use serde::Serialize;

use super::label::Part;
use crate::Channel;

/// From what began a turn to its result, by the places of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Turn {
    pub(super) from: usize,
    /// The result; nothing when there is none on the tape.
    pub(super) to: Option<usize>,
    /// It ended badly.
    pub(super) bad: bool,
}

/// Follows a conversation.
#[derive(Debug, Default)]
pub(super) struct Turns {
    all: Vec<Turn>,
    open: bool,
}

impl Turns {
    /// Takes in the next frame.
    pub(super) fn add(&mut self, at: usize, part: &Part, bad: bool) {
        match part {
            // Nobody need have asked for a turn: a task in the background may have begun it.
            Part::Said if !self.open => {
                self.all.push(Turn { from: at, to: None, bad: false });
                self.open = true;
            }
            Part::Result => {
                if let Some(turn) = self.all.last_mut().filter(|_| self.open) {
                    turn.to = Some(at);
                    turn.bad = bad;
                }
                self.open = false;
            }
            _ => {}
        }
    }

    pub(super) fn all(&self) -> &[Turn] {
        &self.all
    }
}

/// The requests that have no answer yet, by who asked and their ids.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: HashMap<(Channel, String), usize>,
}

impl Requests {
    /// Takes in the next frame, and gives back the request that it belongs to.
    pub(super) fn add(&mut self, at: usize, channel: Channel, part: &Part) -> Option<usize> {
        match part {
            Part::Request(id) => {
                self.open.insert((channel, id.clone()), at);
                None
            }
            Part::Response(id) => self.open.remove(&(other(channel), id.clone())),
            // The answer may still come: it was on its way.
            Part::Cancel(id) => self.open.get(&(channel, id.clone())).copied(),
            Part::Said | Part::Result | Part::Alone => None,
        }
    }
}

const fn other(channel: Channel) -> Channel {
    match channel {
        Channel::In => Channel::Out,
        Channel::Out | Channel::Err => Channel::In,
    }
}
