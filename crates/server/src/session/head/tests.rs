use countersign_protocol::RawJson;
use countersign_protocol::permission::PermissionMode;
use jiff::{SignedDuration, Timestamp};

use super::{Head, Process, Refused};
use crate::id::{ApprovalId, ConversationId, MessageId, SessionId, TurnId};
use crate::session::{
    Answer, ApprovalAnswered, ApprovalClosed, ApprovalDelivered, ApprovalEnd, ApprovalKind,
    ApprovalOpened, AwaitsProcess, By, CallOutcome, Created, Delivery, GoesOn, GrantMade,
    GrantUsed, Happening, InterruptAsked, MessageContent, MessageQueued, MessageRemoved,
    MessageSent, MessagesOrdered, ModeChanged, ModeWanted, ModelChanged, ModelWanted, ProcessEnded,
    ProcessStarted, ProcessStarting, Renamed, State, StopAsked, ToolCalled, TurnBegan, TurnCause,
    TurnEnd, TurnEnded, Wish, WishRefused,
};

/// A session in the making, which takes note of everything that happens to it.
struct Story {
    head: Head,
}

impl Story {
    fn new() -> Self {
        let created = Created {
            folder: "/work".into(),
            title: String::new(),
            labels: Default::default(),
            mode: PermissionMode::Default,
            model: None,
            options: Default::default(),
            conversation: ConversationId::new(),
            parent: None,
            by: By::Server,
        };
        let head = Head::create(SessionId::new(), Timestamp::UNIX_EPOCH, &created.into()).unwrap();
        Self { head }
    }

    fn try_to(&mut self, happening: impl Into<Happening>) -> Result<(), Refused> {
        let mut next = self.head.clone();
        next.apply(Timestamp::UNIX_EPOCH, &happening.into())?;
        self.head = next;
        Ok(())
    }

    fn then(&mut self, happening: impl Into<Happening>) {
        self.try_to(happening).unwrap();
    }

    fn all(&mut self, happenings: Vec<Happening>) {
        for happening in happenings {
            self.then(happening);
        }
    }

    fn say(&mut self, text: &str) -> MessageId {
        let (message, content) = (MessageId::new(), MessageContent::text(text));
        self.then(MessageQueued { message, content, now: false, first: false, by: By::Server });
        message
    }

    /// A process that is alive, with a turn for the first message.
    fn run(&mut self) -> TurnId {
        let generation = self.head.generation + 1;
        self.then(ProcessStarting { generation });
        self.then(ProcessStarted { generation, process: None, mark: None, version: None });
        let turn = TurnId::new();
        self.then(TurnBegan { turn, cause: TurnCause::Message });
        let message = self.head.queue[0].message;
        self.then(MessageSent { message, turn });
        turn
    }

    fn ask(&mut self, kind: ApprovalKind) -> ApprovalId {
        let approval = ApprovalId::new();
        self.then(ApprovalOpened {
            approval,
            generation: self.head.generation,
            turn: self.head.turn.as_ref().map(|turn| turn.id),
            kind,
            tool: "Write".into(),
            tool_use_id: Some(format!("toolu_{approval}")),
            agent: None,
            request: RawJson::empty_object(),
            token: Some(RawJson::empty_object()),
        });
        approval
    }

    fn answer(&mut self, approval: ApprovalId, answer: Answer) -> Result<(), Refused> {
        self.try_to(ApprovalAnswered { approval, answer, by: By::Server, child: None })
    }

    fn deliver(&mut self, approval: ApprovalId) -> Result<(), Refused> {
        let generation = self.head.generation;
        self.try_to(ApprovalDelivered { approval, generation, how: Delivery::Live })
    }

    fn lose(&mut self) {
        let happens = self.head.lose_process("it was killed", true);
        self.all(happens);
    }
}

#[test]
fn a_session_is_what_happened_to_it() {
    let mut story = Story::new();
    assert_eq!(story.head.state(), State::Idle);
    assert!(!story.head.wants_process());
    story.say("Hello\nworld");
    assert_eq!(story.head.title, "Hello");
    assert!(story.head.wants_process());
    let turn = story.run();
    assert_eq!(story.head.state(), State::Running);
    let approval = story.ask(ApprovalKind::Tool);
    assert_eq!(story.head.state(), State::Waiting);
    story.answer(approval, Answer::allow()).unwrap();
    assert_eq!(story.head.state(), State::Running);
    story.deliver(approval).unwrap();
    story.then(ApprovalClosed { approval, end: ApprovalEnd::Done, why: None });
    story.then(TurnEnded { turn, end: TurnEnd::Done, used: None, why: None });
    assert_eq!(story.head.state(), State::Ready);
    story.lose();
    assert_eq!(story.head.state(), State::Idle);
    assert!(!story.head.wants_process());
}

#[test]
fn the_first_answer_wins_and_goes_out_once() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    let approval = story.ask(ApprovalKind::Tool);
    assert_eq!(story.deliver(approval), Err(Refused::Unanswered(approval)));
    story.answer(approval, Answer::allow()).unwrap();
    assert_eq!(story.answer(approval, Answer::deny("no")), Err(Refused::Answered(approval)));
    story.deliver(approval).unwrap();
    assert_eq!(story.deliver(approval), Err(Refused::NotOpen(approval)));
}

/// The process that would have told the model is lost before it did, and so is another call.
#[test]
fn what_is_unknown_is_told_though_another_process_is_lost() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    let [one, two] = [(); 2].map(|()| {
        let approval = story.ask(ApprovalKind::Tool);
        story.answer(approval, Answer::allow()).unwrap();
        approval
    });
    story.deliver(one).unwrap();
    story.lose();
    let generation = story.head.generation + 1;
    story.then(ProcessStarting { generation });
    story.deliver(two).unwrap();
    story.lose();
    let say = story.head.goes_on.as_ref().unwrap().say.clone();
    for approval in [one, two] {
        assert_eq!(say.matches(&format!("toolu_{approval}")).count(), 1, "{say}");
    }
    assert_eq!(say.matches("was restarted").count(), 1, "{say}");
    // And though nothing else is lost with the next one.
    let generation = story.head.generation + 1;
    story.then(ProcessStarting { generation });
    story.lose();
    assert_eq!(story.head.goes_on.unwrap().say, say);
}

#[test]
fn a_call_that_may_have_run_is_not_asked_for_again() {
    let mut story = Story::new();
    story.say("go");
    let turn = story.run();
    let approval = story.ask(ApprovalKind::Tool);
    story.answer(approval, Answer::allow()).unwrap();
    story.deliver(approval).unwrap();
    let happens = story.head.lose_process("it was killed", true);
    let unknown = |happening: &Happening| matches!(happening, Happening::ApprovalClosed(closed) if closed.end == ApprovalEnd::Unknown);
    assert!(happens.iter().any(unknown), "{happens:?}");
    story.all(happens);
    let goes_on = story.head.goes_on.clone().unwrap();
    assert_eq!(goes_on.turn, turn);
    assert!(goes_on.say.contains("unknown"), "{}", goes_on.say);
    assert!(story.head.wants_process());
    assert_eq!(story.head.undelivered().count(), 0);
}

/// A denial, and an answer to a question, do no harm when they are given again.
#[test]
fn an_answer_that_lets_nothing_run_is_given_again() {
    for (kind, answer) in [
        (ApprovalKind::Tool, Answer::deny("no")),
        (ApprovalKind::Question, Answer::Skip(Default::default())),
    ] {
        let mut story = Story::new();
        story.say("go");
        story.run();
        let approval = story.ask(kind);
        story.answer(approval, answer).unwrap();
        story.deliver(approval).unwrap();
        story.lose();
        assert!(story.head.wants_process());
        story.then(ProcessStarting { generation: 2 });
        assert_eq!(story.head.undelivered().map(|(id, _)| id).collect::<Vec<_>>(), [approval]);
        story.deliver(approval).unwrap();
    }
}

#[test]
fn what_a_person_is_asked_stays_open_without_a_process() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    let approval = story.ask(ApprovalKind::Plan);
    assert_eq!(story.head.parkable().map(|(id, _)| id), Some(approval));
    story.lose();
    assert_eq!(story.head.state(), State::Parked);
    assert!(!story.head.wants_process());
    assert!(story.head.turn.is_some(), "the turn goes on with the answer");
    story.answer(approval, Answer::deny("no")).unwrap();
    assert!(story.head.wants_process());
}

#[test]
fn a_batch_is_not_parked_and_waits_for_all_answers() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    let (one, other) = (story.ask(ApprovalKind::Tool), story.ask(ApprovalKind::Tool));
    assert_eq!(story.head.parkable(), None);
    story.lose();
    story.answer(other, Answer::allow()).unwrap();
    assert!(!story.head.wants_process());
    story.answer(one, Answer::allow()).unwrap();
    assert!(story.head.wants_process());
}

#[test]
fn stopping_and_interrupting_need_no_process() {
    for stops in [true, false] {
        let mut story = Story::new();
        story.say("go");
        let turn = story.run();
        story.ask(ApprovalKind::Tool);
        story.lose();
        if stops {
            story.then(StopAsked { by: By::Server });
        } else {
            story.then(InterruptAsked { turn, by: By::Server });
        }
        let settled = story.head.settle();
        story.all(settled);
        assert!(story.head.approvals.is_empty());
        assert_eq!(story.head.turn, None);
        assert_eq!(story.head.state(), if stops { State::Ended } else { State::Idle });
        assert!(story.head.settle().is_empty());
        story.say("again");
        assert!(story.head.wants_process());
    }
}

#[test]
fn an_answer_that_ends_the_turn_needs_no_process_either() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    let approval = story.ask(ApprovalKind::Tool);
    story.lose();
    story.answer(approval, Answer::deny_and_stop("no")).unwrap();
    let settled = story.head.settle();
    story.all(settled);
    assert_eq!(story.head.state(), State::Idle);
    assert!(!story.head.wants_process());
}

#[test]
fn a_stale_interrupt_is_refused() {
    let mut story = Story::new();
    let old = TurnId::new();
    let refused = story.try_to(InterruptAsked { turn: old, by: By::Server });
    assert_eq!(refused, Err(Refused::StaleTurn { meant: old, running: None }));
    story.say("go");
    let turn = story.run();
    let refused = story.try_to(InterruptAsked { turn: old, by: By::Server });
    assert_eq!(refused, Err(Refused::StaleTurn { meant: old, running: Some(turn) }));
    story.then(InterruptAsked { turn, by: By::Server });
}

#[test]
fn what_a_process_says_that_is_gone_is_refused() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    story.lose();
    let frame = crate::session::Frame { generation: 1, line: RawJson::empty_object() };
    assert!(matches!(story.try_to(frame), Err(Refused::Gone { meant: 1, .. })));
    let again = ProcessStarting { generation: 1 };
    assert!(matches!(story.try_to(again), Err(Refused::Gone { .. })));
    let ended = ProcessEnded { generation: 1, why: String::new(), failed: false };
    assert!(matches!(story.try_to(ended), Err(Refused::Gone { .. })));
}

#[test]
fn an_order_names_every_message_once() {
    let mut story = Story::new();
    let (a, b, c) = (story.say("a"), story.say("b"), story.say("c"));
    for order in [vec![a, b], vec![a, b, c, a], vec![a, a, b]] {
        let refused = story.try_to(MessagesOrdered { order, by: By::Server });
        assert_eq!(refused, Err(Refused::NotAnOrder));
    }
    story.then(MessagesOrdered { order: vec![c, a, b], by: By::Server });
    let order: Vec<_> = story.head.queue.iter().map(|queued| queued.message).collect();
    assert_eq!(order, [c, a, b]);
}

#[test]
fn failures_count_until_a_turn_ends_well() {
    let mut story = Story::new();
    story.say("go");
    let within = SignedDuration::from_mins(10);
    for _ in 0..4 {
        story.then(ProcessStarting { generation: story.head.generation + 1 });
        story.lose();
    }
    let now = Timestamp::UNIX_EPOCH;
    assert!(story.head.has_failed_too_often(now, 3, within));
    assert!(!story.head.has_failed_too_often(now + SignedDuration::from_hours(1), 3, within));
    // The clock was put back since.
    assert!(!story.head.has_failed_too_often(now - SignedDuration::from_hours(1), 3, within));
    assert!(story.head.has_failed_too_often(now - SignedDuration::from_mins(1), 3, within));
    let turn = story.run();
    story.then(TurnEnded { turn, end: TurnEnd::Done, used: None, why: None });
    assert!(!story.head.has_failed_too_often(now, 0, within));
}

#[test]
fn a_mode_that_is_wanted_without_a_process_is_the_next_one() {
    let mut story = Story::new();
    story.then(ModeWanted { mode: PermissionMode::Plan, by: By::Server });
    let settled = story.head.settle();
    story.all(settled);
    assert_eq!(story.head.mode, PermissionMode::Plan);
    assert_eq!(story.head.wanted_mode, None);
    assert_eq!(story.head.process, Process::None);
}

#[test]
fn a_wish_is_over_when_it_is_the_one_that_was_granted_or_refused() {
    let mut story = Story::new();
    let by = By::Server;
    story.then(ModeWanted { mode: PermissionMode::Plan, by: by.clone() });
    story.then(ModelWanted { model: Some("two".into()), by });
    let refused = |wish, value: &str| {
        let (value, why) = (Some(value.to_owned()), "no".to_owned());
        WishRefused { wish, value, why }
    };
    story.then(ModeChanged { mode: PermissionMode::AcceptEdits });
    story.then(refused(Wish::Mode, "default"));
    story.then(ModelChanged { model: Some("one".into()) });
    story.then(refused(Wish::Model, "one"));
    assert_eq!(story.head.wanted_mode, Some(PermissionMode::Plan));
    assert!(story.head.wanted_model.is_some());
    story.then(refused(Wish::Mode, "plan"));
    story.then(refused(Wish::Model, "two"));
    assert_eq!((&story.head.wanted_mode, &story.head.wanted_model), (&None, &None));
    assert_eq!(story.head.mode, PermissionMode::AcceptEdits);
}

#[test]
fn a_turn_goes_on_only_if_it_is_the_one() {
    let mut story = Story::new();
    let refused = story.try_to(GoesOn { turn: TurnId::new(), say: String::new() });
    assert!(matches!(refused, Err(Refused::StaleTurn { .. })));
}

#[test]
fn who_has_nothing_to_do_any_more_does_not_wait_for_a_process() {
    let mut story = Story::new();
    let message = story.say("Hello.");
    story.then(AwaitsProcess {});
    assert_eq!(story.head.state(), State::Queued);
    story.then(MessageRemoved { message, by: By::Server });
    assert_eq!((story.head.state(), &story.head.process), (State::Idle, &Process::None));

    story.say("Hello.");
    story.then(AwaitsProcess {});
    story.then(StopAsked { by: By::Server });
    assert_eq!(story.head.process, Process::None);
    assert!(!story.head.wants_process());
}

fn told(story: &mut Story, approval: ApprovalId, answer: Answer) {
    story.then(ApprovalAnswered { approval, answer, by: By::Server, child: None });
    story.all(story.head.lose_process("killed", false));
    let generation = story.head.generation + 1;
    story.then(ProcessStarting { generation });
    story.then(ProcessStarted { generation, process: None, mark: None, version: None });
    story.then(ApprovalDelivered { approval, generation, how: Delivery::Told });
}

#[test]
fn a_grant_ends_with_its_approval() {
    let mut story = Story::new();
    story.say("Write it.");
    story.run();
    let allowed = story.ask(ApprovalKind::Tool);
    told(&mut story, allowed, Answer::allow());
    story.then(GrantMade { approval: allowed, tool: "Write".into(), input: "x".into() });
    story.then(ApprovalClosed { approval: allowed, end: ApprovalEnd::Done, why: None });
    assert!(story.head.grants.is_empty(), "the turn is over, and the model did not make the call");
}

#[test]
fn what_the_model_may_not_have_read_is_told_again() {
    let mut story = Story::new();
    story.say("Write it.");
    story.run();
    let refused = story.ask(ApprovalKind::Tool);
    told(&mut story, refused, Answer::deny("no"));
    story.all(story.head.lose_process("killed", false));
    assert!(story.head.wants_process() && story.head.approvals.contains_key(&refused));
}

#[test]
fn a_call_that_was_told_of_has_not_run_before_its_grant_is_used() {
    let mut story = Story::new();
    story.say("Write it.");
    story.run();
    let allowed = story.ask(ApprovalKind::Tool);
    told(&mut story, allowed, Answer::allow());
    story.then(GrantMade { approval: allowed, tool: "Write".into(), input: "x".into() });
    let mut unused = story.head.lose_process("killed", false);
    unused.retain(|happening| matches!(happening, Happening::ApprovalClosed(_)));
    assert_eq!(unused, [], "it is told again");
    story.then(GrantUsed { approval: allowed, tool_use_id: "toolu_2".into() });
    let is_that_call = story.head.approvals[&allowed].tool_use_id.as_deref() == Some("toolu_2");
    assert!(is_that_call, "its result closes the approval");
    let used = story.head.lose_process("killed", false);
    let is_unknown = |happening: &Happening| matches!(happening, Happening::ApprovalClosed(closed) if closed.end == ApprovalEnd::Unknown);
    assert!(used.iter().any(is_unknown), "{used:?}");
}

fn called(story: &mut Story, call: &str) {
    let (tool_use_id, tool) = (call.to_owned(), "Bash".to_owned());
    let input = Some(RawJson::empty_object());
    story.then(ToolCalled { tool_use_id, tool, mode: None, agent: None, folder: None, input });
}

#[test]
fn a_call_that_nobody_is_asked_about_is_decided_once() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    called(&mut story, "one");
    let ran = story.head.decided("one", CallOutcome::Ran).unwrap();
    let Happening::ToolDecided(decided) = &ran else { panic!("{ran:?}") };
    assert_eq!(decided.by, By::Rule { rule: "mode default".into() });
    story.then(ran.clone());
    assert_eq!(story.try_to(ran), Err(Refused::NoCall("one".into())));
    // With a rule for the tool it is the rule.
    story.head.options.allowed_tools = vec!["Bash(ls)".into(), "Bash".into()];
    called(&mut story, "two");
    let ran = story.head.decided("two", CallOutcome::Ran).unwrap();
    let Happening::ToolDecided(decided) = &ran else { panic!("{ran:?}") };
    assert_eq!(decided.by, By::Rule { rule: "Bash".into() });
    // Lost with its process, it may have run.
    let happens = story.head.lose_process("it was killed", true);
    let unknown = |happening: &&Happening| {
        matches!(happening, Happening::ToolDecided(decided)
            if decided.outcome == CallOutcome::Unknown && decided.tool_use_id == "two")
    };
    assert_eq!(happens.iter().filter(unknown).count(), 1, "{happens:?}");
    story.all(happens);
    assert!(story.head.calls.is_empty());
}

#[test]
fn a_call_that_somebody_is_asked_about_is_decided_by_them() {
    let mut story = Story::new();
    story.say("go");
    story.run();
    let approval = story.ask(ApprovalKind::Tool);
    let call = story.head.approvals[&approval].tool_use_id.clone().unwrap();
    // It comes back, after it was parked.
    called(&mut story, &call);
    assert_eq!(story.head.decided(&call, CallOutcome::Ran), None);
}

#[test]
fn a_title_that_is_made_of_a_message_has_nothing_that_is_not_seen() {
    let mut story = Story::new();
    story.say("\n \u{202e}\u{2066}Fix\u{1b}[31m \tit\u{7}\u{200f}\r\nnow");
    assert_eq!(story.head.title, "Fix[31m it");
}

#[test]
fn a_title_is_somebodys_own_when_they_gave_it() {
    let mut story = Story::new();
    assert!(!story.head.has_own_title());
    story.say("What nobody else should read");
    assert!(!story.head.has_own_title(), "it is made of what was said");
    story.then(Renamed { title: "Mine".into(), by: By::Server });
    assert!(story.head.has_own_title());
}
