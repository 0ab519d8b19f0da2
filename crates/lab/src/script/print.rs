//! Writes a script as a file, so that what was made in Rust can be handed to another program.

use std::time::Duration;

use toml::{Table, Value};

use super::{
    Act, Answer, ApiError, Block, Ending, Entry, Misbehaviour, Pattern, Script, ToolUse, When,
};

impl Script {
    /// The script as the text of a script file.
    ///
    /// Read again, it is the same script. A text to look for that stands between slashes becomes a
    /// regular expression that looks for the same, because that is how a file says it.
    ///
    /// ```
    /// use countersign_lab::script::{Answer, Script};
    ///
    /// let script = Script::new().then(Answer::text("Hello."));
    /// assert_eq!(Script::parse(&script.to_toml(), "script.toml")?, script);
    /// # Ok::<(), countersign_lab::script::ScriptError>(())
    /// ```
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut file = Table::new();
        put(&mut file, "otherwise", self.otherwise.clone());
        if !self.needs.is_empty() {
            put(&mut file, "needs", Some(self.needs.clone()));
        }
        if !self.variables.is_empty() {
            let set =
                self.variables.iter().map(|(name, value)| (name.clone(), value.clone().into()));
            put(&mut file, "set", Some(set.collect::<Table>()));
        }
        let answers: Vec<_> = self.entries.iter().map(entry).collect();
        if !answers.is_empty() {
            put(&mut file, "answer", Some(answers));
        }
        let acts: Vec<_> = self.misbehaviour.iter().map(misbehaviour).collect();
        if !acts.is_empty() {
            put(&mut file, "misbehave", Some(acts));
        }
        file.to_string()
    }
}

fn put(table: &mut Table, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        table.insert(key.to_owned(), value.into());
    }
}

fn number(number: impl TryInto<i64>) -> i64 {
    // TOML has no larger ones; no script waits for so many.
    number.try_into().unwrap_or(i64::MAX)
}

fn duration(duration: Duration) -> Option<String> {
    let micros = duration.as_micros();
    (micros > 0).then(|| format!("{}.{:03}ms", micros / 1000, micros % 1000))
}

fn entry(entry: &Entry) -> Value {
    let mut table = Table::new();
    put(&mut table, "when", entry.when.as_ref().map(when));
    put(&mut table, "times", entry.times.map(i64::from));
    answer(&mut table, &entry.answer);
    table.into()
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Contains(text) if text.starts_with('/') && text.ends_with('/') => {
            format!("/{}/", regex::escape(text))
        }
        Pattern::Contains(text) => text.clone(),
        Pattern::Matches(regex) => format!("/{regex}/"),
    }
}

fn when(when: &When) -> Table {
    let mut table = Table::new();
    put(&mut table, "text", when.text.as_ref().map(pattern));
    put(&mut table, "first", when.first.as_ref().map(pattern));
    put(&mut table, "result", when.result.as_ref().map(pattern));
    put(&mut table, "error", when.error);
    put(&mut table, "tool", when.tool.clone());
    put(&mut table, "turn", when.turn.map(number));
    put(&mut table, "model", when.model.as_ref().map(pattern));
    put(&mut table, "side", when.side.then_some(true));
    put(&mut table, "agent", when.agent);
    table
}

fn answer(table: &mut Table, answer: &Answer) {
    let blocks: Vec<_> = answer.blocks.iter().map(block).collect();
    // An answer that says nothing has to say so, unless its ending does.
    if !blocks.is_empty() || answer.ending == Ending::Complete {
        put(table, "blocks", Some(blocks));
    }
    put(table, "stop_reason", answer.stop_reason.clone());
    put(table, "model", answer.model.clone());
    let usage = &answer.usage;
    let mut tokens = Table::new();
    put(&mut tokens, "input_tokens", usage.input_tokens.map(number));
    put(&mut tokens, "output_tokens", usage.output_tokens.map(number));
    put(&mut tokens, "cache_read_input_tokens", usage.cache_read_input_tokens.map(number));
    put(&mut tokens, "cache_creation_input_tokens", usage.cache_creation_input_tokens.map(number));
    if !tokens.is_empty() {
        put(table, "usage", Some(tokens));
    }
    put(table, "delay", duration(answer.delay));
    put(table, "pace", duration(answer.pace));
    match &answer.ending {
        Ending::Complete => {}
        Ending::Error(error) => {
            let mut fields = api_error(error);
            put(&mut fields, "status", Some(i64::from(error.status)));
            put(&mut fields, "retry_after", error.retry_after.map(number));
            put(table, "error", Some(fields));
        }
        Ending::StreamError { after, error } => {
            let mut fields = api_error(error);
            put(&mut fields, "after", Some(number(*after)));
            put(table, "stream_error", Some(fields));
        }
        Ending::Cut { after } => put(table, "cut", Some(number(*after))),
        Ending::Hang { after } => put(table, "hang", Some(number(*after))),
        Ending::Reset => put(table, "reset", Some(true)),
    }
}

fn api_error(error: &ApiError) -> Table {
    let mut table = Table::new();
    put(&mut table, "kind", Some(error.kind.clone()));
    put(&mut table, "message", Some(error.message.clone()));
    table
}

fn block(block: &Block) -> Value {
    let mut table = Table::new();
    match block {
        Block::Text(text) => put(&mut table, "text", Some(text.clone())),
        Block::Thinking(text) => put(&mut table, "thinking", Some(text.clone())),
        Block::ToolUse(call) => tool_use(&mut table, call),
        Block::Fault(fault) => put(&mut table, "fault", Some(fault.to_string())),
    }
    table.into()
}

fn tool_use(table: &mut Table, call: &ToolUse) {
    put(table, "tool", Some(call.name.clone()));
    match toml_value(&call.input) {
        Some(input) => put(table, "input", Some(input)),
        None => put(table, "input_json", Some(call.input.to_string())),
    }
    put(table, "id", call.id.clone());
    put(table, "as", call.label.clone());
    put(table, "result", call.result.clone());
    put(table, "fails", call.fails.then_some(true));
    put(table, "takes", duration(call.takes));
}

/// A value of JSON as TOML, where TOML can say it.
fn toml_value(value: &serde_json::Value) -> Option<Value> {
    Some(match value {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(value) => (*value).into(),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None if number.is_f64() => number.as_f64()?.into(),
            None => return None,
        },
        serde_json::Value::String(text) => text.clone().into(),
        serde_json::Value::Array(items) => {
            items.iter().map(toml_value).collect::<Option<Vec<_>>>()?.into()
        }
        serde_json::Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| Some((key.clone(), toml_value(value)?)))
            .collect::<Option<Table>>()?
            .into(),
    })
}

fn misbehaviour(misbehaviour: &Misbehaviour) -> Value {
    let mut table = Table::new();
    put(&mut table, "on", Some(misbehaviour.on.clone()));
    let act = match misbehaviour.act {
        Act::AnswerTwice => "answer twice",
        Act::NeverAnswer => "never answer",
        Act::Refuse => "refuse",
    };
    put(&mut table, "do", Some(act));
    put(&mut table, "times", misbehaviour.times.map(i64::from));
    table.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::script::{Fault, Usage};

    #[test]
    fn a_script_reads_back_as_it_was_printed() {
        let regex = regex::Regex::new("wr[io]te").unwrap();
        let script = Script::new()
            .set("name", "a \"value\"\n")
            .needs("given")
            .otherwise("Nothing ${name} ${given}")
            .then(
                Answer::thinking("Hm.")
                    .and_text("multi\nline")
                    .and_tool(
                        ToolUse::new("Write", json!({"a": [1, 2.5, true, {"b": "c"}]}))
                            .id("toolu_x")
                            .label("first")
                            .result("done")
                            .fails()
                            .takes(Duration::from_micros(1500)),
                    )
                    .and_tool(ToolUse::new("Odd", json!({"a": null, "b": u64::MAX, "c": "''' \""})))
                    .and_fault(Fault::LongLine(50_000_000))
                    .usage(Usage::new(1, 2).cached(3, 4))
                    .model("m")
                    .stop_reason("max_tokens")
                    .delay(Duration::from_secs(2))
                    .pace(Duration::from_millis(20)),
            )
            .then(Answer::error(ApiError::new(429).retry_after(3).message("slow")).times(2))
            .then(Answer::text("a").cut_after(3))
            .then(Answer::text("a").hang_after(3))
            .then(Answer::text("a").stream_error_after(2, ApiError::new(529)))
            .then(Answer::reset())
            .then(Answer::new().stop_reason("refusal"))
            .when(When::text(regex).and_error(true).and_tool("Write"), Answer::text("b"))
            .when(When::side_job(), Answer::text("c").times(1))
            .misbehave(Misbehaviour::new("set_model", Act::NeverAnswer).times(1));
        let text = script.to_toml();
        assert_eq!(Script::parse(&text, "x").unwrap(), script, "{text}");
    }

    #[test]
    fn a_text_between_slashes_is_still_looked_for_as_it_stands() {
        let script = Script::new().when(When::text("/a.b/"), Answer::text("x"));
        let again = Script::parse(&script.to_toml(), "x").unwrap();
        let text = again.entries[0].when.as_ref().unwrap().text.as_ref().unwrap();
        assert!(text.is_in("see /a.b/") && !text.is_in("see /axb/"));
    }
}
