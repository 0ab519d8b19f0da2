//! Reads one answer of a script.

use std::time::Duration;

use regex::Regex;

use super::super::answer::{Answer, ApiError, Block, Ending, ToolUse, Usage};
use super::super::check::{SIDE_AND_AGENT, TURN_OF_OTHERS};
use super::super::{Entry, Pattern, When};
use super::input::input;
use super::marks::{Marks, note};
use super::table::Table;
use super::units;

/// Reads an answer.
pub(super) fn entry(table: &mut Table<'_, '_>) -> (Entry, Marks) {
    let mut marks = Marks::default();
    let when = table.table("when", "`when`").map(|mut when_table| {
        let when = when(&mut when_table);
        when_table.finish();
        when
    });
    let times = table.count("times");
    let answer = answer(table, &mut marks);
    let mut entry = Entry::from(answer);
    entry.when = when;
    entry.times = times;
    (entry, marks)
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
        table.clash("agent", SIDE_AND_AGENT);
    }
    if when.turn.is_some() && (when.side || when.agent == Some(true)) {
        table.clash("turn", TURN_OF_OTHERS);
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

const SHORT: [&str; 5] = ["thinking", "text", "tool", "tools", "fault"];
const ENDINGS: [&str; 5] = ["error", "cut", "hang", "reset", "stream_error"];

fn answer(table: &mut Table<'_, '_>, marks: &mut Marks) -> Answer {
    let mut answer = Answer::new();
    let short = SHORT.into_iter().find(|key| table.has(key));
    answer.blocks = short_form(table, marks);
    if let (true, Some(key)) = (table.has("blocks"), short) {
        table.clash(key, &format!("`{key}` does not go with `blocks`; say everything in one way"));
    }
    answer.blocks.extend(long_form(table, marks));
    answer.stop_reason = template(table, "stop_reason", marks);
    answer.model = template(table, "model", marks);
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
        table.clash(second, &message);
    }
    answer.ending = ending(table, marks);
    if matches!(answer.ending, Ending::Error(_) | Ending::Reset) {
        let ending = if table.has("error") { "error" } else { "reset" };
        let said = ["blocks", "stop_reason", "usage", "model", "pace"];
        for key in SHORT.into_iter().chain(said).filter(|key| table.has(key)) {
            let message =
                format!("`{key}` does not go with `{ending}`: nothing of it would be sent");
            table.clash(key, &message);
        }
    }
    answer
}

fn ending(table: &mut Table<'_, '_>, marks: &mut Marks) -> Ending {
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
        let mut filled = api_error(&mut error, status, marks);
        filled.retry_after = retry_after;
        error.finish();
        ending = Ending::Error(filled);
    }
    if let Some(mut error) = table.table("stream_error", "`stream_error`") {
        let after = events(&mut error, "after").unwrap_or(0);
        let filled = api_error(&mut error, Some(529), marks);
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
        Some(false) => table.clash("reset", "`reset` can only be true; leave it out otherwise"),
        None => {}
    }
    ending
}

fn api_error(table: &mut Table<'_, '_>, status: Option<u64>, marks: &mut Marks) -> ApiError {
    let status = status.and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
    let mut error = ApiError::new(status);
    if let Some(kind) = template(table, "kind", marks) {
        error = error.kind(kind);
    }
    if let Some(message) = template(table, "message", marks) {
        error = error.message(message);
    }
    error
}

fn events(table: &mut Table<'_, '_>, key: &'static str) -> Option<usize> {
    usize::try_from(table.number(key)?).ok()
}

/// `thinking`, `text`, `tool` or `tools`, and `fault`, in this order.
fn short_form(table: &mut Table<'_, '_>, marks: &mut Marks) -> Vec<Block> {
    let mut blocks = Vec::new();
    blocks.extend(template(table, "thinking", marks).map(Block::Thinking));
    blocks.extend(template(table, "text", marks).map(Block::Text));
    if table.has("tool") && table.has("tools") {
        table.clash("tools", "`tools` does not go with `tool`; put all calls into `tools`");
    }
    let one = table.table("tool", "a call of a tool");
    let several = table.tables("tools", "a call of a tool");
    for mut call in one.into_iter().chain(several) {
        blocks.extend(tool_use(&mut call, "name", marks).map(Block::ToolUse));
        call.finish();
    }
    blocks.extend(fault(table));
    blocks
}

/// `blocks`, in the order of the file.
fn long_form(table: &mut Table<'_, '_>, marks: &mut Marks) -> Vec<Block> {
    let mut blocks = Vec::new();
    for mut block in table.tables("blocks", "a block") {
        let kinds = ["text", "thinking", "tool", "fault"];
        let mut found = kinds.into_iter().filter(|key| block.has(key));
        match (found.next(), found.next()) {
            (Some(_), None) => {}
            (Some(_), Some(second)) => {
                block.clash(second, "a block is one thing; make two blocks of it");
            }
            (None, _) => {
                let message = "a block needs one of the keys `text`, `thinking`, `tool`, `fault`";
                block.trouble().add(block.span(), message.to_owned());
                continue;
            }
        }
        blocks.extend(template(&mut block, "text", marks).map(Block::Text));
        blocks.extend(template(&mut block, "thinking", marks).map(Block::Thinking));
        if block.has("tool") {
            blocks.extend(tool_use(&mut block, "tool", marks).map(Block::ToolUse));
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
    marks: &mut Marks,
) -> Option<ToolUse> {
    let name = table.required_string(name_key).map(|(name, span)| {
        note(table, &name, &span, marks);
        if name.is_empty() {
            table.trouble().add(span, format!("`{name_key}` is empty; name the tool"));
        }
        name
    });
    let mut call = ToolUse::new(name.unwrap_or_default(), input(table, marks));
    call.id = template(table, "id", marks);
    if let Some((label, span)) = table.string("as") {
        marks.labels.push((label.clone(), span));
        call.label = Some(label);
    }
    call.result = template(table, "result", marks);
    call.fails = table.boolean("fails").unwrap_or(false);
    call.takes = duration(table, "takes");
    (!call.name.is_empty()).then_some(call)
}

fn duration(table: &mut Table<'_, '_>, key: &'static str) -> Duration {
    let Some((text, span)) = table.string_as(key, units::DURATION) else { return Duration::ZERO };
    let duration = units::duration(&text).map_err(|message| table.trouble().add(span, message));
    duration.unwrap_or_default()
}

/// A text in which variables are replaced.
pub(super) fn template(
    table: &mut Table<'_, '_>,
    key: &'static str,
    marks: &mut Marks,
) -> Option<String> {
    let (text, span) = table.string(key)?;
    note(table, &text, &span, marks);
    Some(text)
}
