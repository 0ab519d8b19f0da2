//! Joins the messages of a turn.

use std::time::Instant;

use countersign_protocol::content::{Content, ContentBlock, ToolResultBlock, ToolUseBlock};
use countersign_protocol::event::{CommandLifecycle, CommandState};
use countersign_protocol::ids::{AgentId, MessageUuid, ToolUseId};
use countersign_protocol::message::{
    AssistantMessage, BlockDelta, ResultMessage, StreamEvent, StreamEventMessage, UserMessage,
};
use countersign_protocol::system::{SessionState, SystemMessage, TaskStarted};
use countersign_protocol::{FromCli, Version};

use super::decisions::Decisions;
use super::event::TurnEvent;
use super::outcome::{Outcome, SubAgent};
use super::tool_call::{Decision, ToolCall, ToolResult};
use super::unread::{Unread, Whose};
use crate::echo::Echo;
use crate::error::{Dropped, TurnError};
use crate::message::{Message, Saying};
use crate::session::Sent;

/// What became of a message.
pub(super) enum Joined {
    /// Something to tell.
    Event(TurnEvent),
    /// The turn is over.
    End(Box<Outcome>, TurnEvent),
    /// The turn is over, or cannot be followed any more, and what came of it is not known.
    Failed(TurnError, TurnEvent),
}

/// Joins the messages of one turn. It knows no time but that of its tool calls, and waits for
/// nothing.
#[derive(Debug)]
pub(super) struct Joiner {
    /// The message that the turn is for; none for the turn that comes.
    message: Option<Followed>,
    /// Whether the CLI has said that it took up the message.
    taken_up: bool,
    /// Whether a turn has begun since.
    began: bool,
    /// Whether the running turn has taken up another message.
    is_of_others: bool,
    /// Whether the CLI has said that the message was answered.
    completed: bool,
    /// The CLI has said that it dropped the message, after it had taken it up.
    dropped: Option<Dropped>,
    /// A line that could not be read, and may have been the result.
    missed: Option<String>,
    texts: Vec<String>,
    thoughts: Vec<String>,
    calls: Vec<(ToolCall, Instant)>,
    agents: Vec<SubAgent>,
    unasked: Vec<ResultMessage>,
    /// What is left of a message that holds several things to tell.
    rest: Vec<TurnEvent>,
}

/// A message whose turn is followed.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) sent: Sent,
    /// The version of the CLI, if it was known when the message was sent.
    pub(super) version: Option<Version>,
    /// Whether a turn was running then.
    pub(super) was_running: bool,
    /// How many results come before that of the message, unless it shares a turn.
    pub(super) results_before: u64,
    /// Messages that were on their way when it was sent.
    pub(super) others: Vec<MessageUuid>,
}

impl Joiner {
    pub(super) fn new(message: Option<Followed>) -> Self {
        Self {
            message,
            taken_up: false,
            began: false,
            is_of_others: false,
            completed: false,
            dropped: None,
            missed: None,
            texts: Vec::new(),
            thoughts: Vec::new(),
            calls: Vec::new(),
            agents: Vec::new(),
            unasked: Vec::new(),
            rest: Vec::new(),
        }
    }

    pub(super) fn message_id(&self) -> Option<&MessageUuid> {
        self.message.as_ref().map(|message| &message.sent.id)
    }

    /// Something that is to be told before the next message is read.
    pub(super) fn rest(&mut self) -> Option<TurnEvent> {
        self.rest.pop()
    }

    pub(super) fn join(&mut self, message: Message, decisions: &Decisions) -> Joined {
        let frame = match message.clone().into_saying() {
            Saying::Frame(frame) => frame,
            saying => return self.unread(message, &saying),
        };
        let mut events = match frame {
            FromCli::StreamEvent(event) => match delta(*event) {
                Some(event) => vec![event],
                None => vec![TurnEvent::Other(message)],
            },
            FromCli::Assistant(assistant) => self.assistant(*assistant, message),
            FromCli::User(user) if self.is_known(Echo::of(&user).as_ref()) => {
                return Joined::Failed(Dropped::Known.into(), TurnEvent::Other(message));
            }
            FromCli::User(user) => self.user(*user, message, decisions),
            FromCli::System(SystemMessage::Init(init)) => {
                self.began = true;
                vec![TurnEvent::Began(init)]
            }
            FromCli::System(SystemMessage::SessionStateChanged(changed))
                if changed.state == SessionState::Idle && self.is_running() =>
            {
                let missed = self.missed.take();
                let missed = missed.map(|reason| TurnError::ResultUnreadable { reason });
                // There will be no other result.
                match missed.or(self.dropped.map(TurnError::Dropped)) {
                    Some(error) => return Joined::Failed(error, TurnEvent::Other(message)),
                    None => vec![TurnEvent::Other(message)],
                }
            }
            FromCli::System(SystemMessage::ApiRetry(retry)) => {
                vec![TurnEvent::Retry(Box::new(retry))]
            }
            FromCli::System(system) => {
                self.task(&system);
                vec![TurnEvent::Other(message)]
            }
            FromCli::CommandLifecycle(lifecycle) => {
                if let Some(dropped) = self.lifecycle(&lifecycle) {
                    return Joined::Failed(dropped.into(), TurnEvent::Other(message));
                }
                vec![TurnEvent::Other(message)]
            }
            FromCli::Result(result) => return self.result(*result, decisions),
            _ => vec![TurnEvent::Other(message)],
        };
        let first = events.remove(0);
        // Taken from the end.
        events.reverse();
        self.rest = events;
        Joined::Event(first)
    }

    fn assistant(&mut self, assistant: AssistantMessage, message: Message) -> Vec<TurnEvent> {
        let AssistantMessage { message: said, parent_tool_use_id: parent, agent_id, .. } =
            assistant;
        let mut events = Vec::new();
        match said.content {
            Content::Text(text) => events.push(self.text(text, parent)),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block {
                        ContentBlock::Text(text) => {
                            events.push(self.text(text.text, parent.clone()));
                        }
                        ContentBlock::Thinking(thinking) => {
                            let text = thinking.thinking;
                            if parent.is_none() {
                                self.thoughts.push(text.clone());
                            }
                            events.push(TurnEvent::Thinking { text, parent: parent.clone() });
                        }
                        ContentBlock::ToolUse(call) => {
                            let call = self.call(call, parent.clone(), agent_id.clone());
                            events.push(TurnEvent::ToolCall(call));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if events.is_empty() {
            events.push(TurnEvent::Other(message));
        }
        events
    }

    fn text(&mut self, text: String, parent: Option<ToolUseId>) -> TurnEvent {
        if parent.is_none() {
            self.texts.push(text.clone());
        }
        TurnEvent::Text { text, parent }
    }

    fn call(
        &mut self,
        call: ToolUseBlock,
        parent: Option<ToolUseId>,
        agent: Option<AgentId>,
    ) -> ToolCall {
        let call = ToolCall {
            id: call.id,
            name: call.name,
            input: call.input,
            parent,
            agent,
            decision: Decision::NotAsked,
            result: None,
            duration: None,
        };
        self.calls.push((call.clone(), Instant::now()));
        call
    }

    fn user(
        &mut self,
        user: UserMessage,
        message: Message,
        decisions: &Decisions,
    ) -> Vec<TurnEvent> {
        self.echo(Echo::of(&user));
        let Content::Blocks(blocks) = user.message.content else {
            return vec![TurnEvent::Other(message)];
        };
        let mut events = Vec::new();
        let mut output = user.tool_use_result;
        for block in blocks {
            if let ContentBlock::ToolResult(result) = block
                && let Some(call) = self.done(result, output.take(), decisions)
            {
                events.push(TurnEvent::ToolDone(call));
            }
        }
        if events.is_empty() {
            events.push(TurnEvent::Other(message));
        }
        events
    }

    fn done(
        &mut self,
        result: ToolResultBlock,
        output: Option<countersign_protocol::RawJson>,
        decisions: &Decisions,
    ) -> Option<ToolCall> {
        let (call, since) =
            self.calls.iter_mut().find(|(call, _)| call.id == result.tool_use_id)?;
        call.duration = Some(since.elapsed());
        call.decision = decisions.about(&call.id).unwrap_or_default();
        let is_error = result.is_error.unwrap_or(false);
        call.result = Some(ToolResult { content: result.content, is_error, output });
        Some(call.clone())
    }

    fn task(&mut self, system: &SystemMessage) {
        match system {
            SystemMessage::TaskStarted(started) => self.agents.push(agent(started)),
            SystemMessage::TaskUpdated(updated) => {
                let ended =
                    updated.patch.status.as_ref().filter(|status| {
                        matches!(status.as_str(), "completed" | "failed" | "killed")
                    });
                if let (Some(agent), Some(status)) = (self.agent(&updated.task_id), ended) {
                    agent.ended = Some(status.to_string());
                }
            }
            SystemMessage::TaskNotification(told) => {
                if let Some(agent) = self.agent(&told.task_id) {
                    agent.ended = Some(told.status.to_string());
                    agent.summary = Some(told.summary.clone());
                }
            }
            _ => {}
        }
    }

    fn agent(&mut self, task: &countersign_protocol::ids::TaskId) -> Option<&mut SubAgent> {
        self.agents.iter_mut().find(|agent| agent.task == *task)
    }

    /// What the CLI says of the message. Gives why there will be no turn, if there will be none.
    fn lifecycle(&mut self, told: &CommandLifecycle) -> Option<Dropped> {
        if self.message_id() != Some(&told.command_uuid) {
            self.is_of_others |= told.state == CommandState::Started;
            return None;
        }
        let dropped = match told.state {
            CommandState::Started => {
                self.taken_up = true;
                return None;
            }
            CommandState::Completed if self.taken_up => {
                self.completed = true;
                return None;
            }
            // Before this turn.
            CommandState::Completed => Dropped::Known,
            CommandState::Cancelled => Dropped::Withdrawn,
            CommandState::Discarded => Dropped::Discarded,
            CommandState::Refused => Dropped::Refused,
            _ => return None,
        };
        // A turn that has begun has a result, which says more.
        self.dropped = self.taken_up.then_some(dropped);
        (!self.taken_up).then_some(dropped)
    }

    /// Notes whose message the running turn has taken up.
    fn echo(&mut self, echo: Option<Echo>) {
        self.taken_up |= self.is_echoed(echo.as_ref());
        if let (Some(followed), Some(echo)) = (&self.message, echo) {
            self.is_of_others |= followed.others.contains(&echo.message);
        }
    }

    /// Whether this is the echo of the message.
    fn is_echoed(&self, echo: Option<&Echo>) -> bool {
        echo.is_some_and(|echo| self.message_id() == Some(&echo.message))
    }

    /// Whether this is the echo of the message, and says that the CLI drops it.
    fn is_known(&self, echo: Option<&Echo>) -> bool {
        let (Some(followed), Some(echo)) = (&self.message, echo) else { return false };
        let may_be_taken_up = self.began || self.taken_up || followed.was_running;
        followed.sent.may_be_known
            && self.is_echoed(Some(echo))
            && echo.is_of_known(followed.version, may_be_taken_up)
    }

    fn result(&mut self, result: ResultMessage, decisions: &Decisions) -> Joined {
        if !self.is_ours(&Whose::of(&result)) {
            self.unasked.push(result.clone());
            return Joined::Event(TurnEvent::Unasked(Box::new(result)));
        }
        let tool_calls = std::mem::take(&mut self.calls)
            .into_iter()
            .map(|(mut call, _)| {
                if call.decision == Decision::NotAsked {
                    call.decision = decisions.about(&call.id).unwrap_or_default();
                }
                call
            })
            .collect();
        let outcome = Outcome {
            text: std::mem::take(&mut self.texts).join("\n\n"),
            thinking: std::mem::take(&mut self.thoughts).join("\n\n"),
            tool_calls,
            sub_agents: std::mem::take(&mut self.agents),
            unasked: std::mem::take(&mut self.unasked),
            result: result.clone(),
            fresh_start: None,
        };
        Joined::End(Box::new(outcome), TurnEvent::Done(Box::new(result)))
    }

    /// Whether a result is that of the message.
    ///
    /// 2.1.325 says which messages a turn took up. Before that it is the first result after the
    /// message was taken up, which its echo tells; and where there is no echo, as for a command, the
    /// first result of a turn that somebody asked for, that was not there before the message and has
    /// not taken up another. A turn that the CLI makes of a request of ours, such as `set_cwd`, names
    /// no message, but has one: that it was taken up is said before.
    fn is_ours(&mut self, result: &Whose) -> bool {
        let Some(message) = &mut self.message else { return true };
        let is_of_others = std::mem::take(&mut self.is_of_others) || message.results_before > 0;
        message.results_before = message.results_before.saturating_sub(1);
        if !result.messages.is_empty() {
            return result.messages.contains(&message.sent.id) || self.completed;
        }
        self.taken_up || !(is_of_others || result.is_of_task)
    }

    /// Whether the turn is known to have begun.
    fn is_running(&self) -> bool {
        match self.message {
            Some(_) => self.taken_up,
            None => self.began,
        }
    }

    /// What a message means that cannot be read. Only its own result ends a turn, but also when
    /// nobody can say what it says.
    fn unread(&mut self, message: Message, saying: &Saying) -> Joined {
        match Unread::new(&message, saying) {
            Unread::Result(whose, error) => {
                if self.is_ours(&whose) {
                    return Joined::Failed(error, TurnEvent::Other(message));
                }
            }
            Unread::Lost(error) => return Joined::Failed(error, TurnEvent::Other(message)),
            Unread::Echo(echo) if self.is_known(Some(&echo)) => {
                return Joined::Failed(Dropped::Known.into(), TurnEvent::Other(message));
            }
            Unread::Echo(echo) => self.echo(Some(echo)),
            Unread::Anything(problem) => self.missed = Some(problem),
            Unread::Other => {}
        }
        Joined::Event(TurnEvent::Other(message))
    }
}

fn delta(event: StreamEventMessage) -> Option<TurnEvent> {
    let parent = event.parent_tool_use_id;
    let StreamEvent::ContentBlockDelta(delta) = event.event else { return None };
    match delta.delta {
        BlockDelta::Text(delta) => Some(TurnEvent::TextDelta { text: delta.text, parent }),
        BlockDelta::Thinking(delta) => {
            Some(TurnEvent::ThinkingDelta { text: delta.thinking, parent })
        }
        _ => None,
    }
}

fn agent(started: &TaskStarted) -> SubAgent {
    SubAgent {
        task: started.task_id.clone(),
        tool_use: started.tool_use_id.clone(),
        description: started.description.clone(),
        kind: started.subagent_type.clone(),
        in_background: started.is_backgrounded.unwrap_or(false),
        ended: None,
        summary: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_of_which_messages_are_lost_does_not_wait_for_them() {
        let mut joiner = Joiner::new(None);
        let lost = crate::message::lost_marker(7);
        let message = Message::from_line(lost.trim_end().to_owned());
        let joined = joiner.join(message, &Decisions::default());
        assert!(matches!(joined, Joined::Failed(TurnError::Lost { length: 7 }, _)));
    }
}
