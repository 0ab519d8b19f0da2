//! Calls that only look, which are one line together.

use askama::Template;

use crate::call::{Line, Stage};
use crate::render::Html;
use crate::render::words::count;

/// Calls of tools that only look, one after the other.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// The calls.
    pub(super) calls: Vec<usize>,
    /// How often each tool was called.
    tools: Vec<(String, usize)>,
    /// What the first call looks at.
    first: Option<Line>,
    /// How many calls are where somebody would want to look: at these stages, in this order.
    odd: [usize; ODD.len()],
}

/// The stages that are said on the line of a fold, most urgent first.
const ODD: [Stage; 4] = [Stage::Asked, Stage::Failed, Stage::Refused, Stage::Unknown];

impl Fold {
    /// A tool was called once more.
    pub(super) fn count(&mut self, tool: &str, line: Line) {
        self.first.get_or_insert(line);
        match self.tools.iter_mut().find(|(known, _)| known == tool) {
            Some((_, times)) => *times += 1,
            None => self.tools.push((tool.to_owned(), 1)),
        }
    }

    /// A call has come from one stage to another.
    pub(super) fn moved(&mut self, from: Stage, to: Stage) {
        for (stage, calls) in ODD.iter().zip(&mut self.odd) {
            if *stage == from {
                *calls = calls.saturating_sub(1);
            }
            if *stage == to {
                *calls += 1;
            }
        }
    }

    /// The line that it is.
    pub(super) fn line(&self) -> Html {
        let times = self.tools.iter().map(|(_, times)| times).sum::<usize>();
        let only = self.first.clone().filter(|_| times == 1);
        let odd = ODD.iter().zip(self.odd).filter(|(_, calls)| *calls > 0);
        let odd = odd.map(|(stage, calls)| match (stage, calls) {
            (Stage::Asked, 1) => (*stage, "1 waits for you".to_owned()),
            (Stage::Asked, _) => (*stage, format!("{calls} wait for you")),
            _ => (*stage, format!("{calls} {}", stage.word())),
        });
        let line = FoldLine { only, words: words(&self.tools), odd: odd.collect() };
        Html::of_template(&line)
    }
}

/// The line of a fold: the only call in it, or how many there are.
#[derive(Template)]
#[template(path = "transcript/folded.html")]
struct FoldLine {
    only: Option<Line>,
    words: String,
    /// What is not as it should be, in words.
    odd: Vec<(Stage, String)>,
}

/// What was done in a fold, in words.
fn words(tools: &[(String, usize)]) -> String {
    let words = tools.iter().map(|(tool, times)| match &**tool {
        "Read" | "NotebookRead" => format!("read {}", count(*times, "file", "files")),
        "Grep" => format!("searched {}", count(*times, "time", "times")),
        "Glob" | "LS" => format!("looked for files {}", count(*times, "time", "times")),
        _ => format!("looked for tools {}", count(*times, "time", "times")),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let mut characters = words.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => "Looks around".to_owned(),
    }
}
