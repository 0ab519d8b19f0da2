//! Tokens, money and time.

use super::json::{Json, Object, obj};
use super::profile::Profile;
use crate::script::Usage;

/// Tokens of one or more answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_creation: u64,
}

impl Tokens {
    /// The tokens of an answer; what a script leaves out is small.
    pub(crate) fn of(usage: Usage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or(10),
            output: usage.output_tokens.unwrap_or(20),
            cache_read: usage.cache_read_input_tokens.unwrap_or(0),
            cache_creation: usage.cache_creation_input_tokens.unwrap_or(0),
        }
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_creation += other.cache_creation;
    }

    /// All of them.
    pub(crate) fn total(self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_creation
    }

    /// As a message of the model has them when it begins.
    pub(crate) fn at_start(self, output: u64) -> Object {
        obj! {
            "input_tokens": self.input,
            "output_tokens": output,
            "cache_creation_input_tokens": self.cache_creation,
            "cache_read_input_tokens": self.cache_read,
        }
    }

    /// As a result has them.
    pub(crate) fn of_result(self, profile: &Profile) -> Object {
        obj! {
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.cache_creation,
            "cache_read_input_tokens": self.cache_read,
            "output_tokens": self.output,
            "output_tokens_details"?: profile.internals.then(|| obj! { "thinking_tokens": 0 }),
            "server_tool_use": obj! { "web_search_requests": 0, "web_fetch_requests": 0 },
            "service_tier": "standard",
            "cache_creation": obj! {
                "ephemeral_1h_input_tokens": 0,
                "ephemeral_5m_input_tokens": self.cache_creation,
            },
            "inference_geo": "",
            "iterations": Vec::<Json>::new(),
            "speed": "standard",
            "fallback_credit"?: profile.internals.then_some(Json::Null),
        }
    }

    fn cost(self, price: (f64, f64)) -> f64 {
        // Reading from the cache costs a tenth, writing to it a quarter more.
        let input =
            as_f64(self.input) + as_f64(self.cache_read) * 0.1 + as_f64(self.cache_creation) * 1.25;
        (input * price.0 + as_f64(self.output) * price.1) / 1e6
    }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// The sums of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    models: Vec<(String, Tokens)>,
    /// Cost of earlier processes of the session.
    pub(crate) earlier_cost: f64,
    /// Milliseconds in the model API.
    pub(crate) api_ms: u64,
    pub(crate) lines_added: u64,
    pub(crate) lines_removed: u64,
    /// The tokens of the last answer in the main conversation.
    pub(crate) latest: Tokens,
    /// Requests of the main conversation.
    pub(crate) requests: u64,
}

impl Meter {
    /// Counts an answer of a model.
    pub(crate) fn count(&mut self, model: &str, tokens: Tokens, ms: u64) {
        self.api_ms += ms;
        match self.models.iter_mut().find(|(name, _)| name == model) {
            Some((_, sum)) => sum.add(tokens),
            None => self.models.push((model.to_owned(), tokens)),
        }
    }

    /// Dollars so far.
    pub(crate) fn cost(&self, profile: &Profile) -> f64 {
        round(self.earlier_cost + self.cost_of_process(profile))
    }

    /// Dollars of this process: what a budget is for, also where the sum goes on.
    pub(crate) fn cost_of_process(&self, profile: &Profile) -> f64 {
        self.models.iter().map(|(_, tokens)| tokens.cost(profile.price)).sum()
    }

    /// What was used since another moment of the same session.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut difference = Self::default();
        for (model, tokens) in &self.models {
            let before = earlier.models.iter().find(|(name, _)| name == model);
            let before = before.map(|(_, tokens)| *tokens).unwrap_or_default();
            let used = Tokens {
                input: tokens.input.saturating_sub(before.input),
                output: tokens.output.saturating_sub(before.output),
                cache_read: tokens.cache_read.saturating_sub(before.cache_read),
                cache_creation: tokens.cache_creation.saturating_sub(before.cache_creation),
            };
            if used.total() > 0 {
                difference.models.push((model.clone(), used));
            }
        }
        difference
    }

    /// Usage by model, as a result has it.
    pub(crate) fn model_usage(&self, profile: &Profile) -> Object {
        self.models
            .iter()
            .map(|(model, tokens)| (model.clone(), usage_of(profile, model, *tokens).into()))
            .collect()
    }

    /// The models that were used, with their tokens and dollars.
    pub(crate) fn models<'a>(
        &'a self,
        profile: &'a Profile,
    ) -> impl Iterator<Item = (&'a str, Tokens, f64)> {
        self.models
            .iter()
            .map(|(model, tokens)| (model.as_str(), *tokens, round(tokens.cost(profile.price))))
    }
}

fn usage_of(profile: &Profile, model: &str, tokens: Tokens) -> Object {
    let internals = profile.internals;
    obj! {
        "inputTokens": tokens.input,
        "outputTokens": tokens.output,
        "cacheReadInputTokens": tokens.cache_read,
        "cacheCreationInputTokens": tokens.cache_creation,
        "webSearchRequests": 0,
        "costUSD": round(tokens.cost(profile.price)),
        "contextWindow": profile.window_of(model),
        "maxOutputTokens": profile.window.1,
        "thinkingTokens"?: internals.then_some(0),
        "cacheCreationEphemeral5mInputTokens"?: internals.then_some(tokens.cache_creation),
        "cacheCreationEphemeral1hInputTokens"?: internals.then_some(0),
        "canonicalModel"?: internals.then_some(model),
        "provider"?: internals.then_some("firstParty"),
        "costBasis"?: internals.then_some("list"),
    }
}

/// Without the dust of floating point.
fn round(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}
