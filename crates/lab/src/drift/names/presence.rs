//! Which names stand in an executable at all.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};

use super::Kind;
use super::chunks::Chunk;

/// Looks for names as text, wherever they are.
#[derive(Debug)]
pub(super) struct Presence<'a> {
    names: &'a [(Kind, String)],
    automaton: AhoCorasick,
    seen: BTreeSet<usize>,
}

impl<'a> Presence<'a> {
    pub(super) fn new(names: &'a [(Kind, String)]) -> Result<Self, BuildError> {
        // A flag may stand beside its argument or in a sentence; all other names are whole texts.
        let texts = names.iter().map(|(kind, name)| match kind {
            Kind::Flag => name.clone(),
            _ => format!("\"{name}\""),
        });
        let automaton = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(texts)?;
        Ok(Self { names, automaton, seen: BTreeSet::new() })
    }

    pub(super) fn search(&mut self, chunk: Chunk<'_>) {
        // Overlapping, because one flag may be the beginning of another.
        for found in self.automaton.find_overlapping_iter(chunk.bytes) {
            let index = found.pattern().as_usize();
            if self.seen.contains(&index) {
                continue;
            }
            let is_flag = self.names.get(index).is_some_and(|(kind, _)| *kind == Kind::Flag);
            if !is_flag || is_whole(chunk, found.start(), found.end()) {
                self.seen.insert(index);
            }
        }
    }

    /// The names that were seen.
    pub(super) fn seen(self) -> BTreeSet<(Kind, String)> {
        self.seen.into_iter().filter_map(|index| self.names.get(index).cloned()).collect()
    }
}

/// Whether a flag is not a part of a longer one. At the edge of a piece nobody can tell; the piece
/// beside it has it in its middle.
fn is_whole(chunk: Chunk<'_>, start: usize, end: usize) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let before = match start.checked_sub(1).and_then(|at| chunk.bytes.get(at)) {
        Some(&byte) => !belongs(byte),
        None => chunk.first,
    };
    let behind = match chunk.bytes.get(end) {
        Some(&byte) => !belongs(byte),
        None => chunk.last,
    };
    before && behind
}
