//! What the session asks, on its way to a person and back.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll};

use countersign::SessionBuilder;
use countersign::permission::{
    AskKind, HandlerFailure, PermissionAnswer, PermissionAsk, PermissionHandler, PlanAsk,
    PlanChoice, QuestionAsk,
};
use countersign::protocol::ask::{Elicitation, ElicitationAction, ElicitationAnswer};
use countersign::protocol::permission::DecisionClassification;
use countersign::protocol::tool::ToolInput;
use tokio::sync::{mpsc, oneshot};

use super::dialog::form::FormDialog;
use super::dialog::plan::PlanDialog;
use super::dialog::question::{Given, QuestionDialog};
use super::dialog::tool::ToolDialog;
use super::dialog::{Decision, Dialog};
use super::view::call::Title;
use super::view::line::{Line, Tone};
use super::view::place::Place;

/// How many asks may be on their way to the desk. Others wait before it.
const ON_THEIR_WAY: usize = 16;

/// What a model reads when a person denies without a word.
const DENIED: &str = "The user does not want this to be done.";

/// An answer, or why it cannot be given, which refuses.
type Answer = Result<PermissionAnswer, HandlerFailure>;

/// Something that a person is asked.
#[derive(Debug)]
pub(crate) enum Asked {
    Permission(PermissionAsk, oneshot::Sender<Answer>),
    Elicitation(Box<Elicitation>, oneshot::Sender<ElicitationAnswer>),
}

/// Where the session puts what it asks. When the desk is gone, everything is refused.
#[derive(Clone, Debug)]
struct Bell(mpsc::Sender<Asked>);

impl PermissionHandler for Bell {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        let withdrawn = ask.cancelled();
        let (sender, answer) = oneshot::channel();
        self.0.send(Asked::Permission(ask, sender)).await.map_err(|_| CLOSED)?;
        tokio::select! {
            answer = answer => answer.map_err(|_| CLOSED)?,
            () = withdrawn => Err("it was withdrawn".into()),
        }
    }
}

const CLOSED: &str = "nobody is at the terminal any more";

/// A session that asks at a desk, and the desk.
pub(crate) fn open(builder: SessionBuilder, place: Place) -> (SessionBuilder, Desk) {
    let (sender, asked) = mpsc::channel(ON_THEIR_WAY);
    let bell = Bell(sender.clone());
    let builder = builder.on_permission(bell).on_elicitation(move |ask| {
        let sender = sender.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            sender.send(Asked::Elicitation(Box::new(ask), answer)).await.map_err(|_| CLOSED)?;
            answered.await.map_err(|_| HandlerFailure::from(CLOSED))
        }
    });
    (builder, Desk { asked, open: VecDeque::new(), place, total: 0, numbered: 0 })
}

/// Who waits for the answer.
#[derive(Debug)]
enum Waiting {
    Tool(PermissionAsk, oneshot::Sender<Answer>),
    Plan(PlanAsk, oneshot::Sender<Answer>),
    Questions(QuestionAsk, oneshot::Sender<Answer>),
    Elicitation(oneshot::Sender<ElicitationAnswer>),
}

impl Waiting {
    fn is_closed(&self) -> bool {
        match self {
            Self::Tool(ask, sender) => ask.is_cancelled() || sender.is_closed(),
            Self::Plan(plan, sender) => plan.ask().is_cancelled() || sender.is_closed(),
            Self::Questions(ask, sender) => ask.ask().is_cancelled() || sender.is_closed(),
            Self::Elicitation(sender) => sender.is_closed(),
        }
    }

    /// Whether nobody waits any more; else the context is woken when that is so.
    fn poll_closed(&mut self, context: &mut Context<'_>) -> bool {
        match self {
            Self::Tool(_, sender) | Self::Plan(_, sender) | Self::Questions(_, sender) => {
                sender.poll_closed(context).is_ready()
            }
            Self::Elicitation(sender) => sender.poll_closed(context).is_ready(),
        }
    }
}

/// What happens at a desk.
#[derive(Debug)]
pub(crate) enum Happened {
    /// Something is asked.
    Asked(Asked),
    /// Something that is open is no longer wanted.
    Withdrawn,
}

/// Something that is open.
#[derive(Debug)]
struct Open {
    number: u64,
    waiting: Waiting,
    dialog: Dialog,
    title: Title,
}

/// What is open, put to a person one after the other.
#[derive(Debug)]
pub(crate) struct Desk {
    asked: mpsc::Receiver<Asked>,
    open: VecDeque<Open>,
    place: Place,
    /// How many there were since none was open.
    total: usize,
    /// How many there were at all.
    numbered: u64,
}

impl Desk {
    /// What happens next: something is asked, or something that is open is no longer wanted. Cancel
    /// safe.
    pub(crate) async fn next(&mut self) -> Happened {
        poll_fn(|context| {
            // When the session is gone, so is everybody who could ask.
            if let Poll::Ready(Some(asked)) = self.asked.poll_recv(context) {
                return Poll::Ready(Happened::Asked(asked));
            }
            let mut is_any = false;
            for open in &mut self.open {
                is_any |= open.waiting.poll_closed(context);
            }
            if is_any { Poll::Ready(Happened::Withdrawn) } else { Poll::Pending }
        })
        .await
    }

    /// Takes something in.
    pub(crate) fn take(&mut self, asked: Asked) {
        let (waiting, dialog, title) = match asked {
            Asked::Permission(ask, sender) => {
                let title = match ask.tool() {
                    ToolInput::ExitPlanMode(_) => named("The plan"),
                    ToolInput::AskUserQuestion(questions) => {
                        let headers: Vec<_> =
                            questions.questions.iter().map(|asked| &*asked.header).collect();
                        named(&headers.join(" / "))
                    }
                    _ => Title::new(ask.tool_name(), ask.input(), &self.place),
                };
                // What is not known here is refused: nobody will answer.
                let Some((waiting, dialog)) = self.put(ask, sender) else { return };
                (waiting, dialog, title)
            }
            Asked::Elicitation(ask, sender) => {
                let title =
                    Title { tool: ask.mcp_server_name.clone(), object: ask.message.clone() };
                let Some(form) = FormDialog::new(&ask) else {
                    // Nobody waits for it any more when this fails.
                    drop(sender.send(ElicitationAnswer::new(ElicitationAction::Decline)));
                    return;
                };
                (Waiting::Elicitation(sender), Dialog::Form(form), title)
            }
        };
        self.total += 1;
        self.numbered += 1;
        self.open.push_back(Open { number: self.numbered, waiting, dialog, title });
    }

    fn put(
        &self,
        ask: PermissionAsk,
        sender: oneshot::Sender<Answer>,
    ) -> Option<(Waiting, Dialog)> {
        Some(match ask.into_kind() {
            AskKind::Plan(plan) => {
                let dialog = PlanDialog::new(plan.plan(), plan.allowed_prompts(), plan.choices());
                (Waiting::Plan(plan, sender), Dialog::Plan(dialog))
            }
            AskKind::Questions(ask) => {
                let dialog = QuestionDialog::new(ask.questions().to_vec());
                (Waiting::Questions(ask, sender), Dialog::Questions(dialog))
            }
            AskKind::Tool(ask) => {
                let dialog = ToolDialog::new(ask.request().clone(), self.place.clone());
                (Waiting::Tool(ask, sender), Dialog::Tool(Box::new(dialog)))
            }
            _ => return None,
        })
    }

    /// Which one is shown. No two have the same number.
    pub(crate) fn shown(&self) -> Option<u64> {
        self.open.front().map(|open| open.number)
    }

    /// The dialog that is shown.
    pub(crate) fn dialog(&mut self) -> Option<&mut Dialog> {
        self.open.front_mut().map(|open| &mut open.dialog)
    }

    /// Which one of how many it is, if there are several.
    pub(crate) fn count(&self) -> Option<(usize, usize)> {
        (self.total > 1).then(|| (self.total + 1 - self.open.len(), self.total))
    }

    /// Takes away what is no longer wanted, and says what it was.
    pub(crate) fn clear_withdrawn(&mut self) -> Vec<Line> {
        let (gone, open): (VecDeque<_>, _) =
            std::mem::take(&mut self.open).into_iter().partition(|open| open.waiting.is_closed());
        self.open = open;
        self.settle();
        gone.iter().map(|open| said(&open.title, Tone::Dim, "withdrawn")).collect()
    }

    fn settle(&mut self) {
        if self.open.is_empty() {
            self.total = 0;
        }
    }

    /// Refuses everything that is open, and ends the turn.
    pub(crate) fn refuse_all(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        while !self.open.is_empty() {
            lines.extend(self.answer(Decision::Stop));
        }
        lines
    }

    /// Answers what is shown. Gives the line that stays of it.
    pub(crate) fn answer(&mut self, decision: Decision) -> Option<Line> {
        let Open { waiting, title, .. } = self.open.pop_front()?;
        self.settle();
        let (tone, words) = words(&decision);
        let line = said(&title, tone, &words);
        // When it was withdrawn at the same moment, nobody waits for the answer.
        match waiting {
            Waiting::Tool(ask, sender) => drop(sender.send(answer_tool(ask, decision))),
            Waiting::Plan(plan, sender) => drop(sender.send(answer_plan(plan, decision))),
            Waiting::Questions(ask, sender) => drop(sender.send(answer_questions(ask, decision))),
            Waiting::Elicitation(sender) => drop(sender.send(answer_form(decision))),
        }
        Some(line)
    }
}

fn named(name: &str) -> Title {
    Title { tool: name.to_owned(), object: String::new() }
}

fn said(title: &Title, tone: Tone, words: &str) -> Line {
    title.line((Tone::Dim, "▸")).and(Tone::Dim, ": ").and(tone, words).hanging(2)
}

/// What was decided, for the person who did.
fn words(decision: &Decision) -> (Tone, String) {
    match decision {
        Decision::Allow { suggestion: Some(_), .. } => {
            (Tone::Good, "allowed, now and later".to_owned())
        }
        Decision::Allow { input: Some(_), .. } => {
            (Tone::Good, "allowed, as you edited it".to_owned())
        }
        Decision::Allow { .. } => (Tone::Good, "allowed".to_owned()),
        Decision::Deny(None) => (Tone::Bad, "denied".to_owned()),
        Decision::Deny(Some(reason)) => (Tone::Bad, format!("denied: {reason}")),
        Decision::Stop => (Tone::Bad, "denied, and stopped".to_owned()),
        Decision::Approve { choice, edited, grant } => {
            let edited = if edited.is_some() { ", as you edited it" } else { "" };
            let how = match choice {
                PlanChoice::ClearContextAndAcceptEdits => ", in a new conversation",
                PlanChoice::AcceptEdits => ", and edits are accepted",
                PlanChoice::ApproveManually => ", and each edit is asked for",
                _ => "",
            };
            let granted = match (grant, choice) {
                (None, _) => "",
                // It takes nothing along but the plan.
                (Some(true), PlanChoice::ClearContextAndAcceptEdits) => {
                    "; what it asked for is not granted there"
                }
                (Some(true), _) => "; what it asked for is granted",
                (Some(false), _) => "; what it asked for is not granted",
            };
            (Tone::Good, format!("approved{edited}{how}{granted}"))
        }
        Decision::KeepPlanning(feedback) => (Tone::Warn, format!("not yet: {feedback}")),
        Decision::Answers(given) => {
            let given: Vec<_> = given.iter().map(in_words).collect();
            (Tone::Good, given.join(" / "))
        }
        Decision::Form(_) => (Tone::Good, "answered".to_owned()),
    }
}

fn in_words(given: &Given) -> String {
    match joined(given) {
        Some(text) => text,
        None => "(skipped)".to_owned(),
    }
}

/// Labels and words as one text.
fn joined(given: &Given) -> Option<String> {
    let all: Vec<&str> =
        given.labels.iter().chain(given.words.as_ref()).map(String::as_str).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn answer_tool(ask: PermissionAsk, decision: Decision) -> Answer {
    use DecisionClassification::{UserPermanent, UserReject, UserTemporary};
    Ok(match decision {
        Decision::Allow { input, suggestion } => {
            let update = suggestion.and_then(|number| ask.suggestions().get(number).cloned());
            let kind = if update.is_some() { UserPermanent } else { UserTemporary };
            let mut allowing = ask.allowing().updates(update);
            if let Some(input) = input {
                allowing = allowing.input(input)?;
            }
            allowing.answer().classified(kind)
        }
        Decision::Deny(reason) => {
            ask.deny(reason.unwrap_or_else(|| DENIED.to_owned())).classified(UserReject)
        }
        _ => ask.deny_and_stop(DENIED).classified(UserReject),
    })
}

fn answer_plan(plan: PlanAsk, decision: Decision) -> Answer {
    Ok(match decision {
        Decision::Approve { choice, edited, grant } => {
            let plan = match edited {
                Some(text) => plan.edited(text),
                None => plan,
            };
            let plan = if grant == Some(true) { plan.granting_prompts() } else { plan };
            plan.approve(choice)?
        }
        Decision::KeepPlanning(feedback) => plan.keep_planning(feedback),
        _ => plan.into_ask().deny_and_stop(DENIED),
    })
}

fn answer_questions(ask: QuestionAsk, decision: Decision) -> Answer {
    let Decision::Answers(given) = decision else {
        return Ok(ask.into_ask().deny_and_stop(DENIED));
    };
    let mut answers = ask.answers();
    for (number, given) in given.iter().enumerate() {
        answers = match (joined(given), &given.words) {
            (None, _) => answers,
            (Some(text), Some(_)) => answers.text(number, text)?,
            (Some(_), None) => answers.choose(number, given.labels.iter().map(String::as_str))?,
        };
    }
    Ok(ask.answer(answers)?)
}

fn answer_form(decision: Decision) -> ElicitationAnswer {
    match decision {
        Decision::Form(values) => {
            let mut answer = ElicitationAnswer::new(ElicitationAction::Accept);
            answer.content = Some(values);
            answer
        }
        Decision::Deny(_) => ElicitationAnswer::new(ElicitationAction::Decline),
        _ => ElicitationAnswer::new(ElicitationAction::Cancel),
    }
}
