//! A tape as a page: the sequence diagram of the conversation, in one HTML file.
//!
//! The page opens from the disk and needs nothing else: its style and script are in it, and its
//! policy lets a browser load nothing at all.
//!
//! ```no_run
//! use std::fs::File;
//!
//! use countersign_record::page::{Diagram, page};
//!
//! let diagram = Diagram::open("session.tape")?;
//! page(File::create("session.html")?, "session.tape", &[diagram])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Diagrams in another page
//!
//! A page of one's own has [`STYLE`] and [`SCRIPT`] once, and a [`Section`] for each diagram. A
//! section holds its frames as data and is drawn when it can be seen for the first time, so that
//! sixty of them are as quick as one. [`policy`] makes the content security policy of such a page.
//!
//! ```
//! use countersign_record::page::{SCRIPT, STYLE, policy};
//!
//! let own = "body{margin:0}";
//! let policy = policy(&[STYLE, own], &[SCRIPT]);
//! assert!(policy.starts_with("default-src 'none'; "));
//! ```
//!
//! # What a tape cannot do
//!
//! Everything on a tape comes from outside. It stands in the page as JSON in which no character
//! means anything to a browser, and nowhere else; the script shows it as text. Characters that
//! cannot be seen, or that turn the order of others around, are shown by their numbers.
//!
//! Memory and the size of the page are bounded by [`Limits`]; what was left out is said on the page.

mod data;
mod diagram;
mod html;
mod label;
mod turns;

pub use self::diagram::{Diagram, Limits};
pub use self::html::{SCRIPT, STYLE, Section, escape, page, policy};
