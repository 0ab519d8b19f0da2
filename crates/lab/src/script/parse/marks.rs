//! Where the variables and labels of an answer stand in its file.

use std::ops::Range;

use serde_json::Value;

use super::super::template::{self, Piece};
use super::table::Table;

/// The variables and labels of an answer, each with its place.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) variables: Vec<(String, Range<usize>)>,
    pub(super) labels: Vec<(String, Range<usize>)>,
}

/// Notes the variables of a text, each with its place.
pub(super) fn note(table: &Table<'_, '_>, text: &str, span: &Range<usize>, marks: &mut Marks) {
    let source = table.trouble().text(span.clone());
    let mut from = 0;
    for piece in template::pieces(text) {
        match piece {
            Ok(Piece::Text(_)) => {}
            Ok(Piece::Variable(name)) => {
                let written = format!("${{{name}}}");
                let found = source.get(from..).and_then(|rest| rest.find(&written));
                // Escapes can hide it: then the text as a whole is the place.
                let place = found.map_or(span.clone(), |at| {
                    let start = span.start + from + at;
                    from += at + written.len();
                    start..start + written.len()
                });
                marks.variables.push((name.to_owned(), place));
            }
            Err(template::Unclosed) => {
                let message = "`${` without its `}`; write `$${` for a `${` that is meant";
                table.trouble().add(span.clone(), message.to_owned());
            }
        }
    }
}

pub(super) fn note_json(
    table: &Table<'_, '_>,
    value: &Value,
    span: &Range<usize>,
    marks: &mut Marks,
) {
    match value {
        Value::String(text) => note(table, text, span, marks),
        Value::Array(items) => {
            items.iter().for_each(|item| note_json(table, item, span, marks));
        }
        Value::Object(fields) => {
            fields.values().for_each(|field| note_json(table, field, span, marks));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
