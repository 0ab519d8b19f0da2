//! Hooks: callbacks for what happens in a session.
//!
//! A hook is a closure that takes the input of the event that it is for; the type of its argument
//! says which event that is:
//!
//! ```
//! use countersign::SessionBuilder;
//! use countersign::hook::Hook;
//! use countersign::protocol::hook::{PreToolUseInput, PreToolUseOutput};
//!
//! let gate = Hook::new(|input: PreToolUseInput, _| async move {
//!     match &*input.tool_name {
//!         "WebFetch" => PreToolUseOutput::deny("no network in this job").into(),
//!         _ => countersign::protocol::hook::HookOutput::no_opinion(),
//!     }
//! });
//! let builder = SessionBuilder::new().hook(gate);
//! ```
//!
//! Where a hook decides whether something may happen, one that fails, panics, takes too long or
//! is dropped has refused it; elsewhere it has no opinion. [`Hook::on_failure`] says otherwise.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_protocol::ask::HookCallback;
use countersign_protocol::hook::{
    HookEvent, HookInput, HookMatcher, HookOutput, OnFailure, PermissionRequestOutput,
    PreModelSwitchOutput, PreToolUseOutput,
};
use countersign_protocol::ids::{HookCallbackId, ToolUseId};
use tokio_util::sync::CancellationToken;

use crate::permission::HandlerFailure;

/// How long a hook that decides may take, if nothing else is said.
const DECIDING: Duration = Duration::from_secs(10 * 60);

/// The CLI counts milliseconds in 31 bits; what is longer would be over at once.
const LONGEST: Duration = Duration::from_secs(24 * 24 * 60 * 60);

/// What a hook is told besides its input.
#[derive(Debug, Clone)]
pub struct HookContext {
    tool_use_id: Option<ToolUseId>,
    cancelled: CancellationToken,
    asks: AsksPerson,
}

/// What is done when a hook asks a person.
#[derive(Clone, Default)]
pub(crate) struct AsksPerson(Option<Arc<dyn Fn() + Send + Sync>>);

impl AsksPerson {
    pub(crate) fn new(note: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(note)))
    }
}

impl fmt::Debug for AsksPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsksPerson")
    }
}

impl HookContext {
    /// The call that the event is about; made up by the CLI for events that are about none.
    #[must_use]
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.tool_use_id.as_ref()
    }

    /// Waits until the CLI no longer wants an answer.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.cancelled.clone().cancelled_owned()
    }

    /// Says that the hook asks a person from now on. Until it has answered, time does not count towards
    /// the [limits](crate::Limits) of silence and of a turn.
    pub fn asks_a_person(&self) {
        if let Some(note) = &self.asks.0 {
            note();
        }
    }
}

/// The input of an event: its type says which event it is.
pub trait HookEventInput: Sized + Send + 'static {
    /// The event.
    fn event() -> HookEvent;

    /// The input, if it is that of this event.
    fn pick(input: HookInput) -> Option<Self>;
}

/// What a hook may return.
pub trait IntoHookOutput {
    /// The output, or why there is none.
    ///
    /// # Errors
    /// When there is none.
    fn into_output(self) -> Result<HookOutput, HandlerFailure>;
}

impl IntoHookOutput for HookOutput {
    fn into_output(self) -> Result<HookOutput, HandlerFailure> {
        Ok(self)
    }
}

/// No opinion.
impl IntoHookOutput for () {
    fn into_output(self) -> Result<HookOutput, HandlerFailure> {
        Ok(HookOutput::no_opinion())
    }
}

impl<T: IntoHookOutput, E: Into<HandlerFailure>> IntoHookOutput for Result<T, E> {
    fn into_output(self) -> Result<HookOutput, HandlerFailure> {
        self.map_err(Into::into)?.into_output()
    }
}

type Reaction = Pin<Box<dyn Future<Output = Result<HookOutput, HandlerFailure>> + Send>>;

/// A callback for one event.
#[derive(Clone)]
#[must_use = "a hook does nothing until it is added to a builder"]
pub struct Hook {
    event: HookEvent,
    matcher: Option<String>,
    timeout: Option<Duration>,
    on_failure: OnFailure,
    react: Arc<dyn Fn(HookInput, HookContext) -> Reaction + Send + Sync>,
}

impl Hook {
    /// A hook for the event whose input the closure takes.
    pub fn new<I, F, Fut>(react: F) -> Self
    where
        I: HookEventInput,
        F: Fn(I, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoHookOutput,
    {
        let event = I::event();
        let expected = event.clone();
        Self::for_event(event, move |input, context| {
            let picked = I::pick(input).map(|input| react(input, context));
            let expected = expected.clone();
            async move {
                match picked {
                    Some(reaction) => reaction.await.into_output(),
                    None => Err(format!("the CLI sent another event than {expected}").into()),
                }
            }
        })
    }

    /// A hook for an event by name, also for one that has no type here.
    pub fn for_event<F, Fut>(event: HookEvent, react: F) -> Self
    where
        F: Fn(HookInput, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoHookOutput,
    {
        let on_failure = if decides(&event) { OnFailure::Block } else { OnFailure::Continue };
        let react = Arc::new(move |input, context| {
            let reaction = react(input, context);
            Box::pin(async move { reaction.await.into_output() }) as Reaction
        });
        Self { event, matcher: None, timeout: None, on_failure, react }
    }

    /// Only for what this pattern matches: the name of a tool, such as `Write|Edit`, for events
    /// about tools. Without it, for everything.
    pub fn matcher(mut self, pattern: impl Into<String>) -> Self {
        self.matcher = Some(pattern.into());
        self
    }

    /// How long it may take. Without it, a hook that decides about something may take ten minutes;
    /// for others there is no limit here, and the CLI has its own.
    ///
    /// The CLI is given a little more, so that it is told what a hook that takes too long means:
    /// by itself 2.1.62 would go on. It takes no more than 24 days.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What its failure means. By default, what it decides about is refused.
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// The event that it is for.
    #[must_use]
    pub fn event(&self) -> &HookEvent {
        &self.event
    }

    pub(crate) fn limit(&self) -> Option<Duration> {
        let usual = decides(&self.event).then_some(DECIDING);
        self.timeout.or(usual).map(|limit| limit.min(LONGEST))
    }

    /// How it is registered, as the hook with this id.
    pub(crate) fn registration(&self, id: HookCallbackId) -> HookMatcher {
        let mut matcher = HookMatcher::new(vec![id]);
        matcher.matcher.clone_from(&self.matcher);
        // Ours is the one that acts, and says why; theirs is for when we are gone.
        matcher.timeout = self.limit().map(|limit| (limit.as_secs() + 5).into());
        matcher.on_failure = Some(self.on_failure.clone());
        matcher
    }

    pub(crate) fn call(
        &self,
        request: HookCallback,
        cancelled: CancellationToken,
        asks: AsksPerson,
    ) -> Reaction {
        let context = HookContext { tool_use_id: request.tool_use_id, cancelled, asks };
        (self.react)(request.input, context)
    }

    /// The same hook, which notes that it was asked about this call.
    pub(crate) fn noting(&self, call: ToolUseId, asked: Arc<AtomicBool>) -> Self {
        let react = Arc::clone(&self.react);
        let noting = move |input: HookInput, context: HookContext| {
            if matches!(&input, HookInput::PreToolUse(input) if input.tool_use_id == call) {
                asked.store(true, Ordering::Release);
            }
            react(input, context)
        };
        Self { react: Arc::new(noting), ..self.clone() }
    }

    /// Whether it may be for calls of this tool. A pattern that is no list of names, which only the
    /// CLI understands, may match anything.
    pub(crate) fn may_match(&self, tool: &str) -> bool {
        let pattern = self.matcher.as_deref().unwrap_or_default();
        let is_list = pattern.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '|'));
        pattern.is_empty() || !is_list || pattern.split('|').any(|name| name == tool)
    }

    /// Whether what it decides about does not happen when it fails.
    pub(crate) fn refuses_when_failed(&self) -> bool {
        decides(&self.event) && self.on_failure == OnFailure::Block
    }

    /// What is answered when it has failed.
    pub(crate) fn failed(&self, reason: &str) -> Option<HookOutput> {
        if self.on_failure != OnFailure::Block {
            return None;
        }
        Some(match &self.event {
            HookEvent::PreToolUse => PreToolUseOutput::deny(reason).into(),
            HookEvent::PermissionRequest => PermissionRequestOutput::deny(reason).into(),
            HookEvent::PreModelSwitch => PreModelSwitchOutput::deny(reason).into(),
            _ => HookOutput::block(reason),
        })
    }
}

/// Whether a hook for this event says whether something may happen.
fn decides(event: &HookEvent) -> bool {
    matches!(
        event,
        HookEvent::PreToolUse
            | HookEvent::PermissionRequest
            | HookEvent::UserPromptSubmit
            | HookEvent::UserPromptExpansion
            | HookEvent::PreModelSwitch
            | HookEvent::PreCompact
            | HookEvent::ConfigChange
    )
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("event", &self.event)
            .field("matcher", &self.matcher)
            .field("timeout", &self.timeout)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

macro_rules! events {
    ($($event:ident($input:ident);)+) => {
        #[cfg(test)]
        const TYPED: &[fn() -> HookEvent] =
            &[$(<countersign_protocol::hook::$input as HookEventInput>::event),+];

        $(
            impl HookEventInput for countersign_protocol::hook::$input {
                fn event() -> HookEvent {
                    HookEvent::$event
                }

                fn pick(input: HookInput) -> Option<Self> {
                    match input {
                        HookInput::$event(input) => Some(input),
                        _ => None,
                    }
                }
            }
        )+
    };
}

events! {
    PreToolUse(PreToolUseInput);
    PostToolUse(PostToolUseInput);
    PostToolUseFailure(PostToolUseFailureInput);
    PostToolBatch(PostToolBatchInput);
    PermissionRequest(PermissionRequestInput);
    PermissionDenied(PermissionDeniedInput);
    Notification(NotificationInput);
    UserPromptSubmit(UserPromptSubmitInput);
    UserPromptExpansion(UserPromptExpansionInput);
    SessionStart(SessionStartInput);
    SessionEnd(SessionEndInput);
    Setup(SetupInput);
    Stop(StopInput);
    StopFailure(StopFailureInput);
    SubagentStart(SubagentStartInput);
    SubagentStop(SubagentStopInput);
    PreCompact(PreCompactInput);
    PostCompact(PostCompactInput);
    PreModelSwitch(PreModelSwitchInput);
    PostModelSwitch(PostModelSwitchInput);
    TeammateIdle(TeammateIdleInput);
    TaskCreated(TaskCreatedInput);
    TaskCompleted(TaskCompletedInput);
    Elicitation(ElicitationInput);
    ElicitationResult(ElicitationResultInput);
    ConfigChange(ConfigChangeInput);
    WorktreeCreate(WorktreeCreateInput);
    WorktreeRemove(WorktreeRemoveInput);
    InstructionsLoaded(InstructionsLoadedInput);
    CwdChanged(CwdChangedInput);
    FileChanged(FileChangedInput);
    DirectoryAdded(DirectoryAddedInput);
    MessageDisplay(MessageDisplayInput);
}

#[cfg(test)]
mod tests {
    use countersign_protocol::hook::{NotificationInput, PreToolUseInput, UserPromptSubmitInput};

    use super::*;

    /// Each event that is known has an input of its own.
    #[test]
    fn every_event_has_a_type() {
        let mut typed: Vec<_> = TYPED.iter().map(|event| event().as_str().to_owned()).collect();
        typed.sort();
        typed.dedup();
        assert_eq!(typed.len(), 33);
        assert!(typed.iter().all(|event| HookEvent::from(&**event).is_known()), "{typed:?}");
    }

    #[test]
    fn a_pattern_that_is_no_list_of_names_may_match_anything() {
        let hook = |pattern: &str| Hook::new(|_: PreToolUseInput, _| async {}).matcher(pattern);
        for pattern in ["", "*", "Write", "Edit|Write", "Wri.*"] {
            assert!(hook(pattern).may_match("Write"), "{pattern}");
        }
        assert!(Hook::new(|_: PreToolUseInput, _| async {}).may_match("Write"));
        assert!(!hook("Edit|Bash").may_match("Write") && !hook("Writ").may_match("Write"));
    }

    /// The limit of the CLI in seconds, and ours.
    fn limits(hook: &Hook) -> (Option<u64>, Option<Duration>) {
        let registered = hook.registration(HookCallbackId::from("hook_0"));
        let theirs = serde_json::to_value(&registered).unwrap()["timeout"].as_u64();
        (theirs, hook.limit())
    }

    #[test]
    fn ours_is_over_before_that_of_the_cli() {
        let deciding = [
            Hook::new(|_: PreToolUseInput, _| async {}),
            Hook::new(|_: UserPromptSubmitInput, _| async {}),
            Hook::new(|_: PreToolUseInput, _| async {}).timeout(Duration::from_millis(1500)),
            Hook::new(|_: NotificationInput, _| async {}).timeout(Duration::MAX),
        ];
        for hook in deciding {
            let (Some(theirs), Some(ours)) = limits(&hook) else { panic!("{hook:?}") };
            assert!(ours < Duration::from_secs(theirs), "{hook:?}");
            // Milliseconds in 31 bits.
            assert!(theirs * 1000 < 1 << 31, "{hook:?}");
        }
        assert_eq!(limits(&Hook::new(|_: NotificationInput, _| async {})), (None, None));
    }
}
