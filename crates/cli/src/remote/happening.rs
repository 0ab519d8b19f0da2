//! What happens in a session, as lines: live text as it comes, and all else as a line or a few.

use std::collections::BTreeSet;

use countersign::protocol::FromCli;
use countersign::protocol::content::{Content, ContentBlock};
use countersign::protocol::message::{BlockDelta, StreamEvent};
use countersign::{Message, Saying};
use countersign_server::api::view::EventView;
use countersign_server::id::ApprovalId;
use countersign_server::session::{
    Answer, Approval, ApprovalEnd, ApprovalOpened, Happening, PlanWay, Stage, TurnEnd, TurnEnded,
    Wish,
};

use super::asked::Asked;
use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::run::view::call::{Title, folded, span};
use crate::run::view::line::{Line, Tone};
use crate::run::view::notice;
use crate::run::view::place::Place;
use crate::words::{dollars, one_line, short};

/// How wide a line of a result is shown.
const COLUMNS: usize = 100;

/// What happens in a session, told as it happens.
#[derive(Debug)]
pub(crate) struct Story {
    folder: String,
    place: Place,
    /// Approvals that are open, so that what to type is said for those.
    open: BTreeSet<ApprovalId>,
    /// Text that has come so far of what is being written.
    streamed: String,
    /// Whether a line of text is not complete.
    in_line: bool,
}

impl Story {
    /// The story of a session that works in this folder, in which these are open.
    pub(crate) fn new(folder: &str, open: impl IntoIterator<Item = ApprovalId>) -> Self {
        Self {
            folder: folder.to_owned(),
            place: Place::elsewhere(folder),
            open: open.into_iter().collect(),
            streamed: String::new(),
            in_line: false,
        }
    }

    /// From now on everything that is asked is open when it is told.
    pub(crate) fn is_live(&mut self, event: &EventView) {
        if let Ok(Happening::ApprovalOpened(opened)) = event.happening() {
            self.open.insert(opened.approval);
        }
    }

    /// Tells an event.
    pub(crate) fn event(&mut self, event: &EventView, output: &mut Output) -> Result<(), Failure> {
        let Ok(happening) = event.happening() else {
            let words = format!("({}, which this version does not know)", event.kind);
            return self.say(&[Line::of(Tone::Dim, &words)], output);
        };
        if let Happening::Frame(frame) = &happening {
            return self.frame(frame.line.as_str(), output);
        }
        let lines = self.lines(event, &happening);
        self.say(&lines, output)
    }

    /// Tells a piece of what the model is saying.
    pub(crate) fn delta(&mut self, line: &str, output: &mut Output) -> Result<(), Failure> {
        let message = Message::from_line(line.to_owned());
        let Some(FromCli::StreamEvent(said)) = message.frame() else { return Ok(()) };
        if said.parent_tool_use_id.is_some() {
            return Ok(());
        }
        let StreamEvent::ContentBlockDelta(delta) = &said.event else { return Ok(()) };
        let BlockDelta::Text(text) = &delta.delta else { return Ok(()) };
        self.streamed.push_str(&text.text);
        self.text(&text.text, output)
    }

    /// The connection was lost: pieces may be missing.
    pub(crate) fn broke_off(&mut self, because: &str, output: &mut Output) -> Result<(), Failure> {
        let words = format!("the connection was lost ({because}); trying again");
        self.say(&[Line::of(Tone::Warn, &words)], output)
    }

    /// Ends a line that is not complete.
    pub(crate) fn over(&mut self, output: &mut Output) -> Result<(), Failure> {
        if std::mem::take(&mut self.in_line) {
            output.line("")?;
        }
        output.flush()
    }

    fn say(&mut self, lines: &[Line], output: &mut Output) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        self.over(output)?;
        super::print(lines, output)?;
        output.flush()
    }

    /// Writes text of the model.
    fn text(&mut self, text: &str, output: &mut Output) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.in_line = true;
        output.bytes(plain(text).as_bytes())?;
        output.flush()
    }

    /// A whole text, most of which may have come in pieces.
    fn whole(&mut self, text: &str, output: &mut Output) -> Result<(), Failure> {
        let streamed = std::mem::take(&mut self.streamed);
        match text.strip_prefix(&*streamed) {
            Some(rest) => self.text(rest, output)?,
            None => {
                let broken = "(what was written above is not complete)";
                self.say(&[Line::of(Tone::Dim, broken)], output)?;
                self.text(text, output)?;
            }
        }
        self.over(output)
    }

    /// Tells what the CLI said.
    fn frame(&mut self, line: &str, output: &mut Output) -> Result<(), Failure> {
        let message = Message::from_line(line.to_owned());
        match message.saying() {
            Saying::Frame(FromCli::Assistant(said)) => {
                let is_main = said.parent_tool_use_id.is_none();
                for block in said.message.blocks() {
                    self.block(block, is_main, output)?;
                }
                Ok(())
            }
            Saying::Frame(FromCli::User(user)) => {
                let Content::Blocks(blocks) = &user.message.content else { return Ok(()) };
                let indent = if user.parent_tool_use_id.is_some() { 2 } else { 0 };
                for block in blocks {
                    let lines = result(block).into_iter().map(|line| line.indented(indent));
                    self.say(&lines.collect::<Vec<_>>(), output)?;
                }
                Ok(())
            }
            Saying::Frame(FromCli::Result(_)) => Ok(()),
            saying => match notice::of(saying) {
                Some(text) => self.say(&[Line::of(Tone::Dim, &one_line(&text, 400))], output),
                None => Ok(()),
            },
        }
    }

    fn block(
        &mut self,
        block: &ContentBlock,
        is_main: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        match block {
            ContentBlock::Text(text) if is_main => self.whole(&text.text, output),
            ContentBlock::Text(text) => {
                self.say(&[Line::of(Tone::Dim, &one_line(&text.text, COLUMNS)).indented(2)], output)
            }
            ContentBlock::Thinking(thinking) => {
                let first = one_line(&thinking.thinking, COLUMNS);
                let line = (!first.is_empty()).then(|| Line::of(Tone::Dim, &format!("✻ {first}")));
                self.say(line.as_slice(), output)
            }
            // What is asked with it is told when it is asked.
            ContentBlock::ToolUse(call)
                if matches!(&*call.name, "AskUserQuestion" | "ExitPlanMode") =>
            {
                Ok(())
            }
            ContentBlock::ToolUse(call) => {
                let title = Title::new(&call.name, &call.input, &self.place);
                let indent = if is_main { 0 } else { 2 };
                self.say(&[title.line((Tone::Accent, "●")).indented(indent)], output)
            }
            _ => Ok(()),
        }
    }

    /// What happened, beside what the CLI said.
    fn lines(&mut self, event: &EventView, happening: &Happening) -> Vec<Line> {
        let one = |tone: Tone, words: String| vec![Line::of(tone, &words).hanging(2)];
        match happening {
            Happening::Created(created) => {
                one(Tone::Dim, format!("{} made this session", created.by.name()))
            }
            Happening::MessageQueued(queued) => {
                let mut shown: Vec<_> = queued
                    .content
                    .text
                    .lines()
                    .enumerate()
                    .map(|(number, line)| {
                        let sign = if number == 0 { "❯ " } else { "  " };
                        Line::of(Tone::Accent, sign).and(Tone::Bold, line).hanging(2)
                    })
                    .collect();
                if !queued.content.images.is_empty() {
                    let words = format!("  ({} pictures)", queued.content.images.len());
                    shown.push(Line::of(Tone::Dim, &words));
                }
                if let Some(last) = shown.pop() {
                    shown.push(last.and(Tone::Dim, &format!("  ({})", queued.by.name())));
                }
                shown
            }
            Happening::MessageRemoved(removed) => {
                one(Tone::Dim, format!("{} took a message back", removed.by.name()))
            }
            Happening::MessageEdited(edited) => {
                let words = format!(
                    "{} changed a message: {}",
                    edited.by.name(),
                    one_line(&edited.content.text, COLUMNS)
                );
                one(Tone::Dim, words)
            }
            Happening::ApprovalOpened(opened) => self.opened(event, opened),
            Happening::ApprovalAnswered(answered) => {
                self.open.remove(&answered.approval);
                let (by, id) = (answered.by.name(), short(answered.approval.uuid()));
                let tone = if answered.answer.allows() { Tone::Good } else { Tone::Warn };
                let mut lines = one(tone, format!("⇒ {by}: {} ({id})", said(&answered.answer)));
                if let Some(child) = answered.child {
                    let child = short(child.uuid());
                    let words = format!("it goes on in another session: countersign watch {child}");
                    lines.extend(one(Tone::Dim, words));
                }
                lines
            }
            Happening::ApprovalClosed(closed) => {
                self.open.remove(&closed.approval);
                let why = closed.why.as_deref().unwrap_or("it is not asked any more");
                let id = short(closed.approval.uuid());
                match closed.end {
                    ApprovalEnd::Done => Vec::new(),
                    ApprovalEnd::Cancelled => one(Tone::Dim, format!("{id} is cancelled: {why}")),
                    ApprovalEnd::Expired => {
                        one(Tone::Warn, format!("{id} is refused: nobody answered in time"))
                    }
                    ApprovalEnd::Unknown => {
                        one(Tone::Warn, format!("what became of {id} is not known: {why}"))
                    }
                }
            }
            Happening::Parked(_) => {
                one(Tone::Dim, "parked: no process waits; an answer brings it back".to_owned())
            }
            Happening::TurnEnded(ended) => turn_ended(ended),
            Happening::InterruptAsked(asked) => {
                one(Tone::Warn, format!("{} interrupts the turn", asked.by.name()))
            }
            Happening::ModeChanged(changed) => one(Tone::Dim, format!("mode {}", changed.mode)),
            Happening::ModelChanged(changed) => {
                let model = changed.model.as_deref().unwrap_or("of the CLI's own choice");
                one(Tone::Dim, format!("model {model}"))
            }
            Happening::WishRefused(refused) => {
                let what = match refused.wish {
                    Wish::Mode => "mode",
                    Wish::Model => "model",
                };
                one(Tone::Warn, format!("the {what} stays as it is: {}", refused.why))
            }
            Happening::StopAsked(asked) => {
                one(Tone::Warn, format!("{} stops the session", asked.by.name()))
            }
            Happening::ResumeAsked(asked) => {
                one(Tone::Dim, format!("{} has it go on", asked.by.name()))
            }
            Happening::Failed(failed) => one(Tone::Bad, format!("failed: {}", failed.why)),
            Happening::Noted(noted) => one(Tone::Warn, noted.text.clone()),
            Happening::AwaitsProcess(_) => {
                one(Tone::Dim, "waits until it may have a process".to_owned())
            }
            Happening::ProcessStarted(started) => match &started.version {
                Some(version) => one(Tone::Dim, format!("Claude Code {version}")),
                None => Vec::new(),
            },
            Happening::ProcessEnded(ended) if ended.failed => {
                one(Tone::Warn, format!("the process ended: {}", ended.why))
            }
            Happening::Renamed(renamed) => one(Tone::Dim, format!("title: {}", renamed.title)),
            Happening::Deleted(deleted) => {
                one(Tone::Warn, format!("{} deleted the session", deleted.by.name()))
            }
            _ => Vec::new(),
        }
    }

    fn opened(&self, event: &EventView, opened: &ApprovalOpened) -> Vec<Line> {
        let mut asked = Asked::of(&approval(event, opened), &self.folder);
        if !self.open.contains(&opened.approval) {
            // It is over, and nothing can be typed any more.
            asked.commands.clear();
            asked.about.clear();
        }
        asked.title = Line::of(Tone::Warn, "? ").followed_by(asked.title);
        asked.lines(None)
    }
}

/// The approval that an event opens.
pub(crate) fn approval(event: &EventView, opened: &ApprovalOpened) -> Approval {
    Approval {
        id: opened.approval,
        session: event.session,
        turn: opened.turn,
        kind: opened.kind,
        tool: opened.tool.clone(),
        tool_use_id: opened.tool_use_id.clone(),
        agent: opened.agent.clone(),
        request: opened.request.clone(),
        round: None,
        stage: Stage::Open,
        opened_at: event.at,
        given: None,
        delivered_at: None,
        closed_at: None,
        why: None,
    }
}

/// What came of a call.
fn result(block: &ContentBlock) -> Vec<Line> {
    let ContentBlock::ToolResult(result) = block else { return Vec::new() };
    let text = match &result.content {
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Blocks(blocks)) => {
            let texts = blocks.iter().filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    let tone = if result.is_error == Some(true) { Tone::Bad } else { Tone::Dim };
    folded(&text, tone, COLUMNS)
}

fn turn_ended(ended: &TurnEnded) -> Vec<Line> {
    let mut parts = Vec::new();
    match ended.end {
        TurnEnd::Done => {}
        TurnEnd::Failed => parts.push("failed".to_owned()),
        TurnEnd::Interrupted => parts.push("interrupted".to_owned()),
        TurnEnd::CutOff => parts.push("cut off".to_owned()),
    }
    if let Some(used) = &ended.used {
        parts.push(span(std::time::Duration::from_millis(used.duration_ms)));
        parts.push(dollars(used.cost_usd));
        parts.push(format!("{} tokens", used.input_tokens + used.output_tokens));
    }
    let tone = if ended.end == TurnEnd::Done { Tone::Dim } else { Tone::Warn };
    let mut lines = vec![Line::of(tone, &format!("— {}", parts.join(" · ")))];
    lines.extend(ended.why.as_deref().map(|why| Line::of(Tone::Bad, why).indented(2)));
    lines
}

/// An answer, in a few words.
pub(crate) fn said(answer: &Answer) -> String {
    const LENGTH: usize = 80;
    match answer {
        Answer::Allow(allow) => {
            let mut words = "allowed".to_owned();
            if allow.input.is_some() {
                words.push_str(", with another input");
            }
            if !allow.suggestions.is_empty() || !allow.rules.is_empty() {
                words.push_str(", and not asked again");
            }
            if let Some(mode) = &allow.mode {
                words = format!("{words}, and mode {mode}");
            }
            words
        }
        Answer::Deny(deny) => {
            let stop = if deny.stop { " and stopped" } else { "" };
            let why = one_line(&deny.message, LENGTH);
            if why.is_empty() { format!("denied{stop}") } else { format!("denied{stop}: {why}") }
        }
        Answer::Plan(plan) => {
            let way = match plan.choice {
                PlanWay::ClearContext => "in a new session",
                PlanWay::AcceptEdits => "edits are accepted",
                PlanWay::ApproveManually => "each edit is asked for",
            };
            let edited = if plan.plan.is_some() { "the edited plan" } else { "the plan" };
            format!("approved {edited}, {way}")
        }
        Answer::KeepPlanning(more) => {
            format!("keep planning: {}", one_line(&more.feedback, LENGTH))
        }
        Answer::Answers(answers) => {
            let all = answers.iter().map(|answer| {
                let mut parts = answer.choose.clone();
                parts.extend(answer.text.clone());
                parts.join(", ")
            });
            format!("answered {}", one_line(&all.collect::<Vec<_>>().join("; "), LENGTH))
        }
        Answer::Reply(reply) => format!("said: {}", one_line(&reply.text, LENGTH)),
        Answer::Skip(_) => "skipped the questions".to_owned(),
        Answer::Form(form) => match form.action {
            countersign_server::session::FormAction::Accept => "filled in the form".to_owned(),
            countersign_server::session::FormAction::Decline => "declined".to_owned(),
            countersign_server::session::FormAction::Cancel => "put it aside".to_owned(),
        },
    }
}
