//! Why a request was refused.

use crate::names::open_enum;

open_enum! {
    /// Why a request was refused: the `error_code` of an error response.
    ///
    /// Versions up to 2.1.197 send no code, and 2.1.325 sends one for some errors only. The codes
    /// that begin with `remote_control_` are not listed.
    ErrorCode {
        /// This version does not know the request.
        UnsupportedRequest = "unsupported_request",

        /// `set_permission_mode`: there is no such mode.
        InvalidMode = "invalid_mode",
        /// `set_permission_mode`: the process was not launched so that it may bypass permissions.
        BypassNotLaunched = "bypass_not_launched",
        /// `set_permission_mode`: bypassing permissions is disabled by settings.
        BypassDisabled = "bypass_disabled",
        /// `set_permission_mode`: bypassing permissions is restricted.
        BypassRestricted = "bypass_restricted",
        /// `set_permission_mode`: settings keep auto mode off.
        AutoModeSettings = "auto_mode_settings",
        /// `set_permission_mode`: a circuit breaker keeps auto mode off.
        AutoModeCircuitBreaker = "auto_mode_circuit_breaker",
        /// `set_permission_mode`: auto mode does not go with fast mode.
        AutoModeFastMode = "auto_mode_fast_mode",
        /// `set_permission_mode`: auto mode does not go with the model.
        AutoModeModel = "auto_mode_model",
        /// `set_permission_mode`: auto mode cannot be used here.
        AutoModeUnavailable = "auto_mode_unavailable",

        /// `set_model`: the request is malformed.
        InvalidRequest = "invalid_request",
        /// `set_model`: the catalog does not have the model.
        CatalogUnknown = "catalog_unknown",
        /// `set_model`: there is no such model.
        NotFound = "not_found",
        /// `set_model`: the organisation does not allow the model.
        RestrictedByOrg = "restricted_by_org",
        /// `set_model`: the account cannot use the model.
        UnavailableForAccount = "unavailable_for_account",
        /// `set_model`: the model is not on offer.
        NotOffered = "not_offered",
        /// `set_model`: the variant with a context of a million tokens is switched off.
        Alias1mDisabled = "alias_1m_disabled",
        /// `set_model`: the model has no variant with a context of a million tokens.
        Alias1mUnsupported = "alias_1m_unsupported",
        /// `set_model`: a `PreModelSwitch` hook refused.
        BlockedByHook = "blocked_by_hook",
        /// `set_model`: the hooks could not be asked.
        HooksUnchecked = "hooks_unchecked",
        /// `set_model`: the hooks could not be asked because a plugin is not loaded.
        HooksUncheckedPluginNotLoaded = "hooks_unchecked_plugin_not_loaded",
        /// `set_model`: checking the model failed.
        CheckFailed = "check_failed",
        /// `set_model`: the server that checks the model was not reached.
        CheckUnreachable = "check_unreachable",
        /// `set_model`: the server that checks the model failed.
        CheckServerError = "check_server_error",
        /// `set_model`: the server that checks the model refused.
        CheckRejected = "check_rejected",
        /// `set_model`: the model needs credits.
        CreditsRequired = "credits_required",
        /// `set_model`: a rate limit was reached.
        RateLimit = "rate_limit",
        /// `set_model`: the credentials were refused.
        AuthFailed = "auth_failed",
        /// `set_model`: the organisation may not log in this way.
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        /// `set_model`: another model is current than the one the request was made for.
        ModelNotCurrent = "model_not_current",
        /// `set_model`: an earlier switch is still being decided.
        VerdictPending = "verdict_pending",
        /// `set_model`: the CLI failed.
        InternalError = "internal_error",

        /// `reload_plugins`: the session is busy, and the request asked to be refused then.
        ReloadPluginsBusy = "reload_plugins_busy",
        /// `side_question`: another one is being answered.
        SideQuestionBusy = "side_question_busy",
        /// `read_file`: the file may not be read.
        ReadDenied = "read_denied",
        /// The name is that of a credential.
        CredentialName = "credential_name",
        /// `get_workspace_diff`: the diff is still being made. Ask again.
        WorkspaceDiffPending = "workspace_diff_pending",

        /// A policy blocks the MCP server.
        McpPolicyBlocked = "mcp_policy_blocked",
        /// The MCP server does not let clients register themselves.
        McpClientRegistrationUnavailable = "mcp_client_registration_unavailable",
        /// The MCP server cannot use the redirect address.
        McpRedirectUriUnusable = "mcp_redirect_uri_unusable",
        /// `mcp_call`: too many calls were refused.
        McpCallRefusalLimit = "mcp_call_refusal_limit",
        /// `mcp_call`: the request is malformed.
        McpCallMalformed = "mcp_call_malformed",
        /// `mcp_call`: the call was not vouched for.
        McpCallNotVouched = "mcp_call_not_vouched",
        /// `mcp_call`: the tool is not listed.
        McpCallNotListed = "mcp_call_not_listed",
        /// `mcp_call`: there is no container to run in.
        McpCallNoContainer = "mcp_call_no_container",

        /// The request was made for an earlier worker.
        StaleWorkerEpoch = "stale_worker_epoch",
        /// The number of the worker is malformed.
        InvalidWorkerEpoch = "invalid_worker_epoch",
    }
}
