//! What waits for a turn.

use std::collections::VecDeque;

use super::input::UserMessage;
use super::json::Object;

/// Something that starts a turn.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// A message of the user.
    Prompt(UserMessage),
    /// A task in the background has ended.
    Notice(Notice),
    /// A call that was put off is raised again.
    Deferred(Deferred),
    /// A turn that was cut short is run again.
    Rerun {
        /// The message that began it.
        prompt_uuid: String,
    },
}

/// The end of a task in the background.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    /// What the model is told.
    pub(crate) text: String,
    /// What the result says of its origin.
    pub(crate) origin: Object,
}

/// A call that was put off.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: super::json::Json,
    pub(crate) assistant_uuid: String,
}

/// What waits, in order.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Work>);

impl Queue {
    /// Adds work.
    pub(crate) fn push(&mut self, work: Work) {
        self.0.push_back(work);
    }

    /// The next piece of work.
    pub(crate) fn pop(&mut self) -> Option<Work> {
        self.0.pop_front()
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a turn is to be run again.
    pub(crate) fn runs_again(&self) -> bool {
        self.0.iter().any(|work| matches!(work, Work::Rerun { .. }))
    }

    /// The ids of the messages that wait.
    pub(crate) fn uuids(&self) -> Vec<String> {
        self.0.iter().filter_map(uuid_of).map(str::to_owned).collect()
    }

    /// Takes out a message.
    pub(crate) fn cancel(&mut self, uuid: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|work| uuid_of(work) != Some(uuid));
        self.0.len() < before
    }

    /// Takes out all messages of the user that are ready to be read by the model: those at the
    /// front, up to the first one that is for the CLI itself.
    pub(crate) fn take_prompts(
        &mut self,
        mut plain: impl FnMut(&UserMessage) -> bool,
    ) -> Vec<UserMessage> {
        let mut taken = Vec::new();
        while let Some(Work::Prompt(message)) = self.0.front() {
            if !plain(message) {
                break;
            }
            if let Some(Work::Prompt(message)) = self.0.pop_front() {
                taken.push(message);
            }
        }
        taken
    }

    /// Takes out all messages of the user.
    pub(crate) fn drain_prompts(&mut self) -> Vec<UserMessage> {
        let mut taken = Vec::new();
        self.0.retain(|work| match work {
            Work::Prompt(message) => {
                taken.push(message.clone());
                false
            }
            Work::Notice(_) | Work::Deferred(_) | Work::Rerun { .. } => true,
        });
        taken
    }
}

fn uuid_of(work: &Work) -> Option<&str> {
    match work {
        Work::Prompt(message) => message.uuid.as_deref(),
        Work::Notice(_) | Work::Deferred(_) | Work::Rerun { .. } => None,
    }
}
