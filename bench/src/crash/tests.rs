//! The judge can find what it looks for.

use std::collections::{BTreeMap, HashMap};

use countersign_protocol::RawJson;
use countersign_protocol::permission::PermissionMode;
use countersign_server::api::view::{EventView, SessionView};
use countersign_server::id::{ApprovalId, ConversationId, MessageId, SessionId, TurnId};
use countersign_server::session::{
    Answer, Approval, ApprovalAnswered, ApprovalClosed, ApprovalDelivered, ApprovalEnd,
    ApprovalKind, ApprovalOpened, By, Created, Delivery, Happening, Head, InterruptAsked,
    MessageContent, MessageQueued, MessageSent, ProcessEnded, ProcessStarted, ProcessStarting,
    StopAsked, ToolCalled, TurnBegan, TurnCause, TurnEnd, TurnEnded,
};
use countersign_server::store::{open_approval, update_approval};
use jiff::Timestamp;

use super::eyes::{About, Eye, Reader, digest};
use super::judge::{Findings, Wrong, judge};
use super::ledger::Noted;
use super::record::{Logged, Record, Transcripts};

const AT: Timestamp = Timestamp::UNIX_EPOCH;

/// A session in which a call was asked for, allowed and run, and what everybody knows of it.
struct World {
    record: Record,
    noted: Noted,
    eye: Eye,
    session: SessionId,
    approval: ApprovalId,
}

impl World {
    fn new() -> Self {
        Self::where_else(|_, _| ())
    }

    /// One in which something else happened.
    fn where_else(change: impl FnOnce(&mut Vec<Happening>, TurnId)) -> Self {
        let (session, approval) = (SessionId::new(), ApprovalId::new());
        let (message, turn) = (MessageId::new(), TurnId::new());
        let mut happenings = story(approval, message, turn);
        change(&mut happenings, turn);
        let mut head: Option<Head> = None;
        let mut approvals: BTreeMap<ApprovalId, Approval> = BTreeMap::new();
        let mut log = Vec::new();
        for (number, happening) in happenings.into_iter().enumerate() {
            let seq = number as u64 + 1;
            let now = match head.take() {
                None => Head::create(session, AT, &happening).unwrap(),
                Some(mut head) => {
                    head.apply(AT, &happening).unwrap();
                    head
                }
            };
            if let Some((opened, _)) = open_approval(&now, AT, &happening) {
                approvals.insert(opened.id, opened);
            }
            for approval in approvals.values_mut() {
                update_approval(approval, AT, &happening);
            }
            head = Some(now);
            log.push(logged(session, seq, happening));
        }
        let head = head.unwrap();
        let view = SessionView::from(&head);
        let mut noted = Noted::default();
        noted.taken.insert(approval, Answer::allow());
        noted.asked.insert(approval);
        noted.messages.insert("append T1Z".to_owned(), Some(message));
        noted.sessions.insert("session 1".to_owned(), Some(session));
        let eye = Eye::from_the_beginning(About::All, Reader::Bare);
        for logged in &log {
            eye.show(logged.view.position, logged.whole);
        }
        let record = Record {
            log,
            sessions: BTreeMap::from([(session, view)]),
            approvals,
            ran: HashMap::from([("T1Z".to_owned(), 1)]),
            transcripts: Transcripts::default(),
        };
        Self { record, noted, eye, session, approval }
    }

    #[track_caller]
    fn finds(&self, expected: &[Wrong]) {
        let mut found = Findings::default();
        judge(&mut found, &self.record, &self.noted, std::slice::from_ref(&self.eye));
        let wrong: Vec<_> = found.wrong.keys().copied().collect();
        assert_eq!(wrong, expected, "{:?}", found.wrong);
    }

    fn approval(&mut self) -> &mut Approval {
        self.record.approvals.get_mut(&self.approval).unwrap()
    }
}

fn story(approval: ApprovalId, message: MessageId, turn: TurnId) -> Vec<Happening> {
    let by = By::Server;
    let request: RawJson =
        r#"{"tool_name":"Bash","input":{"command":"echo T1Z >> ran.txt"},"tool_use_id":"call"}"#
            .parse()
            .unwrap();
    let generation = 1;
    vec![
        Created {
            folder: "/w".to_owned(),
            title: "session 1".to_owned(),
            labels: Default::default(),
            mode: PermissionMode::Default,
            model: None,
            options: Default::default(),
            conversation: ConversationId::new(),
            parent: None,
            by: by.clone(),
        }
        .into(),
        MessageQueued {
            message,
            content: MessageContent::text("append T1Z"),
            now: false,
            first: false,
            by: by.clone(),
        }
        .into(),
        ProcessStarting { generation }.into(),
        ProcessStarted { generation, process: None, mark: None, version: None }.into(),
        TurnBegan { turn, cause: TurnCause::Message }.into(),
        MessageSent { message, turn }.into(),
        ToolCalled {
            tool_use_id: "call".to_owned(),
            tool: "Bash".to_owned(),
            mode: None,
            agent: None,
            folder: None,
            input: None,
        }
        .into(),
        ApprovalOpened {
            approval,
            generation,
            turn: Some(turn),
            kind: ApprovalKind::Tool,
            tool: "Bash".to_owned(),
            tool_use_id: Some("call".to_owned()),
            agent: None,
            request,
            token: None,
        }
        .into(),
        ApprovalAnswered { approval, answer: Answer::allow(), by, child: None }.into(),
        ApprovalDelivered { approval, generation, how: Delivery::Live }.into(),
        ApprovalClosed { approval, end: ApprovalEnd::Done, why: None }.into(),
        TurnEnded { turn, end: TurnEnd::Done, used: None, why: None }.into(),
        ProcessEnded { generation, why: "it had nothing to do".to_owned(), failed: false }.into(),
    ]
}

fn logged(session: SessionId, seq: u64, happening: Happening) -> Logged {
    let body = happening.body().unwrap();
    let view = EventView {
        session,
        seq,
        position: seq,
        at: AT,
        kind: happening.kind().to_owned(),
        body: body.parse().unwrap(),
    };
    let whole = digest(&format!("{seq} {body}"));
    Logged { view, happening, whole, body: digest(&body) }
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    World::new().finds(&[]);
}

#[test]
fn a_call_that_ran_twice_is_found() {
    let mut world = World::new();
    world.record.ran.insert("T1Z".to_owned(), 2);
    world.finds(&[Wrong::ToolTwice]);
}

#[test]
fn a_call_that_was_allowed_and_did_not_run_is_found() {
    let mut world = World::new();
    world.record.ran.clear();
    world.finds(&[Wrong::AnswerLost]);
}

#[test]
fn a_call_that_ran_though_it_was_refused_is_found() {
    let mut world = World::new();
    let refused = Answer::deny("no");
    world.approval().given.as_mut().unwrap().answer = refused.clone();
    world.noted.taken.insert(world.approval, refused);
    world.finds(&[Wrong::ToolUnapproved]);
}

/// The CLI may ask once more before it learns that it is to stop, and then asks no more.
#[test]
fn an_answer_that_somebody_did_not_wait_for_is_not_lost() {
    let cancelled = |happenings: &mut Vec<Happening>| {
        // It was not delivered.
        happenings.remove(9);
        let Some(Happening::ApprovalClosed(closed)) = happenings.get_mut(9) else { panic!() };
        closed.end = ApprovalEnd::Cancelled;
        closed.why = Some("the CLI does not ask any more".to_owned());
    };
    let mut world = World::where_else(|happenings, turn| {
        cancelled(happenings);
        happenings.insert(6, InterruptAsked { turn, by: By::Server }.into());
    });
    world.record.ran.clear();
    world.finds(&[]);
    let mut world = World::where_else(|happenings, _| cancelled(happenings));
    world.record.ran.clear();
    world.finds(&[Wrong::AnswerLost]);
    // What was ended before that turn is another matter.
    let mut world = World::where_else(|happenings, _| {
        cancelled(happenings);
        happenings.insert(1, StopAsked { by: By::Server }.into());
    });
    world.record.ran.clear();
    world.finds(&[Wrong::AnswerLost]);
}

#[test]
fn an_answer_that_became_another_one_is_found() {
    let mut world = World::new();
    world.noted.taken.insert(world.approval, Answer::deny("no"));
    world.finds(&[Wrong::AnswerLost]);
}

#[test]
fn an_approval_that_is_gone_or_never_closed_is_found() {
    let mut world = World::new();
    world.approval().stage = countersign_server::session::Stage::Delivered;
    world.finds(&[Wrong::ApprovalLost, Wrong::AnswerLost]);
    world.record.approvals.clear();
    world.finds(&[Wrong::ApprovalLost, Wrong::AnswerLost]);
}

#[test]
fn an_answer_that_went_out_twice_is_found() {
    let mut world = World::new();
    let delivered = world.record.log[9].happening.clone();
    world.record.log.push(logged(world.session, 14, delivered));
    world.eye.show(14, world.record.log[13].whole);
    // It cannot have happened either, by the rules.
    world.finds(&[Wrong::AnswerTwice, Wrong::HeadDiffers]);
}

#[test]
fn what_a_subscriber_was_not_shown_or_was_shown_twice_is_found() {
    let world = World::new();
    let whole = world.record.log[5].whole;
    world.eye.show(6, whole);
    world.finds(&[Wrong::EventDoubled]);
    world.eye.forget(6);
    world.finds(&[Wrong::EventMissing]);
    world.eye.show(6, whole + 1);
    world.finds(&[Wrong::EventMissing, Wrong::EventDoubled, Wrong::EventMadeUp]);
}

#[test]
fn a_command_that_was_lost_or_done_twice_is_found() {
    let mut world = World::new();
    world.noted.messages.insert("append T2Z".to_owned(), Some(MessageId::new()));
    world.finds(&[Wrong::CommandLost]);
    let mut world = World::new();
    let again = world.record.log[1].happening.clone();
    world.record.log.push(logged(world.session, 14, again));
    world.eye.show(14, world.record.log[13].whole);
    world.finds(&[Wrong::CommandTwice, Wrong::HeadDiffers]);
}

#[test]
fn a_session_that_is_not_what_its_log_says_is_found() {
    let mut world = World::new();
    world.record.sessions.get_mut(&world.session).unwrap().head.title = "another".to_owned();
    world.finds(&[Wrong::HeadDiffers]);
}

#[test]
fn what_the_cli_was_given_twice_is_found() {
    let mut world = World::new();
    let said = ("conversation".to_owned(), "append T1Z".to_owned());
    world.record.transcripts.said.insert(said, 2);
    let result = ("conversation".to_owned(), "call".to_owned());
    world.record.transcripts.results.insert(result, 2);
    world.finds(&[Wrong::AnswerTwice, Wrong::MessageTwice]);
}
