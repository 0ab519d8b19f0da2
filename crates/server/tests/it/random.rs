//! Random lives of sessions, most of them against the rules, on any store.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_protocol::RawJson;
use countersign_protocol::permission::PermissionMode;
use countersign_server::access::SystemClock;
use countersign_server::bus::{Bus, News};
use countersign_server::id::{ApprovalId, ConversationId, MessageId, SessionId, TurnId};
use countersign_server::session::*;
use countersign_server::store::conformance::{Place, agrees};
use countersign_server::store::{Command, Store, Write, WriteError, Written};
use jiff::Timestamp;
use proptest::prelude::*;

/// Something that somebody tries.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What is to happen in which sessions.
    appends: Vec<(usize, Vec<Pick>)>,
    /// The key of the command, if it is one.
    command: Option<u8>,
}

/// Something that is to happen.
#[derive(Clone, Copy, Debug)]
struct Pick {
    kind: u8,
    which: u8,
    /// Whether it fits what the session is, or is about something that may not be there.
    fits: bool,
}

/// Some steps.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pick = (any::<u8>(), 0..4u8, prop::bool::weighted(0.9));
    let pick = pick.prop_map(|(kind, which, fits)| Pick { kind, which, fits });
    let append = (0..SESSIONS, prop::collection::vec(pick, 1..4));
    let appends = prop::collection::vec(append, 1..3);
    let command = prop::option::weighted(0.2, 0..4u8);
    let step = (appends, command).prop_map(|(appends, command)| Step { appends, command });
    prop::collection::vec(step, 1..40)
}

const SESSIONS: usize = 3;

/// The names that things have.
struct Names {
    sessions: [SessionId; SESSIONS],
    approvals: [ApprovalId; 4],
    messages: [MessageId; 4],
    turns: [TurnId; 4],
}

impl Names {
    fn new() -> Self {
        Self {
            sessions: std::array::from_fn(|_| SessionId::new()),
            approvals: std::array::from_fn(|_| ApprovalId::new()),
            messages: std::array::from_fn(|_| MessageId::new()),
            turns: std::array::from_fn(|_| TurnId::new()),
        }
    }
}

fn by() -> By {
    By::Rule { rule: "chance".into() }
}

pub(crate) fn created() -> Happening {
    Created {
        folder: "/work".into(),
        title: String::new(),
        labels: BTreeSet::from(["random".to_owned()]),
        mode: PermissionMode::Default,
        model: None,
        options: Box::default(),
        conversation: ConversationId::new(),
        parent: None,
        by: by(),
    }
    .into()
}

pub(crate) fn queued(message: MessageId, text: &str) -> Happening {
    let content = MessageContent::text(text);
    MessageQueued { message, content, now: false, first: false, by: by() }.into()
}

pub(crate) fn started(generation: u64) -> [Happening; 2] {
    let started = ProcessStarted { generation, process: None, mark: None, version: None };
    [ProcessStarting { generation }.into(), started.into()]
}

pub(crate) fn opened(approval: ApprovalId, generation: u64, turn: Option<TurnId>) -> Happening {
    ApprovalOpened {
        approval,
        generation,
        turn,
        kind: ApprovalKind::Tool,
        tool: "Bash".into(),
        tool_use_id: Some("call".into()),
        agent: None,
        request: RawJson::from(serde_json::json!({"input": {"command": "ls"}})),
        token: None,
    }
    .into()
}

pub(crate) fn answered(approval: ApprovalId, deny: bool) -> Happening {
    let answer = if deny {
        Answer::Deny(Deny { message: "no".into(), stop: true })
    } else {
        Answer::Allow(Allow::default())
    };
    ApprovalAnswered { approval, answer, by: by(), child: None }.into()
}

impl Pick {
    /// What is to happen, in a session that is this now.
    fn happening(self, head: Option<&Head>, names: &Names) -> Happening {
        let which = usize::from(self.which);
        let head = head.filter(|_| self.fits);
        let turn = head.and_then(|head| Some(head.turn.as_ref()?.id)).unwrap_or(names.turns[which]);
        let there = head.map_or(u64::from(self.which), |head| head.generation);
        let next = head.map_or(u64::from(self.which), |head| head.generation + 1);
        let message = names.messages[which];
        let waiting = head.and_then(|head| Some(head.queue.first()?.message)).unwrap_or(message);
        let approval = names.approvals[which];
        let pending = |stage: Stage| {
            let mut all = head?.approvals.iter();
            all.find(|(_, pending)| pending.stage == stage).map(|(id, _)| *id)
        };
        let started = ProcessStarted {
            generation: there,
            process: None,
            mark: None,
            version: Some("2.1.325".into()),
        };
        match self.kind % 33 {
            0 => created(),
            1 => Renamed { title: format!("title {which}"), by: by() }.into(),
            2 => Labelled { labels: BTreeSet::from([format!("l{which}")]), by: by() }.into(),
            3 => Archived { archived: which % 2 == 0, by: by() }.into(),
            4 => StopAsked { by: by() }.into(),
            5 => ResumeAsked { by: by() }.into(),
            6 => Failed { why: "chance".into() }.into(),
            7 => AwaitsProcess {}.into(),
            8 | 9 => queued(message, &format!("message {which}")),
            10 => {
                let content = MessageContent::text("edited");
                MessageEdited { message: waiting, content, by: by() }.into()
            }
            11 => MessageRemoved { message: waiting, by: by() }.into(),
            12 => {
                let mut order: Vec<_> =
                    head.into_iter().flat_map(|head| &head.queue).map(|q| q.message).collect();
                order.reverse();
                MessagesOrdered { order, by: by() }.into()
            }
            13 | 14 => MessageSent { message: waiting, turn }.into(),
            15 => MessageReturned { message }.into(),
            16 | 17 => TurnBegan { turn, cause: TurnCause::Message }.into(),
            18 => {
                let used = Some(Used { cost_usd: 0.1, input_tokens: 7, ..Used::default() });
                TurnEnded { turn, end: TurnEnd::Done, used, why: None }.into()
            }
            19 => InterruptAsked { turn, by: by() }.into(),
            20 | 21 => ProcessStarting { generation: next }.into(),
            22 | 23 => started.into(),
            24 => ProcessEnded { generation: there, why: "chance".into(), failed: false }.into(),
            25 | 26 => opened(approval, there, Some(turn)),
            27 | 28 => answered(pending(Stage::Open).unwrap_or(approval), which == 3),
            29 => {
                let approval = pending(Stage::Answered).unwrap_or(approval);
                ApprovalDelivered { approval, generation: there, how: Delivery::Live }.into()
            }
            30 => {
                let approval = pending(Stage::Delivered).unwrap_or(approval);
                ApprovalClosed { approval, end: ApprovalEnd::Done, why: None }.into()
            }
            31 if which == 0 => Deleted { by: by() }.into(),
            _ => Noted { text: format!("note {which}") }.into(),
        }
    }
}

/// What is to happen in a session: what fits if it may, and what does not fit all the same.
fn happenings(
    session: SessionId,
    head: Option<&Head>,
    picks: &[Pick],
    names: &Names,
) -> Vec<Happening> {
    let now = Timestamp::UNIX_EPOCH;
    let (mut head, mut all) = (head.cloned(), Vec::new());
    if head.is_none() {
        all.push(created());
        head = Head::create(session, now, &all[0]).ok();
    }
    for pick in picks {
        let happening = pick.happening(head.as_ref(), names);
        let mut next = head.clone();
        let may_be = next.as_mut().is_some_and(|next| next.apply(now, &happening).is_ok());
        if may_be {
            head = next;
        }
        if may_be || !pick.fits {
            all.push(happening);
        }
    }
    all
}

/// Tries the steps, and looks after each whether everything is what the log makes of it. Gives how
/// many were written.
pub(crate) async fn live(place: Arc<dyn Place>, steps: &[Step]) -> usize {
    let bus = Arc::new(Bus::new());
    let mut news = bus.subscribe_all();
    let store = place.open(Arc::clone(&bus), Arc::new(SystemClock)).await.unwrap();
    let names = Names::new();
    let mut written = 0;
    for step in steps {
        let mut write = Write::default();
        for (session, picks) in &step.appends {
            let session = names.sessions[*session];
            let head = store.head(session).await.unwrap();
            write = write.and_to(session, happenings(session, head.as_deref(), picks, &names));
        }
        let command = step.command.map(|key| Command {
            owner: "chance".into(),
            key: key.to_string(),
            fingerprint: format!("{}", key % 2),
            response: "{}".into(),
        });
        match store.write(write.because_of(command)).await {
            Ok(Written::Now { heads, .. }) => {
                written += 1;
                for head in heads {
                    if let Some(kept) = store.head(head.id).await.unwrap() {
                        assert_eq!(kept, head);
                    }
                }
            }
            Ok(Written::Before { .. })
            | Err(WriteError::Refused { .. } | WriteError::KeyReused(_)) => {}
            Err(error) => panic!("{step:?}: {error}"),
        }
        check(&*store, &names).await;
    }
    // Subscribers were told of everything, in the order of the log. What was deleted since is not
    // in the log any more.
    let mut told = Vec::new();
    while let Ok(News::Event { event, .. }) = news.try_recv() {
        told.push(event.position);
    }
    assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
    let log = store.all_events(0, &[], usize::MAX).await.unwrap();
    assert!(log.iter().all(|event| told.contains(&event.position)));
    store.close().await.unwrap();
    let store = place.open(bus, Arc::new(SystemClock)).await.unwrap();
    check(&*store, &names).await;
    store.close().await.unwrap();
    written
}

async fn check(store: &dyn Store, names: &Names) {
    for session in names.sessions {
        agrees(store, session).await.unwrap();
    }
}
