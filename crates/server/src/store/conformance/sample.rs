//! Things that happen, for tests.

use std::collections::BTreeSet;

use countersign::process::{Mark, ProcessId};
use countersign_protocol::RawJson;
use countersign_protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, RulesUpdate, UpdateDestination,
};
use serde_json::json;

use crate::id::{ApprovalId, ConversationId, MessageId, SessionId, TokenId, TurnId};
use crate::session::*;

/// Somebody.
pub(super) fn person() -> By {
    By::Person { name: "Ada".into(), token: TokenId::new(), from: Some("127.0.0.1".into()) }
}

/// JSON that is written as it stands here.
pub(super) fn raw(text: &str) -> RawJson {
    text.parse().unwrap_or_else(|_| RawJson::empty_object())
}

pub(super) fn creation(title: &str) -> Created {
    Created {
        folder: "/work".into(),
        title: title.into(),
        labels: BTreeSet::new(),
        mode: PermissionMode::Default,
        model: None,
        options: Box::default(),
        conversation: ConversationId::new(),
        parent: None,
        by: person(),
    }
}

pub(super) fn created(title: &str) -> Happening {
    creation(title).into()
}

pub(super) fn noted(text: &str) -> Happening {
    Noted { text: text.into() }.into()
}

pub(super) fn labels(labels: &[&str]) -> BTreeSet<String> {
    labels.iter().map(|&label| label.to_owned()).collect()
}

/// Something is said.
pub(super) fn said(message: MessageId, text: &str) -> Happening {
    let content = MessageContent::text(text);
    MessageQueued { message, content, now: false, first: false, by: person() }.into()
}

/// An answer of the model.
pub(super) fn frame(generation: u64, text: &str) -> Happening {
    let line = json!({
        "type": "assistant", "session_id": "s", "uuid": "u", "parent_tool_use_id": null,
        "message": {"id": "m", "type": "message", "role": "assistant", "model": "x",
            "content": [{"type": "text", "text": text}], "stop_reason": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}},
    });
    Frame { generation, line: line.into() }.into()
}

/// What brings a call back.
pub(super) fn token() -> RawJson {
    let request = r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"call"}"#;
    json!({
        "session": "11111111-2222-4333-8444-555555555555", "cwd": "/work", "transcript": null,
        "mode": "default", "version": "2.1.325", "process": null, "request": request,
    })
    .into()
}

/// A session with a process and a turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
    pub(super) message: MessageId,
}

impl Running {
    pub(super) fn new(session: SessionId) -> Self {
        Self { session, turn: TurnId::new(), message: MessageId::new() }
    }

    /// From the first event on.
    pub(super) fn beginning(&self) -> Vec<Happening> {
        let mut all = vec![created("running"), said(self.message, "Begin")];
        all.extend(started(1));
        all.push(TurnBegan { turn: self.turn, cause: TurnCause::Message }.into());
        all.push(MessageSent { message: self.message, turn: self.turn }.into());
        all
    }

    /// A person is asked whether a tool may run.
    pub(super) fn asks(&self, approval: ApprovalId) -> Happening {
        self.asks_for(approval, ApprovalKind::Tool).into()
    }

    pub(super) fn asks_for(&self, approval: ApprovalId, kind: ApprovalKind) -> ApprovalOpened {
        ApprovalOpened {
            approval,
            generation: 1,
            turn: Some(self.turn),
            kind,
            tool: "Bash".into(),
            tool_use_id: Some(format!("call-{approval}")),
            agent: None,
            request: raw(r#"{"tool_name":"Bash","input":{"command":"make  test","n":1.10}}"#),
            token: None,
        }
    }

    /// The process is given up.
    pub(super) fn parked() -> Vec<Happening> {
        let why = "parked".to_owned();
        let ended = ProcessEnded { generation: 1, why, failed: false };
        vec![Parked { generation: 1 }.into(), ended.into()]
    }

    /// The turn ends, having cost so much.
    pub(super) fn ends(&self, cost_usd: f64) -> Happening {
        let used = Used {
            cost_usd,
            cli_total_usd: cost_usd,
            input_tokens: 100,
            output_tokens: 10,
            context_tokens: 50,
            context_window: 200,
            model_calls: 2,
            duration_ms: 1234,
        };
        TurnEnded { turn: self.turn, end: TurnEnd::Done, used: Some(used), why: None }.into()
    }
}

/// A process is started.
pub(super) fn started(generation: u64) -> Vec<Happening> {
    let process = ProcessId::of_this_process();
    let (mark, version) = (Some(Mark::of_this_process()), Some("2.1.325".to_owned()));
    vec![
        ProcessStarting { generation }.into(),
        ProcessStarted { generation, process, mark, version }.into(),
    ]
}

/// A person allows it.
pub(super) fn allowed(approval: ApprovalId) -> Happening {
    let answer = Answer::Allow(Allow::default());
    ApprovalAnswered { approval, answer, by: person(), child: None }.into()
}

/// The answer goes out.
pub(super) fn delivered(approval: ApprovalId) -> Happening {
    ApprovalDelivered { approval, generation: 1, how: Delivery::Live }.into()
}

pub(super) fn closed(approval: ApprovalId, end: ApprovalEnd) -> Happening {
    ApprovalClosed { approval, end, why: None }.into()
}

/// A life in which everything happens that can, but for the end.
pub(super) fn life(session: SessionId) -> Vec<Happening> {
    let running = Running::new(session);
    let (turn, first, second) = (running.turn, running.message, MessageId::new());
    let (call, plan) = (ApprovalId::new(), ApprovalId::new());
    let by = person;
    let rule = PermissionRule::new("Bash");
    let rules = RulesUpdate::new(vec![rule], RuleBehavior::Allow, UpdateDestination::Session);
    let image = Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let edited = MessageContent { text: "Do this, too".into(), images: vec![image] };
    let mut creation = creation("");
    creation.labels = labels(&["one", "two"]);
    creation.options.allowed_tools = vec!["Bash(npm test:*)".into()];
    creation.options.limits.budget_usd = Some(1.5);
    let mut asks = running.asks_for(call, ApprovalKind::Tool);
    asks.token = Some(token());
    asks.agent = Some("agent-1".into());
    let mut all: Vec<Happening> = vec![
        creation.into(),
        Renamed { title: "A life".into(), by: by() }.into(),
        Labelled { labels: labels(&["two", "three"]), by: by() }.into(),
        said(first, "Do this"),
        said(second, "Do that"),
        MessageEdited { message: second, content: edited, by: by() }.into(),
        MessagesOrdered { order: vec![second, first], by: by() }.into(),
        MessageRemoved { message: first, by: by() }.into(),
        AwaitsProcess {}.into(),
    ];
    all.extend(started(1));
    all.extend([
        TurnBegan { turn, cause: TurnCause::Message }.into(),
        MessageSent { message: second, turn }.into(),
        MessageReturned { message: second }.into(),
        MessageSent { message: second, turn }.into(),
        frame(1, "I do this and that"),
        ToolCalled {
            tool_use_id: "call".into(),
            tool: "Bash".into(),
            mode: Some(PermissionMode::Default),
            agent: None,
            folder: Some("/folder/inner".into()),
            input: Some(raw(r#"{"command" : "ls", "n": 1.10}"#)),
        }
        .into(),
        ToolDecided {
            tool_use_id: "call".into(),
            tool: "Bash".into(),
            agent: Some("agent-1".into()),
            input: Some(raw(r#"{"command" : "ls", "n": 1.10}"#)),
            outcome: CallOutcome::Ran,
            by: By::Rule { rule: "mode default".into() },
        }
        .into(),
        asks.into(),
        ApprovalAnswered {
            approval: call,
            answer: Answer::Allow(Allow {
                input: Some(raw(r#"{"command" : "true", "n": 1.10}"#)),
                ..Allow::default()
            }),
            by: by(),
            child: None,
        }
        .into(),
        delivered(call),
        closed(call, ApprovalEnd::Done),
        RulesChanged { updates: vec![PermissionUpdate::AddRules(rules)], approval: Some(call) }
            .into(),
        GrantMade { approval: call, tool: "Bash".into(), input: "digest".into() }.into(),
        GrantUsed { approval: call, tool_use_id: "again".into() }.into(),
        ModeWanted { mode: PermissionMode::Plan, by: by() }.into(),
        ModeChanged { mode: PermissionMode::Plan }.into(),
        WishRefused {
            wish: Wish::Mode,
            value: Some("bypassPermissions".into()),
            why: "it may not".into(),
        }
        .into(),
        FileChanged {
            path: "/folder/a.rs".into(),
            is_new: true,
            added: 3,
            removed: 1,
            tool_use_id: "call".into(),
        }
        .into(),
        LimitNoted { notice: raw(r#"{"limit": 1.10, "resets": "\u00e4"}"#) }.into(),
        ModelWanted { model: Some("opus".into()), by: by() }.into(),
        ModelChanged { model: Some("opus".into()) }.into(),
        running.asks_for(plan, ApprovalKind::Plan).into(),
        noted("This may take a while"),
    ]);
    all.extend(Running::parked());
    all.extend([
        InterruptAsked { turn, by: by() }.into(),
        GoesOn { turn, say: "Go on".into() }.into(),
        closed(plan, ApprovalEnd::Cancelled),
        running.ends(0.25),
        ConversationChanged { conversation: ConversationId::new(), begun: true, retell: true }
            .into(),
        Failed { why: "it failed too often".into() }.into(),
        ResumeAsked { by: by() }.into(),
        StopAsked { by: by() }.into(),
        Archived { archived: true, by: by() }.into(),
    ]);
    all
}
