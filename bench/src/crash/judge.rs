//! What was lost, doubled or made up: what clients know, what subscribers were shown, what commands
//! did and what the CLI wrote down, against the log.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use countersign_server::api::view::EventView;
use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::session::{
    Answer, Approval, ApprovalKind, Delivery, Happening, Head, Process, Stage, State,
};

use super::eyes::{Eye, Reader};
use super::ledger::Noted;
use super::record::{Logged, Record};
use super::script::tokens;

/// How much of an event is told where something is wrong, in characters.
const TOLD: usize = 300;

/// Something that must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    ApprovalLost,
    AnswerLost,
    AnswerTwice,
    ToolTwice,
    ToolUnapproved,
    EventMissing,
    EventDoubled,
    EventMadeUp,
    MessageTwice,
    CommandLost,
    CommandTwice,
    HeadDiffers,
    Stuck,
    Orphan,
    Complaint,
}

impl Wrong {
    pub(super) const ALL: [Self; 15] = [
        Self::ApprovalLost,
        Self::AnswerLost,
        Self::AnswerTwice,
        Self::ToolTwice,
        Self::ToolUnapproved,
        Self::EventMissing,
        Self::EventDoubled,
        Self::EventMadeUp,
        Self::MessageTwice,
        Self::CommandLost,
        Self::CommandTwice,
        Self::HeadDiffers,
        Self::Stuck,
        Self::Orphan,
        Self::Complaint,
    ];

    /// What it is, in words, and as a name.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::ApprovalLost => ("approvals lost", "approvals_lost"),
            Self::AnswerLost => ("answers lost", "answers_lost"),
            Self::AnswerTwice => ("answers applied twice", "answers_applied_twice"),
            Self::ToolTwice => ("tools run twice", "tools_run_twice"),
            Self::ToolUnapproved => ("tools run without consent", "tools_run_without_consent"),
            Self::EventMissing => ("events missing for a subscriber", "events_missing"),
            Self::EventDoubled => ("events doubled for a subscriber", "events_doubled"),
            Self::EventMadeUp => ("events shown that are in no log", "events_made_up"),
            Self::MessageTwice => ("messages given to the CLI twice", "messages_twice"),
            Self::CommandLost => ("commands lost", "commands_lost"),
            Self::CommandTwice => ("commands done twice", "commands_twice"),
            Self::HeadDiffers => ("sessions that are not what their log says", "heads_differ"),
            Self::Stuck => ("sessions stuck", "sessions_stuck"),
            Self::Orphan => ("processes left behind", "orphans"),
            Self::Complaint => ("errors of the server", "errors"),
        }
    }
}

/// What was found, and what happened at all.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) wrong: BTreeMap<Wrong, Vec<String>>,
    /// What there was, so that it can be seen whether it was worth looking at.
    pub(super) happened: BTreeMap<&'static str, u64>,
}

impl Findings {
    pub(super) fn add(&mut self, wrong: Wrong, what: impl Into<String>) {
        self.wrong.entry(wrong).or_default().push(what.into());
    }

    pub(super) fn count(&mut self, what: &'static str, number: u64) {
        *self.happened.entry(what).or_default() += number;
    }

    pub(super) fn is_clean(&self) -> bool {
        self.wrong.is_empty()
    }
}

/// Looks at everything.
pub(super) fn judge(found: &mut Findings, record: &Record, noted: &Noted, eyes: &[Eye]) {
    let story = Story::of(found, record);
    approvals(found, record, noted);
    answers(found, record, noted, &story);
    tools(found, record, &story);
    commands(found, record, noted);
    for (number, eye) in eyes.iter().enumerate() {
        events(found, record, eye, number);
    }
    for text in &noted.complaints {
        found.add(Wrong::Complaint, text);
    }
    for text in &noted.told_otherwise {
        found.add(Wrong::CommandTwice, text);
    }
    found.count("sessions", record.sessions.len() as u64);
    found.count("messages", noted.messages.len() as u64);
    found.count("events", record.log.len() as u64);
    found.count("approvals opened", record.approvals.len() as u64);
    found.count("answers taken", noted.taken.len() as u64);
    found.count("answers too late", noted.refused);
    found.count("commands sent again", noted.sent_again);
    found.count("commands that ran", record.ran.values().sum());
    found.count("subscribers", eyes.len() as u64);
    found.count("streams opened", eyes.iter().map(|eye| eye.seen().opened).sum());
}

/// What the log tells, put together.
#[derive(Default)]
struct Story<'a> {
    /// How answers went out: in which process, and how.
    delivered: HashMap<ApprovalId, Vec<(u64, Delivery)>>,
    /// How often calls have results, by session and call.
    results: HashMap<(SessionId, String), u64>,
    /// Where in its log a session was stopped or interrupted, or a turn ended by an answer.
    ended: HashMap<SessionId, Vec<u64>>,
    /// Where in its log the turns of a session began, and where they ended.
    began: HashMap<SessionId, Vec<u64>>,
    over: HashMap<SessionId, Vec<u64>>,
    /// Where in the log of its session something was asked, and was closed.
    opened: HashMap<ApprovalId, u64>,
    closed: HashMap<ApprovalId, u64>,
    /// How often a call ran because of what was decided about another.
    granted: HashMap<ApprovalId, u64>,
    /// The calls that were made, by session.
    called: HashSet<(SessionId, &'a str)>,
}

impl<'a> Story<'a> {
    /// Tells the story, and looks on the way whether the log makes of each session what it is.
    fn of(found: &mut Findings, record: &'a Record) -> Self {
        let mut story = Self::default();
        let mut heads: BTreeMap<SessionId, Head> = BTreeMap::new();
        for logged in &record.log {
            let Logged { view, happening, .. } = logged;
            if let Some(head) = heads.get(&view.session) {
                seen_by_the_way(found, head, happening);
            }
            story.note(view.session, view.seq, happening);
            if let Err(why) = fold(&mut heads, view, happening) {
                found.add(Wrong::HeadDiffers, format!("{} {}: {why}", view.session, view.seq));
            }
        }
        for (id, view) in &record.sessions {
            match heads.get(id) {
                Some(head) if *head == view.head => {}
                Some(head) => {
                    let text = format!("{id}: {head:?} by its log, {:?} by the API", view.head);
                    found.add(Wrong::HeadDiffers, text);
                }
                None => found.add(Wrong::HeadDiffers, format!("{id} is in no log")),
            }
        }
        for id in heads.keys().filter(|id| !record.sessions.contains_key(id)) {
            found.add(Wrong::HeadDiffers, format!("{id} is in no list"));
        }
        story
    }

    /// Whether somebody wanted to end the turn in which this was asked. They may have wanted it before
    /// it was asked: the CLI may ask something more before it learns that it is to stop.
    fn was_ended(&self, approval: &Approval) -> bool {
        let turn = self.turn_around(approval);
        let mut ended = self.ended.get(&approval.session).into_iter().flatten();
        ended.any(|seq| turn.contains(seq))
    }

    /// From the begin of the turn in which something was asked, or from there if it was between two
    /// turns, to the end of the one in which it was closed.
    fn turn_around(&self, approval: &Approval) -> RangeInclusive<u64> {
        let opened = self.opened.get(&approval.id).copied().unwrap_or_default();
        let closed = self.closed.get(&approval.id).copied().unwrap_or(u64::MAX);
        let mut began = self.began.get(&approval.session).into_iter().flatten().copied();
        let over = || self.over.get(&approval.session).into_iter().flatten().copied();
        let is_its_own = |seq: &u64| !over().any(|over| (*seq..opened).contains(&over));
        let from = began.rfind(|seq| *seq < opened).filter(is_its_own).unwrap_or(opened);
        from..=over().find(|seq| *seq > closed).unwrap_or(u64::MAX)
    }

    /// What happened around an approval, an event a line, for whoever has to find out why.
    fn told(&self, record: &Record, approval: &Approval) -> String {
        let turn = self.turn_around(approval);
        let is_near = |logged: &&Logged| {
            logged.view.session == approval.session && turn.contains(&logged.view.seq)
        };
        let line = |logged: &Logged| {
            let body: String = logged.view.body.as_str().chars().take(TOLD).collect();
            format!("\n    {} {} {body}", logged.view.seq, logged.happening.kind())
        };
        record.log.iter().filter(is_near).map(line).collect()
    }

    fn note(&mut self, session: SessionId, seq: u64, happening: &'a Happening) {
        let stops = match happening {
            Happening::InterruptAsked(_) | Happening::StopAsked(_) => true,
            Happening::ApprovalAnswered(body) => body.answer.stops(),
            _ => false,
        };
        if stops {
            self.ended.entry(session).or_default().push(seq);
        }
        match happening {
            Happening::ApprovalOpened(body) => drop(self.opened.insert(body.approval, seq)),
            Happening::ApprovalClosed(body) => drop(self.closed.insert(body.approval, seq)),
            Happening::TurnBegan(_) => self.began.entry(session).or_default().push(seq),
            Happening::TurnEnded(_) => self.over.entry(session).or_default().push(seq),
            Happening::GrantUsed(body) => *self.granted.entry(body.approval).or_default() += 1,
            Happening::ApprovalDelivered(body) => {
                let times = self.delivered.entry(body.approval).or_default();
                times.push((body.generation, body.how));
            }
            Happening::ToolCalled(body) => drop(self.called.insert((session, &body.tool_use_id))),
            Happening::Frame(frame) => {
                for call in results(frame.line.as_str()) {
                    *self.results.entry((session, call)).or_default() += 1;
                }
            }
            _ => {}
        }
    }
}

/// What was going on when a server was killed, and what else there was.
fn seen_by_the_way(found: &mut Findings, head: &Head, happening: &Happening) {
    match happening {
        Happening::ProcessEnded(ended) if ended.why == "the server ended" => {
            let is_at = |stage| head.approvals.values().any(|pending| pending.stage == stage);
            let was = match head.state() {
                State::Starting => "killed while a process was starting",
                _ if is_at(Stage::Delivered) => "killed while an answer was on its way",
                _ if is_at(Stage::Answered) => "killed between an answer and its delivery",
                State::Waiting => "killed while a person was asked",
                State::Running => "killed in a turn",
                _ => "killed with a process at rest",
            };
            found.count(was, 1);
        }
        Happening::Parked(_) => found.count("sessions parked", 1),
        Happening::AwaitsProcess(_) => found.count("sessions that waited for a process", 1),
        Happening::TurnBegan(_) => found.count("turns", 1),
        Happening::MessageReturned(_) => found.count("messages given back", 1),
        Happening::GrantUsed(_) => found.count("calls made again by grant", 1),
        Happening::ApprovalDelivered(body) => found.count(
            match body.how {
                Delivery::Live => "answers delivered to the process that asked",
                Delivery::Resumed => "answers delivered to a call that came back",
                Delivery::Told => "answers told to the model",
                Delivery::Nothing => "answers that needed no process",
            },
            1,
        ),
        Happening::ProcessStarted(_) => found.count("processes started", 1),
        Happening::ProcessEnded(ended) if ended.failed => found.count("processes failed", 1),
        Happening::Failed(failed) => {
            found.add(Wrong::Stuck, format!("{} has failed: {}", head.id, failed.why));
        }
        _ => {}
    }
}

fn fold(
    heads: &mut BTreeMap<SessionId, Head>,
    view: &EventView,
    happening: &Happening,
) -> Result<(), String> {
    let next = match heads.get_mut(&view.session) {
        Some(head) => {
            head.apply(view.at, happening).map_err(|refused| refused.to_string())?;
            head.seq
        }
        None => {
            let head = Head::create(view.session, view.at, happening);
            let head = head.map_err(|refused| refused.to_string())?;
            heads.entry(view.session).or_insert(head).seq
        }
    };
    if next == view.seq { Ok(()) } else { Err(format!("event {next} is missing in the log")) }
}

/// The calls that a frame has results of.
fn results(line: &str) -> Vec<String> {
    if !line.contains("tool_result") {
        return Vec::new();
    }
    let Ok(frame) = serde_json::from_str::<serde_json::Value>(line) else { return Vec::new() };
    if frame.get("type").is_none_or(|kind| kind != "user") {
        return Vec::new();
    }
    let blocks = frame
        .pointer("/message/content")
        .and_then(serde_json::Value::as_array)
        .into_iter()
        .flatten();
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results.filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned)).collect()
}

fn approvals(found: &mut Findings, record: &Record, noted: &Noted) {
    let mut all: BTreeSet<ApprovalId> = noted.asked.clone();
    for logged in &record.log {
        if let Happening::ApprovalOpened(opened) = &logged.happening {
            all.insert(opened.approval);
        }
    }
    for id in all {
        match record.approvals.get(&id) {
            None => found.add(Wrong::ApprovalLost, format!("{id} is not there any more")),
            Some(approval) if !approval.stage.is_closed() => {
                let text = format!("{id} of {}: {:?}", approval.session, approval.stage);
                found.add(Wrong::ApprovalLost, text);
            }
            Some(approval) => match approval.stage {
                Stage::Cancelled => found.count("approvals cancelled", 1),
                Stage::Unknown => found.count("answers of which it is not known what came", 1),
                _ => {}
            },
        }
    }
}

fn answers(found: &mut Findings, record: &Record, noted: &Noted, story: &Story<'_>) {
    for (id, answer) in &noted.taken {
        let Some(approval) = record.approvals.get(id) else {
            found.add(Wrong::AnswerLost, format!("{id} is not there any more"));
            continue;
        };
        if approval.given.as_ref().is_none_or(|given| given.answer != *answer) {
            let text = format!("{id}: {answer:?} was taken, and {:?} is there", approval.given);
            found.add(Wrong::AnswerLost, text);
        } else if let Some(why) = without_effect(record, approval, answer, story) {
            let told = story.told(record, approval);
            found.add(Wrong::AnswerLost, format!("{id} of {}: {why}{told}", approval.session));
        }
    }
    for (id, times) in &story.delivered {
        let Some(approval) = record.approvals.get(id) else { continue };
        let generations: HashSet<_> = times.iter().map(|(generation, _)| generation).collect();
        let allows = approval.given.as_ref().is_some_and(|given| given.answer.allows());
        // A refusal may come again: the process that was told is gone. A consent may not, unless it
        // is in words, and then the call may run once because of it.
        let given = times.iter().filter(|(_, how)| *how != Delivery::Told).count() as u64;
        let used = given + story.granted.get(id).copied().unwrap_or_default();
        let again = allows && approval.kind == ApprovalKind::Tool && used > 1;
        if generations.len() != times.len() || again {
            let text = format!("{id} of {}: {times:?}", approval.session);
            found.add(Wrong::AnswerTwice, text);
        }
    }
}

/// Why an answer that was taken had no effect, if it had none and nobody wanted that.
fn without_effect(
    record: &Record,
    approval: &Approval,
    answer: &Answer,
    story: &Story<'_>,
) -> Option<String> {
    let somebody_ended_it = story.was_ended(approval);
    match approval.stage {
        Stage::Done if !somebody_ended_it && approval.kind == ApprovalKind::Tool => {
            let wanted = wanted(approval, answer);
            let missing = wanted.iter().find(|token| !record.ran.contains_key(*token));
            missing.map(|token| format!("{token} was approved and has not run"))
        }
        Stage::Done => None,
        Stage::Unknown => {
            approval.why.is_none().then(|| "it is not known what came of it, nor why".to_owned())
        }
        Stage::Cancelled if somebody_ended_it && approval.why.is_some() => None,
        Stage::Cancelled => Some(format!("it was cancelled: {:?}", approval.why)),
        stage => Some(format!("it is {stage:?}")),
    }
}

/// The tokens that are added because of an answer.
fn wanted(approval: &Approval, answer: &Answer) -> Vec<String> {
    match answer {
        Answer::Allow(allow) if approval.tool == "Bash" => match &allow.input {
            Some(input) => tokens(input.as_str()),
            None => asked_for(approval),
        },
        _ => Vec::new(),
    }
}

/// The tokens that a call would add, as the model wanted it.
fn asked_for(approval: &Approval) -> Vec<String> {
    approval.permission().map(|request| tokens(request.input.as_str())).unwrap_or_default()
}

fn tools(found: &mut Findings, record: &Record, story: &Story<'_>) {
    for (token, times) in record.ran.iter().filter(|(_, times)| **times > 1) {
        found.add(Wrong::ToolTwice, format!("{token} ran {times} times"));
    }
    for ((session, call), times) in story.results.iter().filter(|(_, times)| **times > 1) {
        let text = format!("{call} of {session} has {times} results in the log");
        found.add(Wrong::AnswerTwice, text);
    }
    for ((conversation, call), times) in &record.transcripts.results {
        if *times > 1 {
            let text = format!("{call} of {conversation} has {times} results in its transcript");
            found.add(Wrong::AnswerTwice, text);
        }
    }
    // Whoever was asked has a say: a token runs if one of them allowed it.
    let mut allowed: HashMap<String, bool> = HashMap::new();
    for approval in record.approvals.values().filter(|approval| approval.tool == "Bash") {
        for token in asked_for(approval) {
            allowed.entry(token).or_default();
        }
        let given = approval.given.as_ref();
        for token in given.map(|given| wanted(approval, &given.answer)).unwrap_or_default() {
            allowed.insert(token, true);
        }
    }
    for (token, _) in allowed.iter().filter(|(_, allowed)| !**allowed) {
        if record.ran.contains_key(token) {
            found.add(Wrong::ToolUnapproved, format!("{token} ran and nobody allowed it"));
        }
    }
    for approval in record.approvals.values() {
        let Some(call) = approval.tool_use_id.as_deref() else { continue };
        if !story.called.contains(&(approval.session, call)) {
            let text = format!("the gate has not seen {call} of {}", approval.session);
            found.add(Wrong::ToolUnapproved, text);
        }
    }
}

fn commands(found: &mut Findings, record: &Record, noted: &Noted) {
    let mut queued: HashMap<&str, u64> = HashMap::new();
    let mut names = HashSet::new();
    let mut titles: HashMap<&str, Vec<SessionId>> = HashMap::new();
    for logged in &record.log {
        match &logged.happening {
            Happening::MessageQueued(said) => {
                *queued.entry(&said.content.text).or_default() += 1;
                names.insert(said.message);
            }
            Happening::Created(created) if created.parent.is_none() => {
                titles.entry(&created.title).or_default().push(logged.view.session);
            }
            _ => {}
        }
    }
    for (text, taken) in &noted.messages {
        let times = queued.get(&**text).copied().unwrap_or_default();
        if times > 1 {
            found.add(Wrong::CommandTwice, format!("{text:?} was said {times} times"));
        }
        if taken.is_some_and(|message| !names.contains(&message) || times == 0) {
            found.add(Wrong::CommandLost, format!("{text:?} was taken and is not in the log"));
        }
    }
    for (title, taken) in &noted.sessions {
        let made = titles.get(&**title).map(Vec::as_slice).unwrap_or_default();
        if made.len() > 1 {
            found.add(Wrong::CommandTwice, format!("{title:?} was made {} times", made.len()));
        }
        if taken.is_some_and(|session| made != [session]) {
            found.add(Wrong::CommandLost, format!("{title:?} was taken and is {made:?}"));
        }
    }
    for ((conversation, text), times) in &record.transcripts.said {
        if *times > 1 && noted.messages.contains_key(text) {
            let what = format!("{text:?} is {times} times in the transcript {conversation}");
            found.add(Wrong::MessageTwice, what);
        }
    }
}

/// Compares what a subscriber was shown with the log.
fn events(found: &mut Findings, record: &Record, eye: &Eye, number: usize) {
    let seen = eye.seen();
    let about = format!("subscriber {number} ({:?}, {:?})", eye.about, eye.reader);
    let Some(after) = seen.after else { return };
    let log = record.log.iter().filter_map(|logged| {
        let text = if eye.reader == Reader::Bare { logged.whole } else { logged.body };
        Some((eye.about.number(&logged.view)?, text))
    });
    let expected: Vec<_> = log.filter(|(number, _)| *number > after).collect();
    let mut times: HashMap<(u64, u64), u64> = HashMap::new();
    for event in &seen.events {
        *times.entry(*event).or_default() += 1;
    }
    for event in &expected {
        match times.remove(event) {
            None => found.add(Wrong::EventMissing, format!("{about}: {}", event.0)),
            Some(1) => {}
            Some(more) => {
                found.add(Wrong::EventDoubled, format!("{about}: {} {more} times", event.0));
            }
        }
    }
    for (number, _) in times.into_keys() {
        found.add(Wrong::EventMadeUp, format!("{about}: {number}"));
    }
    if !seen.events.is_sorted_by(|one, next| one.0 < next.0) {
        found.add(Wrong::EventDoubled, format!("{about}: out of their order"));
    }
    for text in seen.broken {
        found.add(Wrong::EventMissing, format!("{about}: {text}"));
    }
    found.count("events shown", seen.events.len() as u64);
}

/// Whether a session has nothing to do and asks for nothing.
pub(super) fn is_at_rest(head: &Head) -> bool {
    let is_still = head.turn.is_none() && head.queue.is_empty() && head.approvals.is_empty();
    is_still && head.process == Process::None && head.failure.is_none()
}
