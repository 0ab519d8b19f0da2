//! A plan that was begun in the mode that asks for nothing, and one with a hook.

use serde_json::{Value, json};

use super::super::puppet::{allow, deny, turn};
use super::super::{Fact, Outcome, Trial};
use super::shown;
use crate::lab::Launch;

pub(super) const FROM_BYPASS: &[Fact] = &[
    Fact::always("entered by the model: asks", "true"),
    Fact::always("entered by the model: mode after a bare allow", "bypassPermissions"),
    Fact::always("entered by a request: asks", "true"),
    Fact::always("entered by a request: mode after a bare allow", "bypassPermissions"),
];

pub(super) async fn from_bypass(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    turn(&mut cli, "Enter plan mode.", deny).await?;
    let plan = turn(&mut cli, "Show it.", allow).await?;
    trial.found("entered by the model: asks", plan.asked());
    let mode = turn(&mut cli, "Go on.", deny).await?.mode();
    trial.found("entered by the model: mode after a bare allow", mode);
    let plan = shown(&mut cli, "Show it.", allow).await?;
    trial.found("entered by a request: asks", plan.asked());
    let mode = turn(&mut cli, "Go on.", deny).await?.mode();
    trial.found("entered by a request: mode after a bare allow", mode);
    cli.close().await?;
    Ok(())
}

pub(super) const WITH_A_HOOK: &[Fact] =
    &[Fact::always("the hook is called", "true"), Fact::always("the plan is asked for", "true")];

pub(super) async fn with_a_hook(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("plan")).await?;
    let hooks = json!({"PreToolUse": [{"matcher": "ExitPlanMode", "hookCallbackIds": ["allows"]}]});
    cli.initialize(json!({"hooks": hooks})).await?;
    let plan = turn(&mut cli, "Show it.", |request| {
        if request["subtype"] == "hook_callback" {
            let decision = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow"});
            return json!({"hookSpecificOutput": decision});
        }
        deny(request)
    });
    let plan = plan.await?;
    let called = |ask: &Value| ask["request"]["subtype"] == "hook_callback";
    trial.found("the hook is called", plan.asks.iter().any(called));
    trial.found("the plan is asked for", plan.asked());
    cli.close().await?;
    Ok(())
}
