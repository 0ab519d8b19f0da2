//! What happens in a turn, as lines: those that stay, and those that still change.

use std::collections::HashMap;

use countersign::protocol::ids::ToolUseId;
use countersign::turn::{Decision, ToolCall, TurnEvent};
use tokio::time::Instant;

use super::view::call::{self, Title, span};
use super::view::line::{Line, Tone};
use super::view::markdown::Markdown;
use super::view::notice;
use super::view::place::Place;

/// How many lines of what a sub-agent says are shown.
const OF_AGENTS: usize = 3;

/// What the last lines were about. Between different things there is an empty line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum About {
    #[default]
    Nothing,
    User,
    Text,
    Calls,
    Notices,
    Summary,
}

/// A call that is running.
#[derive(Debug)]
struct Running {
    id: ToolUseId,
    title: Title,
    depth: usize,
    since: Instant,
}

/// What happens in a turn, as lines.
#[derive(Debug)]
pub(crate) struct Feed {
    place: Place,
    /// Text that has come so far of what is being written.
    streamed: String,
    /// The line of it that is not complete.
    partial: String,
    markdown: Markdown,
    thinking: bool,
    running: Vec<Running>,
    /// Who made a call, of all calls so far.
    parents: HashMap<ToolUseId, Option<ToolUseId>>,
    last: About,
}

impl Feed {
    pub(crate) fn new(place: Place) -> Self {
        Self {
            place,
            streamed: String::new(),
            partial: String::new(),
            markdown: Markdown::default(),
            thinking: false,
            running: Vec::new(),
            parents: HashMap::new(),
            last: About::default(),
        }
    }

    /// Lines with an empty one before them, if they are about something else.
    pub(crate) fn about(&mut self, about: About, mut lines: Vec<Line>) -> Vec<Line> {
        if lines.is_empty() {
            return lines;
        }
        if self.last != About::Nothing && self.last != about {
            lines.insert(0, Line::new());
        }
        self.last = about;
        lines
    }

    /// The lines that stay of an event.
    pub(crate) fn event(&mut self, event: &TurnEvent, columns: usize) -> Vec<Line> {
        match event {
            TurnEvent::TextDelta { text, parent: None } => self.piece(text),
            TurnEvent::Text { text, parent: None } => self.whole(text),
            TurnEvent::Text { text, parent: Some(parent) } => {
                let depth = self.depth(Some(parent));
                let lines = text.lines().filter(|line| !line.trim().is_empty()).take(OF_AGENTS);
                let lines = lines.map(|line| Line::of(Tone::Dim, line).indented(depth * 2));
                let lines = lines.map(|line| line.cut(columns)).collect();
                self.about(About::Calls, lines)
            }
            TurnEvent::ThinkingDelta { parent: None, .. } => {
                self.thinking = true;
                Vec::new()
            }
            TurnEvent::Thinking { text, parent: None } => {
                self.thinking = false;
                let first = text.lines().find(|line| !line.trim().is_empty());
                let line = first.map(|line| Line::of(Tone::Dim, &format!("✻ {line}")).cut(columns));
                self.about(About::Notices, line.into_iter().collect())
            }
            TurnEvent::ToolCall(call) => {
                self.begins(call);
                Vec::new()
            }
            TurnEvent::ToolDone(call) => self.ends(call, columns),
            TurnEvent::Retry(retry) => {
                let mut lines = self.break_off_text();
                let notice = Line::of(Tone::Warn, &notice::of_retry(retry));
                lines.extend(self.about(About::Notices, vec![notice]));
                lines
            }
            TurnEvent::Other(message) => match notice::of(message.saying()) {
                Some(text) => self.notice(Tone::Dim, &text),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Something said besides.
    pub(crate) fn notice(&mut self, tone: Tone, text: &str) -> Vec<Line> {
        let lines = text.lines().map(|line| Line::of(tone, line).hanging(2)).collect();
        self.about(About::Notices, lines)
    }

    fn piece(&mut self, text: &str) -> Vec<Line> {
        self.thinking = false;
        self.streamed.push_str(text);
        self.partial.push_str(text);
        let mut lines = Vec::new();
        while let Some((line, rest)) = self.partial.split_once('\n') {
            lines.push(self.markdown.line(line));
            self.partial = rest.to_owned();
        }
        self.about(About::Text, lines)
    }

    /// The whole text, most of which may have come in pieces.
    fn whole(&mut self, text: &str) -> Vec<Line> {
        self.thinking = false;
        let streamed = std::mem::take(&mut self.streamed);
        let mut lines = Vec::new();
        let rest = match text.strip_prefix(&*streamed) {
            Some(rest) => std::mem::take(&mut self.partial) + rest,
            None => {
                // What came before is void.
                self.streamed = streamed;
                lines = self.break_off_text();
                text.to_owned()
            }
        };
        let markdown = &mut self.markdown;
        let rest: Vec<_> = rest.lines().map(|line| markdown.line(line)).collect();
        self.markdown = Markdown::default();
        lines.extend(self.about(About::Text, rest));
        lines
    }

    /// The text that was being written will not be completed.
    fn break_off_text(&mut self) -> Vec<Line> {
        let partial = std::mem::take(&mut self.partial);
        let was_any = !std::mem::take(&mut self.streamed).is_empty();
        let mut lines = Vec::new();
        if !partial.is_empty() {
            let line = self.markdown.line(&partial);
            lines.extend(self.about(About::Text, vec![line]));
        }
        self.markdown = Markdown::default();
        if was_any {
            lines.extend(self.notice(Tone::Warn, "(what was written above has broken off)"));
        }
        lines
    }

    fn begins(&mut self, call: &ToolCall) {
        self.parents.insert(call.id.clone(), call.parent.clone());
        if is_a_dialog(&call.name) {
            return;
        }
        let title = Title::new(&call.name, &call.input, &self.place);
        let depth = self.depth(call.parent.as_ref());
        let since = Instant::now();
        self.running.push(Running { id: call.id.clone(), title, depth, since });
    }

    fn ends(&mut self, call: &ToolCall, columns: usize) -> Vec<Line> {
        let at = self.running.iter().position(|running| running.id == call.id);
        let (title, depth) = match at.map(|at| self.running.remove(at)) {
            Some(running) => (running.title, running.depth),
            // What was decided about it has been said.
            None if call.decision != Decision::NotAsked => return Vec::new(),
            None => {
                (Title::new(&call.name, &call.input, &self.place), self.depth(call.parent.as_ref()))
            }
        };
        let lines = call::done(&title, call, &self.place, columns.saturating_sub(depth * 2));
        let lines = lines.into_iter().map(|line| line.indented(depth * 2)).collect();
        self.about(About::Calls, lines)
    }

    /// How many sub-agents are above a call.
    fn depth<'a>(&'a self, mut parent: Option<&'a ToolUseId>) -> usize {
        let mut depth = 0;
        while let Some(id) = parent {
            depth += 1;
            // Whoever names itself as its parent is not followed for ever.
            if depth > 8 {
                break;
            }
            parent = self.parents.get(id).and_then(Option::as_ref);
        }
        depth
    }

    /// The turn is over: what is still open will not be completed.
    pub(crate) fn over(&mut self, columns: usize) -> Vec<Line> {
        self.thinking = false;
        let mut lines = self.break_off_text();
        let running = std::mem::take(&mut self.running);
        let open = running.iter().map(|running| {
            let end = Line::of(Tone::Bad, " ✗ not completed");
            let title =
                running.title.line((Tone::Bad, "●")).cut(columns.saturating_sub(end.width()));
            title.followed_by(end).indented(running.depth * 2)
        });
        let open = open.collect();
        lines.extend(self.about(About::Calls, open));
        lines
    }

    /// The lines that still change.
    pub(crate) fn live(&self, columns: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.partial.is_empty() {
            if self.last != About::Nothing && self.last != About::Text {
                lines.push(Line::new());
            }
            lines.push(self.markdown.peek(&self.partial));
        }
        if !self.running.is_empty() && self.last != About::Nothing && self.last != About::Calls {
            lines.push(Line::new());
        }
        for running in &self.running {
            let since = running.since.elapsed();
            let end = match since.as_secs() {
                0 => Line::new(),
                _ => Line::of(Tone::Dim, &format!(" {}", span(since))),
            };
            let title = running.title.line((Tone::Warn, "○"));
            let columns = columns.saturating_sub(end.width() + running.depth * 2);
            lines.push(title.cut(columns).followed_by(end).indented(running.depth * 2));
        }
        lines
    }

    pub(crate) const fn is_thinking(&self) -> bool {
        self.thinking
    }
}

/// Whether a call is shown as a dialog, and needs no line of its own.
fn is_a_dialog(name: &str) -> bool {
    matches!(name, "AskUserQuestion" | "ExitPlanMode")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed() -> Feed {
        Feed::new(Place::new("/project".into()))
    }

    fn piece(text: &str) -> TurnEvent {
        TurnEvent::TextDelta { text: text.to_owned(), parent: None }
    }

    fn whole(text: &str) -> TurnEvent {
        TurnEvent::Text { text: text.to_owned(), parent: None }
    }

    fn printed(feed: &mut Feed, events: &[TurnEvent]) -> Vec<String> {
        let lines = events.iter().flat_map(|event| feed.event(event, 80)).collect::<Vec<_>>();
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn a_text_is_printed_once_however_it_comes() {
        let pieces = [piece("one "), piece("two\nth"), piece("ree")];
        let mut feed = feed();
        assert_eq!(printed(&mut feed, &pieces), ["one two"]);
        assert_eq!(feed.live(80)[0].text(), "three");
        assert_eq!(printed(&mut feed, &[whole("one two\nthree")]), ["three"]);
        assert!(feed.live(80).is_empty());
        // Without pieces, and with an end that did not come in pieces.
        assert_eq!(printed(&mut feed, &[whole("a\nb")]), ["a", "b"]);
        assert_eq!(printed(&mut feed, &[piece("a"), whole("a\nb")]), ["a", "b"]);
    }

    #[test]
    fn a_text_that_breaks_off_is_said_to_be_void() {
        let broken = "(what was written above has broken off)";
        let mut feed = feed();
        let lines = printed(&mut feed, &[piece("one tw"), whole("another")]);
        assert_eq!(lines, ["one tw", "", broken, "", "another"]);
        assert_eq!(printed(&mut feed, &[piece("x")]), Vec::<String>::new());
        let over: Vec<_> = feed.over(80).iter().map(Line::text).collect();
        assert_eq!(over, ["x", "", broken]);
        assert!(feed.over(80).is_empty());
    }
}
