//! The script of what the model said in a recording.

use std::collections::HashMap;

use regex::Regex;
use serde_json::{Value, json};

use super::sim_recorded::{RECORDED_HOME, Recording};

/// Makes a script of what the model said in a recording.
pub(crate) struct ScriptMaker {
    answers: Vec<Answer>,
    results: HashMap<String, Value>,
    /// A text that is long enough to be interrupted.
    interrupts: bool,
    streaming: Option<usize>,
    /// A turn runs, and the model has not said anything since this many answers.
    silent: bool,
    /// The next answer comes late.
    late: bool,
    /// The turn has been interrupted.
    interrupted: bool,
    /// Whether the process was ended while a turn ran.
    ended: bool,
    /// How often the model is asked again when it is busy.
    max_retries: usize,
    /// The message that the model has just ended, if it has called no tool in it.
    spoken: Option<String>,
}

#[derive(Clone, Default)]
struct Answer {
    message: String,
    agent: bool,
    side: bool,
    blocks: Vec<Value>,
    stop: Option<String>,
    error: Option<(u64, String)>,
    reset: bool,
    cut: Option<usize>,
    /// The stream falls silent after this many events.
    hang: Option<usize>,
    stream_error: Option<usize>,
    /// Something happens before the first word.
    late: bool,
    model: Option<String>,
    usage: Option<Value>,
}

impl ScriptMaker {
    /// For a recording.
    pub(crate) fn new(recording: &Recording) -> Self {
        let mut results = HashMap::new();
        for frame in recording.outs().filter(|frame| frame["type"] == "user") {
            for block in frame["message"]["content"].as_array().into_iter().flatten() {
                if let Some(id) = block["tool_use_id"].as_str() {
                    let both = json!({"block": block, "structured": frame["tool_use_result"]});
                    results.insert(id.to_owned(), both);
                }
            }
        }
        Self {
            answers: Vec::new(),
            results,
            interrupts: false,
            streaming: None,
            silent: false,
            late: false,
            interrupted: false,
            ended: recording.ends_early(),
            max_retries: recording.max_retries(),
            spoken: None,
        }
    }

    fn last(&mut self, message: &str, agent: bool) -> &mut Answer {
        if !self.answers.iter().any(|answer| answer.message == message) {
            self.answers.push(Answer { message: message.to_owned(), agent, ..Answer::default() });
        }
        self.answers.iter_mut().find(|answer| answer.message == message).unwrap()
    }

    /// Takes note of a frame of the CLI.
    pub(crate) fn hear(&mut self, frame: &Value) {
        self.hear_around(frame);
        match frame["type"].as_str() {
            Some("assistant") => self.hear_assistant(frame),
            Some("stream_event") => self.hear_event(frame),
            Some("system") if frame["subtype"] == "api_retry" => self.hear_retry(frame),
            Some("system") if frame["subtype"] == "compact_boundary" => {
                let message = format!("summary {}", self.answers.len());
                let answer = self.last(&message, false);
                answer.side = true;
                answer
                    .blocks
                    .push(json!({"type": "text", "text": "<summary>We said hello.</summary>"}));
            }
            Some("control_response") if frame["response"]["response"]["synthetic"] == false => {
                let message = format!("side {}", self.answers.len());
                let text = frame["response"]["response"]["response"].clone();
                let answer = self.last(&message, false);
                answer.side = true;
                answer.blocks.push(json!({"type": "text", "text": text}));
            }
            Some("result") => self.hear_result(frame),
            _ => {}
        }
    }

    /// What frames that are not the model's say about the model.
    fn hear_around(&mut self, frame: &Value) {
        let kind = frame["type"].as_str().unwrap_or_default();
        if matches!(kind, "assistant" | "result" | "control_request" | "stream_event") {
            self.silent = false;
        }
        let text = frame["message"]["content"][0]["text"].as_str().unwrap_or_default();
        let stop = if text.starts_with("Output token limit hit")
            || frame["error"] == "max_output_tokens"
        {
            Some("max_tokens")
        } else if text.contains("stopped by a safety classifier") || text.contains("Usage Policy") {
            Some("refusal")
        } else {
            None
        };
        if let (Some(stop), Some(answer)) = (stop, self.answers.last_mut()) {
            answer.stop = Some(stop.to_owned());
        }
        if text == "[Request interrupted by user]"
            && let Some(spoken) = self.spoken.take()
        {
            let answer = self.last(&spoken, false);
            let words =
                answer.blocks.last().and_then(|block| block["text"].as_str()).unwrap_or_default();
            answer.hang = answer.hang.or(Some(2 + words.split_inclusive(' ').count()));
        }
        if kind != "assistant" && kind != "stream_event" {
            self.spoken = None;
        }
        if frame["subtype"] == "model_fallback" {
            let message = format!("failure {}", self.answers.len());
            self.last(&message, false).error = Some((529, "scripted 529".to_owned()));
        }
        if frame["tool_use_result"]["status"] == "completed"
            && frame["tool_use_result"]["agentId"].is_string()
        {
            self.hear_agent(&frame["tool_use_result"]);
        }
        if kind == "user"
            && !frame["message"]["content"].is_string()
            && frame["parent_tool_use_id"].is_null()
        {
            // After results of tools the model is asked again.
            self.silent = true;
        }
        if kind == "system" && frame["subtype"] == "init" {
            self.silent = true;
        }
    }

    /// What a subagent said in the end is only in the result of the call, if it was not forwarded.
    fn hear_agent(&mut self, result: &Value) {
        let said = result["content"].as_array().and_then(|blocks| blocks.last());
        let Some(said) = said.filter(|said| said["text"].is_string()) else { return };
        let known = self.answers.iter().any(|answer| answer.agent && answer.blocks.contains(said));
        if !known {
            let message = format!("agent {}", self.answers.len());
            self.last(&message, true).blocks.push(said.clone());
        }
    }

    fn hear_assistant(&mut self, frame: &Value) {
        let message = &frame["message"];
        if message["model"] == "<synthetic>" {
            let told = ["max_output_tokens"].contains(&frame["error"].as_str().unwrap_or_default());
            let policy = frame["message"]["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .contains("Usage Policy");
            if frame["error"].is_string() && !told && !policy {
                self.hear_failure(frame);
            }
            return;
        }
        let agent = !frame["parent_tool_use_id"].is_null();
        let id = message["id"].as_str().unwrap();
        // A message with a stop reason came in one piece: the stream before it was broken off.
        if message["stop_reason"].is_string() {
            match (self.streaming.take(), self.answers.last_mut()) {
                (Some(events), Some(answer)) => {
                    answer.stream_error = Some(events.saturating_sub(2));
                }
                _ => {
                    let broken = format!("broken {}", self.answers.len());
                    let answer = self.last(&broken, agent);
                    answer.cut = Some(3);
                    answer.blocks.push(json!({"type": "text", "text": "word0 word1 "}));
                }
            }
        }
        // A version says nothing about an answer that was too long, and lets the model go on.
        if let Some(before) = self.spoken.take().filter(|before| before != id && !agent) {
            self.last(&before, false).stop = Some("max_tokens".to_owned());
        }
        let calls =
            message["content"].as_array().unwrap().iter().any(|block| block["type"] == "tool_use");
        if !agent && !calls {
            self.spoken = Some(id.to_owned());
        }
        let late = !agent && std::mem::take(&mut self.late);
        let interrupted = !agent && std::mem::take(&mut self.interrupted);
        let answer = self.last(id, agent);
        answer.blocks.retain(|block| block["partial"] != true);
        for block in message["content"].as_array().unwrap() {
            answer.blocks.push(block.clone());
        }
        answer.model = message["model"].as_str().map(str::to_owned);
        answer.stop = message["stop_reason"].as_str().map(str::to_owned).or(answer.stop.take());
        answer.late |= late;
        if frame["aborted"] == true || interrupted {
            let words = message["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .split_inclusive(' ')
                .count();
            answer.hang = Some(2 + words);
        }
    }

    fn hear_failure(&mut self, frame: &Value) {
        let text = frame["message"]["content"][0]["text"].as_str().unwrap();
        let status = frame["api_error_status"].as_u64();
        let known = [400, 401, 403, 404, 413, 429, 500, 529];
        let status =
            status.or_else(|| known.into_iter().find(|status| text.contains(&status.to_string())));
        let status = status.or_else(|| text.contains("selected model").then_some(404));
        let status = status.or_else(|| text.contains("too large").then_some(413)).unwrap_or(400);
        let (status, words) = if text.contains("Credit balance") {
            (400, "Your credit balance is too low to access the API".to_owned())
        } else if text.starts_with("Prompt is too long") {
            (400, "prompt is too long: 250000 tokens > 200000 maximum".to_owned())
        } else {
            (status, format!("scripted {status}"))
        };
        // A model that is not found is looked for twice. The others are asked again as often as
        // that is allowed, whether the recording tells of it or not.
        let told = self.answers.iter().rev().take_while(|answer| answer.error.is_some()).count();
        let times = match status {
            404 => 2,
            401 | 429 | 500 | 529 => (self.max_retries + 1).saturating_sub(told).max(1),
            _ => 1,
        };
        for _ in 0..times {
            let message = format!("failure {}", self.answers.len());
            self.last(&message, false).error = Some((status, words.clone()));
        }
    }

    fn hear_retry(&mut self, frame: &Value) {
        let begun = self.streaming.take();
        let message = format!("failure {}", self.answers.len());
        match frame["error_status"].as_u64() {
            Some(status) => {
                self.last(&message, false).error = Some((status, format!("scripted {status}")));
            }
            None => match begun {
                Some(events) => {
                    if let Some(answer) = self.answers.last_mut() {
                        answer.cut = Some(events);
                    }
                }
                None => self.last(&message, false).reset = true,
            },
        }
    }

    fn hear_event(&mut self, frame: &Value) {
        let event = &frame["event"];
        match event["type"].as_str() {
            Some("message_start") => {
                let id = event["message"]["id"].as_str().unwrap().to_owned();
                self.last(&id, false);
                self.streaming = Some(1);
            }
            Some("content_block_start" | "content_block_delta") => {
                if let Some(events) = &mut self.streaming {
                    *events += 1;
                }
                if let (Some(answer), Some(text)) =
                    (self.answers.last_mut(), event["delta"]["text"].as_str())
                    && answer.blocks.iter().all(|block| block["partial"] == true)
                {
                    let so_far = answer
                        .blocks
                        .first()
                        .and_then(|block| block["text"].as_str())
                        .unwrap_or_default();
                    answer.blocks = vec![
                        json!({"type": "text", "text": format!("{so_far}{text}"), "partial": true}),
                    ];
                }
            }
            Some("message_delta") => {
                if let (Some(answer), Some(stop)) =
                    (self.answers.last_mut(), event["delta"]["stop_reason"].as_str())
                {
                    answer.stop = Some(stop.to_owned());
                }
            }
            _ => {}
        }
    }

    fn hear_result(&mut self, frame: &Value) {
        if frame["subtype"] == "error_max_budget_usd"
            && let Some(answer) = self.answers.last_mut()
        {
            answer.usage = Some(json!({"input_tokens": 1000, "output_tokens": 100_000}));
        }
        self.streaming = None;
        if std::mem::take(&mut self.interrupted) {
            self.hang_unseen();
        }
    }

    /// The model was interrupted before the client saw anything of its answer.
    fn hang_unseen(&mut self) {
        let message = format!("never seen {}", self.answers.len());
        let answer = self.last(&message, false);
        answer.hang = Some(3);
        answer.blocks.push(json!({"type": "text", "text": "word0 word1 "}));
    }

    /// Takes note of a line of the client.
    pub(crate) fn hear_client(&mut self, frame: &Value) {
        let kind = frame["type"].as_str().unwrap_or_default();
        if frame["request"]["subtype"] == "interrupt" {
            self.interrupts = true;
            match (self.streaming, self.answers.last_mut()) {
                (Some(events), Some(answer)) => answer.hang = Some(events),
                _ => self.interrupted = self.silent,
            }
        } else if self.silent && matches!(kind, "user" | "control_request") {
            self.late = true;
        }
    }

    /// The script.
    pub(crate) fn finish(mut self) -> String {
        if self.interrupted || (self.ended && self.silent) {
            self.hang_unseen();
        }
        let mut text = vec!["otherwise = \"Done.\"\n".to_owned()];
        for answer in &mut self.answers {
            answer.blocks.iter_mut().for_each(|block| {
                if let Some(block) = block.as_object_mut() {
                    block.remove("partial");
                }
            });
        }
        for answer in &self.answers {
            text.push("\n[[answer]]\n".to_owned());
            if answer.agent {
                text.push("when = { agent = true }\ntimes = 1\n".to_owned());
            }
            if answer.side {
                text.push("when = { side = true }\ntimes = 1\n".to_owned());
            }
            if let Some((status, message)) = &answer.error {
                text.push(format!("error = {{ status = {status}, message = {message:?} }}\n"));
                continue;
            }
            if answer.reset {
                text.push("reset = true\n".to_owned());
                continue;
            }
            if let Some(stop) = &answer.stop {
                text.push(format!("stop_reason = {stop:?}\n"));
            }
            if let Some(model) = &answer.model {
                text.push(format!("model = {model:?}\n"));
            }
            if let Some(usage) = &answer.usage {
                let (input, output) = (&usage["input_tokens"], &usage["output_tokens"]);
                text.push(format!(
                    "usage = {{ input_tokens = {input}, output_tokens = {output} }}\n"
                ));
            }
            if let Some(events) = answer.hang {
                text.push(format!("hang = {events}\n"));
            }
            if let Some(after) = answer.stream_error {
                text.push(format!("stream_error = {{ after = {after} }}\n"));
            }
            if answer.late && answer.hang.is_none() {
                text.push("delay = \"500ms\"\n".to_owned());
            }
            if let Some(events) = answer.cut {
                text.push(format!("cut = {events}\n"));
            }
            let blocks: Vec<String> =
                answer.blocks.iter().map(|block| self.block(block, answer)).collect();
            text.push(format!("blocks = [\n{}]\n", blocks.concat()));
        }
        text.concat()
    }

    fn block(&self, block: &Value, answer: &Answer) -> String {
        match block["type"].as_str() {
            Some("text") => {
                let mut text = block["text"].as_str().unwrap().to_owned();
                if answer.hang.is_some() || answer.cut.is_some() || answer.stream_error.is_some() {
                    text.push_str("and so on and on");
                }
                format!("  {{ text = {} }},\n", quoted(&text))
            }
            Some("thinking") => {
                format!("  {{ thinking = {} }},\n", quoted(block["thinking"].as_str().unwrap()))
            }
            _ => self.call(block),
        }
    }

    fn call(&self, block: &Value) -> String {
        let (id, name) = (block["id"].as_str().unwrap(), block["name"].as_str().unwrap());
        let mut input = block["input"].clone();
        if name == "ExitPlanMode"
            && let Some(input) = input.as_object_mut()
        {
            input.remove("plan");
            input.remove("planFilePath");
        }
        if name == "Edit"
            && let Some(input) = input.as_object_mut()
        {
            input.remove("replace_all");
        }
        let mut call = vec![format!(
            "  {{ tool = {name:?}, id = {id:?}, input_json = {}",
            quoted(&plans_as_variable(&input.to_string()))
        )];
        let path = input["file_path"].as_str().unwrap_or_default();
        let outside = path.starts_with('/') && !path.starts_with(RECORDED_HOME);
        if let Some(result) = self.results.get(id) {
            let (told, structured) = (&result["block"], &result["structured"]);
            let refused =
                structured.as_str().is_some_and(|text| !text.starts_with("Error: Exit code"));
            let failed = told["is_error"] == true;
            let content = match name {
                "Bash" if !failed => structured["stdout"].as_str(),
                "Bash" if !refused => told["content"].as_str(),
                "Read" if outside && !failed => structured["file"]["content"].as_str(),
                "Write" if outside && !failed => told["content"].as_str(),
                _ => None,
            };
            if let Some(content) = content {
                call.push(format!(", result = {}", quoted(content)));
                if failed {
                    call.push(", fails = true".to_owned());
                }
            }
            if name == "Bash" && structured["backgroundTaskId"].is_string() {
                call.push(", takes = \"400ms\"".to_owned());
            }
            if name == "Bash"
                && (told["content"].as_str().unwrap_or_default().contains("stopped while running")
                    || (self.interrupts && failed))
            {
                call.push(", takes = \"30s\"".to_owned());
            }
        }
        call.push(" },\n".to_owned());
        call.concat()
    }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    // JSON strings are TOML strings, but for the one character that JSON leaves as it is.
    let text = text.replace("${", "$${").replace("$${plan_file}", "${plan_file}");
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// The plan file has another name in every run.
fn plans_as_variable(text: &str) -> String {
    let plans = Regex::new(r"/home/dev/\.claude/plans/[a-z-]+\.md").unwrap();
    plans.replace_all(text, "$${plan_file}").into_owned()
}
