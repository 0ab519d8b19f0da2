//! What an MCP server wants to know, field by field.

use countersign::protocol::RawJson;
use countersign::protocol::ask::{Elicitation, ElicitationMode};
use serde_json::{Map, Value};

use super::choices::{Choice, Choices};
use super::field::Field;
use super::{Decision, Reaction};
use crate::run::terminal::keys::Key;
use crate::run::view::line::{Line, Tone, lines};

/// How a field is filled in.
#[derive(Clone, Debug)]
enum Way {
    /// By typing.
    Text(Field),
    /// By choosing one of these values.
    One(Choices, Vec<Value>),
}

/// What is asked for.
#[derive(Clone, Debug)]
struct Asked {
    name: String,
    title: String,
    about: String,
    kind: String,
    is_needed: bool,
    way: Way,
}

/// What an MCP server wants to know.
#[derive(Clone, Debug)]
pub(crate) struct FormDialog {
    /// Who asks.
    server: Line,
    /// What it says.
    head: Vec<Line>,
    fields: Vec<Asked>,
    /// The field that is being filled in. After the last it is asked whether to send it.
    at: usize,
    values: Map<String, Value>,
    last: Choices,
    problem: Option<String>,
}

impl FormDialog {
    /// None if what is asked for cannot be asked here.
    pub(crate) fn new(ask: &Elicitation) -> Option<Self> {
        let server = ask.display_name.as_deref().unwrap_or(&ask.mcp_server_name);
        let server = Line::of(Tone::Bold, &format!("The MCP server {server} asks"));
        let mut head = Vec::new();
        head.extend(ask.title.as_deref().map(|title| Line::of(Tone::Accent, title)));
        head.extend(lines(Tone::Plain, &ask.message));
        let mut fields = Vec::new();
        if ask.mode == Some(ElicitationMode::Url) {
            let url = ask.url.as_deref()?;
            head.push(Line::of(Tone::Dim, "It is answered on this page, if you trust it:"));
            head.push(Line::of(Tone::Code, url));
        } else if let Some(schema) = &ask.requested_schema {
            fields = fields_of(&schema.decode().ok()?, ask.property_order.as_deref())?;
        }
        let yes = if fields.is_empty() { "Yes" } else { "Send this" };
        let last =
            Choices::new(vec![Choice::new(yes, Some('y')), Choice::new("No, decline", Some('n'))]);
        Some(Self { server, head, fields, at: 0, values: Map::new(), last, problem: None })
    }

    pub(crate) fn key(&mut self, key: &Key) -> Reaction {
        self.problem = None;
        if *key == Key::Escape {
            return Reaction::Decided(Decision::Deny(None));
        }
        let Some(asked) = self.fields.get_mut(self.at) else {
            return match (key, self.last.key(key)) {
                (Key::Left | Key::BackTab, _) => self.back(),
                (_, Some(0)) => self.send(),
                (_, Some(_)) => Reaction::Decided(Decision::Deny(None)),
                _ => Reaction::Stay,
            };
        };
        let value = match (&mut asked.way, key) {
            (_, Key::BackTab) => return self.back(),
            (Way::Text(field), Key::Enter) => match value_of(asked.kind.as_str(), &field.text()) {
                Ok(None) if asked.is_needed => Err("This is needed.".to_owned()),
                value => value,
            },
            (Way::Text(field), key) => {
                field.key(key);
                return Reaction::Stay;
            }
            (Way::One(choices, values), key) => match choices.key(key) {
                Some(at) => Ok(values.get(at).cloned()),
                None => return Reaction::Stay,
            },
        };
        match value {
            Ok(Some(value)) => drop(self.values.insert(asked.name.clone(), value)),
            Ok(None) => drop(self.values.remove(&asked.name)),
            Err(problem) => {
                self.problem = Some(problem);
                return Reaction::Stay;
            }
        }
        self.at += 1;
        Reaction::Stay
    }

    fn back(&mut self) -> Reaction {
        self.at = self.at.saturating_sub(1);
        Reaction::Stay
    }

    fn send(&mut self) -> Reaction {
        match RawJson::from_value(&self.values) {
            Ok(values) => Reaction::Decided(Decision::Form(values)),
            Err(error) => {
                self.problem = Some(error.to_string());
                Reaction::Stay
            }
        }
    }

    /// What it says is printed above a dialog that the window is too low for.
    pub(crate) fn opening(&self, columns: usize, rows: usize) -> Vec<Line> {
        if fits(&self.full(), columns, rows) { Vec::new() } else { self.above() }
    }

    pub(crate) fn lines(&self, columns: usize, rows: usize) -> Vec<Line> {
        let full = self.full();
        if fits(&full, columns, rows) {
            return full;
        }
        // Who asks stands next to the field: a server that says much is not to be taken for another.
        let mut shown = self.filled_in();
        shown.push(self.server.clone().kept());
        shown.extend(self.field());
        shown
    }

    fn full(&self) -> Vec<Line> {
        let mut shown = self.above();
        shown.push(Line::new());
        shown.extend(self.filled_in());
        shown.extend(self.field());
        shown
    }

    fn above(&self) -> Vec<Line> {
        std::iter::once(&self.server).chain(&self.head).cloned().collect()
    }

    fn filled_in(&self) -> Vec<Line> {
        let fields = self.fields.iter().take(self.at).map(|asked| {
            let value = self.values.get(&asked.name).map(ToString::to_string).unwrap_or_default();
            Line::of(Tone::Dim, &format!("{}: ", asked.title)).and(Tone::Plain, &value)
        });
        fields.collect()
    }

    /// The field that is being filled in, or whether to send it.
    fn field(&self) -> Vec<Line> {
        let mut shown = Vec::new();
        match self.fields.get(self.at) {
            Some(asked) => {
                let need = if asked.is_needed { "" } else { " (may be left empty)" };
                let title = Line::of(Tone::Bold, &asked.title).and(Tone::Dim, need);
                shown.push(title.kept());
                shown.extend(lines(Tone::Dim, &asked.about));
                match &asked.way {
                    Way::Text(field) => shown.extend(field.lines("> ", Tone::Plain)),
                    Way::One(choices, _) => shown.extend(choices.lines(|_| "")),
                }
            }
            None => shown.extend(self.last.lines(|_| "")),
        }
        shown.extend(self.problem.as_deref().map(|problem| Line::of(Tone::Bad, problem).kept()));
        let keys = "Enter goes on · Shift-Tab goes back · Esc declines";
        shown.push(Line::of(Tone::Dim, keys).kept());
        shown
    }
}

fn fits(panel: &[Line], columns: usize, rows: usize) -> bool {
    panel.iter().flat_map(|line| line.wrapped(columns)).count() <= rows
}

/// The fields of a schema: plain ones, as the protocol has them. None if there are others.
fn fields_of(schema: &Value, order: Option<&[String]>) -> Option<Vec<Asked>> {
    let properties = schema.get("properties")?.as_object()?;
    let needed: Vec<&str> = match schema.get("required") {
        Some(needed) => needed.as_array()?.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    let mut names: Vec<&String> = properties.keys().collect();
    if let Some(order) = order {
        names.sort_by_key(|name| order.iter().position(|at| at == *name).unwrap_or(usize::MAX));
    }
    let field = |name: &String| {
        let schema = properties.get(name)?;
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = text("type").unwrap_or_else(|| "string".to_owned());
        let is_needed = needed.contains(&name.as_str());
        let named = |values: Vec<Value>, mut labels: Vec<String>| {
            // Without a value of its own.
            labels.extend((!is_needed).then(|| "(leave it empty)".to_owned()));
            let choices = labels.into_iter().map(|label| Choice::new(label, None)).collect();
            let mut choices = Choices::new(choices);
            let default = schema.get("default");
            choices.go_to(values.iter().position(|value| Some(value) == default).unwrap_or(0));
            Way::One(choices, values)
        };
        let way = match (&*kind, schema.get("enum")) {
            (_, Some(values)) => {
                let values = values.as_array()?.clone();
                let names = schema.get("enumNames").and_then(Value::as_array);
                let label = |(at, value): (usize, &Value)| {
                    let name = names.and_then(|names| names.get(at)).unwrap_or(value);
                    name.as_str().map_or_else(|| name.to_string(), str::to_owned)
                };
                let labels = values.iter().enumerate().map(label).collect();
                named(values, labels)
            }
            ("boolean", None) => named(
                vec![Value::Bool(true), Value::Bool(false)],
                vec!["Yes".to_owned(), "No".to_owned()],
            ),
            ("string" | "number" | "integer", None) => {
                let default = schema.get("default").map(|default| {
                    default.as_str().map_or_else(|| default.to_string(), str::to_owned)
                });
                Way::Text(Field::new(&default.unwrap_or_default()))
            }
            _ => return None,
        };
        Some(Asked {
            title: text("title").unwrap_or_else(|| name.clone()),
            about: text("description").unwrap_or_default(),
            is_needed,
            name: name.clone(),
            kind,
            way,
        })
    };
    names.into_iter().map(field).collect()
}

/// What was typed, as the kind that is wanted.
fn value_of(kind: &str, text: &str) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match kind {
        "string" => Ok(Some(Value::from(text))),
        kind => match serde_json::from_str::<serde_json::Number>(text.trim()) {
            Ok(number) if kind == "integer" && number.is_f64() => {
                Err("This has to be a whole number.".to_owned())
            }
            Ok(number) => Ok(Some(Value::Number(number))),
            Err(_) => Err("This has to be a number.".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialog(schema: &str) -> Option<FormDialog> {
        let ask = format!(
            r#"{{"mcp_server_name":"s","message":"Who?","requested_schema":{schema},"property_order":["name","age","tea"]}}"#
        );
        FormDialog::new(&serde_json::from_str(&ask).unwrap())
    }

    const SCHEMA: &str = r#"{"type":"object","required":["name"],"properties":{
        "age":{"type":"integer"},"name":{"type":"string"},"tea":{"type":"boolean"}}}"#;

    #[test]
    fn fields_are_filled_in_one_after_the_other() {
        let mut dialog = dialog(SCHEMA).unwrap();
        let keys = [
            // It is needed.
            Key::Enter,
            Key::Paste("Ada".to_owned()),
            Key::Enter,
            Key::Paste("36.5".to_owned()),
            Key::Enter,
            Key::Ctrl('u'),
            Key::Paste("36".to_owned()),
            Key::Enter,
            Key::Char('2'),
        ];
        for key in keys {
            assert_eq!(dialog.key(&key), Reaction::Stay, "{key:?}");
        }
        let Reaction::Decided(Decision::Form(values)) = dialog.key(&Key::Char('y')) else {
            panic!("it is sent")
        };
        assert_eq!(values.as_str(), r#"{"age":36,"name":"Ada","tea":false}"#);
    }

    #[test]
    fn who_asks_stands_next_to_the_field_however_much_it_says() {
        let message = "Your bank asks.\\n".repeat(40);
        let ask = format!(
            r#"{{"mcp_server_name":"s","message":"{message}","requested_schema":{SCHEMA}}}"#
        );
        let dialog = FormDialog::new(&serde_json::from_str(&ask).unwrap()).unwrap();
        let text = |lines: Vec<Line>| lines.iter().map(Line::text).collect::<Vec<_>>();
        let panel = text(dialog.lines(79, 23));
        assert_eq!(panel.first().map(String::as_str), Some("The MCP server s asks"), "{panel:?}");
        assert!(panel.len() < 10, "{panel:?}");
        assert_eq!(text(dialog.opening(79, 23)).len(), 41);
        assert!(self::dialog(SCHEMA).unwrap().opening(79, 23).is_empty());
    }

    #[test]
    fn choices_have_defaults_and_can_be_left_empty() {
        let schema = r#"{"type":"object","required":["name"],"properties":{
            "name":{"type":"string","enum":["Ada","Eve"],"default":"Eve"},
            "age":{"type":"integer","enum":[1,2]},"tea":{"type":"boolean","default":false}}}"#;
        let mut dialog = dialog(schema).unwrap();
        // What is needed cannot be left empty.
        assert_eq!(dialog.key(&Key::Char('3')), Reaction::Stay);
        for key in [Key::Enter, Key::Char('3'), Key::Enter] {
            assert_eq!(dialog.key(&key), Reaction::Stay, "{key:?}");
        }
        let Reaction::Decided(Decision::Form(values)) = dialog.key(&Key::Char('y')) else {
            panic!("it is sent")
        };
        assert_eq!(values.as_str(), r#"{"name":"Eve","tea":false}"#);
    }

    #[test]
    fn it_can_be_declined_at_any_time() {
        let mut dialog = dialog(SCHEMA).unwrap();
        assert_eq!(dialog.key(&Key::Escape), Reaction::Decided(Decision::Deny(None)));
    }

    #[test]
    fn what_cannot_be_asked_here_is_not_asked() {
        assert!(dialog(r#"{"properties":{"a":{"type":"array"}}}"#).is_none());
        assert!(dialog("7").is_none());
    }
}
