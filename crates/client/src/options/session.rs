//! Which conversation it is: a new one, or one that goes on.

use countersign_protocol::ids::{MessageUuid, SessionId};
use uuid::Uuid;

use super::OptionsError;
use super::draft::{Draft, reject_empty};
use crate::SessionBuilder;

/// The options of this topic.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    resume: Option<String>,
    latest: bool,
    fork: bool,
    id: Option<SessionId>,
    resume_at: Option<MessageUuid>,
    drops_turn: Option<MessageUuid>,
    unsaved: bool,
    title: Option<String>,
    checkpoints: bool,
    await_initialize: bool,
    resume_interrupted: bool,
    pub(super) mirror: bool,
}

impl Conversation {
    /// The id that the session will have, if it is known before it begins.
    pub(super) fn known_id(&self) -> Option<SessionId> {
        if self.id.is_some() {
            return self.id.clone();
        }
        // A title can be resumed, too.
        let resumed = self.resume.as_deref().filter(|_| !self.fork)?;
        Uuid::parse_str(resumed).ok().map(|_| SessionId::from(resumed))
    }

    /// Whether a session goes on.
    pub(super) const fn goes_on(&self) -> bool {
        self.resume.is_some() || self.latest
    }

    /// Goes on with this session, and with nothing else.
    pub(super) fn set_resumed(&mut self, session: &SessionId) {
        let Self { unsaved, checkpoints, mirror, .. } = *self;
        let resume = Some(session.as_str().to_owned());
        *self = Self { resume, unsaved, checkpoints, mirror, ..Self::default() };
    }

    /// Begins a new session.
    pub(super) fn set_new(&mut self) {
        let Self { unsaved, checkpoints, mirror, .. } = *self;
        *self = Self { unsaved, checkpoints, mirror, ..Self::default() };
    }
}

impl SessionBuilder {
    /// Goes on with a session, by its id or its title. Mode and rules of the session are not
    /// restored: set them again. Versions before 2.1.325 find only sessions of the working folder.
    ///
    /// Nothing keeps two processes from going on with one session; only one of the two branches
    /// survives.
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.options.conversation.resume = Some(session.into());
        self
    }

    /// Goes on with the newest session of the working folder.
    pub fn continue_latest(mut self) -> Self {
        self.options.conversation.latest = true;
        self
    }

    /// Goes on under a new id, and leaves the session that it begins with as it is.
    pub fn fork(mut self) -> Self {
        self.options.conversation.fork = true;
        self
    }

    /// The id of a new session, a UUID that no session has yet. With [`resume`](Self::resume) it
    /// needs [`fork`](Self::fork) as well.
    pub fn session_id(mut self, id: impl Into<SessionId>) -> Self {
        self.options.conversation.id = Some(id.into());
        self
    }

    /// Goes on after this message, and drops what follows it.
    pub fn resume_at(mut self, message: impl Into<MessageUuid>) -> Self {
        self.options.conversation.resume_at = Some(message.into());
        self
    }

    /// The message that [`resume_at`](Self::resume_at) is to drop, the first of its turn. The CLI
    /// refuses to go on when it would drop something else. Needs 2.1.325.
    pub fn resume_drops_turn(mut self, message: impl Into<MessageUuid>) -> Self {
        self.options.conversation.drops_turn = Some(message.into());
        self
    }

    /// Runs an interrupted turn again by itself after [`resume`](Self::resume). Needs 2.1.197.
    pub fn resume_interrupted_turn(mut self) -> Self {
        self.options.conversation.resume_interrupted = true;
        self
    }

    /// Writes no transcript. The session cannot be resumed.
    pub fn without_persistence(mut self) -> Self {
        self.options.conversation.unsaved = true;
        self
    }

    /// The title of a new session. Needs 2.1.197.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.options.conversation.title = Some(title.into());
        self
    }

    /// Keeps what files were before they are changed, so that they can be put back.
    pub fn file_checkpointing(mut self) -> Self {
        self.options.conversation.checkpoints = true;
        self
    }

    /// Has the CLI wait for `initialize` before it does anything. Needs 2.1.325.
    ///
    /// It matters for a resume that raises a deferred call again: without it, the call may come
    /// before the hooks are in place.
    pub fn await_initialize(mut self) -> Self {
        self.options.conversation.await_initialize = true;
        self
    }
}

impl Conversation {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        self.check()?;
        draft.optional("--resume", self.resume.as_deref())?;
        draft.flag_if("--continue", self.latest);
        draft.flag_if("--fork-session", self.fork);
        draft.optional("--session-id", self.id.as_ref().map(SessionId::as_str))?;
        draft.optional("--resume-session-at", self.resume_at.as_ref().map(MessageUuid::as_str))?;
        draft.optional("--resume-drops-turn", self.drops_turn.as_ref().map(MessageUuid::as_str))?;
        draft.flag_if("--no-session-persistence", self.unsaved);
        draft.flag_if("--session-mirror", self.mirror);
        draft.flag_if("--await-initialize", self.await_initialize);
        draft.initialize.title = self.title.clone();
        if self.checkpoints {
            draft.set_needed("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true");
        }
        if self.resume_interrupted {
            draft.set_needed("CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "1");
        }
        Ok(())
    }

    fn check(&self) -> Result<(), OptionsError> {
        let fail = |what, change| Err(OptionsError::contradiction(what, change));
        let goes_on = self.resume.is_some() || self.latest;
        if self.resume.is_some() && self.latest {
            return fail(
                "`resume` and `continue_latest` both say which session goes on",
                "use one of them",
            );
        }
        if self.fork && !goes_on {
            return fail(
                "`fork` needs a session to begin with",
                "name it with `resume`, or use `continue_latest`",
            );
        }
        if self.id.is_some() && goes_on && !self.fork {
            return fail(
                "a session that goes on keeps its id",
                "leave out `session_id`, or add `fork`",
            );
        }
        if self.resume_at.is_some() && self.resume.is_none() {
            return fail("`resume_at` needs a session", "name it with `resume`");
        }
        if self.drops_turn.is_some() && self.resume_at.is_none() {
            return fail(
                "`resume_drops_turn` says what `resume_at` drops",
                "call `resume_at` as well, or neither",
            );
        }
        if self.resume_interrupted && !goes_on {
            return fail(
                "`resume_interrupted_turn` needs a session that goes on",
                "name it with `resume`, or use `continue_latest`",
            );
        }
        if self.title.is_some() && goes_on && !self.fork {
            return fail(
                "a session that goes on keeps its title",
                "leave out `title`, or add `fork`; a running session can be renamed",
            );
        }
        if self.mirror && self.unsaved {
            return fail(
                "a session without a transcript has nothing to mirror",
                "leave out the session store or `without_persistence`",
            );
        }
        if self.mirror && self.checkpoints {
            return fail(
                "kept files are on this machine only, and a session store moves sessions",
                "leave out the session store or `file_checkpointing`",
            );
        }
        if let Some(session) = &self.resume {
            reject_empty("resume", session)?;
        }
        for (option, id) in [
            ("session_id", self.id.as_ref().map(SessionId::as_str)),
            ("resume_at", self.resume_at.as_ref().map(MessageUuid::as_str)),
            ("resume_drops_turn", self.drops_turn.as_ref().map(MessageUuid::as_str)),
        ] {
            if let Some(id) = id
                && Uuid::try_parse(id).is_err()
            {
                return Err(OptionsError::value(option, id, "it has to be a UUID"));
            }
        }
        Ok(())
    }
}
