//! Reads one answer of a script.

use std::ops::Range;
use std::time::Duration;

use regex::Regex;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::super::answer::{Answer, ApiError, Block, Ending, ToolUse, Usage};
use super::super::template::{self, Piece};
use super::super::{Entry, Pattern, When};
use super::table::{Table, kind_of};
use super::units;

/// The variables of an answer, each with its place.
pub(super) type Variables = Vec<(String, Range<usize>)>;

/// Reads an answer.
pub(super) fn entry(table: &mut Table<'_, '_>) -> (Entry, Variables) {
    let mut variables = Variables::new();
    let when = table.table("when", "`when`").map(|mut when_table| {
        let when = when(&mut when_table);
        when_table.finish();
        when
    });
    let times = table.count("times");
    let answer = answer(table, &mut variables);
    let mut entry = Entry::from(answer);
    entry.when = when;
    entry.times = times;
    (entry, variables)
}

/// Notes an answer that says nothing and has no ending either.
pub(super) fn must_say_something(table: &Table<'_, '_>) {
    if !SHORT.into_iter().chain(ENDINGS).chain(["blocks"]).any(|key| table.has(key)) {
        let message = "this answer says nothing; give it `text`, `thinking`, `tool`, `tools` or \
                       `blocks` (`blocks = []` if that is meant), or an ending";
        table.trouble().add(table.span(), message.to_owned());
    }
}

fn when(table: &mut Table<'_, '_>) -> When {
    let when = When {
        text: pattern(table, "text"),
        first: pattern(table, "first"),
        result: pattern(table, "result"),
        error: table.boolean("error"),
        tool: table.string("tool").map(|(name, _)| name),
        turn: table.number_within("turn", 1, u64::MAX),
        model: pattern(table, "model"),
        side: table.boolean("side").unwrap_or(false),
        agent: table.boolean("agent"),
    };
    if when.side && when.agent.is_some() {
        clash(table, "agent", "a side job is nobody's conversation, so `side` excludes `agent`");
    }
    if when.turn.is_some() && (when.side || when.agent == Some(true)) {
        clash(
            table,
            "turn",
            "`turn` counts the main conversation, so it excludes `side` and `agent`",
        );
    }
    when
}

/// A text to look for; between slashes, a regular expression.
fn pattern(table: &mut Table<'_, '_>, key: &'static str) -> Option<Pattern> {
    let (text, span) = table.string(key)?;
    if text.is_empty() {
        table.trouble().add(span, format!("`{key}` is empty, which is in every text"));
        return None;
    }
    let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let Some(inner) = inner.filter(|inner| !inner.is_empty()) else {
        return Some(Pattern::Contains(text));
    };
    match Regex::new(inner) {
        Ok(regex) => Some(Pattern::Matches(regex)),
        Err(error) => {
            // The last line of the message says what is wrong, the lines before it draw where.
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            table.trouble().add(span, format!("not a regular expression: {reason}"));
            None
        }
    }
}

/// Notes that a key does not go with the others.
fn clash(table: &Table<'_, '_>, key: &str, message: &str) {
    table.trouble().add(table.key_span(key), message.to_owned());
}

const SHORT: [&str; 5] = ["thinking", "text", "tool", "tools", "fault"];
const ENDINGS: [&str; 5] = ["error", "cut", "hang", "reset", "stream_error"];

fn answer(table: &mut Table<'_, '_>, variables: &mut Variables) -> Answer {
    let mut answer = Answer::new();
    let short = SHORT.into_iter().find(|key| table.has(key));
    answer.blocks = short_form(table, variables);
    if let (true, Some(key)) = (table.has("blocks"), short) {
        clash(table, key, &format!("`{key}` does not go with `blocks`; say everything in one way"));
    }
    answer.blocks.extend(long_form(table, variables));
    answer.stop_reason = template(table, "stop_reason", variables);
    answer.model = template(table, "model", variables);
    if let Some(mut tokens) = table.table("usage", "`usage`") {
        answer.usage = Usage {
            input_tokens: tokens.number("input_tokens"),
            output_tokens: tokens.number("output_tokens"),
            cache_read_input_tokens: tokens.number("cache_read_input_tokens"),
            cache_creation_input_tokens: tokens.number("cache_creation_input_tokens"),
        };
        tokens.finish();
    }
    answer.pace = duration(table, "pace");
    answer.delay = duration(table, "delay");
    let mut endings = ENDINGS.into_iter().filter(|key| table.has(key));
    if let (Some(first), Some(second)) = (endings.next(), endings.next()) {
        let message = format!("`{second}` does not go with `{first}`; an answer ends in one way");
        clash(table, second, &message);
    }
    answer.ending = ending(table, variables);
    if matches!(answer.ending, Ending::Error(_) | Ending::Reset) {
        let ending = if table.has("error") { "error" } else { "reset" };
        let said = ["blocks", "stop_reason", "usage", "model", "pace"];
        for key in SHORT.into_iter().chain(said).filter(|key| table.has(key)) {
            let message =
                format!("`{key}` does not go with `{ending}`: nothing of it would be sent");
            clash(table, key, &message);
        }
    }
    answer
}

fn ending(table: &mut Table<'_, '_>, variables: &mut Variables) -> Ending {
    let mut ending = Ending::Complete;
    if let Some(mut error) = table.table("error", "`error`") {
        let status = if error.has("status") {
            error.number_within("status", 400, 599)
        } else {
            error.number("status");
            let message = "`error` needs the key `status`, such as 429".to_owned();
            error.trouble().add(error.span(), message);
            None
        };
        let retry_after = error.number("retry_after");
        let mut filled = api_error(&mut error, status, variables);
        filled.retry_after = retry_after;
        error.finish();
        ending = Ending::Error(filled);
    }
    if let Some(mut error) = table.table("stream_error", "`stream_error`") {
        let after = events(&mut error, "after").unwrap_or(0);
        let filled = api_error(&mut error, Some(529), variables);
        error.finish();
        ending = Ending::StreamError { after, error: filled };
    }
    if let Some(after) = events(table, "cut") {
        ending = Ending::Cut { after };
    }
    if let Some(after) = events(table, "hang") {
        ending = Ending::Hang { after };
    }
    match table.boolean("reset") {
        Some(true) => ending = Ending::Reset,
        Some(false) => clash(table, "reset", "`reset` can only be true; leave it out otherwise"),
        None => {}
    }
    ending
}

fn api_error(
    table: &mut Table<'_, '_>,
    status: Option<u64>,
    variables: &mut Variables,
) -> ApiError {
    let status = status.and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
    let mut error = ApiError::new(status);
    if let Some(kind) = template(table, "kind", variables) {
        error = error.kind(kind);
    }
    if let Some(message) = template(table, "message", variables) {
        error = error.message(message);
    }
    error
}

fn events(table: &mut Table<'_, '_>, key: &'static str) -> Option<usize> {
    usize::try_from(table.number(key)?).ok()
}

/// `thinking`, `text`, `tool` or `tools`, and `fault`, in this order.
fn short_form(table: &mut Table<'_, '_>, variables: &mut Variables) -> Vec<Block> {
    let mut blocks = Vec::new();
    blocks.extend(template(table, "thinking", variables).map(Block::Thinking));
    blocks.extend(template(table, "text", variables).map(Block::Text));
    if table.has("tool") && table.has("tools") {
        clash(table, "tools", "`tools` does not go with `tool`; put all calls into `tools`");
    }
    let one = table.table("tool", "a call of a tool");
    let several = table.tables("tools", "a call of a tool");
    for mut call in one.into_iter().chain(several) {
        blocks.extend(tool_use(&mut call, "name", variables).map(Block::ToolUse));
        call.finish();
    }
    blocks.extend(fault(table));
    blocks
}

/// `blocks`, in the order of the file.
fn long_form(table: &mut Table<'_, '_>, variables: &mut Variables) -> Vec<Block> {
    let mut blocks = Vec::new();
    for mut block in table.tables("blocks", "a block") {
        let kinds = ["text", "thinking", "tool", "fault"];
        let mut found = kinds.into_iter().filter(|key| block.has(key));
        match (found.next(), found.next()) {
            (Some(_), None) => {}
            (Some(_), Some(second)) => {
                clash(&block, second, "a block is one thing; make two blocks of it");
            }
            (None, _) => {
                let message = "a block needs one of the keys `text`, `thinking`, `tool`, `fault`";
                block.trouble().add(block.span(), message.to_owned());
            }
        }
        blocks.extend(template(&mut block, "text", variables).map(Block::Text));
        blocks.extend(template(&mut block, "thinking", variables).map(Block::Thinking));
        if block.has("tool") {
            blocks.extend(tool_use(&mut block, "tool", variables).map(Block::ToolUse));
        }
        blocks.extend(fault(&mut block));
        block.finish();
    }
    blocks
}

fn fault(table: &mut Table<'_, '_>) -> Option<Block> {
    let (text, span) = table.string("fault")?;
    let fault = text.parse().map_err(|error| table.trouble().add(span, format!("{error}")));
    fault.ok().map(Block::Fault)
}

fn tool_use(
    table: &mut Table<'_, '_>,
    name_key: &'static str,
    variables: &mut Variables,
) -> Option<ToolUse> {
    let name = table.required_string(name_key).map(|(name, span)| {
        note(table, &name, &span, variables);
        name
    });
    let mut call = ToolUse::new(name.unwrap_or_default(), input(table, variables));
    call.id = template(table, "id", variables);
    call.label = table.string("as").map(|(label, _)| label);
    call.result = template(table, "result", variables);
    call.fails = table.boolean("fails").unwrap_or(false);
    call.takes = duration(table, "takes");
    (!call.name.is_empty()).then_some(call)
}

/// The input of a tool: a table, or JSON for what TOML cannot say.
fn input(table: &mut Table<'_, '_>, variables: &mut Variables) -> serde_json::Value {
    let empty = || serde_json::Value::Object(serde_json::Map::new());
    if table.has("input") && table.has("input_json") {
        clash(table, "input_json", "`input_json` does not go with `input`");
    }
    let written = table.get("input");
    if let Some(value) = written {
        match value.get_ref() {
            DeValue::Table(fields) => return object(table, fields, variables),
            other => {
                let message = format!("expected a table, found {}", kind_of(other));
                table.trouble().add(value.span(), message);
            }
        }
    }
    let Some((text, span)) = table.string("input_json") else { return empty() };
    match serde_json::from_str(&text) {
        Ok(json @ serde_json::Value::Object(_)) => {
            note_json(table, &json, &span, variables);
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

fn object(
    table: &Table<'_, '_>,
    fields: &DeTable<'_>,
    variables: &mut Variables,
) -> serde_json::Value {
    let fields = fields
        .iter()
        .map(|(key, value)| (key.get_ref().to_string(), json(table, value, variables)));
    serde_json::Value::Object(fields.collect())
}

fn list(
    table: &Table<'_, '_>,
    items: &DeArray<'_>,
    variables: &mut Variables,
) -> serde_json::Value {
    items.iter().map(|item| json(table, item, variables)).collect()
}

/// A value of TOML as JSON.
fn json(
    table: &Table<'_, '_>,
    value: &Spanned<DeValue<'_>>,
    variables: &mut Variables,
) -> serde_json::Value {
    let problem = |message: String| {
        table.trouble().add(value.span(), message);
        serde_json::Value::Null
    };
    match value.get_ref() {
        DeValue::String(text) => {
            note(table, text, &value.span(), variables);
            serde_json::Value::String(text.to_string())
        }
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            Err(_) => problem(format!("{number} is too large; use `input_json`")),
        },
        DeValue::Float(number) => {
            let finite = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            match finite {
                Some(number) => serde_json::Value::Number(number),
                None => problem(format!("JSON has no number {}", number.as_str())),
            }
        }
        DeValue::Boolean(boolean) => serde_json::Value::Bool(*boolean),
        DeValue::Datetime(_) => problem("JSON has no dates; write it as a string".to_owned()),
        DeValue::Array(items) => list(table, items, variables),
        DeValue::Table(fields) => object(table, fields, variables),
    }
}

fn duration(table: &mut Table<'_, '_>, key: &'static str) -> Duration {
    let Some((text, span)) = table.string(key) else { return Duration::ZERO };
    let duration = units::duration(&text).map_err(|message| table.trouble().add(span, message));
    duration.unwrap_or_default()
}

/// A text in which variables are replaced.
pub(super) fn template(
    table: &mut Table<'_, '_>,
    key: &'static str,
    variables: &mut Variables,
) -> Option<String> {
    let (text, span) = table.string(key)?;
    note(table, &text, &span, variables);
    Some(text)
}

/// Notes the variables of a text, each with its place.
fn note(table: &Table<'_, '_>, text: &str, span: &Range<usize>, variables: &mut Variables) {
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
                variables.push((name.to_owned(), place));
            }
            Err(template::Unclosed) => {
                let message = "`${` without its `}`; write `$${` for a `${` that is meant";
                table.trouble().add(span.clone(), message.to_owned());
            }
        }
    }
}

fn note_json(
    table: &Table<'_, '_>,
    value: &serde_json::Value,
    span: &Range<usize>,
    variables: &mut Variables,
) {
    match value {
        serde_json::Value::String(text) => note(table, text, span, variables),
        serde_json::Value::Array(items) => {
            items.iter().for_each(|item| note_json(table, item, span, variables));
        }
        serde_json::Value::Object(fields) => {
            fields.values().for_each(|field| note_json(table, field, span, variables));
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}
