//! Commands that are joined: by pipes, by `&&` and `||`, and by what stands behind a text to read.

use tree_sitter::Node;

use super::read::{At, Pending, Reader, Work};
use super::redirect::{Made, heredoc_tail};
use super::word::Word;
use super::{Input, Scope, Step};

impl<'t> Reader<'_, 't> {
    /// Puts redirects where they belong: `a && b > c` is about `b`.
    pub(super) fn redirected(&mut self, node: Node<'t>, at: &At) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let body = node.child_by_field_name("body");
        let mut pending = Pending::default();
        for pair in children.windows(2) {
            if let [before, after] = pair {
                let gap = self.line.get(before.end_byte()..after.start_byte()).unwrap_or_default();
                // The parser loses a `-` before a text to read.
                if gap.trim() == "-" {
                    pending.words.push(Word::known("-"));
                } else {
                    self.unseen(before.end_byte(), after.start_byte());
                }
            }
        }
        let target = body.map(last_of);
        pending.redirects.extend(children.iter().filter(|child| {
            matches!(child.kind(), "file_redirect" | "heredoc_redirect" | "herestring_redirect")
        }));
        let (Some(body), Some(target)) = (body, target) else {
            let mut made = Made::new(at.clone(), Vec::new());
            self.redirects(&pending.redirects, &mut made);
            let Made { at, mut work, words, anew, .. } = made;
            if words.is_empty() {
                self.empty(&anew);
            } else {
                let inner = self.add_command(node, words, at);
                let number = self.parsed.commands.len().saturating_sub(1);
                work.extend([Work::Step(Step::Command(number)), inner]);
            }
            return self.push(work);
        };
        let mut work = vec![Work::Node(body, at.clone())];
        for redirect in &pending.redirects {
            let Some(tail) = heredoc_tail(*redirect) else { continue };
            // What comes after the name of a text on the line of that name. If it stands in a later
            // line, the parser has taken the text for commands.
            let between = self.line.get(redirect.start_byte()..tail.node.start_byte());
            self.parsed.is_broken |= between.is_none_or(|between| between.contains('\n'));
            if let Some(scope) = tail.scope {
                work.insert(0, Work::Step(Step::Open(scope)));
                work.push(Work::Step(Step::Next));
                work.push(Work::Node(tail.node, at.clone()));
                work.push(Work::Step(Step::Close));
            } else {
                let pipeline = self.effort.pipeline();
                pending.stage = Some((pipeline, 0));
                let mut at = at.in_stage(pipeline, 1);
                at.input = Some(Input::Pipe(self.says(node, &at)));
                work.push(Work::Step(Step::Open(Scope::Own)));
                work.push(Work::Node(tail.node, at));
                work.push(Work::Step(Step::Close));
            }
        }
        let known = self.pending.entry(target.id()).or_default();
        known.redirects.append(&mut pending.redirects);
        known.words.append(&mut pending.words);
        known.stage = known.stage.or(pending.stage);
        self.push(work);
    }

    pub(super) fn pipeline(&mut self, node: Node<'t>, at: &At, work: &mut Vec<Work<'t>>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        self.gaps(&children);
        let pipeline = self.effort.pipeline();
        let mut before: Option<(Node<'t>, At)> = None;
        let stages = children.into_iter().filter(|child| child.is_named() && !child.is_extra());
        for (place, child) in stages.enumerate() {
            let mut at = at.in_stage(pipeline, place);
            if let Some((node, before)) = &before {
                at.input = Some(Input::Pipe(self.says(*node, before)));
            }
            work.push(Work::Step(Step::Open(Scope::Own)));
            work.push(Work::Node(child, at.clone()));
            work.push(Work::Step(Step::Close));
            before = Some((child, at));
        }
    }

    /// `a && b && c` as one, and `a || b`.
    pub(super) fn list(&mut self, node: Node<'t>, at: &At, work: &mut Vec<Work<'t>>) {
        let mut parts = Vec::new();
        let mut operator = None;
        let mut rest = Some(node);
        while let Some(list) = rest.take() {
            let mut cursor = list.walk();
            let children: Vec<Node<'t>> = list.children(&mut cursor).collect();
            let found = children.iter().find(|child| matches!(child.kind(), "&&" | "||"));
            let kind = found.map_or("&&", |found| found.kind());
            if operator.is_some_and(|operator| operator != kind) {
                parts.push(list);
                break;
            }
            operator = Some(kind);
            self.gaps(&children);
            let named = children.into_iter().filter(|c| c.is_named() && !c.is_extra());
            for (number, part) in named.collect::<Vec<_>>().into_iter().enumerate().rev() {
                if number == 0 && part.kind() == "list" {
                    rest = Some(part);
                } else {
                    parts.push(part);
                }
            }
        }
        let scope = if operator == Some("||") { Scope::Or } else { Scope::And };
        work.push(Work::Step(Step::Open(scope)));
        for (number, part) in parts.into_iter().rev().enumerate() {
            if number > 0 {
                work.push(Work::Step(Step::Next));
            }
            work.push(Work::Node(part, at.clone()));
        }
        work.push(Work::Step(Step::Close));
    }
}

/// The part of a statement that redirects behind it are for.
pub(super) fn last_of(mut node: Node<'_>) -> Node<'_> {
    loop {
        let inner = match node.kind() {
            "list" | "pipeline" | "negated_command" => {
                let mut cursor = node.walk();
                node.named_children(&mut cursor).filter(|child| !child.is_extra()).last()
            }
            "redirected_statement" => node.child_by_field_name("body"),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}
