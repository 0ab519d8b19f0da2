//! The fields of a form of an MCP server.

use countersign_protocol::ask::Elicitation;
use serde_json::Value;

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Its name in the answer.
    pub(super) name: String,
    /// Its name for people.
    pub(super) title: String,
    /// What it is for.
    pub(super) about: String,
    /// How it is filled in.
    pub(super) kind: Kind,
    /// What stands in it at first.
    pub(super) value: String,
    /// Whether it has to be filled in.
    pub(super) is_required: bool,
}

/// How a field is filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// With a text; with the type that the browser knows for it.
    Text(&'static str),
    /// With a number, or a whole number.
    Number(bool),
    /// With yes or no.
    Flag,
    /// With one of these: what is answered, and what is shown.
    Choice(Vec<(String, String)>),
}

/// The fields that are asked for, in their order.
pub(super) fn fields(asked: &Elicitation) -> Vec<Field> {
    let schema: Value = match &asked.requested_schema {
        Some(schema) => schema.decode().unwrap_or(Value::Null),
        None => Value::Null,
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required: Vec<&str> = match schema.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    let order = asked.property_order.as_deref().unwrap_or_default();
    let mut names: Vec<&String> = properties.keys().collect();
    names.sort_by_key(|name| order.iter().position(|known| known == *name).unwrap_or(usize::MAX));
    let field = |name: &String| {
        let property = properties.get(name)?;
        let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default();
        let value = match property.get("default") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        Some(Field {
            name: name.clone(),
            title: if text("title").is_empty() { name.clone() } else { text("title").to_owned() },
            about: text("description").to_owned(),
            kind: kind(property),
            value,
            is_required: required.contains(&name.as_str()),
        })
    };
    names.into_iter().filter_map(field).collect()
}

fn kind(property: &Value) -> Kind {
    let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let names = property.get("enumNames").and_then(Value::as_array);
        let choice = |(number, value): (usize, &Value)| {
            let value = value.as_str()?.to_owned();
            let name = names.and_then(|names| names.get(number)?.as_str());
            Some((value.clone(), name.map_or(value, str::to_owned)))
        };
        return Kind::Choice(values.iter().enumerate().filter_map(choice).collect());
    }
    match text("type") {
        "boolean" => Kind::Flag,
        "integer" => Kind::Number(true),
        "number" => Kind::Number(false),
        _ => Kind::Text(match text("format") {
            "email" => "email",
            "uri" => "url",
            "date" => "date",
            _ => "text",
        }),
    }
}
