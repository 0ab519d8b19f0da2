//! Reads the input of a tool: what TOML says, as JSON.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::marks::{Marks, note, note_json};
use super::table::{Table, kind_of};

/// The input of a tool: a table, or JSON for what TOML cannot say.
pub(super) fn input(table: &mut Table<'_, '_>, marks: &mut Marks) -> Value {
    let empty = || Value::Object(serde_json::Map::new());
    if table.has("input") && table.has("input_json") {
        table.clash("input_json", "`input_json` does not go with `input`");
    }
    let (written, json_text) = (table.get("input"), table.string("input_json"));
    if let Some(value) = written {
        match value.get_ref() {
            DeValue::Table(fields) => return object(table, fields, marks),
            other => {
                let message = format!("expected a table, found {}", kind_of(other));
                table.trouble().add(value.span(), message);
            }
        }
    }
    let Some((text, span)) = json_text else { return empty() };
    match serde_json::from_str(&text) {
        Ok(json @ Value::Object(_)) => {
            note_json(table, &json, &span, marks);
            json
        }
        Ok(_) => {
            table.trouble().add(span, "expected a JSON object as the input of a tool".to_owned());
            empty()
        }
        Err(error) => {
            table.trouble().add(span, format!("not JSON: {error} of this text"));
            empty()
        }
    }
}

fn object(table: &Table<'_, '_>, fields: &DeTable<'_>, marks: &mut Marks) -> Value {
    let fields =
        fields.iter().map(|(key, value)| (key.get_ref().to_string(), json(table, value, marks)));
    Value::Object(fields.collect())
}

fn list(table: &Table<'_, '_>, items: &DeArray<'_>, marks: &mut Marks) -> Value {
    items.iter().map(|item| json(table, item, marks)).collect()
}

/// A value of TOML as JSON.
fn json(table: &Table<'_, '_>, value: &Spanned<DeValue<'_>>, marks: &mut Marks) -> Value {
    let problem = |message: String| {
        table.trouble().add(value.span(), message);
        Value::Null
    };
    match value.get_ref() {
        DeValue::String(text) => {
            note(table, text, &value.span(), marks);
            Value::String(text.to_string())
        }
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            Err(_) => problem(format!("{number} is too large; use `input_json`")),
        },
        DeValue::Float(number) => {
            let finite = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            match finite {
                Some(number) => Value::Number(number),
                None => problem(format!("JSON has no number {}", number.as_str())),
            }
        }
        DeValue::Boolean(boolean) => Value::Bool(*boolean),
        DeValue::Datetime(_) => problem("JSON has no dates; write it as a string".to_owned()),
        DeValue::Array(items) => list(table, items, marks),
        DeValue::Table(fields) => object(table, fields, marks),
    }
}
