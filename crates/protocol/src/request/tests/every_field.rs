//! Each request and each response, with every field that is documented.

use super::*;

fn command() -> Value {
    json!({"name": "loop", "description": "Runs again", "argumentHint": "[interval]",
        "aliases": ["proactive"], "builtin": true, "plugin": "p"})
}

fn agent() -> Value {
    json!({"name": "Explore", "description": "Looks around", "model": "haiku"})
}

fn model() -> Value {
    json!({"value": "opus", "resolvedModel": "claude-opus-5-5", "displayName": "Opus",
        "description": "For everything", "supportsEffort": true,
        "supportedEffortLevels": ["low", "medium", "high", "xhigh", "max"],
        "supportsAdaptiveThinking": true, "supportsFastMode": true, "supportsAutoMode": true,
        "supportsThinkingOff": false, "disabled": false, "promoListPrice": "$5"})
}

fn policy() -> Value {
    json!({"name": "add", "permission_policy": "always_ask", "org_max_permission": "ask"})
}

fn plugin() -> Value {
    json!({"type": "local", "path": "/p", "skipMcpDiscovery": true})
}

fn server() -> Value {
    json!({"name": "calc", "status": "connected", "serverInfo": {"name": "calc", "version": "1"},
        "error": "e", "config": {"type": "claudeai-proxy", "url": "https://x", "id": "i"},
        "scope": "dynamic", "source": "sdk", "transport": "sdk", "error_code": "c",
        "urlHost": "x", "toolCount": 1, "capabilities": {"experimental": {}},
        "tools": [{"name": "add", "description": "Adds", "_meta": {"ui": {}},
            "annotations": {"readOnly": true, "destructive": false, "openWorld": true}}]})
}

fn settings_error() -> Value {
    json!({"file": "/f", "path": "permissions.allow", "message": "not a list"})
}

fn initialize_response() -> Value {
    json!({"commands": [command()], "agents": [agent()], "output_style": "default",
        "available_output_styles": ["default"], "models": [model()],
        "account": {"email": "a@b", "organization": "o", "subscriptionType": "max",
            "tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY",
            "apiProvider": "firstParty"},
        "hooks_applied": true, "hook_on_failure_supported": true, "plugins_applied": true,
        "sdk_mcp_manifests_parked": {"a": "parked", "b": "already_connected",
            "c": "protocol_version_mismatch", "d": "malformed", "e": "not_honoured"},
        "claude_code_version": "2.1.325", "fast_mode_state": "off",
        "fast_mode_disabled_reason": "sdk_opt_in_required", "pid": 1, "current_model": "m",
        "current_permission_mode": "default", "session_state": "idle",
        "capabilities": ["ui_surface_v1"], "unavailable_models": [model()]})
}

#[test]
fn initialize() {
    let request = json!({
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h"], "timeout": 2,
            "onFailure": "block"}]},
        "sdkMcpServers": ["calc"],
        "sdkMcpServerConfigs": {"calc": {"timeout": 5000, "tools": [policy()]}},
        "sdkMcpServerManifests": {"calc": {"initializeResult": {}, "toolsListResult": {}}},
        "sdkMcpServerManifestsOrigin": "host_per_send", "jsonSchema": {"type": "object"},
        "systemPrompt": ["a", SystemPrompt::DYNAMIC_BOUNDARY, "b"], "appendSystemPrompt": "c",
        "systemPromptSnapshot": true, "planModeInstructions": "p", "toolAliases": {"a": "b"},
        "excludeDynamicSections": true,
        "agents": {
            "a": {"description": "d", "prompt": "p", "tools": ["Read"],
                "disallowedTools": ["mcp__*"], "model": "inherit",
                "mcpServers": ["calc", {"x": {"command": "y"}}], "skills": ["s"],
                "initialPrompt": "i", "maxTurns": 3, "autoCompactWindow": 1000,
                "background": true, "omitClaudeMd": true, "memory": "user", "effort": "high",
                "permissionMode": "plan", "observer": "o", "observerMessage": "m",
                "criticalSystemReminder_EXPERIMENTAL": "r"},
            "b": {"description": "d", "prompt": "p", "effort": 7},
        },
        "title": "t", "skills": ["s"], "promptSuggestions": true,
        "agentProgressSummaries": true, "forwardSubagentText": true,
        "supportedDialogKinds": ["k"], "perTaskStopAffordance": true, "plugins": [plugin()],
        "managedSettings": {}, "workspaceTrust": {"accepted": true, "directory": "/d"},
        "appendSubagentSystemPrompt": "s", "forwardNestedSubagentToolCalls": true,
    });
    check::<Initialize>(&request, &initialize_response());
    check::<Initialize>(&json!({"hooks": null, "systemPrompt": "text"}), &initialize_response());
    check_payload::<Initialize>(&json!({}));
    // 2.0.76 to 2.1.62.
    check_payload::<Initialize>(&json!({"commands": [], "output_style": "default",
        "available_output_styles": [], "models": [], "account": {}}));
}

#[test]
fn session() {
    check::<Interrupt>(
        &json!({"cancel_queued": true, "reason": "r", "send_now": true, "message_uuid": "m",
            "for_user_message_uuids": ["m"], "spare_background_tasks": true, "worker_epoch": 1}),
        &json!({"still_queued": ["a"], "cancelled": ["b"], "put_back": ["c"],
            "send_now": "stopped", "turn": "spared"}),
    );
    check::<CancelAsyncMessage>(&json!({"message_uuid": "m"}), &json!({"cancelled": false}));
    check::<RenameSession>(&json!({"title": "t", "source": "host", "session_id": "s"}), &json!({}));
    check::<GenerateSessionTitle>(
        &json!({"description": "d", "persist": true}),
        &json!({"title": null}),
    );
    check::<SetColor>(&json!({"color": "red"}), &json!({}));
    check::<EndSession>(&json!({"reason": "r"}), &json!({}));
    check::<SetCwd>(
        &json!({"path": "/p", "trust_accepted": true, "trusted_directory": "/p"}),
        &json!({"status": "ok", "cwd": "/p", "changed": true, "transcript_relocated": true}),
    );
    check_payload::<SetCwd>(
        &json!({"status": "needs_trust", "directory": "/p", "trust_root": "/"}),
    );
    check_payload::<SetCwd>(&json!({"status": "rejected", "reason": "not_found", "message": "m"}));
    check::<ClaimSession>(
        &json!({"cwd": "/p", "env": {"A": "b"}, "additional_directories": ["/d"],
            "permission_mode": "plan", "system_prompt": ["s"], "append_system_prompt": "a",
            "agents": {"a": {}}, "title": "t", "sdk_mcp_servers": ["calc"],
            "include_initialize": true,
            "workspace_trust": {"accepted": true, "directory": "/p"}}),
        &json!({"status": "ok", "session_id": "s", "cwd": "/p", "parked_ms": 1.5,
            "sdk_mcp_settled": true, "initialize": initialize_response(),
            "workspace_trust_recorded": true}),
    );
    check::<GetStatus>(
        &json!({}),
        &json!({"sections": [{"title": "t", "rows": [{"label": "l", "value": "v"},
            {"value": "v"}]}]}),
    );
    check::<GetBinaryVersion>(
        &json!({}),
        &json!({"version": "2.1.325", "buildTime": "2026-06-29T19:08:42Z"}),
    );
    check::<SetHasSubscribers>(&json!({"has_subscribers": true}), &json!({}));
}

#[test]
fn conversation() {
    check::<SideQuestion>(
        &json!({"question": "q", "history": [{"question": "q", "response": "r",
            "fallback_notice": "n"}]}),
        &json!({"response": null, "synthetic": false, "refusal_fallback": {
            "original_model": "a", "fallback_model": "b", "content": "c"}}),
    );
    check::<GetPlan>(&json!({}), &json!({"exists": true, "content": "c", "path": "/p"}));
    check::<RewindConversation>(
        &json!({"target_message_uuid": "m", "last_seen_user_message_uuid": "l",
            "expires_at": "2026-11-15T00:00:00Z", "allow_summarized_target": true,
            "allow_assistant_target": true}),
        &json!({"rewound": true, "targetMessageUuid": "m", "prefillText": "p",
            "precedingAssistantUuid": null}),
    );
    check_payload::<RewindConversation>(&json!({"rewound": false, "prefillText": null,
        "precedingAssistantUuid": null, "error": "e", "reason": "target_not_found"}));
    check::<ForkConversation>(
        &json!({}),
        &json!({"forked": false, "error": "unsupported", "reason": "unsupported"}),
    );
    check::<ExportConversation>(&json!({}), &json!({"text": "t", "default_filename": "f.txt"}));
    check::<SetPromptSuggestionsPaused>(&json!({"paused": true}), &json!({}));
    check::<MessageRated>(
        &json!({"messageUuid": "m", "sentiment": "positive", "surface": "tool_use",
            "cleared": false}),
        &json!({}),
    );
    check::<SubmitFeedback>(
        &json!({"description": "d", "surface": "sdk", "draft_id": "i", "type": "bug",
            "title": "t", "area": "a", "attach_transcript": false, "save_locally": true}),
        &json!({"feedback_id": null, "unavailable_reason": "u", "failure_reason": "f",
            "status_code": 500, "bundle_path": "/b"}),
    );
}

#[test]
fn model_and_mode() {
    check::<SetModel>(
        &json!({"model": "haiku", "system_prompt": "s", "only_if_model_is_current": true}),
        &json!({"model": "claude-haiku-5-5"}),
    );
    check::<SetModel>(&json!({"model": null}), &json!({}));
    check::<ListModels>(&json!({}), &json!({"models": [model()]}));
    check::<SetMaxThinkingTokens>(
        &json!({"max_thinking_tokens": 4096, "thinking_display": "summarized"}),
        &json!({}),
    );
    check::<SetPermissionMode>(
        &json!({"mode": "plan", "ultraplan": true, "from_settings": true}),
        &json!({"mode": "plan"}),
    );
    check::<SetPermissionMode>(&json!({"mode": null}), &json!({"mode": null}));
    check::<SetProactivityLevel>(&json!({"level": "proactive", "offer_bypass": true}), &json!({}));
}

#[test]
fn mcp() {
    check::<McpStatus>(&json!({"liveReply": true}), &json!({"mcpServers": [server()]}));
    check::<McpSetServers>(
        &json!({"servers": {
            "a": {"command": "c"},
            "b": {"type": "stdio", "command": "c", "args": ["x"], "env": {"A": "b"},
                "timeout": 5000, "alwaysLoad": true},
            "c": {"type": "http", "url": "u", "headers": {"A": "b"}, "tools": [policy()],
                "timeout": 5000, "alwaysLoad": true, "request_timeout_ms": 1,
                "displayName": "d"},
            "d": {"type": "sse", "url": "u"},
            "e": {"type": "sdk", "name": "e", "timeout": 5000, "tools": [policy()]},
        }, "hint": "h", "denied_tools": ["t"]}),
        &json!({"added": ["a"], "removed": ["b"], "errors": {"c": "e"}}),
    );
    check::<McpReconnect>(&json!({"serverName": "s"}), &json!({}));
    check::<McpToggle>(&json!({"serverName": "s", "enabled": false}), &json!({}));
    check::<McpCall>(
        &json!({"tool": "mcp__a__b", "arguments": {"x": 1}, "timeout_ms": 1000,
            "expires_at": "2026-11-15T00:00:00Z", "result_not_for_model": true,
            "check_permissions": true, "input_files": [{"name": "n", "lane_path": "l"}],
            "output_files": [{"name": "n", "lane_path": "l", "if_match": "m"}]}),
        &json!({"content": "c", "structuredContent": {"a": 1}, "_meta": {"x": 1},
            "staging": {"ok": true}}),
    );
    check::<McpReadResource>(
        &json!({"serverName": "s", "uri": "ui://x"}),
        &json!({"contents": [{"uri": "ui://x", "mimeType": "text/html", "text": "t",
            "blob": "YQ==", "_meta": {}}]}),
    );
    check::<McpMessage>(
        &json!({"server_name": "s", "message": {"jsonrpc": "2.0", "method": "m"}}),
        &json!({}),
    );
    check::<McpAuthenticate>(
        &json!({"serverName": "s", "redirectUri": "u", "redirectUriOnly": true}),
        &json!({"authUrl": "u", "requiresUserAction": true, "callbackExpected": true}),
    );
    check::<McpOauthCallbackUrl>(&json!({"serverName": "s", "callbackUrl": "u"}), &json!({}));
    check::<McpClearAuth>(&json!({"serverName": "s"}), &json!({}));
    check::<SetMcpPermissionModeOverride>(
        &json!({"serverName": "s", "mode": "auto", "askForTools": [{"name": "t"}]}),
        &json!({"warning": "w"}),
    );
}

#[test]
fn files() {
    check::<ReadFile>(
        &json!({"path": "p", "max_bytes": 3, "encoding": "base64", "anchor": "repo",
            "offset": 1, "for_upload": true, "liveReply": true}),
        &json!({"contents": "c", "absPath": "/p", "truncated": true, "encoding": "base64",
            "lossy": false, "requested_path": "p"}),
    );
    check::<FileSuggestions>(
        &json!({"query": "q"}),
        &json!({"suggestions": [{"path": "p", "score": 0.5}], "cwd": "/c"}),
    );
    check::<SeedReadState>(&json!({"path": "/p", "mtime": 1.5}), &json!({}));
    check::<RewindFiles>(
        &json!({"user_message_id": "m", "dry_run": true}),
        &json!({"canRewind": true, "error": "e", "filesChanged": ["/f"], "insertions": 1,
            "deletions": 2, "skippedLinks": 0}),
    );
    check::<RegisterRepoRoot>(
        &json!({"directory": "/d", "reload_claude_md": true, "reload_plugins": true,
            "reload_skills": true}),
        &json!({"directory": "/d"}),
    );
    check::<GetWorkspaceDiff>(
        &json!({}),
        &json!({"diff": {
            "stats": {"filesCount": 1, "linesAdded": 1, "linesRemoved": 1},
            "perFileStats": [{"path": "p", "added": 1, "removed": 1, "isBinary": false,
                "isUntracked": false, "status": "renamed", "previousPath": "o",
                "newPath": "p"}],
            "hunks": [{"path": "p", "hunks": [{"oldStart": 1, "oldLines": 1, "newStart": 1,
                "newLines": 1, "lines": ["-a", "+b"]}]}],
            "skippedLarge": ["l"], "restricted": ["r"], "omitted": {"files": 0, "exact": true},
            "source": {"kind": "branch", "baseBranch": "main", "baseRef": "abc"},
        }}),
    );
    check_payload::<GetWorkspaceDiff>(&json!({"diff": null, "noDiffReason": "no-repository"}));
}

#[test]
fn settings() {
    check::<ApplyFlagSettings>(&json!({"settings": {"model": null}}), &json!({}));
    check::<ApplyFlagSettings>(&json!({}), &json!({}));
    check::<GetSettings>(
        &json!({}),
        &json!({"effective": {"a": 1},
            "sources": [{"source": "policySettings", "settings": {"a": 1}}],
            "applied": {"model": "m", "effort": null, "advisor": "a", "ultracode": false,
                "ultracodeRequested": false, "ultracodeAvailable": true,
                "ultrathinkAvailable": false},
            "errors": [settings_error()], "remote_control_policy_lock_reason": "r",
            "withheld": true}),
    );
    check::<UpdateSettings>(
        &json!({"source": "localSettings", "settings": {"outputStyle": "Explanatory"}}),
        &json!({}),
    );
    check::<GetHooksListing>(
        &json!({}),
        &json!({"events": [{"name": "Stop", "summary": "s", "supportsMatcher": false,
                "hookCount": 1}],
            "hooks": [{"event": "Stop", "matcher": "", "source": "s", "sourceLabel": "S",
                "pluginName": "p", "type": "command", "displayText": "d", "commandText": "c",
                "contentLabel": "l", "condition": "c", "timeout": 1.5, "statusMessage": "m",
                "runsOnce": true, "runsInBackground": true, "disabled": true,
                "editable": {"matcher": "", "config": {}, "headersRedacted": true}}],
            "eventCatalog": [{"name": "Stop", "summary": "s", "supportsMatcher": false}],
            "policy": {"disabledByPolicy": false, "managedOnly": false, "pluginOnly": false,
                "allDisabled": false, "policyHookCount": 0, "policyUnreadable": true},
            "safeMode": {"managedHooksStillApply": true, "exitHint": "h"},
            "bareMode": {"exitHint": "h"}, "errors": [settings_error()]}),
    );
    check::<ListPermissionRules>(
        &json!({}),
        &json!({"state": {
            "rules": [{"behavior": "allow", "source": "cliArg", "rule": "Bash(touch *)",
                "description": {"prefix": "p", "emphasis": "e", "suffix": "s"},
                "editability": "session", "notInEffect": true}],
            "workspaceDirectories": [{"path": "/p", "source": "session"}],
            "originalCwd": "/c", "managedOnly": false, "errors": [settings_error()],
            "withheld": false}}),
    );
    check::<ReloadPlugins>(
        &json!({"hold_on_cache_impact": true, "add_plugins": [plugin()],
            "refuse_if_busy": true}),
        &json!({"commands": [command()], "agents": [agent()],
            "plugins": [{"name": "n", "path": "p", "source": "s", "version": "1"}],
            "mcpServers": [server()], "error_count": 0, "held": true,
            "cache_impact": {"mcp_servers_added": ["a"], "mcp_servers_removed": ["b"],
                "lsp_tool_change": "may-add"}}),
    );
    check::<ReloadSkills>(&json!({}), &json!({"skills": [command()]}));
    check::<ReloadOutputStyles>(&json!({}), &json!({"available_output_styles": ["default"]}));
}

#[test]
fn task() {
    check::<StopTask>(&json!({"task_id": "t"}), &json!({}));
    check::<BackgroundTasks>(&json!({"tool_use_id": "t"}), &json!({"backgrounded": true}));
    check::<GetTaskOutput>(
        &json!({"task_id": "t"}),
        &json!({"output": "o", "total_bytes": 1, "truncated": false}),
    );
}

fn session_usage() -> Value {
    json!({"total_cost_usd": 0.0011, "total_api_duration_ms": 302, "total_duration_ms": 4262.5,
        "total_lines_added": 2, "total_lines_removed": 0,
        "model_usage": {"claude-opus-5-5": {"inputTokens": 20, "outputTokens": 40,
            "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "webSearchRequests": 0,
            "costUSD": 0.0011}}})
}

fn extra_usage() -> Value {
    json!({"is_enabled": true, "monthly_limit": null, "used_credits": 1.5, "utilization": 2,
        "currency": "USD"})
}

#[test]
fn usage() {
    let window = json!({"utilization": 12.5, "resets_at": null});
    let share = json!([{"name": "n", "pct": 1.5}]);
    let period = json!({"request_count": 1, "session_count": 1,
        "behaviors": [{"key": "cache_miss", "pct": 1.5, "count": 1}],
        "recommendations": [{"key": "k", "pct": 1, "title": "t", "detail": "d"}],
        "fix": {"keys": ["k"], "messages": ["m"]},
        "agents": share, "skills": share, "plugins": share, "mcp_servers": share});
    check::<GetUsage>(
        &json!({"skip_behaviors": true}),
        &json!({"session": session_usage(), "subscription_type": null,
            "rate_limits_available": true,
            "rate_limits": {"five_hour": window, "seven_day": window,
                "seven_day_oauth_apps": null, "seven_day_opus": window,
                "seven_day_sonnet": window, "model_scoped": [{"display_name": "d",
                    "utilization": 1, "resets_at": "2026-11-15T00:00:00Z"}],
                "extra_usage": extra_usage()},
            "behaviors": {"day": period, "week": period}}),
    );
    check::<GetSessionCost>(&json!({}), &json!({"text": "Total cost: $0.0011"}));
    check_value::<UsageReport>(&json!({"session": session_usage(), "rate_limits": {
        "limits": [{"kind": "session", "group": "session", "percent": 1.5, "resets_at": null,
            "scope": {"model": {"display_name": "d"}, "surface": null}, "severity": "normal",
            "is_active": true}],
        "extra_usage": extra_usage()}}));
}

#[test]
fn context() {
    check::<GetContextUsage>(
        &json!({"detail": "summary"}),
        &json!({
            "categories": [{"id": "mcp_tools_deferred", "name": "n", "tokens": 1, "color": "c",
                "isDeferred": true, "kind": "deferred"}],
            "totalTokens": 10, "maxTokens": 100, "rawMaxTokens": 100, "percentage": 10.5,
            "gridRows": [[{"color": "c", "isFilled": true, "categoryName": "n", "tokens": 1,
                "percentage": 0, "squareFullness": 0.016}]],
            "model": "m", "memoryFiles": [{"path": "/p", "type": "Project", "tokens": 1}],
            "mcpTools": [{"name": "n", "serverName": "s", "tokens": 1, "isLoaded": false}],
            "mcpInstructions": [{"serverName": "s", "tokens": 1}],
            "deferredBuiltinTools": [{"name": "n", "tokens": 1, "isLoaded": true}],
            "systemTools": [{"name": "n", "tokens": 1}],
            "systemPromptSections": [{"name": "n", "tokens": 1}],
            "agents": [{"agentType": "a", "source": "s", "pluginId": "p", "path": "/p",
                "tokens": 1}],
            "slashCommands": {"totalCommands": 1, "includedCommands": 1, "tokens": 1},
            "skills": {"totalSkills": 1, "includedSkills": 1, "tokens": 1,
                "skillFrontmatter": [{"name": "n", "source": "s", "pluginName": "p",
                    "pluginId": "i", "path": "/p", "tokens": 1}]},
            "autoCompactThreshold": 90, "isAutoCompactEnabled": true,
            "autocompactSource": "auto",
            "messageBreakdown": {"toolCallTokens": 1, "toolResultTokens": 1,
                "attachmentTokens": 1, "assistantMessageTokens": 1, "userMessageTokens": 1,
                "redirectedContextTokens": 1, "unattributedTokens": -1,
                "toolCallsByType": [{"name": "n", "callTokens": 1, "resultTokens": 1}],
                "attachmentsByType": [{"name": "n", "tokens": 1}]},
            "apiUsage": {"input_tokens": 1, "output_tokens": 1,
                "cache_creation_input_tokens": 1, "cache_read_input_tokens": 1},
        }),
    );
    check_value::<ContextUsageReport>(&json!({
        "model": "m", "total_tokens": 10, "raw_max_tokens": 100, "percentage": 10,
        "over_limit": {"tokens_over": 1, "kind": "hard_limit"},
        "categories": [{"name": "n", "tokens": 1, "kind": "used"}],
        "mcp_tools": [{"name": "n", "server_name": "s", "tokens": 1}],
        "memory_files": [{"path": "/p", "type": "Project", "tokens": 1}],
        "agents": [{"agent_type": "a", "source": "s", "tokens": 1}],
        "skills": [{"name": "n", "source": "s", "plugin_name": "p", "tokens": 1}],
    }));
}
