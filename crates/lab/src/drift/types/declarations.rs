//! The declarations of a TypeScript declaration file.
//!
//! Such files are written by tools: what is declared begins at the start of a line, with a word that
//! says so. That and the parentheses are all that is read; comments are left out.

use std::collections::{BTreeMap, BTreeSet};

/// A declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Declaration {
    /// It can be imported.
    pub(super) exported: bool,
    /// Its text, without comments, each member of a union and of a list on a line of its own.
    pub(super) lines: Vec<String>,
}

/// The words with which declarations begin.
const WORDS: [&str; 13] = [
    "export",
    "declare",
    "import",
    "type",
    "interface",
    "class",
    "abstract",
    "function",
    "const",
    "let",
    "var",
    "enum",
    "namespace",
];

/// What is said before the word that tells what is declared.
const MODIFIERS: [&str; 5] = ["export", "declare", "default", "abstract", "async"];

/// The name under which everything is that a file passes on from others.
const PASSED_ON: &str = "(passed on)";

/// The declarations of a file by name. Several of one name are one.
pub(super) fn declarations(text: &str) -> BTreeMap<String, Declaration> {
    let mut found: BTreeMap<String, Declaration> = BTreeMap::new();
    for statement in statements(text) {
        let Some(name) = name(&statement) else { continue };
        let declaration = found.entry(name).or_default();
        declaration.exported |= statement.starts_with("export");
        declaration.lines.extend(statement.lines().flat_map(broken));
    }
    found
}

impl Declaration {
    /// The members, if this is a union of literals and of names.
    pub(super) fn members(&self) -> Option<BTreeSet<&str>> {
        let mut lines = self.lines.iter();
        let (head, first) = lines.next()?.split_once('=')?;
        if !head.split_whitespace().any(|word| word == "type") {
            return None;
        }
        let mut members = BTreeSet::new();
        for line in std::iter::once(first).chain(lines.map(String::as_str)) {
            let member = line.trim().trim_start_matches('|').trim();
            if !member.is_empty() && !members.insert(member) {
                return None;
            }
        }
        let is_text = |member: &str| member.starts_with(['\'', '"']) && !member.contains(": ");
        let is_name = |member: &str| member.chars().all(|c| is_part_of_a_name(c) || c == '.');
        let is_union = members.len() > 1 || members.first().is_some_and(|only| is_text(only));
        let are_simple = members.iter().all(|member| is_text(member) || is_name(member));
        (is_union && are_simple).then_some(members)
    }
}

/// Cuts a text where declarations begin, and leaves comments out.
fn statements(text: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut current = String::new();
    let (mut depth, mut at_line_start) = (0_usize, true);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if at_line_start && depth == 0 && WORDS.iter().any(|word| begins_with_word(rest, word)) {
            statements.push(std::mem::take(&mut current));
        }
        at_line_start = c == '\n';
        let length = match c {
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
                continue;
            }
            '/' if rest.starts_with("/*") => {
                let end = rest.get(2..).and_then(|inner| inner.find("*/"));
                rest = end.and_then(|end| rest.get(end + 4..)).unwrap_or_default();
                continue;
            }
            '\'' | '"' | '`' => quoted(rest, c),
            _ => c.len_utf8(),
        };
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let (taken, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        current.push_str(taken);
        rest = behind;
    }
    statements.push(current);
    statements
}

fn begins_with_word(text: &str, word: &str) -> bool {
    let behind = text.strip_prefix(word).and_then(|rest| rest.chars().next());
    behind.is_some_and(|c| !is_part_of_a_name(c))
}

fn is_part_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// How long a quoted text is, with its quotes. One that does not end ends with its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' if quote != '`' => return at,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// What a statement declares; nothing, if it takes something from elsewhere for its own use.
fn name(statement: &str) -> Option<String> {
    let mut rest = statement.trim_start();
    loop {
        let end = rest.find(|c| !is_part_of_a_name(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        let behind = behind.trim_start();
        match word {
            "import" => return None,
            word if MODIFIERS.contains(&word) => rest = behind,
            word if WORDS.contains(&word) => {
                let end = behind.find(|c| !is_part_of_a_name(c)).unwrap_or(behind.len());
                let name = behind.get(..end).unwrap_or_default();
                // `export type * from` and `export type { … }` declare nothing of their own.
                let name = if name.is_empty() { PASSED_ON } else { name };
                return Some(name.to_owned());
            }
            "" if rest.starts_with(['{', '*']) => {
                // `export { }` only says that the file is a module.
                let empty = rest.trim_end().trim_end_matches(';').split_whitespace();
                return (empty.collect::<String>() != "{}").then(|| PASSED_ON.to_owned());
            }
            _ => return None,
        }
    }
}

/// A line, broken before each member of a union and behind each item of a list, so that a comparison
/// shows the member that changed and not all of them. What ends a line is left out: it moves on when
/// a member is added.
fn broken(line: &str) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut rest = line.trim();
    let mut lists = 0_usize;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("| ") {
            pieces.push(std::mem::take(&mut piece));
        }
        let length = if matches!(c, '\'' | '"' | '`') { quoted(rest, c) } else { c.len_utf8() };
        let (taken, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        piece.push_str(taken);
        match c {
            '[' => lists += 1,
            ']' => lists = lists.saturating_sub(1),
            ',' if lists > 0 => pieces.push(std::mem::take(&mut piece)),
            _ => {}
        }
        rest = behind;
    }
    pieces.push(piece);
    let pieces = pieces.iter().map(|piece| piece.trim().trim_end_matches(';'));
    let pieces = pieces.filter(|piece| !piece.is_empty()).enumerate();
    // What belongs to a line stands further to the right than the line.
    let indented = |(at, piece): (usize, &str)| {
        let indent = if at == 0 { indent } else { indent + 2 };
        format!("{}{piece}", " ".repeat(indent))
    };
    pieces.map(indented).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\
import type { UUID } from 'crypto';

/** Said: export declare type Nothing = 1; */
export declare class AbortError extends Error {
}

export declare type Mode = 'default' | 'plan'; // 'never'

declare type Request = {
    subtype: 'list_models'; /* type X */
    kind?: 'a' | \"b;}\" | `c${string}`;
};

export type Output =
  | {
      a: 1;
    }
  | null;
export interface Tool {
  name: string;
}
export declare function query(a: string, b?: number): void;
export declare function query(a: number): void;
export { one, two } from './sdk.js'
export type * from './sdk.js'
export { }
";

    #[test]
    fn unions_of_names_have_members() {
        let found = declarations("type A = B.C | D | null;\ntype E = F;\ntype G = H[] | I;\n");
        let members = found["A"].members().unwrap();
        assert_eq!(members.into_iter().collect::<Vec<_>>(), ["B.C", "D", "null"]);
        assert_eq!((found["E"].members(), found["G"].members()), (None, None));
    }

    #[test]
    fn declarations_are_told_apart() {
        let found = declarations(TEXT);
        let names: Vec<_> = found.keys().map(String::as_str).collect();
        let expected = ["(passed on)", "AbortError", "Mode", "Output", "Request", "Tool", "query"];
        assert_eq!(names, expected);
        assert!(found["Mode"].exported && !found["Request"].exported);
        assert_eq!(
            found["Request"].lines,
            [
                "declare type Request = {",
                "    subtype: 'list_models'",
                "    kind?: 'a'",
                "      | \"b;}\"",
                "      | `c${string}`",
                "}"
            ]
        );
        assert_eq!(found["query"].lines.len(), 2, "both are there");
        let members = found["Mode"].members().unwrap();
        assert_eq!(members.into_iter().collect::<Vec<_>>(), ["'default'", "'plan'"]);
        for other in ["Request", "Output", "Tool", "query"] {
            assert_eq!(found[other].members(), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_taken_apart(
            text in "(export |type A|declare | = |['\"`{}()|;/*\\\\\n,]|//|\\*/|é|\\PC){0,60}"
        ) {
            for declaration in declarations(&text).values() {
                declaration.members();
            }
        }
    }
}
