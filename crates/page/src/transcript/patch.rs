//! What is to be done on a page.

use serde::Serialize;
use serde::ser::SerializeMap as _;

use crate::render::Html;

/// One thing that is to be done on a page. Elements are named by their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch {
    /// Something new comes last in an element, unless it is on the page already.
    Add {
        /// In which element.
        to: String,
        /// What is new.
        id: String,
        /// It.
        html: Html,
    },
    /// Something new comes first in an element, unless it is on the page already.
    First {
        /// In which element.
        to: String,
        /// What is new.
        id: String,
        /// It.
        html: Html,
    },
    /// An element becomes another one. Nothing happens where it is not on the page.
    Put {
        /// Which element.
        id: String,
        /// What it becomes.
        html: Html,
    },
    /// What is in an element becomes something else.
    Fill {
        /// Which element.
        id: String,
        /// What is in it then.
        html: Html,
    },
    /// An element goes.
    Remove {
        /// Which.
        id: String,
    },
}

impl Serialize for Patch {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (op, id, html) = match self {
            Self::Add { id, html, .. } => ("add", id, Some(html)),
            Self::First { id, html, .. } => ("first", id, Some(html)),
            Self::Put { id, html } => ("put", id, Some(html)),
            Self::Fill { id, html } => ("fill", id, Some(html)),
            Self::Remove { id } => ("remove", id, None),
        };
        map.serialize_entry("op", op)?;
        map.serialize_entry("id", id)?;
        if let Self::Add { to, .. } | Self::First { to, .. } = self {
            map.serialize_entry("to", to)?;
        }
        if let Some(html) = html {
            map.serialize_entry("html", html.as_str())?;
        }
        map.end()
    }
}

/// The id of an element for something that has a name from outside.
#[must_use]
pub fn id(kind: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.len() <= 80 && name.chars().all(is_plain) {
        return format!("{kind}-{name}");
    }
    let hex: String = name.bytes().take(60).map(|byte| format!("{byte:02x}")).collect();
    format!("{kind}-x{}-{hex}", name.len())
}
