//! Texts as HTML: Markdown, code, diffs, and the few words that a page is made of.

pub mod code;
pub mod diff;
mod html;
pub mod json;
pub mod markdown;
pub mod visible;
pub mod words;

pub use self::html::Html;
