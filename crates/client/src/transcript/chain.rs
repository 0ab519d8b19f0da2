//! Which entries of a transcript are the conversation, and in which order.

use std::collections::{HashMap, HashSet};

use super::index::{Entry, EntryKind, Id, Index};

/// Whose conversation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversation {
    /// That of the session.
    Main,
    /// That of a sub-agent, whose entries are all beside the main conversation.
    Subagent,
}

impl Conversation {
    /// Whether an entry can be the last one of it.
    fn may_end_with(self, entry: &Entry) -> bool {
        let aside = self == Self::Main && (entry.sidechain || entry.team);
        entry.kind.is_spoken() && !entry.meta && !aside
    }
}

/// The entries that a reader sees, as positions in the index, in the order of the conversation.
///
/// A transcript is a tree: an entry names its parent, and what was rewound or written by parallel
/// calls are branches. The conversation is the way from the last message to the root. A response
/// with parallel calls is one entry a block, and each result has its own call for a parent; those
/// that are not on the way are put back after the last entry of their response that is.
/// `logicalParentUuid` is not followed, because the summary of a compacted conversation stands for
/// what was before.
pub(crate) fn visible(index: &Index, conversation: Conversation, system: bool) -> Vec<usize> {
    let tree = Tree::new(index);
    let chain = tree.chain(conversation);
    let mut all = tree.with_parallel_calls(chain);
    all.retain(|&at| {
        let Some(entry) = index.entries().get(at) else { return false };
        let aside = conversation == Conversation::Main && (entry.sidechain || entry.team);
        let wanted = entry.kind.is_spoken() || system && entry.kind == EntryKind::System;
        wanted && !aside && !entry.meta
    });
    all
}

struct Tree<'a> {
    entries: &'a [Entry],
    /// The entry of each uuid. When one stands twice, the last counts.
    by_uuid: HashMap<Id, usize>,
}

impl<'a> Tree<'a> {
    fn new(index: &'a Index) -> Self {
        let entries = index.entries();
        let by_uuid = entries.iter().enumerate().map(|(at, entry)| (entry.uuid, at)).collect();
        Self { entries, by_uuid }
    }

    /// The entries that count, with their positions.
    fn each(&self) -> impl Iterator<Item = (usize, &'a Entry)> {
        let counts = |(at, entry): &(usize, &Entry)| self.by_uuid.get(&entry.uuid) == Some(at);
        self.entries.iter().enumerate().filter(counts)
    }

    fn get(&self, uuid: Id) -> Option<(usize, &'a Entry)> {
        let at = *self.by_uuid.get(&uuid)?;
        Some((at, self.entries.get(at)?))
    }

    /// The way from the root to the last message.
    fn chain(&self, conversation: Conversation) -> Vec<usize> {
        let spoken = |entry: &Entry| entry.kind.is_spoken();
        let last = |wanted: &dyn Fn(&Entry) -> bool| self.entries.iter().rposition(wanted);
        let leaf = last(&|entry| conversation.may_end_with(entry)).or_else(|| last(&spoken));
        let leaf = leaf.map(|at| self.newest_descendant(at, conversation));
        let leaf = leaf.and_then(|at| self.entries.get(at));
        let mut chain = Vec::new();
        let mut seen = HashSet::new();
        let mut next = leaf.map(|leaf| leaf.uuid);
        // Whoever writes a circle gets each of its entries once.
        while let Some((at, entry)) =
            next.filter(|&uuid| seen.insert(uuid)).and_then(|id| self.get(id))
        {
            chain.push(at);
            next = entry.parent;
        }
        chain.reverse();
        chain
    }

    /// Returns the last message of the branch that an entry begins, if its first child is written before
    /// it, as 2.1.62 does on a busy machine. A rewound branch stands after its parent.
    fn newest_descendant(&self, at: usize, conversation: Conversation) -> usize {
        let Some(start) = self.entries.get(at) else { return at };
        let before = self.entries.iter().take_while(|entry| entry.uuid != start.uuid);
        if !before.into_iter().any(|entry| entry.parent == Some(start.uuid)) {
            return at;
        }
        let children = self.entries.iter().enumerate();
        let mut newest_child: HashMap<_, _> =
            children.filter_map(|(at, entry)| Some((entry.parent?, at))).collect();
        let (mut newest, mut entry) = (at, start);
        // Each step is taken once, so a circle ends.
        while let Some(child) = newest_child.remove(&entry.uuid) {
            let Some(next) = self.entries.get(child) else { break };
            if conversation.may_end_with(next) {
                newest = child;
            }
            entry = next;
        }
        newest
    }

    /// Puts back the calls and results that parallel calls left off the way.
    fn with_parallel_calls(&self, chain: Vec<usize>) -> Vec<usize> {
        let mut anchors: HashMap<Id, usize> = HashMap::new();
        for &at in &chain {
            if let Some(response) = self.entries.get(at).and_then(|entry| entry.response) {
                anchors.insert(response, at);
            }
        }
        if anchors.is_empty() {
            return chain;
        }
        let responses = Responses::new(self, &anchors);
        let mut taken: HashSet<usize> = chain.iter().copied().collect();
        let mut answered: HashSet<Id> = HashSet::new();
        for entry in chain.iter().filter_map(|&at| self.entries.get(at)) {
            if entry.is_result {
                answered.extend(&*entry.calls);
            }
        }
        let mut all = Vec::with_capacity(chain.len());
        for at in chain {
            all.push(at);
            let response = self.entries.get(at).and_then(|entry| entry.response);
            // After the last entry of a response on the way, and nowhere else.
            if let Some(response) = response.filter(|response| anchors.get(response) == Some(&at)) {
                responses.put_back(response, &mut taken, &mut answered, &mut all);
            }
        }
        all
    }
}

/// The responses on the way: their entries, and the results that may belong to them.
struct Responses<'a> {
    entries: &'a [Entry],
    members: HashMap<Id, Vec<usize>>,
    /// By the response: results whose parent is one of its entries, or that say so themselves.
    results: HashMap<Id, Vec<usize>>,
}

impl<'a> Responses<'a> {
    fn new(tree: &Tree<'a>, wanted: &HashMap<Id, usize>) -> Self {
        let mut members: HashMap<Id, Vec<usize>> = HashMap::new();
        // The response that makes a call; none if two responses claim it.
        let mut makers: HashMap<Id, Option<Id>> = HashMap::new();
        for (at, entry) in tree.each() {
            let Some(response) = entry.response else { continue };
            if wanted.contains_key(&response) {
                members.entry(response).or_default().push(at);
            }
            for call in &entry.calls {
                let maker = makers.entry(*call).or_insert(Some(response));
                *maker = maker.filter(|maker| *maker == response);
            }
        }
        let mut results: HashMap<Id, Vec<usize>> = HashMap::new();
        for (at, entry) in tree.each().filter(|(_, entry)| entry.is_result) {
            let Some(parent) = entry.parent else { continue };
            let of = |uuid: Id| tree.get(uuid).and_then(|(_, entry)| entry.response);
            let same_writer = |uuid: &Id| {
                tree.get(*uuid).is_some_and(|(_, source)| {
                    (source.sidechain, source.agent) == (entry.sidechain, entry.agent)
                })
            };
            let made = entry.calls.iter().find_map(|call| makers.get(call).copied().flatten());
            let response =
                of(parent).or_else(|| entry.source.filter(same_writer).and_then(of)).or(made);
            if let Some(response) = response.filter(|response| wanted.contains_key(response)) {
                results.entry(response).or_default().push(at);
            }
        }
        Self { entries: tree.entries, members, results }
    }

    fn put_back(
        &self,
        response: Id,
        taken: &mut HashSet<usize>,
        answered: &mut HashSet<Id>,
        all: &mut Vec<usize>,
    ) {
        let members = self.members.get(&response).map_or(&[][..], Vec::as_slice);
        let uuids: HashSet<Id> = self.of(members).map(|entry| entry.uuid).collect();
        let calls: HashSet<Id> = self.of(members).flat_map(|entry| entry.calls.to_vec()).collect();
        let mut siblings: Vec<usize> =
            members.iter().copied().filter(|at| !taken.contains(at)).collect();
        let is_own = |entry: &Entry| entry.parent.is_some_and(|parent| uuids.contains(&parent));
        // In the order of the calls, and those with another parent behind them: what has one of
        // our entries for a parent has the better claim to answer a call.
        let mut places: HashMap<Id, usize> = HashMap::new();
        for (place, entry) in self.of(members).enumerate() {
            for id in entry.calls.iter().chain([&entry.uuid]) {
                places.entry(*id).or_insert(place);
            }
        }
        let mut found: Vec<usize> = self.results.get(&response).cloned().unwrap_or_default();
        found.retain(|at| !taken.contains(at));
        found.sort_by_cached_key(|at| {
            let entry = self.entries.get(*at)?;
            let names = entry.calls.iter().chain(&entry.parent).chain(&entry.source);
            let place = names.filter_map(|id| places.get(id)).min().filter(|_| is_own(entry));
            Some((!is_own(entry), place.copied()))
        });
        let mut results: Vec<usize> = Vec::new();
        for at in found {
            let Some(entry) = self.entries.get(at) else { continue };
            // A result with another parent counts if a call of the response has no other.
            let open =
                entry.calls.iter().any(|call| calls.contains(call) && !answered.contains(call));
            if is_own(entry) || open {
                answered.extend(&*entry.calls);
                results.push(at);
            }
        }
        // Stable, so that entries of the same time stay in the order that they have.
        let time = |at: &usize| self.entries.get(*at).map(|entry| entry.time);
        siblings.sort_by_key(time);
        results.sort_by_key(time);
        for at in siblings.into_iter().chain(results) {
            taken.insert(at);
            all.push(at);
        }
    }

    fn of(&self, positions: &[usize]) -> impl Iterator<Item = &'a Entry> {
        positions.iter().filter_map(|&at| self.entries.get(at))
    }
}
