//! From the tree of a line to its commands, in the order in which they run.

use std::collections::HashMap;
use std::sync::Arc;

use tree_sitter::{Node, Tree};

use super::continued::continued;
use super::hidden;
use super::redirect::Made;
use super::tree::{Effort, tidied};
use super::word::{Word, words};
use super::{Input, Line, Scope, Stage, Step};

/// How deep commands may be nested. What is in the arguments of a command is kept with it, as text, so
/// without an end to it as much would be kept as the square of the length of a line.
const NESTED: usize = 64;

/// Where in a line something stands.
#[derive(Clone, Debug, Default)]
pub(super) struct At {
    /// In how many others.
    depth: usize,
    pub(super) stages: Arc<[Stage]>,
    pub(super) input: Option<Input>,
}

impl At {
    pub(super) fn in_stage(&self, pipeline: usize, place: usize) -> Self {
        let stages = self.stages.iter().copied().chain([Stage { pipeline, place }]).collect();
        Self { stages, input: self.input, depth: self.depth }
    }
}

/// What is left to do. It is a stack of our own: how deep commands are nested is not for them to
/// decide.
#[derive(Debug)]
pub(super) enum Work<'t> {
    Node(Node<'t>, At),
    Step(Step),
    /// Commands from here on stand in a word.
    Begin,
    /// To here: in these words of a command.
    Words(usize, std::ops::Range<usize>),
    /// To here: in these values, which a variable is set to.
    Values(String, Vec<Word>),
    /// To here: in this input.
    Input(usize),
    /// What a command runs that is written in its arguments, or in what it reads.
    Inner(usize, At),
}

/// What belongs to a node, but stands outside of it in the tree.
#[derive(Debug, Default)]
pub(super) struct Pending<'t> {
    pub(super) redirects: Vec<Node<'t>>,
    pub(super) words: Vec<Word>,
    pub(super) stage: Option<(usize, usize)>,
}

/// Reads a line into what was parsed so far.
pub(super) fn read(line: &str, parsed: &mut Line, effort: &mut Effort, at: &At) {
    let whole = continued(line, effort);
    if let Some(whole) = &whole {
        // What is written is not what runs.
        parsed.has_more |= whole.has_words;
        parsed.is_broken |= !whole.is_whole;
    }
    let line = whole.as_ref().map_or(line, |whole| &whole.line);
    let tree = effort.tree(line);
    if tree.as_ref().is_none_or(|tree| tree.root_node().has_error())
        && let Some(tidy) = tidied(line)
        && let Some(other) = effort.tree(&tidy)
        && !other.root_node().has_error()
    {
        return read_tree(&tidy, &other, parsed, effort, at);
    }
    match tree {
        Some(tree) => read_tree(line, &tree, parsed, effort, at),
        None => parsed.is_broken = true,
    }
}

fn read_tree(line: &str, tree: &Tree, parsed: &mut Line, effort: &mut Effort, at: &At) {
    let root = tree.root_node();
    parsed.is_broken |= root.has_error();
    let mut reader = Reader {
        line,
        parsed,
        effort,
        work: vec![Work::Node(root, at.clone())],
        pending: HashMap::new(),
        begun: Vec::new(),
    };
    reader.unseen(0, root.start_byte());
    reader.unseen(root.end_byte(), line.len());
    while let Some(work) = reader.work.pop() {
        reader.do_work(work);
    }
}

pub(super) struct Reader<'a, 't> {
    pub(super) line: &'a str,
    pub(super) parsed: &'a mut Line,
    pub(super) effort: &'a mut Effort,
    work: Vec<Work<'t>>,
    /// By the nodes that it belongs to.
    pub(super) pending: HashMap<usize, Pending<'t>>,
    /// How many commands there were where the words began that are being looked at.
    begun: Vec<usize>,
}

impl<'a, 't> Reader<'a, 't> {
    fn do_work(&mut self, work: Work<'t>) {
        match work {
            Work::Node(node, at) => self.node(node, at),
            Work::Step(step) => self.parsed.steps.push(step),
            Work::Begin => self.begun.push(self.parsed.commands.len()),
            Work::Words(command, words) => {
                let range = self.begun.pop().unwrap_or_default()..self.parsed.commands.len();
                let command = self.parsed.commands.get_mut(command);
                let words = command.and_then(|command| command.words.get_mut(words));
                for word in words.into_iter().flatten() {
                    let is_first = word.commands.is_empty();
                    let start = if is_first { range.start } else { word.commands.start };
                    word.commands = start..range.end;
                }
            }
            Work::Values(name, mut values) => {
                let range = self.begun.pop().unwrap_or_default()..self.parsed.commands.len();
                for word in &mut values {
                    word.commands = range.clone();
                }
                self.parsed.steps.push(Step::Set { name, values });
            }
            Work::Input(input) => {
                let range = self.begun.pop().unwrap_or_default()..self.parsed.commands.len();
                if let Some(word) = self.parsed.inputs.get_mut(input) {
                    word.commands = range;
                }
            }
            Work::Inner(command, at) => self.inner(command, &at),
        }
    }

    /// Puts work on the stack, so that the first of it is done first.
    pub(super) fn push(&mut self, work: Vec<Work<'t>>) {
        self.work.extend(work.into_iter().rev());
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'a str {
        self.line.get(node.byte_range()).unwrap_or_default()
    }

    fn node(&mut self, node: Node<'t>, mut at: At) {
        self.parsed.has_more |= node.is_named() && !is_ordinary(node.kind());
        if nests(node.kind()) {
            at.depth += 1;
            if at.depth > NESTED {
                // It is not looked at, which is said.
                self.parsed.is_broken = true;
                return;
            }
        }
        // Within a character there is nothing that ends.
        let ends = [node.start_byte(), node.end_byte()];
        self.parsed.is_broken |= ends.iter().any(|end| !self.line.is_char_boundary(*end));
        let pending = self.pending.remove(&node.id()).unwrap_or_default();
        match node.kind() {
            "redirected_statement" => return self.redirected(node, &at),
            "command" | "declaration_command" | "unset_command" => {
                return self.command(node, at, pending);
            }
            _ => {}
        }
        let mut work = Vec::new();
        let Pending { redirects, words, stage } = pending;
        if let Some((pipeline, place)) = stage {
            at = at.in_stage(pipeline, place);
            work.push(Work::Step(Step::Open(Scope::Own)));
        }
        let mut made = Made { words, ..Made::new(at, work) };
        self.redirects(&redirects, &mut made);
        self.parsed.is_broken |= !made.words.is_empty();
        let Made { at, mut work, .. } = made;
        self.parts(node, &at, &mut work);
        if stage.is_some() {
            work.push(Work::Step(Step::Close));
        }
        self.push(work);
    }

    /// What is in a node that is not a command.
    fn parts(&mut self, node: Node<'t>, at: &At, work: &mut Vec<Work<'t>>) {
        match node.kind() {
            "pipeline" => self.pipeline(node, at, work),
            "list" => self.list(node, at, work),
            "heredoc_body" => self.heredoc_body(node, at, work),
            // Of a function, or alone in a substitution: `$(< a)`.
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                let mut made = Made::new(at.clone(), Vec::new());
                self.redirects(&[node], &mut made);
                self.parsed.is_broken |= !made.words.is_empty();
                work.append(&mut made.work);
            }
            "simple_expansion" | "expansion" => self.expansion(node, at, work),
            // The parser takes `\`` for a letter, where it begins another one: so it is read again.
            "command_substitution" if hidden::has_escapes(self.text(node)) => {
                let in_quotes = node.parent().is_some_and(|parent| parent.kind() == "string");
                match hidden::unescaped(self.text(node), in_quotes) {
                    Some(inner) => self.substituted(&inner, at),
                    None => self.parsed.is_broken = true,
                }
            }
            "process_substitution" if self.text(node).starts_with('>') => {
                self.parsed.substitutes = true;
                let at = At { input: Some(Input::Pipe(None)), ..at.clone() };
                self.scoped(Scope::Own, node, &at, work);
            }
            "command_substitution" | "process_substitution" => {
                self.parsed.substitutes = true;
                self.scoped(Scope::Own, node, at, work);
            }
            "subshell" => self.scoped(Scope::Own, node, at, work),
            "do_group" | "case_statement" => self.scoped(Scope::Branches, node, at, work),
            "function_definition" => {
                let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
                self.scoped(Scope::Function(name.to_owned()), node, at, work);
            }
            "variable_assignment" => {
                let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
                let plain = name.split('[').next().unwrap_or_default();
                self.parsed.sets.push(plain.to_owned());
                let mut cursor = node.walk();
                let is_whole = node.children(&mut cursor).any(|child| child.kind() == "=");
                let value = node.child_by_field_name("value");
                let mut values = value.map_or_else(
                    || vec![Word::known("")],
                    |value| vec![Word::joined(&words(self.line, value), " ")],
                );
                if !is_whole || plain != name {
                    values = vec![Word::unknown(self.text(node))];
                }
                work.push(Work::Begin);
                self.children(node, at, work);
                work.push(Work::Values(plain.to_owned(), values));
            }
            "for_statement" => {
                let name = node.child_by_field_name("variable").map_or("", |name| self.text(name));
                let mut cursor = node.walk();
                let given = node.children_by_field_name("value", &mut cursor);
                let mut values: Vec<Word> =
                    given.flat_map(|value| words(self.line, value)).collect();
                if values.is_empty() {
                    values.push(Word::unknown("$@"));
                }
                work.push(Work::Step(Step::Set { name: name.to_owned(), values }));
                self.children(node, at, work);
            }
            "word" | "regex" | "extglob_pattern" if node.child_count() == 0 => {
                self.hidden(self.text(node), at);
            }
            _ => self.children(node, at, work),
        }
    }

    fn scoped(&mut self, scope: Scope, node: Node<'t>, at: &At, work: &mut Vec<Work<'t>>) {
        work.push(Work::Step(Step::Open(scope)));
        self.children(node, at, work);
        work.push(Work::Step(Step::Close));
    }

    /// All that is in a node, one after the other.
    fn children(&mut self, node: Node<'t>, at: &At, work: &mut Vec<Work<'t>>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let mut is_open = false;
        if is_whole(node.kind()) {
            self.gaps(&children);
        }
        for (number, child) in children.iter().enumerate() {
            match child.kind() {
                "elif_clause" | "else_clause" | "case_item" => work.push(Work::Step(Step::Next)),
                "then" if node.kind() == "if_statement" && !is_open => {
                    work.push(Work::Step(Step::Open(Scope::Branches)));
                    is_open = true;
                }
                _ => {}
            }
            if !child.is_named() {
                continue;
            }
            let inner = Work::Node(*child, at.clone());
            if children.get(number + 1).is_some_and(|next| next.kind() == "&") {
                let (open, close) = (Step::Open(Scope::Own), Step::Close);
                work.extend([Work::Step(open), inner, Work::Step(close)]);
            } else {
                work.push(inner);
            }
        }
        if is_open {
            work.push(Work::Step(Step::Close));
        }
    }

    /// What the parser left out between these nodes: then it did not understand what is there.
    pub(super) fn gaps(&mut self, children: &[Node<'_>]) {
        for pair in children.windows(2) {
            if let [before, after] = pair {
                self.unseen(before.end_byte(), after.start_byte());
            }
        }
    }

    pub(super) fn unseen(&mut self, from: usize, to: usize) {
        let gap = self.line.get(from..to).unwrap_or_default();
        self.parsed.is_broken |= !gap.replace("\\\n", " ").trim().is_empty();
    }

    fn expansion(&mut self, node: Node<'t>, at: &At, work: &mut Vec<Work<'t>>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let name = match child.kind() {
                "variable_name" => Some(child),
                "subscript" => child.child_by_field_name("name"),
                _ => None,
            };
            if let Some(name) = name {
                self.parsed.variables.push(self.text(name).to_owned());
            }
            work.push(Work::Node(child, at.clone()));
        }
    }
}

/// What a line of commands and nothing else is made of.
fn is_ordinary(kind: &str) -> bool {
    matches!(
        kind,
        "program"
            | "list"
            | "pipeline"
            | "command"
            | "command_name"
            | "word"
            | "number"
            | "string"
            | "string_content"
            | "raw_string"
            | "concatenation"
            | "redirected_statement"
            | "file_redirect"
            | "file_descriptor"
            | "comment"
    )
}

/// What can have more of the same in it, to any depth.
fn nests(kind: &str) -> bool {
    matches!(
        kind,
        "array"
            | "arithmetic_expansion"
            | "case_statement"
            | "command_substitution"
            | "compound_statement"
            | "expansion"
            | "for_statement"
            | "function_definition"
            | "if_statement"
            | "list"
            | "negated_command"
            | "process_substitution"
            | "subshell"
            | "test_command"
            | "while_statement"
    )
}

/// Nodes between whose parts there is nothing but blanks.
fn is_whole(kind: &str) -> bool {
    matches!(kind, "program" | "subshell" | "compound_statement" | "do_group" | "if_statement")
}
