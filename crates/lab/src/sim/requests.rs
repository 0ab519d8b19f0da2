//! What the CLI asks the client, and has no answer to yet.

use std::cell::RefCell;

use super::exec::Slot;
use super::json::{Json, Object};

/// An answer of the client.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A payload.
    Success(Option<Json>),
    /// The client could not.
    Error(String),
    /// The client has closed its end.
    Closed,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// May a tool run?
    Permission,
    /// A hook.
    Hook,
    /// A message to a server of the client.
    Mcp,
    /// Something nobody knows.
    Other,
}

/// A request without an answer.
#[derive(Clone, Debug)]
struct Open {
    id: String,
    about: About,
    /// Asked inside of a task that outlives the turn.
    background: bool,
    frame: Object,
    reply: Slot<Reply>,
}

/// The requests without an answer, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Requests(RefCell<Vec<Open>>);

impl Requests {
    /// Adds a request.
    pub(crate) fn add(
        &self,
        id: &str,
        about: About,
        background: bool,
        frame: Object,
    ) -> Slot<Reply> {
        let reply = Slot::new();
        let open = Open { id: id.to_owned(), about, background, frame, reply: reply.clone() };
        self.0.borrow_mut().push(open);
        reply
    }

    /// Takes an answer. False when nobody waits for it.
    pub(crate) fn answer(&self, id: &str, reply: Reply) -> bool {
        let open = self.take(id);
        let known = open.is_some();
        if let Some(open) = open {
            open.reply.set(reply);
        }
        known
    }

    /// Forgets a request. False when it is not open.
    pub(crate) fn forget(&self, id: &str) -> bool {
        self.take(id).is_some()
    }

    fn take(&self, id: &str) -> Option<Open> {
        let mut open = self.0.borrow_mut();
        let at = open.iter().position(|request| request.id == id)?;
        Some(open.remove(at))
    }

    /// The ids of the open permission requests of the turn.
    pub(crate) fn permissions_of_turn(&self) -> Vec<String> {
        let open = self.0.borrow();
        let asked = open.iter().filter(|open| open.about == About::Permission && !open.background);
        asked.map(|open| open.id.clone()).collect()
    }

    /// The open permission requests, as a client that comes back is shown them.
    pub(crate) fn pending_permissions(&self) -> Vec<Object> {
        let open = self.0.borrow();
        let asked = open.iter().filter(|open| open.about == About::Permission);
        asked.map(|open| open.frame.clone()).collect()
    }

    /// Gives the same answer to all of a kind.
    pub(crate) fn answer_all(&self, about: Option<About>, reply: &Reply) {
        let mut open = self.0.borrow_mut();
        let (taken, left): (Vec<_>, Vec<_>) =
            open.drain(..).partition(|open| about.is_none_or(|about| open.about == about));
        *open = left;
        drop(open);
        for open in taken {
            open.reply.set(reply.clone());
        }
    }
}
