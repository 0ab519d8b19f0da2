//! From rules to places: what has to change in a line, wherever it stands in it.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

use super::assignment::skip_scheme;
use super::edit::Place;
use super::json::{Leaf, LeafKind, leaves};
use super::known::Known;
use super::names::{Name, announces, is_value};
use super::placeholder::{Placeholders, is_word, placeholders};
use super::rules::{PLACEHOLDERS, Rules};
use super::secret::{Hit, Identity};
use super::stream::{StreamEvent, stream_event};
use super::view::View;

/// How many layers of escapes are undone.
const MAX_LAYERS: usize = 8;

/// How much of a word that goes on after a secret goes with it, at most.
const MAX_SWALLOWED: usize = 1024;

/// Finds secrets in lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finder<'a> {
    pub(super) rules: &'a Rules,
    /// What is known already, where that counts.
    pub(super) known: Option<&'a Known>,
}

/// A text with some layers of escapes undone.
struct Layer<'a> {
    view: &'a View<'a>,
    /// The layer further out.
    outer: Option<&'a Self>,
    /// Where the source of the outermost layer begins in the line.
    offset: usize,
    /// How many layers of escapes lie between this text and the line.
    depth: usize,
    /// The placeholders that stand in the text already.
    done: Placeholders,
}

impl<'a> Layer<'a> {
    fn outermost(view: &'a View<'a>, offset: usize, depth: usize) -> Self {
        Self { view, outer: None, offset, depth, done: Placeholders::default() }
    }

    fn inside(view: &'a View<'a>, outer: &'a Self) -> Self {
        let (depth, done) = (outer.depth + 1, Placeholders::default());
        Self { view, outer: Some(outer), offset: 0, depth, done }
    }

    /// Whether a part of the text has a placeholder in it, here or further out, where what
    /// follows may still be an escape.
    fn has_placeholder(&self, range: &Range<usize>) -> bool {
        self.done.overlap(range)
            || self.outer.is_some_and(|outer| outer.has_placeholder(&self.view.source(range)))
    }

    /// Whether a part of the text is part of a placeholder.
    fn is_placeholder(&self, range: &Range<usize>) -> bool {
        self.done.cover(range)
    }

    /// Where a part of the text stands in the line.
    fn source(&self, range: &Range<usize>) -> Range<usize> {
        let range = self.view.source(range);
        match self.outer {
            Some(outer) => outer.source(&range),
            None => range.start + self.offset..range.end + self.offset,
        }
    }
}

impl Finder<'_> {
    /// Finds everything in a line, except in the part of a stream that the line may carry: that
    /// is handed back, to be looked at together with the parts before and after it.
    pub(super) fn line(&self, line: &[u8], places: &mut Vec<Place>) -> Option<StreamEvent> {
        let Some(leaves) = leaves(line) else {
            self.text(line, places);
            return None;
        };
        let event = stream_event(line, &leaves);
        let part = match &event {
            Some(StreamEvent::Part(part)) => Some(part.leaf),
            _ => None,
        };
        for (at, leaf) in leaves.iter().enumerate() {
            if part != Some(at) {
                self.leaf(line, &leaves, leaf, places);
            }
        }
        event
    }

    /// Finds everything in a text that is not JSON.
    pub(super) fn text(&self, text: &[u8], places: &mut Vec<Place>) {
        let view = View::plain(text);
        self.layer(Layer::outermost(&view, 0, 0), places);
    }

    /// Finds everything in the text of a string that was taken out of its line.
    pub(super) fn string(&self, text: &[u8], places: &mut Vec<Place>) {
        let view = View::plain(text);
        self.layer(Layer::outermost(&view, 0, 1), places);
    }

    /// Finds everything in one string, key or number of a line.
    pub(super) fn leaf(&self, line: &[u8], leaves: &[Leaf], leaf: &Leaf, places: &mut Vec<Place>) {
        let source = line.get(leaf.span.clone()).unwrap_or_default();
        if leaf.kind == LeafKind::Number {
            self.number(source, leaf.span.start, places);
            return;
        }
        let view = View::unescaped(source);
        if let Some(name) = self.name_of(line, leaves, leaf) {
            self.named(&view, leaf.span.start, name, places);
        }
        self.layer(Layer::outermost(&view, leaf.span.start, 1), places);
    }

    /// The name that calls a string secret: its key, the flag before it in a list, or the `name`
    /// that stands beside it where its key is `value`.
    fn name_of(&self, line: &[u8], leaves: &[Leaf], leaf: &Leaf) -> Option<Name> {
        if leaf.kind != LeafKind::Text || !self.rules.has_named() {
            return None;
        }
        let spelled = |at: Option<usize>| {
            let span = leaves.get(at?)?.span.clone();
            Some(View::unescaped(line.get(span)?).into_parts().0)
        };
        let key = spelled(leaf.holder);
        let by_key = key.as_deref().and_then(announces);
        let by_flag = || {
            let flag = spelled(leaf.previous)?;
            announces(&flag).filter(|_| flag.starts_with(b"-"))
        };
        let beside = || {
            let key_at = leaf.holder.filter(|_| key.as_deref() == Some(b"value"))?;
            // A pair before `"value":"…"`, or the one after it, in the same object.
            [key_at.checked_sub(2), Some(key_at + 2)].into_iter().flatten().find_map(|at| {
                let (name, text) = (leaves.get(at)?, leaves.get(at + 1)?);
                let (first, second) = if at < key_at { (text, key_at) } else { (leaf, at) };
                let between = line.get(first.span.end..leaves.get(second)?.span.start)?;
                let pairs = name.is_key() && text.kind == LeafKind::Text && text.holder == Some(at);
                let is_name = matches!(spelled(Some(at))?.as_ref(), b"name" | b"key");
                let together = pairs && is_name && memchr2(b'{', b'}', between).is_none();
                announces(&spelled(Some(at + 1))?).filter(|_| together)
            })
        };
        by_key.or_else(by_flag).or_else(beside)
    }

    /// Takes a whole string for a secret, because its name says so.
    fn named(&self, view: &View<'_>, offset: usize, name: Name, places: &mut Vec<Place>) {
        let text = view.text();
        let (range, value) = skip_scheme(name, 0..text.len(), Cow::Borrowed(text));
        let done = placeholders(text).any(|found| found.range == range);
        if done || !is_value(&value) {
            return;
        }
        let Some((secret, form)) = self.rules.named_value(value, name.announced) else { return };
        let source = view.source(&range);
        places.push(Place {
            range: source.start + offset..source.end + offset,
            identity: Identity::Found(secret),
            form,
            depth: 1,
            quoted: false,
        });
    }

    /// Takes out a number in which something is found, all of it.
    fn number(&self, number: &[u8], offset: usize, places: &mut Vec<Place>) {
        let mut hits = Vec::new();
        self.rules.scan_number(number, self.known, &mut hits);
        places.extend(hits.into_iter().map(|hit| Place {
            range: offset..offset + number.len(),
            identity: hit.identity,
            form: hit.form,
            depth: 0,
            quoted: true,
        }));
    }

    /// Finds everything in a layer, and in those further in.
    fn layer(&self, mut layer: Layer<'_>, places: &mut Vec<Place>) {
        let text = layer.view.text();
        let inner = View::unescaped(text);
        let present = self.rules.present(text);
        if present.has(PLACEHOLDERS) {
            layer.done = Placeholders::of(text);
        }
        let mut hits = Vec::new();
        self.rules.scan(text, present, self.known, &mut hits);
        for hit in hits {
            let (range, quoted) = settle_range(text, &hit, &inner);
            let context = hit.context.start.min(range.start)..hit.context.end.max(range.end);
            // What begins in one string of the text further out and ends in another is not there.
            let straddles = layer.outer.is_some() && layer.view.has_bare_quote(&context);
            let is_done = match hit.identity {
                // What is known goes unless it is part of what stands there instead of a secret.
                Identity::Known(_) => layer.is_placeholder(&range),
                Identity::Found(_) => layer.has_placeholder(&context),
            };
            if range.is_empty() || straddles || is_done {
                continue;
            }
            places.push(Place {
                range: layer.source(&range),
                identity: hit.identity,
                form: hit.form,
                depth: layer.depth,
                quoted,
            });
        }
        if inner.is_changed() && layer.depth < MAX_LAYERS {
            self.layer(Layer::inside(&inner, &layer), places);
        }
    }
}

/// What is replaced for a hit, and whether the placeholder needs quotes of its own.
fn settle_range(text: &[u8], hit: &Hit, inner: &View<'_>) -> (Range<usize>, bool) {
    let mut range = hit.range.clone();
    if hit.form.is_word() {
        // `\nbob@…` may be a line break and Bob. In a path, the backslash is a separator.
        range = inner.whole_escapes(&range);
    }
    let rest = text.get(range.end..).unwrap_or_default();
    range.end += rest.iter().take(MAX_SWALLOWED).take_while(|byte| is_word(**byte)).count();
    let is_continuation = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    range.end += count_while(text.get(range.end..), is_continuation);
    while range.start > 0 && text.get(range.start).is_some_and(is_continuation) {
        range.start -= 1;
    }
    match bare_number(text, &range) {
        Some(number) => (number, true),
        None => (range, false),
    }
}

/// The number of a JSON text that a range is part of. A word in its place would need quotes.
fn bare_number(text: &[u8], range: &Range<usize>) -> Option<Range<usize>> {
    let is_number =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    if !text.get(range.clone())?.iter().all(is_number) {
        return None;
    }
    let before = text.get(..range.start)?;
    let start = range.start - before.iter().rev().take_while(|byte| is_number(byte)).count();
    let end = range.end + count_while(text.get(range.end..), is_number);
    let is_space = |byte: &&u8| byte.is_ascii_whitespace();
    let previous = text.get(..start)?.iter().rev().find(|byte| !is_space(byte));
    let next = text.get(end..)?.iter().find(|byte| !is_space(byte));
    let is_value =
        matches!(previous, Some(b':' | b',' | b'[')) && matches!(next, Some(b',' | b'}' | b']'));
    is_value.then_some(start..end)
}

fn count_while(text: Option<&[u8]>, holds: impl Fn(&u8) -> bool) -> usize {
    text.unwrap_or_default().iter().take_while(|byte| holds(byte)).count()
}
