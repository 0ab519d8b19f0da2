//! What the CLI says, and what that means for the session.

use std::collections::{BTreeSet, HashMap};

use countersign::protocol::content::{Content, ContentBlock};
use countersign::protocol::ids::MessageUuid;
use countersign::protocol::message::{ResultMessage, ResultSubtype, TerminalReason};
use countersign::protocol::system::{SystemMessage, TaskStatus};
use countersign::protocol::{FromCli, RawJson};
use countersign::{LimitReached, Message, Saying, Snapshot};

use super::files::changed_file;
use crate::id::{ApprovalId, ConversationId, MessageId, TurnId};
use crate::session::{
    ApprovalClosed, ApprovalKind, By, CallOutcome, ConversationChanged, Frame, Happening, Head,
    LimitNoted, MessageReturned, MessageSent, Noted, Stage, Turn, TurnBegan, TurnCause, TurnEnd,
    TurnEnded, Usage, Used,
};

/// What is known of the CLI beside the head of the session: it is of no use when the process is gone.
#[derive(Debug, Default)]
pub(super) struct Watching {
    /// Approvals whose answers the client has put into words for the model.
    pub(super) told: BTreeSet<ApprovalId>,
    /// The limit that the running turn has reached.
    limit: Option<LimitReached>,
    /// How many limits were reached, as far as that is known of.
    limits_reached: u64,
    /// Tasks in the background, by their names.
    pub(super) tasks: BTreeSet<String>,
    /// Whether the CLI has said anything.
    pub(super) has_spoken: bool,
    /// Messages that the CLI has taken up, by their names.
    pub(super) taken_up: BTreeSet<String>,
    /// The model was given the story of a conversation that was lost.
    pub(super) story_told: bool,
    /// How many tokens the model was given last.
    context_tokens: u64,
    /// What tools were called with, until it is known what became of them.
    inputs: HashMap<String, RawJson>,
    /// Calls that the CLI said it refused, and why.
    refused: HashMap<String, Option<String>>,
}

impl Watching {
    /// Something is about to run.
    pub(super) fn called(&mut self, call: &str, input: &RawJson) {
        self.inputs.insert(call.to_owned(), input.clone());
    }
}

impl Watching {
    /// Takes note of a limit that the client has ended the turn for.
    pub(super) fn look_at_limits(&mut self, known: &Snapshot) {
        if known.limits_reached > self.limits_reached {
            (self.limits_reached, self.limit) = (known.limits_reached, known.limit_reached);
        }
    }
}

/// What it means that a limit of the client was reached, by the name that it has here.
pub(super) fn limit_words(limit: LimitReached) -> String {
    let name = match limit {
        LimitReached::Silence(_) => "silence_seconds",
        LimitReached::TurnTime(_) => "turn_seconds",
        _ => return format!("a limit was reached: {limit}"),
    };
    format!("the limit {name} was reached: {limit}")
}

/// What a message is.
pub(super) enum Heard {
    /// A piece of a message: live only.
    Delta(String),
    /// Something to be written down.
    Happens(Vec<Happening>),
    /// Nothing that anybody needs.
    Nothing,
}

/// What a message means. `head` is the session with everything that was heard before.
pub(super) fn hear(message: &Message, head: &Head, watching: &mut Watching) -> Heard {
    let line = String::from_utf8_lossy(message.line());
    let line = line.trim_end();
    let frame = match message.saying() {
        Saying::Frame(frame) => Some(frame),
        Saying::Malformed(_) => None,
        Saying::NotAFrame(_) => {
            return note("the CLI wrote a line that is not part of the protocol".to_owned());
        }
        Saying::TooLong { length, .. } => {
            return note(format!("a message of the CLI was too long to be read: {length} bytes"));
        }
        Saying::DeltasDropped { .. } => return Heard::Nothing,
        Saying::Lost { length } => {
            return note(format!("messages of the CLI were lost: {length} bytes"));
        }
        _ => return note("the CLI said something that cannot be kept".to_owned()),
    };
    if let Some(frame) = frame
        && let Some(heard) = passing(frame, line)
    {
        return heard;
    }
    let Ok(raw) = line.parse::<RawJson>() else {
        return note("the CLI wrote a line that cannot be kept: it is not JSON".to_owned());
    };
    let mut happens = Vec::new();
    if let Some(frame) = frame {
        before(frame, head, watching, &mut happens);
    }
    happens.push(Frame { generation: head.generation, line: raw }.into());
    if let Some(frame) = frame {
        after(frame, head, watching, &mut happens);
    }
    Heard::Happens(happens)
}

fn note(text: String) -> Heard {
    Heard::Happens(vec![Noted { text }.into()])
}

/// What is not written down.
fn passing(frame: &FromCli, line: &str) -> Option<Heard> {
    match frame {
        FromCli::StreamEvent(_)
        | FromCli::ToolProgress(_)
        | FromCli::System(SystemMessage::ThinkingTokens(_)) => Some(Heard::Delta(line.to_owned())),
        FromCli::KeepAlive(_)
        | FromCli::ControlRequest(_)
        | FromCli::ControlResponse(_)
        | FromCli::ControlCancelRequest(_)
        | FromCli::TranscriptMirror(_)
        | FromCli::System(SystemMessage::SessionStateChanged(_)) => Some(Heard::Nothing),
        _ => None,
    }
}

/// What a frame begins.
fn before(frame: &FromCli, head: &Head, watching: &mut Watching, happens: &mut Vec<Happening>) {
    let FromCli::System(SystemMessage::Init(init)) = frame else {
        tasks(frame, watching);
        return;
    };
    let id = init.session_id.as_str().parse::<ConversationId>();
    if let Ok(conversation) = id
        && conversation != head.conversation.id
    {
        happens.push(ConversationChanged { conversation, begun: true, retell: false }.into());
    }
    if head.turn.is_none() {
        happens.push(TurnBegan { turn: TurnId::new(), cause: TurnCause::Cli }.into());
    }
}

fn tasks(frame: &FromCli, watching: &mut Watching) {
    let FromCli::System(system) = frame else { return };
    match system {
        SystemMessage::TaskStarted(task) => {
            watching.tasks.insert(task.task_id.to_string());
        }
        SystemMessage::TaskNotification(task) => {
            watching.tasks.remove(task.task_id.as_str());
        }
        SystemMessage::TaskUpdated(task) => {
            let over = |status: &TaskStatus| {
                matches!(status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Killed)
            };
            if task.patch.status.as_ref().is_some_and(over) {
                watching.tasks.remove(task.task_id.as_str());
            }
        }
        SystemMessage::BackgroundTasksChanged(changed) => {
            watching.tasks = changed.tasks.iter().map(|task| task.task_id.to_string()).collect();
        }
        _ => {}
    }
}

/// What a frame ends.
fn after(frame: &FromCli, head: &Head, watching: &mut Watching, happens: &mut Vec<Happening>) {
    match frame {
        FromCli::Assistant(said) if said.parent_tool_use_id.is_none() => {
            close_told(head, watching, happens);
            if head.conversation.retell && watching.story_told {
                let conversation = head.conversation.id;
                let told = ConversationChanged { conversation, begun: true, retell: false };
                happens.push(told.into());
            }
            if let Some(usage) = &said.message.usage {
                watching.context_tokens = Usage::in_context(usage);
            }
        }
        FromCli::User(user) => {
            if let Some(message) = user.uuid.as_ref().filter(|_| user.is_replay == Some(true)) {
                watching.taken_up.insert(message.to_string());
            }
            let Content::Blocks(blocks) = &user.message.content else { return };
            for block in blocks {
                if let ContentBlock::ToolResult(result) = block {
                    let call = result.tool_use_id.as_str();
                    close_call(head, call, happens);
                    let outcome = if result.is_error == Some(true) {
                        CallOutcome::Failed
                    } else {
                        CallOutcome::Ran
                    };
                    decided(head, watching, call, outcome, happens);
                    if outcome == CallOutcome::Ran {
                        happens.extend(changed_file(call, user.tool_use_result.as_ref()));
                    }
                }
            }
        }
        FromCli::System(SystemMessage::PermissionDenied(denied)) => {
            let why = denied.decision_reason.clone();
            watching.refused.insert(denied.tool_use_id.to_string(), why);
        }
        FromCli::RateLimitEvent(event) => {
            if let Ok(notice) = RawJson::from_value(&event.rate_limit_info) {
                happens.push(LimitNoted { notice }.into());
            }
        }
        FromCli::Result(result) => end_turn(result, head, watching, happens),
        _ => {}
    }
}

/// A call has its result about which no person was asked, or will not have one any more.
fn decided(
    head: &Head,
    watching: &mut Watching,
    call: &str,
    outcome: CallOutcome,
    happens: &mut Vec<Happening>,
) {
    let (input, refused) = (watching.inputs.remove(call), watching.refused.remove(call));
    let outcome = if refused.is_some() { CallOutcome::Refused } else { outcome };
    if let Some(Happening::ToolDecided(mut decided)) = head.decided(call, outcome) {
        decided.input = input;
        if let Some(Some(rule)) = refused {
            decided.by = By::Rule { rule };
        }
        happens.push(decided.into());
    }
}

/// The model speaks, so it has read what was decided. A call that it may make because of that is
/// still to come.
fn close_told(head: &Head, watching: &Watching, happens: &mut Vec<Happening>) {
    for (id, pending) in &head.approvals {
        let by_client = watching.told.contains(id);
        let is_told = (pending.told || by_client)
            && pending.stage == Stage::Delivered
            && pending.generation == head.generation;
        let is_to_come = if by_client {
            pending.allows && matches!(pending.kind, ApprovalKind::Tool | ApprovalKind::Plan)
        } else {
            head.has_grant(*id)
        };
        if is_told && !is_to_come {
            let (approval, end) = (*id, pending.effective_end());
            let why = Some("the model was told what was decided".to_owned());
            happens.push(ApprovalClosed { approval, end, why }.into());
        }
    }
}

/// A call has its result, so the answer to it had its effect.
fn close_call(head: &Head, call: &str, happens: &mut Vec<Happening>) {
    for (id, pending) in &head.approvals {
        let is_it = pending.tool_use_id.as_deref() == Some(call);
        if is_it && pending.stage == Stage::Delivered && pending.generation == head.generation {
            let (approval, end) = (*id, pending.effective_end());
            happens.push(ApprovalClosed { approval, end, why: None }.into());
        }
    }
}

fn end_turn(
    result: &ResultMessage,
    head: &Head,
    watching: &mut Watching,
    happens: &mut Vec<Happening>,
) {
    // A sub-agent may go on in the background.
    for (call, _) in head.calls.iter().filter(|(_, call)| call.agent.is_none()) {
        decided(head, watching, call, CallOutcome::Unknown, happens);
    }
    watching.inputs.retain(|call, _| head.calls.contains_key(call));
    watching.refused.retain(|call, _| head.calls.contains_key(call));
    for (id, pending) in &head.approvals {
        if pending.stage == Stage::Delivered && pending.generation == head.generation {
            let (approval, end) = (*id, pending.effective_end());
            let why = Some("the turn is over".to_owned());
            happens.push(ApprovalClosed { approval, end, why }.into());
        }
    }
    let limit = watching.limit.take().filter(|_| !result.succeeded());
    let Some(turn) = &head.turn else { return };
    let aborted = matches!(
        result.terminal_reason,
        Some(TerminalReason::AbortedStreaming | TerminalReason::AbortedTools)
    );
    let end = if head.interrupt == Some(turn.id) || aborted || limit.is_some() {
        TurnEnd::Interrupted
    } else if result.succeeded() {
        TurnEnd::Done
    } else {
        TurnEnd::Failed
    };
    let why = match limit {
        Some(limit) => Some(limit_words(limit)),
        None => (end == TurnEnd::Failed).then(|| reason(result)),
    };
    let used = Some(used(result, head, watching));
    let ended = TurnEnded { turn: turn.id, end, used, why };
    carry_over(turn, ended, result, watching, happens);
}

/// Ends a turn. Messages that came while it was running and that it did not take up are a turn of their
/// own, which the CLI begins by itself: they belong to that one from now on, so that they are not lost
/// when it does not come to it.
fn carry_over(
    turn: &Turn,
    ended: TurnEnded,
    result: &ResultMessage,
    watching: &Watching,
    happens: &mut Vec<Happening>,
) {
    let named = result.user_message_uuids.iter().flatten();
    let named: BTreeSet<_> = named.map(MessageUuid::as_str).collect();
    let is_left = |message: &&MessageId| {
        let name = message.to_string();
        !watching.taken_up.contains(&name) && !named.contains(&*name)
    };
    let left: Vec<MessageId> = turn.messages.iter().filter(is_left).copied().collect();
    let returned = left.iter().rev().map(|message| MessageReturned { message: *message }.into());
    happens.extend(returned);
    happens.push(ended.into());
    if !left.is_empty() {
        let turn = TurnId::new();
        happens.push(TurnBegan { turn, cause: TurnCause::Message }.into());
        happens.extend(left.into_iter().map(|message| MessageSent { message, turn }.into()));
    }
}

/// Why a turn failed.
fn reason(result: &ResultMessage) -> String {
    match result.subtype {
        ResultSubtype::ErrorMaxTurns => {
            let often = result.num_turns.unwrap_or_default();
            return format!(
                "the limit turns_a_message was reached: the model was called {often} times"
            );
        }
        ResultSubtype::ErrorMaxBudgetUsd => {
            return "the limit budget_usd was reached: the session has cost all that it may"
                .to_owned();
        }
        _ => {}
    }
    let errors = result.errors.iter().flatten().chain(&result.result);
    let said = errors.map(String::as_str).find(|text| !text.trim().is_empty());
    said.map_or_else(|| result.subtype.to_string(), |text| text.chars().take(2000).collect())
}

/// How many tokens the context of the model can have that did most of the work.
fn context_window(result: &ResultMessage) -> u64 {
    let models = result.model_usage.iter().flatten().map(|(_, usage)| usage);
    let most = models.max_by_key(|usage| usage.output_tokens);
    most.and_then(|usage| usage.context_window).unwrap_or_default()
}

fn used(result: &ResultMessage, head: &Head, watching: &Watching) -> Used {
    let total = result.total_cost_usd.as_ref().map_or(0.0, |cost| cost.as_f64());
    let before = &head.usage;
    // 2.1.325 goes on counting when a session is resumed; the others begin anew.
    let counted = before.cli_total_of == head.generation || total >= before.cli_total_usd;
    let cost_usd = if counted { total - before.cli_total_usd } else { total };
    let usage = result.usage.as_deref();
    let count = |pick: fn(&countersign::protocol::usage::Usage) -> Option<u64>| {
        usage.and_then(pick).unwrap_or_default()
    };
    Used {
        cost_usd: cost_usd.max(0.0),
        cli_total_usd: total,
        input_tokens: count(|usage| usage.input_tokens)
            + count(|usage| usage.cache_creation_input_tokens)
            + count(|usage| usage.cache_read_input_tokens),
        output_tokens: count(|usage| usage.output_tokens),
        context_tokens: watching.context_tokens,
        context_window: context_window(result),
        model_calls: result.num_turns.unwrap_or_default(),
        duration_ms: result.duration_ms.as_ref().map_or(0, |ms| ms.as_f64() as u64),
    }
}
