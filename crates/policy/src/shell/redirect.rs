//! Redirects, and texts that stand in the line for a command to read.

use tree_sitter::Node;

use super::join::last_of;
use super::read::{At, Reader, Work};
use super::word::{Word, unescaped, words};
use super::{Input, Redirect, Run, Scope, Step, run};

/// What comes of redirects.
pub(super) struct Made<'t> {
    /// Where what they are for stands: what it reads.
    pub(super) at: At,
    /// What is to do before it.
    pub(super) work: Vec<Work<'t>>,
    /// Words behind them, which belong to what they are for.
    pub(super) words: Vec<Word>,
    /// The redirects, by their numbers, to files that lose what they had.
    pub(super) anew: Vec<usize>,
    /// Where those stand that are written to as if by a pipe.
    pub(super) pipe: Option<At>,
}

impl<'t> Made<'t> {
    pub(super) fn new(at: At, work: Vec<Work<'t>>) -> Self {
        Self { at, work, words: Vec::new(), anew: Vec::new(), pipe: None }
    }
}

/// What comes after the name of a text on the same line: `cat <<EOF | b`, `cat <<EOF && b`.
pub(super) struct Tail<'t> {
    pub(super) node: Node<'t>,
    /// How it is joined, or a pipe.
    pub(super) scope: Option<Scope>,
}

pub(super) fn heredoc_tail(redirect: Node<'_>) -> Option<Tail<'_>> {
    if redirect.kind() != "heredoc_redirect" {
        return None;
    }
    if let Some(node) = redirect.child_by_field_name("right") {
        let operator = redirect.child_by_field_name("operator");
        let is_or = operator.is_some_and(|operator| operator.kind() == "||");
        return Some(Tail { node, scope: Some(if is_or { Scope::Or } else { Scope::And }) });
    }
    let mut cursor = redirect.walk();
    let pipeline = redirect.named_children(&mut cursor).find(|c| c.kind() == "pipeline")?;
    Some(Tail { node: pipeline.named_child(0)?, scope: None })
}

impl<'t> Reader<'_, 't> {
    /// Makes redirects, in their order.
    pub(super) fn redirects(&mut self, redirects: &[Node<'t>], made: &mut Made<'t>) {
        // There can be more of them in those that begin a text.
        let mut open: Vec<Node<'t>> = redirects.iter().rev().copied().collect();
        while let Some(redirect) = open.pop() {
            match redirect.kind() {
                "file_redirect" => self.file(redirect, made),
                "herestring_redirect" => {
                    self.parsed.has_more = true;
                    let mut cursor = redirect.walk();
                    let text = redirect.named_children(&mut cursor).last();
                    if let Some(node) = text {
                        let text = Word::joined(&words(self.line, node), " ");
                        self.text_input(redirect, text, Some(node), made);
                    }
                }
                "heredoc_redirect" => {
                    self.parsed.has_more = true;
                    let mut cursor = redirect.walk();
                    for argument in redirect.children_by_field_name("argument", &mut cursor) {
                        made.words.extend(words(self.line, argument));
                        made.work.push(Work::Node(argument, made.at.clone()));
                    }
                    let mut inner: Vec<Node<'t>> =
                        redirect.children_by_field_name("redirect", &mut cursor).collect();
                    open.extend(inner.drain(..).rev());
                    if let Some(text) = self.heredoc(redirect) {
                        let body = heredoc_body(redirect).filter(|_| !is_quoted(self, redirect));
                        self.text_input(redirect, text, body, made);
                    }
                }
                _ => {}
            }
        }
    }

    fn file(&mut self, redirect: Node<'t>, made: &mut Made<'t>) {
        let mut cursor = redirect.walk();
        let targets: Vec<Node<'t>> =
            redirect.children_by_field_name("destination", &mut cursor).collect();
        let Some((first, behind)) = targets.split_first() else { return };
        for node in behind {
            // Of `>& a 0>&1` the parser makes a word of the number before the second redirect.
            let is_descriptor = self.text(*node).bytes().all(|byte| byte.is_ascii_digit())
                && self
                    .line
                    .get(node.end_byte()..)
                    .is_some_and(|rest| rest.starts_with(['<', '>']));
            if is_descriptor {
                continue;
            }
            made.words.extend(words(self.line, *node));
            made.work.push(Work::Node(*node, made.at.clone()));
        }
        let operator = redirect.children(&mut cursor).find(|child| !child.is_named());
        let operator = operator.map_or("", |operator| self.text(operator));
        let mut several = words(self.line, *first);
        let target =
            if several.len() == 1 { several.remove(0) } else { Word::joined(&several, " ") };
        // To another descriptor, and not to a file.
        let is_number = target.text.chars().all(|c| c.is_ascii_digit() || c == '-');
        if operator.ends_with(['&', '-']) && is_number {
            return;
        }
        let writes = operator.contains('>');
        if !writes {
            let input = self.parsed.inputs.len();
            self.parsed.inputs.push(target.clone());
            if is_standard(self.descriptor(redirect)) {
                made.at.input = Some(Input::File(input));
            }
            made.work.extend([
                Work::Begin,
                Work::Node(*first, made.at.clone()),
                Work::Input(input),
            ]);
        } else if first.kind() == "process_substitution" {
            // It is as if there was a pipe: `a > >(b)`. There is one for all of them.
            let end = match &made.pipe {
                Some(end) => end.clone(),
                None => {
                    let pipeline = self.effort.pipeline();
                    let end = made.at.in_stage(pipeline, 1);
                    made.at = made.at.in_stage(pipeline, 0);
                    made.pipe.insert(end).clone()
                }
            };
            made.work.push(Work::Node(*first, end));
        } else {
            made.work.push(Work::Node(*first, made.at.clone()));
        }
        if matches!(operator, ">" | ">|" | "&>") {
            made.anew.push(self.parsed.redirects.len());
        }
        made.work.push(Work::Step(Step::Redirect(self.parsed.redirects.len())));
        self.parsed.redirects.push(Redirect { target, writes, empties: false });
    }

    /// Nothing is written to these files.
    pub(super) fn empty(&mut self, redirects: &[usize]) {
        for number in redirects {
            if let Some(redirect) = self.parsed.redirects.get_mut(*number) {
                redirect.empties = true;
            }
        }
    }

    /// A text that is read, and the node in which there can be commands.
    fn text_input(
        &mut self,
        redirect: Node<'t>,
        text: Word,
        node: Option<Node<'t>>,
        made: &mut Made<'t>,
    ) {
        let input = self.parsed.inputs.len();
        self.parsed.inputs.push(text);
        if let Some(node) = node {
            made.work.extend([Work::Begin, Work::Node(node, made.at.clone()), Work::Input(input)]);
        }
        if is_standard(self.descriptor(redirect)) {
            made.at.input = Some(Input::Text(input));
        }
    }

    fn descriptor(&self, redirect: Node<'_>) -> Option<&str> {
        redirect.child_by_field_name("descriptor").map(|descriptor| self.text(descriptor))
    }

    /// The text that begins with `<<`, as the command reads it, with variables as they are written.
    fn heredoc(&self, redirect: Node<'_>) -> Option<Word> {
        let body = heredoc_body(redirect)?;
        let mut cursor = redirect.walk();
        let strips = redirect.children(&mut cursor).any(|child| child.kind() == "<<-");
        let mut text = self.text(body).to_owned();
        if strips {
            let lines = text.split_inclusive('\n').map(|line| line.trim_start_matches('\t'));
            text = lines.collect();
        }
        if is_quoted(self, redirect) {
            return Some(Word::known(text));
        }
        let is_open = text.contains(['$', '`']);
        Some(Word { text: unescaped(&text), is_open, ..Word::default() })
    }

    /// The text of which commands are looked for that the parser did not see in it.
    pub(super) fn heredoc_body(&mut self, body: Node<'t>, at: &At, work: &mut Vec<Work<'t>>) {
        let mut seen = String::new();
        let mut from = body.start_byte();
        let mut cursor = body.walk();
        for child in body.named_children(&mut cursor).filter(|c| c.kind() != "heredoc_content") {
            if child.kind() == "command_substitution" {
                seen.push_str(self.line.get(from..child.start_byte()).unwrap_or_default());
                from = child.end_byte();
            }
            work.push(Work::Node(child, at.clone()));
        }
        seen.push_str(self.line.get(from..body.end_byte()).unwrap_or_default());
        self.hidden(&seen, at);
    }

    /// The text that a command writes, where that can be told, by its number among the inputs.
    pub(super) fn says(&mut self, node: Node<'_>, at: &At) -> Option<usize> {
        let (mut node, mut input) = (node, at.input);
        let mut heredoc = None;
        loop {
            let mut cursor = node.walk();
            match node.kind() {
                "command" => break,
                "redirected_statement" => {
                    let found =
                        node.named_children(&mut cursor).find(|c| c.kind() == "heredoc_redirect");
                    heredoc = heredoc.or(found);
                    let last = last_of(node);
                    if last == node {
                        return None;
                    }
                    node = last;
                }
                "subshell" | "compound_statement" if node.named_child_count() == 1 => {
                    node = node.named_child(0)?;
                }
                _ => return None,
            }
        }
        let mut list = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "herestring_redirect" => {
                    let mut inner = child.walk();
                    let text = child.named_children(&mut inner).last()?;
                    self.parsed.inputs.push(Word::joined(&words(self.line, text), " "));
                    input = Some(Input::Text(self.parsed.inputs.len() - 1));
                }
                "file_redirect" | "variable_assignment" | "subshell" => return None,
                _ => list.extend(words(self.line, child)),
            }
        }
        let runs = run::runs(&list);
        let [run] = runs.as_slice() else { return None };
        let text = match run.program {
            "echo" | "printf" => said(run),
            "cat" | "tee"
                if run.program == "tee" || run.arguments.iter().all(|w| w.text == "-") =>
            {
                match (heredoc, input) {
                    (Some(heredoc), _) => self.heredoc(heredoc),
                    (None, Some(Input::Text(text) | Input::Pipe(Some(text)))) => return Some(text),
                    _ => None,
                }
            }
            _ => None,
        }?;
        self.parsed.inputs.push(text);
        Some(self.parsed.inputs.len() - 1)
    }
}

/// What `echo` and `printf` write, near enough to be read as commands.
fn said(run: &Run<'_>) -> Option<Word> {
    if run.program == "echo" {
        let is_option = |word: &&Word| matches!(&*word.text, "-n" | "-e" | "-E" | "-ne" | "-en");
        let words = run.arguments.iter().skip_while(is_option);
        let mut text = Word::joined(words, " ");
        text.text = text.text.replace("\\n", "\n");
        return Some(text);
    }
    let (format, values) = run.arguments.split_first()?;
    if values.is_empty() {
        return Some(Word { text: format.text.replace("\\n", "\n"), ..format.clone() });
    }
    Some(Word::joined(values, "\n"))
}

fn is_standard(descriptor: Option<&str>) -> bool {
    descriptor.is_none_or(|descriptor| descriptor == "0")
}

fn heredoc_body(redirect: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = redirect.walk();
    redirect.named_children(&mut cursor).find(|child| child.kind() == "heredoc_body")
}

/// Whether nothing is put into a text: its name stands in quotes.
fn is_quoted(reader: &Reader<'_, '_>, redirect: Node<'_>) -> bool {
    let mut cursor = redirect.walk();
    let start = redirect.named_children(&mut cursor).find(|child| child.kind() == "heredoc_start");
    start.is_some_and(|start| reader.text(start).contains(['\'', '"', '\\']))
}
