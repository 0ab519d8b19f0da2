//! The answer of the model on its way: events, blocks, and the frames of it.

use std::rc::Rc;
use std::time::Duration;

use super::Scope;
use super::broken::Broken;
use crate::script::{Answer, Block, Ending, SIGNATURE, ToolUse};
use crate::sim::clock::{ms_since, new_id};
use crate::sim::exec::yield_now;
use crate::sim::frames::Assistant;
use crate::sim::json::{Json, Object, obj};
use crate::sim::meter::Tokens;
use crate::sim::profile::EarlyStart;
use crate::sim::state::Sim;
use crate::sim::tools::{Call, Started};

/// What the model has said.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The calls, of which some may be running.
    pub(super) calls: Vec<(Call, Option<Started>)>,
    /// Why it stopped.
    pub(super) stop_reason: String,
    pub(super) message_id: String,
    pub(super) request_id: String,
}

/// An answer on its way.
pub(super) struct Stream<'a> {
    pub(super) sim: &'a Rc<Sim>,
    pub(super) scope: &'a Rc<Scope>,
    answer: &'a Answer,
    /// The answer comes in one piece.
    whole: bool,
    model: String,
    pub(super) tokens: Tokens,
    pub(super) events: usize,
    deltas: usize,
    /// An event was written since calls could last go on.
    ahead: bool,
    /// The block that is open: its number, and its text if it is one.
    pub(super) open: Option<(usize, Option<String>)>,
    /// How much thinking the open block has, in tokens, as the CLI guesses it.
    thought: usize,
    pub(super) said: Said,
}

impl<'a> Stream<'a> {
    /// An answer that is about to come.
    pub(super) fn new(
        sim: &'a Rc<Sim>,
        scope: &'a Rc<Scope>,
        answer: &'a Answer,
        whole: bool,
        model: &str,
    ) -> Self {
        let model =
            answer.model.clone().unwrap_or_else(|| model.trim_end_matches("[1m]").to_owned());
        let said = Said {
            message_id: new_id("msg_", 20),
            request_id: new_id("req_", 16),
            ..Said::default()
        };
        let tokens = Tokens::of(answer.usage);
        Self {
            sim,
            scope,
            answer,
            whole,
            model,
            tokens,
            events: 0,
            deltas: 0,
            ahead: false,
            open: None,
            thought: 0,
            said,
        }
    }

    /// Lets it come.
    pub(super) async fn run(&mut self) -> Result<(), Broken> {
        let turn = &self.scope.turn;
        turn.wait(self.sim.tasks.sleep(self.answer.delay)).await?;
        if !self.whole {
            self.event(false).await?;
            self.start();
        }
        if turn.first_word_ms.get().is_none() {
            turn.first_word_ms.set(Some(ms_since(turn.started)));
        }
        self.scope.count(self.tokens);
        if self.scope.agent().is_none() {
            turn.tokens.borrow_mut().add(Tokens { output: 0, ..self.tokens });
        }
        if turn.first_tokens.get().is_none() {
            turn.first_tokens.set(Some(self.tokens));
        }
        let mut index = 0;
        for block in &self.answer.blocks {
            match block {
                Block::Fault(fault) => {
                    self.sim.misbehave(self.scope, *fault).await?;
                    continue;
                }
                Block::Text(text) => self.text(index, text).await?,
                Block::Thinking(text) => self.thinking(index, text).await?,
                Block::ToolUse(call) => self.tool_use(index, call).await?,
            }
            index += 1;
        }
        let stop = self.answer.effective_stop_reason();
        self.said.stop_reason = stop.to_owned();
        if self.scope.agent().is_none() {
            turn.tokens.borrow_mut().output += self.tokens.output;
            let told = (self.whole || self.sim.profile.terminal_reasons).then(|| stop.to_owned());
            turn.stop_reason.replace(told);
        }
        if !self.whole {
            self.event(false).await?;
            let delta = obj! { "stop_reason": stop, "stop_sequence": Json::Null };
            let usage = obj! { "output_tokens": self.tokens.output };
            self.emit(
                obj! { "type": "message_delta", "delta": delta, "usage": usage },
                Object::default(),
            );
            self.event(false).await?;
            self.emit(obj! { "type": "message_stop" }, Object::default());
        }
        Ok(())
    }

    /// Comes before each event: the script may want the stream to end here.
    async fn event(&mut self, is_delta: bool) -> Result<(), Broken> {
        if self.whole {
            return Ok(());
        }
        let turn = &self.scope.turn;
        match &self.answer.ending {
            Ending::Cut { after } if self.events >= *after => return Err(Broken::Cut),
            Ending::Hang { after } if self.events >= *after => {
                turn.wait(std::future::pending::<()>()).await?;
            }
            Ending::StreamError { after, error } if is_delta && self.deltas >= *after => {
                return Err(Broken::Error(error.clone()));
            }
            _ => {}
        }
        if is_delta {
            let pace = if self.deltas == 0 { Duration::ZERO } else { self.answer.pace };
            turn.wait(self.sim.tasks.sleep(pace)).await?;
            self.deltas += 1;
        }
        if self.ahead {
            yield_now().await;
        }
        self.ahead = self.said.calls.iter().any(|(_, started)| started.is_some());
        self.events += 1;
        Ok(())
    }

    /// Writes an event, if the client sees the answer grow.
    pub(super) fn emit(&self, event: Object, mut extra: Object) {
        if self.sim.streams(self.scope) && !self.whole {
            if self.sim.profile.internals {
                extra.set("api_message_id", &self.said.message_id);
            }
            self.sim.emit_stream(event, extra);
        }
    }

    fn start(&self) {
        let mut extra = Object::default();
        if self.sim.profile.stream_status {
            extra.set("ttft_ms", ms_since(self.scope.turn.started));
        }
        if self.sim.profile.internals {
            extra.set("thinking_display", "updates");
            extra.set("api_message_id", &self.said.message_id);
            if !self.scope.turn.marked.get() {
                self.scope.turn.mark(&mut extra);
                if extra.get("user_message_uuids").is_some() {
                    extra.set("owed_rows", Vec::<Json>::new());
                }
            }
            self.sim.emit_replays();
        }
        let message = self.message(Vec::new(), Json::Null, false);
        self.emit(obj! { "type": "message_start", "message": message }, extra);
    }

    /// The message as far as it is known, with these blocks.
    fn message(&self, content: Vec<Json>, stop_reason: Json, in_frame: bool) -> Object {
        let output = if self.whole { self.tokens.output } else { 1 };
        let mut message = obj! {
            "id": &self.said.message_id,
            "type": "message",
            "role": "assistant",
            "model": &self.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": Json::Null,
            "usage": self.tokens.at_start(output),
        };
        if in_frame {
            message.set("context_management", Json::Null);
        }
        message
    }

    async fn begin_block(
        &mut self,
        index: usize,
        block: Object,
        is_text: bool,
    ) -> Result<(), Broken> {
        self.event(false).await?;
        self.open = Some((index, is_text.then(String::new)));
        let mut extra = Object::default();
        if block.get("type") == Some(&"thinking".into()) && self.sim.profile.internals {
            extra.set("thinking_display", "updates");
        }
        let event = obj! { "type": "content_block_start", "index": index, "content_block": block };
        self.emit(event, extra);
        Ok(())
    }

    async fn delta(&mut self, index: usize, delta: Object) -> Result<(), Broken> {
        self.event(true).await?;
        let mut extra = Object::default();
        self.count_thinking(&delta);
        if delta.get("thinking").is_some() && self.sim.profile.internals {
            extra.set("thinking_display", "updates");
        }
        if let (Some((_, Some(text))), Some(more)) = (&mut self.open, delta.get("text")) {
            text.push_str(more.as_str().unwrap_or_default());
        }
        self.emit(obj! { "type": "content_block_delta", "index": index, "delta": delta }, extra);
        Ok(())
    }

    /// Newer versions tell how much the model thinks: a token for every four characters of each
    /// piece, and no less in all than the signature makes one think.
    fn count_thinking(&mut self, delta: &Object) {
        let tokens = |key| delta.get(key).and_then(Json::as_str).map(|text| text.len().div_ceil(4));
        let before = self.thought;
        self.thought += tokens("thinking").unwrap_or(0);
        self.thought = self.thought.max(tokens("signature").unwrap_or(0));
        let more = self.thought - before;
        if more > 0 && self.sim.profile.stream_status && !self.whole {
            self.sim.emit_system(
                "thinking_tokens",
                obj! { "estimated_tokens": self.thought, "estimated_tokens_delta": more },
            );
        }
    }

    async fn end_block(&mut self, index: usize) -> Result<(), Broken> {
        self.event(false).await?;
        self.open = None;
        self.emit(obj! { "type": "content_block_stop", "index": index }, Object::default());
        Ok(())
    }

    async fn text(&mut self, index: usize, text: &str) -> Result<(), Broken> {
        self.begin_block(index, obj! { "type": "text", "text": "" }, true).await?;
        for word in text.split_inclusive(' ') {
            self.delta(index, obj! { "type": "text_delta", "text": word }).await?;
        }
        self.scope.text.replace(text.to_owned());
        if self.scope.agent().is_none() {
            self.scope.turn.text.replace(text.to_owned());
        }
        self.sim.display_hooks(self.scope, index, text).await;
        self.frame(obj! { "type": "text", "text": text }, Object::default());
        self.end_block(index).await
    }

    async fn thinking(&mut self, index: usize, text: &str) -> Result<(), Broken> {
        self.thought = 0;
        let block = obj! { "type": "thinking", "thinking": "", "signature": "" };
        self.begin_block(index, block, true).await?;
        for word in text.split_inclusive(' ') {
            self.delta(index, obj! { "type": "thinking_delta", "thinking": word }).await?;
        }
        let signature = SIGNATURE;
        self.delta(index, obj! { "type": "signature_delta", "signature": signature }).await?;
        let mut extra = Object::default();
        if self.sim.profile.internals {
            extra.set("thinking_duration_ms", ms_since(self.scope.turn.started));
            extra.set("thinking_display", "updates");
        }
        self.frame(obj! { "type": "thinking", "thinking": text, "signature": signature }, extra);
        self.end_block(index).await
    }

    async fn tool_use(&mut self, index: usize, call: &ToolUse) -> Result<(), Broken> {
        let id = call.id.clone().unwrap_or_else(|| new_id("toolu_", 20));
        let block =
            obj! { "type": "tool_use", "id": &id, "name": &call.name, "input": Object::default() };
        self.begin_block(index, block, false).await?;
        let input = Json::from(&call.input);
        for part in halves(&input.to_string()) {
            self.delta(index, obj! { "type": "input_json_delta", "partial_json": part }).await?;
        }
        let call = Call::new(self.sim, id, input, call);
        let extra = self.sim.tool_use_meta(&call);
        // What an agent in the background does is told after it, what another one does before.
        let background = self.scope.is_background();
        if !background {
            self.sim.announce_tool(self.scope, &call);
        }
        let block = obj! {
            "type": "tool_use",
            "id": &call.id,
            "name": &call.name,
            "input": call.shown_input(),
        };
        let uuid = self.frame(block, extra);
        if background {
            self.sim.announce_tool(self.scope, &call);
        }
        let call = call.said_in(uuid);
        let early = self.sim.profile.early_start;
        if early != EarlyStart::BeforeBlockEnd {
            self.end_block(index).await?;
        }
        let may_start = early != EarlyStart::Never
            && call.runs_beside_others()
            && self.said.calls.iter().all(|(_, started)| started.is_some());
        let started = may_start.then(|| self.sim.start_call(self.scope, &call));
        self.said.calls.push((call, started));
        if may_start {
            // The call begins in the next round. It goes on while the stream does.
            yield_now().await;
            yield_now().await;
            self.ahead = false;
        }
        if early == EarlyStart::BeforeBlockEnd {
            self.end_block(index).await?;
        }
        Ok(())
    }

    /// Writes the `assistant` frame of a block that is complete, and remembers it.
    fn frame(&self, block: Object, extra: Object) -> String {
        let stop = if self.whole { self.answer.effective_stop_reason().into() } else { Json::Null };
        self.frame_with(block, stop, extra)
    }

    /// The same, with a stop reason.
    pub(super) fn frame_with(&self, block: Object, stop: Json, mut extra: Object) -> String {
        let block = Json::from(block);
        let message = self.message(vec![block.clone()], stop, true);
        let turn = &self.scope.turn;
        if self.sim.profile.lifecycle && self.scope.agent().is_none() && !turn.marked.replace(true)
        {
            turn.mark(&mut extra);
        }
        let shown = self.sim.shows_block(self.scope, &block);
        let request_id = Some(self.said.request_id.as_str());
        let uuid = if shown {
            self.sim.emit_assistant(
                self.scope,
                Assistant { message: message.clone(), request_id, extra },
            )
        } else {
            crate::sim::clock::new_uuid()
        };
        self.scope
            .with_thread(self.sim, |thread| thread.push_assistant(&self.said.message_id, &block));
        let mut stored = message;
        if !self.whole {
            stored.set("stop_reason", self.answer.effective_stop_reason());
        }
        let body = obj! { "message": stored, "requestId": &self.said.request_id };
        self.sim.store(self.scope, "assistant", &uuid, body);
        uuid
    }
}

impl super::Turn {
    /// Says which messages a frame answers.
    fn mark(&self, extra: &mut Object) {
        let uuids = self.uuids.borrow();
        if let Some(last) = uuids.last() {
            extra.set("user_message_uuid", last);
            extra.set("user_message_uuids", uuids.clone());
        }
        extra.set_some("resume_reason", self.resume_reason);
    }
}

/// A text in two parts, as tool input comes.
fn halves(text: &str) -> [&str; 2] {
    let mut middle = (text.len() / 2).max(1).min(text.len());
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    text.split_at(middle).into()
}
