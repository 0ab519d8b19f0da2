//! The fields of a form of an MCP server.

use countersign_protocol::ask::Elicitation;
use serde_json::Value;

use crate::render::json;

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
    /// What stands in it at first: a text as it is, anything else as JSON.
    pub(super) value: String,
    /// It as JSON; null if there is nothing.
    pub(super) default: Value,
    /// What the answer has to be like: attributes that browsers know, and their values.
    pub(super) limits: Vec<(&'static str, String)>,
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
    /// With one of these: what is answered, as JSON, and what is shown.
    Choice(Vec<(String, String)>),
    /// With any of these.
    Several(Vec<(String, String)>),
    /// With JSON: there is no other way to write it.
    Json,
}

/// The fields that are asked for, in their order.
pub(super) fn fields(asked: &Elicitation) -> Vec<Field> {
    let schema = asked.requested_schema.as_ref().and_then(json::value).unwrap_or_default();
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
            default: property.get("default").cloned().unwrap_or_default(),
            limits: limits(property),
            is_required: required.contains(&name.as_str()),
        })
    };
    names.into_iter().filter_map(field).collect()
}

impl Field {
    /// Whether a choice, as JSON, is made at first.
    pub(super) fn is_chosen(&self, choice: &str) -> bool {
        let chosen = match &self.default {
            Value::Null => &[],
            Value::Array(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        };
        chosen.iter().map(Value::to_string).any(|value| value == choice)
    }
}

/// What an answer has to be like.
fn limits(property: &Value) -> Vec<(&'static str, String)> {
    let known = [
        ("minLength", "minlength"),
        ("maxLength", "maxlength"),
        ("minimum", "min"),
        ("maximum", "max"),
        ("pattern", "pattern"),
    ];
    let limit = |(key, name): (&str, &'static str)| match property.get(key)? {
        Value::String(text) => Some((name, text.clone())),
        Value::Number(number) => Some((name, number.to_string())),
        _ => None,
    };
    known.into_iter().filter_map(limit).collect()
}

fn kind(property: &Value) -> Kind {
    let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(choices) = choices(property) {
        return Kind::Choice(choices);
    }
    match text("type") {
        "boolean" => Kind::Flag,
        "integer" => Kind::Number(true),
        "number" => Kind::Number(false),
        "array" => match property.get("items").and_then(choices) {
            Some(choices) => Kind::Several(choices),
            None => Kind::Json,
        },
        "object" => Kind::Json,
        _ => Kind::Text(match text("format") {
            "email" => "email",
            "uri" => "url",
            "date" => "date",
            _ => "text",
        }),
    }
}

/// What there is to choose from, if that is said: each as JSON, and for people.
fn choices(property: &Value) -> Option<Vec<(String, String)>> {
    let list = |key: &str| property.get(key).and_then(Value::as_array);
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(values) = list("enum") {
        let names = list("enumNames");
        let choice = |(number, value): (usize, &Value)| {
            let name = names.and_then(|names| names.get(number)?.as_str());
            (value.to_string(), name.map_or_else(|| shown(value), str::to_owned))
        };
        return Some(values.iter().enumerate().map(choice).collect());
    }
    let choice = |choice: &Value| {
        let value = choice.get("const")?;
        let title = choice.get("title").and_then(Value::as_str);
        Some((value.to_string(), title.map_or_else(|| shown(value), str::to_owned)))
    };
    list("oneOf").or_else(|| list("anyOf"))?.iter().map(choice).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_is_filled_in_as_its_schema_says() {
        let pairs = |all: &[(&str, &str)]| {
            all.iter().map(|(value, name)| ((*value).to_owned(), (*name).to_owned())).collect()
        };
        for (schema, wanted) in [
            (json!({"type": "string"}), Kind::Text("text")),
            (json!({"type": "string", "format": "email"}), Kind::Text("email")),
            (json!({"type": "integer"}), Kind::Number(true)),
            (json!({"type": "boolean"}), Kind::Flag),
            (json!({"type": "object"}), Kind::Json),
            (json!({"type": "array", "items": {"type": "string"}}), Kind::Json),
            (
                json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A"]}),
                Kind::Choice(pairs(&[("\"a\"", "A"), ("\"b\"", "b")])),
            ),
            (json!({"enum": [1, null]}), Kind::Choice(pairs(&[("1", "1"), ("null", "null")]))),
            (
                json!({"oneOf": [{"const": "x", "title": "X"}, {"const": 2}]}),
                Kind::Choice(pairs(&[("\"x\"", "X"), ("2", "2")])),
            ),
            (
                json!({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}),
                Kind::Several(pairs(&[("\"x\"", "X")])),
            ),
        ] {
            assert_eq!(kind(&schema), wanted, "{schema}");
        }
    }
}
