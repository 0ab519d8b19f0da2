//! Events in the life of a session: start and end, compaction, the model.

use countersign_protocol_derive::WireObject;

use super::HookBase;
use crate::content::CacheTtl;
use crate::names::open_enum;
use crate::system::CompactTrigger;
use crate::wire::{Extra, Num};

/// A session begins, or begins again.
///
/// A callback does not see the start of its own process: that is before `initialize`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SessionStartInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// Why it begins.
    pub source: SessionStartSource,
    /// The model.
    pub model: Option<String>,
    /// The title of the session, if it has one.
    pub session_title: Option<String>,
    /// How long ago the model last responded, in seconds.
    pub seconds_since_last_response: Option<Num>,
    /// How many tokens the conversation has.
    pub context_tokens: Option<u64>,
    /// Whether the prompt cache is probably gone.
    pub prompt_cache_likely_expired: Option<bool>,
    /// What it costs, in US dollars, to cache the conversation again. An estimate.
    pub estimated_cache_write_usd: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A session ends.
///
/// A callback does not see the end that closing standard input causes: its answer could not
/// arrive.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SessionEndInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// Why it ends.
    pub reason: SessionEndReason,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The CLI was launched to prepare or maintain a project.
///
/// It is for hooks in settings: 2.1.197 and 2.1.325 call no callback of a client.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetupInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// What it was launched for.
    pub trigger: SetupTrigger,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The conversation is about to be compacted.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PreCompactInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// Who wants it.
    pub trigger: CompactTrigger,
    /// What the summary should pay attention to, as given with `/compact`.
    pub custom_instructions: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The conversation has been compacted.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PostCompactInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// Who wanted it.
    pub trigger: CompactTrigger,
    /// The summary that stands in place of the conversation.
    pub compact_summary: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The model is about to be changed because someone asked for it.
///
/// Answer with a [`PreModelSwitchOutput`](crate::hook::PreModelSwitchOutput). Changes that the CLI
/// makes by itself are only reported afterwards, as [`PostModelSwitchInput`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PreModelSwitchInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The change.
    #[wire(flatten)]
    pub switch: ModelSwitch,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The model has been changed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PostModelSwitchInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The change.
    #[wire(flatten)]
    pub switch: ModelSwitch,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A change of the model, and what it costs.
///
/// The next request sends the whole conversation to a model that has not cached it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ModelSwitch {
    /// The model before.
    pub from_model: String,
    /// The model after.
    pub to_model: String,
    /// What was asked for: a model or an alias such as `opus`; nothing for the default.
    pub requested_model: Option<String>,
    /// Who asked for it.
    pub source: ModelSwitchSource,
    /// How many tokens the conversation has. 0 before the first response.
    pub context_tokens: u64,
    /// Whether the model before still has the conversation cached.
    pub prompt_cache_warm: bool,
    /// How long a cached prompt is kept.
    pub cache_ttl: CacheTtl,
    /// What it costs, in US dollars, to cache the conversation for the model after. An estimate.
    pub estimated_cache_write_usd: Num,
    /// What that estimate is based on.
    pub pricing: PricingBasis,
    /// Fields this type does not name. Always empty in an input: they are in the `extra` of the
    /// event.
    pub extra: Extra,
}

open_enum! {
    /// Why a session begins.
    SessionStartSource {
        /// The process was launched.
        Startup = "startup",
        /// A session was resumed.
        Resume = "resume",
        /// The conversation was cleared.
        Clear = "clear",
        /// The conversation was compacted.
        Compact = "compact",
        /// A session was forked from another. Older versions call it `resume`.
        Fork = "fork",
    }

    /// Why a session ends.
    SessionEndReason {
        /// The conversation is cleared.
        Clear = "clear",
        /// Another session is resumed.
        Resume = "resume",
        /// The user logs out.
        Logout = "logout",
        /// The user leaves at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Something else.
        Unspecified = "other",
    }

    /// What a CLI was launched for.
    SetupTrigger {
        /// To prepare the project.
        Init = "init",
        /// To maintain it.
        Maintenance = "maintenance",
    }

    /// Who asked for another model.
    ModelSwitchSource {
        /// A slash command or the settings dialog.
        Command = "command",
        /// A list of models.
        Picker = "picker",
        /// The client.
        Sdk = "sdk",
        /// The CLI itself. Only after the change.
        Auto = "auto",
        /// A resume, which restores the model. Only after the change.
        Resume = "resume",
    }

    /// What an estimate of cost is based on.
    PricingBasis {
        /// Prices that the organization has set.
        Configured = "configured",
        /// List prices.
        Catalog = "catalog",
        /// A guess: the model is not known.
        Default = "default",
    }
}
