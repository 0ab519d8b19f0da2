//! One command: its words, and what it runs that is written in the line.

use std::borrow::Cow;
use std::sync::Arc;

use tree_sitter::Node;

use super::read::{At, Pending, Reader, Work, read};
use super::redirect::Made;
use super::word::{Word, words};
use super::{Command, Input, Program, Scope, Source, Step, hidden};

impl<'t> Reader<'_, 't> {
    pub(super) fn command(&mut self, node: Node<'t>, mut at: At, pending: Pending<'t>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        self.gaps(&children);
        let mut list: Vec<Word> = Vec::new();
        let (mut marks, mut others, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = None;
        for child in &children {
            match child.kind() {
                "file_redirect" | "herestring_redirect" => redirects.push(*child),
                "subshell" => others.push(*child),
                "variable_assignment" if node.kind() == "command" => others.push(*child),
                _ if self.text(*child).is_empty() || child.is_extra() => {}
                _ => {
                    let mut new = if child.kind() == "variable_assignment" || !child.is_named() {
                        vec![Word::known(self.text(*child))]
                    } else {
                        words(self.line, *child)
                    };
                    // The parser makes two of some words: of `$"a"`, of `"a⏎b"c`.
                    if end == Some(child.start_byte())
                        && let Some(last) = list.pop()
                        && let Some(first) = new.first_mut()
                    {
                        *first = Word::joined([&last, &*first], "");
                    }
                    end = Some(child.end_byte());
                    let from = list.len();
                    list.append(&mut new);
                    marks.push((from..list.len(), *child));
                }
            }
        }
        let Pending { redirects: behind, words: mut more, stage } = pending;
        redirects.extend(behind);
        let mut work = Vec::new();
        if let Some((pipeline, place)) = stage {
            at = at.in_stage(pipeline, place);
            work.push(Work::Step(Step::Open(Scope::Own)));
        }
        let mut made = Made::new(at, work);
        self.redirects(&redirects, &mut made);
        let Made { at, mut work, words, anew, .. } = made;
        if list.first().is_some_and(|name| matches!(&*name.text, ":" | "true")) {
            self.empty(&anew);
        }
        // Words that stand behind a redirect are words of the command all the same.
        more.extend(words);
        self.parsed.has_more |= !more.is_empty();
        list.extend(more);
        let inner = (!list.is_empty()).then(|| self.add_command(node, list, at.clone()));
        let number = self.parsed.commands.len().saturating_sub(1);
        if inner.is_some() {
            work.push(Work::Step(Step::Command(number)));
        }
        for (range, child) in marks {
            work.extend([Work::Begin, Work::Node(child, at.clone()), Work::Words(number, range)]);
        }
        for other in others {
            // A variable that is set before a command is only set for it.
            work.push(Work::Step(Step::Open(Scope::Own)));
            work.push(Work::Node(other, at.clone()));
            work.push(Work::Step(Step::Close));
        }
        work.extend(inner);
        if stage.is_some() {
            work.push(Work::Step(Step::Close));
        }
        self.push(work);
    }

    /// Adds a command, and says what is to do when its words have been looked at.
    pub(super) fn add_command(&mut self, node: Node<'_>, words: Vec<Word>, at: At) -> Work<'t> {
        let command = Command {
            text: self.text(node).to_owned(),
            words,
            input: at.input,
            stages: Arc::clone(&at.stages),
        };
        self.parsed.commands.push(command);
        Work::Inner(self.parsed.commands.len() - 1, at)
    }

    /// Reads what a command runs that is written in its arguments, or in what it reads.
    pub(super) fn inner(&mut self, command: usize, at: &At) {
        let Some(command) = self.parsed.commands.get(command) else { return };
        let mut lines = Vec::new();
        for run in command.runs() {
            let Some(program) = Program::of(&run).filter(|program| program.is_shell) else {
                continue;
            };
            let mut at = at.clone();
            let scope = match run.container {
                Some(_) => Scope::Container,
                None if run.program == "ssh" && !names_this(run.arguments) => Scope::Remote,
                None => Scope::Shell,
            };
            let line = match (program.source, command.input) {
                (Source::Argument(line), _) => line.text.clone(),
                (Source::Input, Some(Input::Text(text) | Input::Pipe(Some(text)))) => {
                    at.input = None;
                    self.parsed.inputs.get(text).map(|text| text.text.clone()).unwrap_or_default()
                }
                _ => continue,
            };
            lines.push((
                line,
                at,
                program.is_own.then_some(scope),
                run.folder.map(Cow::into_owned),
            ));
        }
        for (line, at, scope, folder) in lines {
            let is_own = scope.is_some();
            self.parsed.steps.extend(scope.map(Step::Open));
            self.parsed.steps.extend(folder.map(Step::Enter));
            self.enter(&line, &at);
            self.parsed.steps.extend(is_own.then_some(Step::Close));
        }
    }

    /// Reads a line within the line.
    fn enter(&mut self, line: &str, at: &At) {
        if self.effort.enter(line) {
            read(line, self.parsed, self.effort, at);
            self.effort.leave();
        } else {
            self.parsed.is_broken = true;
        }
    }

    /// Reads the substitutions in a text that the parser does not look into.
    pub(super) fn hidden(&mut self, text: &str, at: &At) {
        let Some(lines) = hidden::commands(text) else {
            self.parsed.is_broken = true;
            return;
        };
        for line in lines {
            self.substituted(&line, at);
        }
    }

    /// Reads a line whose output is put in.
    pub(super) fn substituted(&mut self, line: &str, at: &At) {
        self.parsed.substitutes = true;
        self.parsed.steps.push(Step::Open(Scope::Own));
        self.enter(line, at);
        self.parsed.steps.push(Step::Close);
    }
}

/// Whether it is this machine that one of these words names.
fn names_this(words: &[Word]) -> bool {
    words.iter().any(|word| {
        let host = word.text.rsplit('@').next().unwrap_or_default();
        is_here(host)
    })
}

/// Whether a host is the machine itself.
pub(crate) fn is_here(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let is_number = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    host == "localhost"
        || host.ends_with(".localhost")
        || matches!(host.as_str(), "[::1]" | "::1" | "0.0.0.0")
        || is_number && host.starts_with("127.")
}
