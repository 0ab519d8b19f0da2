//! Where a page of a list begins.
//!
//! A page begins after an item, and not after so many items: what is written meanwhile moves
//! nothing from one page to the next. To callers it is a text that means nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use super::error::StoreError;
use super::query::{Page, SessionOrder};

/// How many items a page has when nobody says how many.
const USUAL: usize = 100;
/// How many items a page has at most.
const MOST: usize = 1000;

/// How many items a page has.
pub(super) const fn page_size(limit: usize) -> usize {
    match limit {
        0 => USUAL,
        1..=MOST => limit,
        _ => MOST,
    }
}

/// Makes a page of what was found: one more than fits, if there is a next one.
pub(super) fn page<T>(mut found: Vec<(T, Cursor)>, size: usize, list: List) -> Page<T> {
    let more = found.len() > size;
    found.truncate(size);
    let next = found.last().filter(|_| more).map(|(_, cursor)| cursor.to_text(list));
    Page { items: found.into_iter().map(|(item, _)| item).collect(), next }
}

/// Which list it is a place in, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    SessionsByUpdate,
    SessionsByCreation,
    ApprovalsOldestFirst,
    ApprovalsNewestFirst,
    Audit,
}

impl List {
    pub(super) const fn sessions(order: SessionOrder) -> Self {
        match order {
            SessionOrder::Updated => Self::SessionsByUpdate,
            SessionOrder::Created => Self::SessionsByCreation,
        }
    }

    pub(super) const fn approvals(newest_first: bool) -> Self {
        if newest_first { Self::ApprovalsNewestFirst } else { Self::ApprovalsOldestFirst }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::SessionsByUpdate => "su",
            Self::SessionsByCreation => "sc",
            Self::ApprovalsOldestFirst => "ao",
            Self::ApprovalsNewestFirst => "an",
            Self::Audit => "au",
        }
    }
}

/// The last item of the page before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// What the list is sorted by: a time, or a number.
    pub(super) number: i64,
    /// And then by this.
    pub(super) id: Uuid,
}

impl Cursor {
    pub(super) const fn new(number: i64, id: Uuid) -> Self {
        Self { number, id }
    }

    /// The text that callers get.
    pub(super) fn to_text(self, list: List) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}.{}.{}", list.name(), self.number, self.id.simple()))
    }

    /// Reads what [`to_text`](Self::to_text) gave for the same list.
    pub(super) fn read(text: &str, list: List) -> Result<Self, StoreError> {
        let parse = || {
            let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
            let mut parts = text.split('.');
            let of_list = parts.next()? == list.name();
            let cursor = Self::new(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            (of_list && parts.next().is_none()).then_some(cursor)
        };
        parse().ok_or_else(|| StoreError::Cursor(text.chars().take(100).collect()))
    }

    /// Reads a cursor that may not be there.
    pub(super) fn read_some(text: Option<&str>, list: List) -> Result<Option<Self>, StoreError> {
        text.map(|text| Self::read(text, list)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_and_for_its_list_only() {
        let cursor = Cursor::new(-5, Uuid::from_u128(7));
        let text = cursor.to_text(List::Audit);
        assert_eq!(Cursor::read(&text, List::Audit).unwrap(), cursor);
        assert!(matches!(Cursor::read(&text, List::SessionsByUpdate), Err(StoreError::Cursor(_))));
    }

    #[test]
    fn a_text_that_is_no_cursor_is_refused() {
        let long = "x".repeat(10_000);
        for bad in ["", "!", "YXU", "0", "' OR 1=1 --", "\u{0}", &long] {
            let error = Cursor::read(bad, List::Audit).unwrap_err();
            assert!(matches!(error, StoreError::Cursor(_)), "{bad:?}");
            assert!(error.to_string().len() < 300, "{error}");
        }
    }

    #[test]
    fn a_page_is_never_empty_nor_endless() {
        assert_eq!([0, 1, 50, 1000, usize::MAX].map(page_size), [100, 1, 50, 1000, 1000]);
    }
}
