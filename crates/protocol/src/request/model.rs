//! The model, how it thinks, and what it may do unasked.

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::permission::PermissionMode;
use crate::wire::{Extra, RawJson};

/// Changes the model, from the next turn on.
///
/// A model that does not exist is accepted as well: it is only refused by the API, in the turn
/// that uses it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetModel {
    /// An alias or an id. Absent, `null` and `default` all mean the session's default.
    #[wire(new)]
    pub model: Option<String>,
    /// The system prompt from then on. *Unstable.*
    pub system_prompt: Option<String>,
    /// Refuse with [`ErrorCode::ModelNotCurrent`](super::ErrorCode::ModelNotCurrent) unless the
    /// model is the one in use. *Unstable.*
    pub only_if_model_is_current: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl SetModel {
    /// Goes back to the session's default model.
    #[must_use]
    pub fn reset() -> Self {
        Self {
            model: None,
            system_prompt: None,
            only_if_model_is_current: None,
            extra: Extra::default(),
        }
    }
}

/// The answer to [`SetModel`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetModelResponse {
    /// The id that the model resolved to. From 2.1.325 on.
    pub model: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks which models can be chosen. From 2.1.325 on; before that, see
/// [`InitializeResponse::models`](super::InitializeResponse::models).
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ListModels {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ListModels`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ListModelsResponse {
    /// The models.
    pub models: Vec<ModelInfo>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelInfo {
    /// What [`SetModel`] takes: an alias or an id.
    pub value: String,
    /// The id that it resolves to.
    pub resolved_model: Option<String>,
    /// The name to show.
    pub display_name: String,
    /// What it is good for.
    pub description: String,
    /// Whether it has levels of effort.
    pub supports_effort: Option<bool>,
    /// Which levels it has.
    pub supported_effort_levels: Option<Vec<EffortLevel>>,
    /// Whether it decides by itself when to think.
    pub supports_adaptive_thinking: Option<bool>,
    /// Whether it has a fast mode.
    pub supports_fast_mode: Option<bool>,
    /// Whether it can be used in [`PermissionMode::Auto`].
    pub supports_auto_mode: Option<bool>,
    /// Whether thinking can be turned off. *Unstable.*
    pub supports_thinking_off: Option<bool>,
    /// Whether it is listed but cannot be chosen. *Unstable.*
    pub disabled: Option<bool>,
    /// Its price without the present discount, as text. *Unstable.*
    pub promo_list_price: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Changes how much the model thinks, and how that is shown.
///
/// What the request does not mention stays as it is, so an empty one changes nothing. To go back
/// to what the session began with, use [`SetMaxThinkingTokens::reset`].
///
/// ```
/// use countersign_protocol::request::{ClientRequest, SetMaxThinkingTokens};
///
/// let request = ClientRequest::from(SetMaxThinkingTokens::reset());
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetMaxThinkingTokens {
    /// How many tokens it may think with; 0 turns thinking off where the model allows it.
    #[wire(nullable)]
    pub max_thinking_tokens: Option<u64>,
    /// How thinking is shown.
    #[wire(nullable)]
    pub thinking_display: Option<ThinkingDisplay>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl SetMaxThinkingTokens {
    /// Goes back to the number of tokens that the session began with: `null` on the wire, where
    /// absent would leave the number as it is.
    #[must_use]
    pub fn reset() -> Self {
        Self::new().with_max_thinking_tokens_null()
    }

    /// Goes back to the CLI's own way of showing: `null` on the wire, where absent would leave it
    /// as it is.
    #[must_use]
    pub fn reset_display(self) -> Self {
        self.with_thinking_display_null()
    }
}

/// Changes the permission mode, also in the middle of a turn.
///
/// The answer is followed by one `system/status` frame with the new mode (from 2.1.197 on).
/// Versions up to 2.1.40 answer twice; the second answer is to be ignored. 2.1.62 and 2.1.197
/// accept any string, and then behave as in [`PermissionMode::Default`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetPermissionMode {
    /// The new mode. Required; it is an `Option` because older versions answer success to `null`,
    /// which therefore stands in recordings.
    #[wire(new)]
    pub mode: Option<PermissionMode>,
    /// Whether to plan at length. *Unstable.*
    pub ultraplan: Option<bool>,
    /// Whether the mode was taken from settings. *Unstable.*
    pub from_settings: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`SetPermissionMode`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetPermissionModeResponse {
    /// The mode that holds now. Absent in the second of two answers, see [`SetPermissionMode`].
    pub mode: Option<PermissionMode>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Changes how much the model does unasked. *Unstable*: refused unless the host was admitted to
/// it in `initialize`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetProactivityLevel {
    /// The new level.
    pub level: ProactivityLevel,
    /// Whether bypassing permissions may be offered.
    pub offer_bypass: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How hard a model thinks.
    EffortLevel {
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// More.
        Xhigh = "xhigh",
        /// As much as it can.
        Max = "max",
    }

    /// How thinking is shown.
    ThinkingDisplay {
        /// A summary.
        Summarized = "summarized",
        /// Not at all.
        Omitted = "omitted",
        /// A short title for each stretch. Only where Anthropic hosts the session.
        Highlights = "highlights",
    }

    /// How much the model does unasked.
    ProactivityLevel {
        /// It asks first.
        Ask = "ask",
        /// As usual.
        Default = "default",
        /// It goes ahead.
        Proactive = "proactive",
    }

    /// Whether fast mode is on.
    FastModeState {
        /// It is off.
        Off = "off",
        /// It is paused for a while.
        Cooldown = "cooldown",
        /// It is on.
        On = "on",
    }

    /// Why fast mode cannot be used.
    FastModeDisabledReason {
        /// The plan is free.
        Free = "free",
        /// It is switched off in the settings.
        Preference = "preference",
        /// Usage beyond the plan is not enabled.
        ExtraUsageDisabled = "extra_usage_disabled",
        /// It could not be found out.
        NetworkError = "network_error",
        /// No reason was given.
        Unknown = "unknown",
        /// Somebody else than Anthropic runs the models.
        NotFirstParty = "not_first_party",
        /// An environment variable turns it off.
        DisabledByEnv = "disabled_by_env",
        /// The model is not allowed.
        ModelNotAllowed = "model_not_allowed",
        /// A client has to ask for it.
        SdkOptInRequired = "sdk_opt_in_required",
        /// It is still being found out.
        Pending = "pending",
    }
}
