//! Whether an answer is for a request.

use regex::{Captures, Regex};

use super::request::{Request, RequestKind, ToolResult};
use super::{Pattern, When};

/// What is new in a request: what a [`When`] looks at.
pub(super) struct News<'a> {
    request: Request<'a>,
    kind: RequestKind,
    turn: u64,
    text: Option<String>,
    first: Option<String>,
    results: Vec<ToolResult>,
}

impl<'a> News<'a> {
    pub(super) fn of(request: Request<'a>, kind: RequestKind, turn: u64) -> Self {
        Self {
            request,
            kind,
            turn,
            text: request.new_text(),
            first: request.first_text(),
            results: request.new_tool_results(),
        }
    }

    /// The groups of the regular expression, if everything that is asked for holds.
    pub(super) fn fits(&self, when: &When) -> Option<Vec<Group>> {
        if (self.kind == RequestKind::Side) != when.side {
            return None;
        }
        if when.agent.is_some_and(|agent| agent != (self.kind == RequestKind::Agent)) {
            return None;
        }
        let main = self.kind == RequestKind::Main;
        if when.turn.is_some_and(|turn| !main || turn != self.turn) {
            return None;
        }
        let is_in = |pattern: Option<&Pattern>, text: Option<&str>| match (pattern, text) {
            (None, _) => true,
            (Some(pattern), Some(text)) => pattern.is_in(text),
            (Some(_), None) => false,
        };
        let model = Some(self.request.model());
        let result = if when.asks_for_a_result() {
            let mut results = self.results.iter().rev();
            Some(results.find(|result| {
                is_in(when.result.as_ref(), Some(&result.text))
                    && when.error.is_none_or(|error| error == result.is_error)
                    && when.tool.as_ref().is_none_or(|tool| result.tool.as_ref() == Some(tool))
            })?)
        } else {
            None
        };
        let holds = is_in(when.text.as_ref(), self.text.as_deref())
            && is_in(when.first.as_ref(), self.first.as_deref())
            && is_in(when.model.as_ref(), model);
        if !holds {
            return None;
        }
        let looked_at = [
            (when.text.as_ref(), self.text.as_deref()),
            (when.result.as_ref(), result.map(|result| result.text.as_str())),
            (when.first.as_ref(), self.first.as_deref()),
            (when.model.as_ref(), model),
        ];
        let captures = looked_at.into_iter().find_map(|(pattern, text)| {
            let regex = pattern?.regex()?;
            Some(groups(regex, &regex.captures(text?)?))
        });
        Some(captures.unwrap_or_default())
    }
}

/// A group of a regular expression that matched.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: Option<String>,
    /// What it matched; empty if it took no part.
    pub(super) text: String,
}

/// The groups of a match, the whole of it first.
fn groups(regex: &Regex, captures: &Captures<'_>) -> Vec<Group> {
    let found = regex.capture_names().zip(captures.iter()).map(|(name, found)| Group {
        name: name.map(str::to_owned),
        text: found.map_or("", |found| found.as_str()).to_owned(),
    });
    found.collect()
}
