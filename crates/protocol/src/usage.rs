//! What a turn used and cost.

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::wire::{Extra, Num, RawJson};

/// Tokens of one response or one turn, as the API counts them.
///
/// Every field is optional: the frames of a response that is still being written carry part of
/// it only.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the prompt that were not cached.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that were put into the cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// Tokens of the prompt that came from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// What was put into the cache, by how long it is kept.
    pub cache_creation: Option<CacheCreation>,
    /// Calls of tools that the API runs.
    pub server_tool_use: Option<ServerToolUsage>,
    /// The class of service.
    pub service_tier: Option<String>,
    /// Where the model ran.
    pub inference_geo: Option<String>,
    /// How fast it ran.
    pub speed: Option<String>,
    /// The steps, for a response that took several.
    pub iterations: Option<RawJson>,
    /// What the output was for.
    pub output_tokens_details: Option<OutputTokensDetails>,
    /// What was given back for a fallback to another model.
    pub fallback_credit: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What was put into the cache.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CacheCreation {
    /// Tokens that are kept for an hour.
    pub ephemeral_1h_input_tokens: Option<u64>,
    /// Tokens that are kept for five minutes.
    pub ephemeral_5m_input_tokens: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Calls of tools that the API runs.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ServerToolUsage {
    /// Searches of the web.
    pub web_search_requests: Option<u64>,
    /// Pages fetched.
    pub web_fetch_requests: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What the output was for.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct OutputTokensDetails {
    /// Tokens of reasoning.
    pub thinking_tokens: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What one model used since the conversation began in this process.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelUsage {
    /// Tokens of the prompt that were not cached.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Of these, tokens of reasoning.
    pub thinking_tokens: Option<u64>,
    /// Tokens of the prompt that came from the cache.
    pub cache_read_input_tokens: u64,
    /// Tokens of the prompt that were put into the cache.
    pub cache_creation_input_tokens: u64,
    /// Of these, tokens that are kept for five minutes.
    pub cache_creation_ephemeral5m_input_tokens: Option<u64>,
    /// Of these, tokens that are kept for an hour.
    pub cache_creation_ephemeral1h_input_tokens: Option<u64>,
    /// Searches of the web.
    pub web_search_requests: u64,
    /// Cost in USD.
    #[wire(name = "costUSD")]
    pub cost_usd: Num,
    /// How many tokens the model can hold.
    pub context_window: Option<u64>,
    /// How many tokens the model can write in one response.
    pub max_output_tokens: Option<u64>,
    /// The model, without a variant.
    pub canonical_model: Option<String>,
    /// Who runs the model.
    pub provider: Option<String>,
    /// What the cost was reckoned with.
    pub cost_basis: Option<CostBasis>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What a cost was reckoned with.
    CostBasis {
        /// The public price list.
        List = "list",
        /// Prices that an organisation set.
        Managed = "managed",
        /// The price is not known, so neither is the cost.
        Unknown = "unknown",
    }
}
