//! A quick look at what a text can have in it at all.
//!
//! Most strings of a tape are short and ordinary, and there are many rules. One search for the
//! words without which no rule finds anything saves asking each of them.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// One of at most 64 groups of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group(pub(super) u32);

/// The words, and the groups they belong to.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// Without one, any text may have anything in it.
    automaton: Option<AhoCorasick>,
    groups: Vec<Group>,
}

/// The groups whose words are in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present(u64);

impl Present {
    /// Whether the text has a word of a group.
    pub(super) const fn has(self, group: Group) -> bool {
        self.0 >> group.0 & 1 == 1
    }
}

impl Anchors {
    /// Takes the words; the case of letters makes no difference.
    pub(super) fn new(words: &[(&str, Group)]) -> Self {
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words.iter().map(|(word, _)| word));
        let groups = words.iter().map(|(_, group)| *group).collect();
        Self { automaton: automaton.ok(), groups }
    }

    /// Which groups have a word in a text.
    pub(super) fn present(&self, text: &[u8]) -> Present {
        let Some(automaton) = &self.automaton else { return Present(u64::MAX) };
        let found = automaton.find_overlapping_iter(text);
        Present(found.fold(0, |present, found| {
            let group = self.groups.get(found.pattern().as_usize());
            present | group.map_or(0, |group| 1 << group.0)
        }))
    }
}
