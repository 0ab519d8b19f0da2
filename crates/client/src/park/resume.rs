//! Going on with a session that was parked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::Version;
use countersign_protocol::hook::HookBase;
use countersign_protocol::ids::ToolUseId;
use thiserror::Error;

use super::bring::bring;
use super::gate::Gate;
use super::grant::{Answer, Answering};
use super::mark::{MarkError, MarkPlace};
use super::tell::{Told, Untold};
use super::token::ParkingToken;
use crate::builder::SessionBuilder;
use crate::cli::Capability;
use crate::error::{ConnectError, SendError};
use crate::permission::{AnswerError, FreshStart, HandlerFailure, PermissionAnswer, PermissionAsk};
use crate::process::ProcessId;
use crate::session::Session;

/// How long the CLI may take to ask again, once it has started. It does so at once, or never.
const RAISED: Duration = Duration::from_secs(10);

/// The first version that asks again.
const SINCE: Version = Version::new(2, 1, 197);

/// A session that goes on.
#[derive(Debug)]
#[must_use = "dropping it ends the session"]
#[non_exhaustive]
pub struct Resumed {
    /// The session. Unless the answer was [stopped](Raised::Stopped) its turn is running: see
    /// [`Session::current_turn`](crate::Session::current_turn).
    pub session: Session,
    /// How the answer reached it.
    pub raised: Raised,
    /// A plan that was approved to be carried out in a new conversation, when no turn is running
    /// with whose outcome it could come. [`Session::begin_fresh`](crate::Session::begin_fresh) does
    /// it.
    pub fresh_start: Option<FreshStart>,
}

/// How the answer reached a session that was parked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Raised {
    /// The CLI asked for the same call again, and got the answer.
    SameCall,
    /// The CLI asked again under the name of the call, but for another tool or with another input than
    /// was parked: its transcript was changed meanwhile. The answer is not for that, so it was not
    /// used, and the handler of the session decides.
    OtherCall,
    /// The CLI did not ask again. The model was told what was decided; if that was to allow the
    /// call, the same call may run once without asking.
    Told {
        /// Why it did not ask.
        why: String,
    },
    /// The CLI did not ask again, and the answer was one that ends the turn. So the model was told
    /// nothing, and no turn is running.
    Stopped {
        /// Why it did not ask.
        why: String,
    },
}

/// Why a session does not go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The process that asked is still running.
    #[error(
        "the process that was parked still runs, and two must not go on with one session: end it first"
    )]
    StillRunning,
    /// The call was answered: it has a result, or the model was told what was decided. The token is
    /// used up. [`SessionBuilder::resume`] goes on with the session.
    #[error("the call {call} was answered already, so there is nothing to give it an answer for")]
    AlreadyDone {
        /// The call.
        call: String,
    },
    /// The transcript of the session cannot be brought from where it was.
    #[error("the transcript cannot be brought here: {0}")]
    Transcript(#[source] MarkError),
    /// The token cannot be read.
    #[error("the token cannot be read: {0}")]
    Token(#[from] serde_json::Error),
    /// The session was not started again.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The answer cannot be made.
    #[error("the answer cannot be given: {0}")]
    Answer(#[source] HandlerFailure),
    /// The session ended before it could be told.
    #[error(transparent)]
    Send(#[from] SendError),
}

impl SessionBuilder {
    /// Goes on with a session that was parked, or whose process died while it asked.
    ///
    /// `answer` decides about the call, with the methods of the ask that it is given: exactly once,
    /// and for that call, as it was parked. What else the session asks goes to the handlers of this builder, which
    /// should be set up like the one that the session was started with; the mode and the folder are
    /// those of the token unless they are set here. In another home folder the transcript is
    /// brought from where it was, if it is there; one that is here gives way if it is older. A
    /// session whose call is in neither place is taken from the
    /// [store](Self::session_store), if there is one.
    ///
    /// A token can be tried again when it is not known whether it was delivered: one whose call has
    /// a result is refused. Only a call that was allowed and was running when its process died is
    /// raised again, because its outcome is in no transcript.
    ///
    /// # Errors
    /// When the old process still runs, the call was answered already, the transcript is there
    /// and cannot be brought, or the session cannot be started again. That the CLI does not ask again is not an error: see [`Raised`].
    pub async fn resume_parked(
        self,
        token: &ParkingToken,
        answer: impl FnOnce(PermissionAsk) -> Result<PermissionAnswer, AnswerError> + Send + 'static,
    ) -> Result<Resumed, ResumeError> {
        self.bring_back(token, Answer::Given(Box::new(answer))).await
    }

    /// Goes on with a session that was parked, without an answer: the handler of this builder is
    /// asked for the call as it would have been, with the limit of
    /// [`permission_timeout`](Self::permission_timeout). Where the CLI does not ask again, this
    /// returns when the handler has decided.
    ///
    /// # Errors
    /// As [`resume_parked`](Self::resume_parked).
    pub async fn unpark(self, token: &ParkingToken) -> Result<Resumed, ResumeError> {
        let handler = Arc::clone(&self.handlers.permission);
        self.bring_back(token, Answer::ByHandler(handler)).await
    }

    async fn bring_back(
        mut self,
        token: &ParkingToken,
        answer: Answer,
    ) -> Result<Resumed, ResumeError> {
        if token.process.is_some_and(ProcessId::is_alive) {
            return Err(ResumeError::StillRunning);
        }
        let request = Arc::new(token.request()?);
        let others = Arc::clone(&self.handlers.permission);
        let limit = self.handlers.permission_timeout;
        let gate = self.gate(token, &request.tool_use_id).await;
        let answering = Answering::new(Arc::clone(&request), gate, answer, others);
        let builder = self.going_on(token).on_permission(answering.clone());
        let builder = builder.or_from_store(token).await?;
        let marked = builder.marked(token).await?;
        let session = builder.connect().await?;
        let asked = |session, raised| Resumed { session, raised, fresh_start: None };
        let why = match marked {
            Marked::Yes => match raised(&session, &answering).await {
                Ok(raised) => return Ok(asked(session, raised)),
                Err(why) => why,
            },
            Marked::No { why } => why,
        };
        // Whoever takes the answer gives it: should the call be raised now, it is asked like any.
        let Some(answer) = answering.take() else {
            let raised = answering.asked().await;
            return Ok(asked(session, raised));
        };
        let telling = token.telling()?;
        let untold = Untold { session: &session, answering: &answering, request, telling, limit };
        let (raised, fresh_start) = match untold.tell(answer).await? {
            Told::Decided => (Raised::Told { why }, None),
            Told::Nothing { fresh_start } => (Raised::Stopped { why }, fresh_start),
        };
        Ok(Resumed { session, raised, fresh_start })
    }

    /// The hooks that have to see the call when the CLI raises it before it knows of them.
    async fn gate(&mut self, token: &ParkingToken, call: &ToolUseId) -> Option<Gate> {
        if self.handlers.hooks.is_empty() {
            return None;
        }
        let version = self.version().await;
        if version.is_ok_and(|version| Capability::AWAIT_INITIALIZE.in_version(version)) {
            return None;
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let transcript = token.transcript.as_deref().map(text).unwrap_or_default();
        let mut base = HookBase::new(token.session_id(), transcript, text(token.cwd()));
        base.permission_mode = token.mode();
        Gate::watching(&mut self.handlers.hooks, call, base)
    }

    /// Goes on with the session of a token.
    fn going_on(mut self, token: &ParkingToken) -> Self {
        self.options.work_in(token.cwd());
        self.options.go_on(&token.session_id(), token.mode());
        self
    }

    /// Takes the session from the store, if there is one and the call is nowhere else.
    async fn or_from_store(self, token: &ParkingToken) -> Result<Self, ResumeError> {
        let session = token.session_id();
        let place = |builder: &Self| builder.place().map_err(ConnectError::from);
        let is_there = token.transcript.as_ref().is_some_and(|there| there.exists());
        let Some(here) = place(&self)?.transcript_path(&session).filter(|_| !is_there) else {
            return Ok(self);
        };
        let is_here = here.exists();
        if is_here && has_call(here, token).await? {
            return Ok(self);
        }
        let Some(stored) = self.in_store(&session).await? else { return Ok(self) };
        let from_store = self.clone().at_home_in(stored);
        let Some(stored) = place(&from_store)?.transcript_path(&session) else { return Ok(self) };
        // What is here is not given up for less.
        let is_better = !is_here || has_call(stored, token).await?;
        Ok(if is_better { from_store } else { self })
    }

    /// Sees to it that the transcript is there, and says which call was put off.
    async fn marked(&self, token: &ParkingToken) -> Result<Marked, ResumeError> {
        let version = match token.version() {
            Some(version) => Some(version),
            None => self.version().await.ok(),
        };
        let too_old = version.filter(|version| *version < SINCE);
        let here = match self.place() {
            Ok(place) => place.transcript_path(&token.session_id()),
            Err(error) => return Ok(Marked::No { why: error.to_string() }),
        };
        let token = token.clone();
        let work = move || -> Result<_, ResumeError> {
            let Some(here) = here else { return Ok(Err(MarkError::NoTranscript)) };
            let here = MarkPlace::at(here, &token)?;
            if let Some(there) = token.transcript.clone().filter(|there| there.exists()) {
                // Without it the session would go on with less than it had.
                bring(&MarkPlace::at(there, &token)?, &here).map_err(ResumeError::Transcript)?;
            }
            Ok(if too_old.is_some() { here.check() } else { here.mark() })
        };
        let why = match tokio::task::spawn_blocking(work).await {
            Ok(marked) => match (marked?, too_old) {
                (Ok(()), None) => return Ok(Marked::Yes),
                (Ok(()), Some(version)) => {
                    format!("{version} does not ask again for a call; {SINCE} does")
                }
                (Err(MarkError::Done { call }), _) => {
                    return Err(ResumeError::AlreadyDone { call });
                }
                (Err(error), _) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        Ok(Marked::No { why })
    }
}

/// Whether a transcript has the call of a token.
async fn has_call(transcript: PathBuf, token: &ParkingToken) -> Result<bool, ResumeError> {
    let place = MarkPlace::at(transcript, token)?;
    let found = tokio::task::spawn_blocking(move || place.has_call()).await;
    // What cannot be looked at does not have it.
    Ok(matches!(found, Ok(Ok(true))))
}

/// Whether a transcript says which call was put off.
enum Marked {
    Yes,
    No { why: String },
}

/// Waits until the call was asked for.
async fn raised(session: &Session, answering: &Answering) -> Result<Raised, String> {
    tokio::select! {
        biased;
        raised = answering.asked() => Ok(raised),
        end = session.ended() => Err(format!("the session ended: {end}")),
        () = tokio::time::sleep(RAISED) => {
            Err(format!("the CLI did not ask for the call again within {RAISED:?}"))
        }
    }
}
