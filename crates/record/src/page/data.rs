//! Data in a page, as JSON that a browser does not take for anything else.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::is_hidden;

/// Writes a value as JSON without a `<`, `>` or `&`, without a character that ends a line, and
/// without one that cannot be seen. A parser reads from it what was put in.
pub(super) fn write(out: impl io::Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, Inert);
    Ok(value.serialize(&mut serializer)?)
}

/// Writes such characters by their numbers.
struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(meant) {
            let (plain, from) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut characters = from.chars();
            if let Some(character) = characters.next() {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Whether a character could mean something to whoever reads the page.
fn meant(c: char) -> bool {
    matches!(c, '<' | '>' | '&') || c.is_control() || is_hidden(c)
}
