//! What the CLI says, and what that means for the session.

use std::collections::{BTreeSet, HashMap};

use countersign::protocol::content::{Content, ContentBlock};
use countersign::protocol::message::{ResultMessage, TerminalReason};
use countersign::protocol::system::{SystemMessage, TaskStatus};
use countersign::protocol::{FromCli, RawJson};
use countersign::{Message, Saying};

use crate::id::{ConversationId, TurnId};
use crate::session::{
    ApprovalClosed, By, CallOutcome, ConversationChanged, Frame, Happening, Head, LimitNoted,
    Noted, Stage, TurnBegan, TurnCause, TurnEnd, TurnEnded, Used,
};

/// What is known of the CLI beside the head of the session: it is of no use when the process is gone.
#[derive(Debug, Default)]
pub(super) struct Watching {
    /// Tasks in the background, by their names.
    pub(super) tasks: BTreeSet<String>,
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
            close_told(head, happens);
            if let Some(usage) = &said.message.usage {
                watching.context_tokens = [
                    usage.input_tokens,
                    usage.cache_creation_input_tokens,
                    usage.cache_read_input_tokens,
                    usage.output_tokens,
                ]
                .into_iter()
                .flatten()
                .sum();
            }
        }
        FromCli::User(user) => {
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
fn close_told(head: &Head, happens: &mut Vec<Happening>) {
    for (id, pending) in &head.approvals {
        let is_told = pending.told
            && pending.stage == Stage::Delivered
            && pending.generation == head.generation;
        if is_told && !head.has_grant(*id) {
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
    let Some(turn) = &head.turn else { return };
    let aborted = matches!(
        result.terminal_reason,
        Some(TerminalReason::AbortedStreaming | TerminalReason::AbortedTools)
    );
    let end = if head.interrupt == Some(turn.id) || aborted {
        TurnEnd::Interrupted
    } else if result.succeeded() {
        TurnEnd::Done
    } else {
        TurnEnd::Failed
    };
    let why = (end == TurnEnd::Failed).then(|| reason(result));
    let used = Some(used(result, head, watching));
    happens.push(TurnEnded { turn: turn.id, end, used, why }.into());
}

/// Why a turn failed.
fn reason(result: &ResultMessage) -> String {
    let errors = result.errors.iter().flatten().chain(&result.result);
    let said = errors.map(String::as_str).find(|text| !text.trim().is_empty());
    said.map_or_else(|| result.subtype.to_string(), |text| text.chars().take(2000).collect())
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
        model_calls: result.num_turns.unwrap_or_default(),
        duration_ms: result.duration_ms.as_ref().map_or(0, |ms| ms.as_f64() as u64),
    }
}
