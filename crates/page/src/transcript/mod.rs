//! The transcript of a session, made of its events.
//!
//! [`Transcript::event`] takes up what happened. What is shown then is asked for in one of two ways: all of
//! it, as HTML ([`Transcript::html`]), or what has changed, as patches of a page that has the rest
//! ([`Transcript::patches`]). Both are made of the same items by the same templates, so a page that was
//! there all the time and one that is opened now show the same.

mod fold;
mod frames;
mod item;
mod live;
mod notes;
mod patch;

use std::collections::HashMap;

use countersign_protocol::RawJson;
use countersign_server::id::{ApprovalId, MessageId};
use countersign_server::session::{ApprovalKind, Event, Happening, MessageContent};
use jiff::Timestamp;
use serde_json::json;

use self::fold::Fold;
pub(crate) use self::frames::{outcome, pictures};
use self::item::{Item, What};
pub use self::live::LIVE;
use self::live::Live;
pub use self::patch::{Patch, id};
use crate::call::{Call, Stage};
use crate::render::Html;

/// The element that the transcript is in.
pub const TRANSCRIPT: &str = "transcript";

/// How deep threads of agents are shown within each other.
const DEEPEST: usize = 6;

/// The transcript of a session, or of a part of its log.
#[derive(Debug, Default)]
pub struct Transcript {
    folder: String,
    /// Everything in it. What was shown and will not change any more is not kept.
    items: Vec<Option<Item>>,
    /// What stands in it, and not in something else.
    top: Vec<usize>,
    /// Calls, by their ids: those about which there may be more to say.
    calls: HashMap<String, usize>,
    /// Calls of an older part, which have no results yet: their tools and inputs.
    earlier: HashMap<String, (String, RawJson)>,
    /// Calls that have started agents, by their ids: they have threads, also after their results.
    agents: HashMap<String, usize>,
    /// What messages say that are not done with.
    words: HashMap<MessageId, MessageContent>,
    /// Those of them that were given to the CLI. They may come back while the turn lasts.
    sent: Vec<MessageId>,
    /// What is asked: of which kind, and for which call.
    approvals: HashMap<ApprovalId, (ApprovalKind, Option<String>)>,
    /// How many tokens were in the context when the model last said something.
    context: Option<u64>,
    /// What is being said.
    live: Live,
    /// What has changed since it was last asked for.
    changes: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    /// An item is new, in another one or at the top.
    Added { item: usize, within: Option<usize> },
    /// Something about a call has changed, or there is more in a fold.
    Changed(usize),
    /// An item is gone.
    Removed(String),
}

impl Transcript {
    /// The transcript of a session in this folder.
    #[must_use]
    pub fn new(folder: &str) -> Self {
        Self { folder: folder.to_owned(), ..Self::default() }
    }

    /// Takes note of what a message says, which is in no event that comes.
    pub fn know(&mut self, message: MessageId, content: MessageContent) {
        self.words.entry(message).or_insert(content);
    }

    /// Takes note of a call of an older part, of which the result may come.
    pub fn know_call(&mut self, call: &str, tool: &str, input: RawJson) {
        if !self.calls.contains_key(call) {
            self.earlier.insert(call.to_owned(), (tool.to_owned(), input));
        }
    }

    /// Takes up what happened.
    pub fn event(&mut self, event: &Event) {
        match &event.happening {
            Happening::MessageQueued(queued) => {
                self.words.insert(queued.message, queued.content.clone());
            }
            Happening::MessageEdited(edited) => {
                self.words.insert(edited.message, edited.content.clone());
            }
            Happening::MessageSent(sent) => {
                let content = self.words.get(&sent.message).cloned().unwrap_or_default();
                self.sent.push(sent.message);
                let id = id("u", &sent.message.to_string());
                self.add(None, id, event.at, What::Said(content));
            }
            Happening::MessageReturned(returned) => {
                self.remove(&id("u", &returned.message.to_string()));
            }
            Happening::MessageRemoved(removed) => drop(self.words.remove(&removed.message)),
            Happening::Frame(frame) => self.frame(&frame.line, event),
            other => self.note(other, event),
        }
        if matches!(event.happening, Happening::TurnEnded(_) | Happening::ProcessEnded(_)) {
            self.live.end();
        }
        if matches!(event.happening, Happening::TurnEnded(_)) {
            for message in std::mem::take(&mut self.sent) {
                self.words.remove(&message);
            }
            self.end_calls();
        }
    }

    /// The turn has ended: nothing more will be said of its calls. Of one without a result, nobody knows
    /// whether it ran.
    fn end_calls(&mut self) {
        for number in std::mem::take(&mut self.calls).into_values() {
            let is_open = |call: &Call| call.outcome.is_none() && call.stage == Stage::Running;
            let what = self.item(number).map(|item| &item.what);
            if matches!(what, Some(What::Call(call, _)) if is_open(call)) {
                self.change(number, |call| call.stage = Stage::Unknown);
            }
        }
    }

    /// What was being said is said again, from its beginning.
    pub fn say_again(&mut self) {
        self.live.end();
    }

    /// Takes up a piece of what is being said.
    pub fn delta(&mut self, frame: &str) {
        self.live.delta(frame);
    }

    /// Takes up what came of calls that are known, and nothing else: for events that are shown elsewhere.
    pub fn results(&mut self, event: &Event) {
        match &event.happening {
            Happening::Frame(frame) => self.frame_of_results(&frame.line, event),
            other => self.about_calls(other),
        }
    }

    /// How many tokens were in the context when the model last said something, if it has.
    #[must_use]
    pub const fn context(&self) -> Option<u64> {
        self.context
    }

    /// Whether there are calls without a result.
    #[must_use]
    pub fn has_open_calls(&self) -> bool {
        let is_open = |number: &usize| {
            let call = self.item(*number).map(|item| &item.what);
            matches!(call, Some(What::Call(call, _)) if call.outcome.is_none())
        };
        self.calls.values().any(is_open)
    }

    /// All of it.
    #[must_use]
    pub fn html(&self) -> Html {
        let mut html = Html::new();
        for item in &self.top {
            html.html(&self.shown(*item));
        }
        html
    }

    /// What has changed since this, or [`html`](Self::html) by way of [`settle`](Self::settle), was last
    /// asked for.
    pub fn patches(&mut self) -> Vec<Patch> {
        let changes = std::mem::take(&mut self.changes);
        // What was being said goes in the same moment in which the whole comes.
        let mut patches: Vec<Patch> = self.live.gone().into_iter().collect();
        for change in &changes {
            match change {
                Change::Added { item, within } => patches.extend(self.added(*item, *within)),
                Change::Changed(item) => patches.extend(self.changed(*item)),
                Change::Removed(id) => patches.push(Patch::Remove { id: id.clone() }),
            }
        }
        patches.extend(self.live.patches());
        self.settle();
        patches
    }

    /// What was shown is known to be: it is not a change any more, and what cannot change is forgotten.
    pub fn settle(&mut self) {
        self.changes.clear();
        let mut kept: Vec<usize> =
            self.calls.values().chain(self.agents.values()).copied().collect();
        // More may come to the last fold of each thread.
        let threads = kept.iter().filter_map(|call| self.thread(Some(*call)).last().copied());
        let last: Vec<usize> = threads.chain(self.top.last().copied()).collect();
        kept.extend(last);
        // How deep something stands is known from what it stands in.
        let mut next = 0;
        while let Some(number) = kept.get(next) {
            kept.extend(self.item(*number).and_then(|item| item.within));
            next += 1;
        }
        kept.sort_unstable();
        for (number, item) in self.items.iter_mut().enumerate() {
            if kept.binary_search(&number).is_err() {
                *item = None;
            }
        }
        self.top = self.top.last().copied().into_iter().collect();
    }

    fn item(&self, number: usize) -> Option<&Item> {
        self.items.get(number)?.as_ref()
    }

    fn item_mut(&mut self, number: usize) -> Option<&mut Item> {
        self.items.get_mut(number)?.as_mut()
    }

    /// What stands in the thread of a call, or at the top.
    fn thread(&self, call: Option<usize>) -> &[usize] {
        match call {
            None => &self.top,
            Some(call) => match self.item(call).map(|item| &item.what) {
                Some(What::Call(_, thread)) => thread,
                _ => &[],
            },
        }
    }

    /// The call in whose thread something belongs.
    fn call_of(&mut self, thread: Option<&str>, at: Timestamp) -> Option<usize> {
        let thread = thread?;
        // Agents are started by calls of more than one tool.
        if let Some(known) = self.agents.get(thread).or_else(|| self.calls.get(thread)).copied() {
            self.agents.insert(thread.to_owned(), known);
            return Some(self.shallow(known));
        }
        // It was made in an older part: what is known of it here is that it goes on.
        let input =
            RawJson::from_value(&json!({"description": "began earlier", "prompt": ""})).ok()?;
        let call = Call::new(thread.to_owned(), "Agent".to_owned(), input);
        let what = What::Call(Box::new(call), Vec::new());
        let number = self.push(None, Item::new(id("o", thread), at, what));
        self.agents.insert(thread.to_owned(), number);
        Some(number)
    }

    /// Where something stands that belongs to a thread that is too deep: in the one around it, which is
    /// never a fold, since only calls that look come into those.
    fn shallow(&self, mut call: usize) -> usize {
        let is_no_place = |item: &Item| item.depth >= DEEPEST || matches!(item.what, What::Fold(_));
        while let Some(item) = self.item(call).filter(|item| is_no_place(item)) {
            let Some(holder) = item.within else { break };
            call = holder;
        }
        call
    }

    /// Something new comes last in a thread.
    fn add(&mut self, thread: Option<&str>, id: String, at: Timestamp, what: What) -> usize {
        let within = self.call_of(thread, at);
        self.push(within, Item::new(id, at, what))
    }

    fn push(&mut self, within: Option<usize>, item: Item) -> usize {
        let number = self.items.len();
        let depth =
            within.and_then(|within| self.item(within)).map_or(0, |holder| holder.depth + 1);
        self.items.push(Some(Item { depth, within, ..item }));
        match within.and_then(|within| self.item_mut(within)).map(|item| &mut item.what) {
            Some(What::Call(_, thread)) => thread.push(number),
            Some(What::Fold(fold)) => fold.calls.push(number),
            _ => self.top.push(number),
        }
        self.changes.push(Change::Added { item: number, within });
        number
    }

    /// A call is made. Those that only look come together in a fold.
    fn call(&mut self, call: Call, thread: Option<&str>, at: Timestamp) {
        let (name, id) = (call.id.clone(), id("c", &call.id));
        let mut within = self.call_of(thread, at);
        let is_agent = call.is_agent();
        if call.is_quiet() {
            let last = self.thread(within).last().copied();
            let is_fold = |item: &Item| matches!(item.what, What::Fold(_));
            let fold = last.filter(|last| self.item(*last).is_some_and(is_fold));
            let fold = fold.unwrap_or_else(|| {
                let what = What::Fold(Fold::default());
                self.push(within, Item::new(format!("f-{id}"), at, what))
            });
            let line = call.line(&self.folder);
            if let Some(fold) = self.item_mut(fold).and_then(Item::fold) {
                fold.count(&call.tool, line);
            }
            self.changes.push(Change::Changed(fold));
            within = Some(fold);
        }
        let number = self.push(within, Item::new(id, at, What::Call(Box::new(call), Vec::new())));
        if is_agent {
            self.agents.insert(name.clone(), number);
        }
        self.calls.insert(name, number);
    }

    /// Something about a call has changed.
    fn update(&mut self, call: Option<&str>, change: impl FnOnce(&mut Call)) {
        let Some(number) = call.and_then(|call| self.number_of(call)) else { return };
        self.change(number, change);
    }

    /// Something about the call has changed that this item is. The fold that it is in may say so as well.
    fn change(&mut self, number: usize, change: impl FnOnce(&mut Call)) {
        let Some(item) = self.item_mut(number) else { return };
        let within = item.within;
        let What::Call(call, _) = &mut item.what else { return };
        let from = call.stage;
        change(call);
        let to = call.stage;
        self.changes.push(Change::Changed(number));
        let Some(holder) = within.filter(|_| from != to) else { return };
        if let Some(fold) = self.item_mut(holder).and_then(Item::fold) {
            fold.moved(from, to);
            self.changes.push(Change::Changed(holder));
        }
    }

    /// The item of a call. One of an older part has its place there, and none here.
    fn number_of(&mut self, call: &str) -> Option<usize> {
        if let Some(known) = self.calls.get(call) {
            return Some(*known);
        }
        let (tool, input) = self.earlier.remove(call)?;
        let what = What::Call(Box::new(Call::new(call.to_owned(), tool, input)), Vec::new());
        let number = self.items.len();
        self.items.push(Some(Item::new(id("c", call), Timestamp::UNIX_EPOCH, what)));
        self.calls.insert(call.to_owned(), number);
        Some(number)
    }

    fn remove(&mut self, id: &str) {
        let items = &self.items;
        self.top.retain(|number| {
            items.get(*number).and_then(Option::as_ref).is_none_or(|item| item.id != id)
        });
        self.changes.push(Change::Removed(id.to_owned()));
    }

    /// An item with all that is in it. Nothing is deeper than [`DEEPEST`], and a fold.
    fn shown(&self, number: usize) -> Html {
        let Some(item) = self.item(number) else { return Html::new() };
        let mut within = Html::new();
        let inside = match &item.what {
            What::Call(_, thread) => thread.as_slice(),
            What::Fold(fold) => &fold.calls,
            _ => &[],
        };
        for item in inside {
            within.html(&self.shown(*item));
        }
        item.html(&self.folder, &within)
    }

    fn added(&self, number: usize, within: Option<usize>) -> Option<Patch> {
        let item = self.item(number)?;
        let to = match within.and_then(|within| self.item(within)) {
            Some(holder) => holder.inside(),
            None => TRANSCRIPT.to_owned(),
        };
        // What is in it comes as a change of its own.
        let html = item.html(&self.folder, &Html::new());
        Some(Patch::Add { to, id: item.id.clone(), html })
    }

    fn changed(&self, number: usize) -> Vec<Patch> {
        let Some(item) = self.item(number) else { return Vec::new() };
        item.changed(&self.folder)
    }
}
