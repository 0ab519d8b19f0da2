//! Settings, rules, hooks, and what is loaded again.
#![expect(clippy::indexing_slicing, reason = "JSON without a field has null there")]

use countersign::SettingSource;
use countersign::permission::PermissionAsk;
use countersign::protocol::permission::{RuleBehavior, UpdateDestination};
use countersign::protocol::request::{RuleSource, SettingsSource};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{OK, assert_refused, has, turn};
use crate::kit::{Cli, Outcome, V62, V197, V325, builder, close, lab, on_all, on_real, soon};
use crate::puppet::until;

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("control::settings::rules_of_the_session_hold_at_once", V62, applied),
        on_real("control::settings::they_are_told_with_their_source", V197, told),
        on_real("control::settings::rules_are_listed", V325, rules),
        on_all("control::settings::hooks_are_listed", V325, hooks),
        on_real("control::settings::one_is_written_to_its_file", V325, written),
        on_real("control::settings::skills_plugins_and_styles_are_loaded_again", V197, reloaded),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const WRITES: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "Done."
"#;

/// Nobody allows anything but the rule.
async fn applied(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITES).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    session.apply_flag_settings(json!({"permissions": {"allow": ["Write"]}})).await?;
    let (.., outcome) = turn(&mut session, "Write.").await;
    assert!(outcome.denials().is_empty(), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(lab.work().join("new.txt"))?, "new\n");
    close(session, lab).await;
    Ok(())
}

async fn told(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    session.apply_flag_settings(json!({"env": {"SOME": "value"}})).await?;
    let settings = session.settings().await?;
    let effective: Value = settings.effective.decode()?;
    assert_eq!(effective["env"]["SOME"], "value");
    let flags = settings.sources.iter().find(|layer| layer.source == SettingsSource::Flag);
    let flags: Value = flags.unwrap().settings.decode()?;
    assert_eq!(flags["env"]["SOME"], "value");
    session.apply_flag_settings(json!({"env": null})).await?;
    let effective: Value = session.settings().await?.effective.decode()?;
    assert_eq!(effective["env"]["SOME"], Value::Null);
    if cli.version() >= V325 {
        let refused = session.apply_flag_settings(json!({"permissions": 5})).await;
        assert_refused(cli, refused, None);
    }
    close(session, lab).await;
    Ok(())
}

async fn rules(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITES).await;
    let allow = |ask: PermissionAsk| async move {
        ask.allowing().rule("Bash", Some("make:*"), UpdateDestination::Session).answer()
    };
    let mut session = soon("the start", builder(&lab).on_permission(allow).connect()).await?;
    turn(&mut session, "Write.").await;
    session.apply_flag_settings(json!({"permissions": {"deny": ["WebFetch"]}})).await?;
    let rules = session.permission_rules().await?.rules;
    for (behavior, source, rule) in [
        (RuleBehavior::Allow, RuleSource::Session, "Bash(make:*)"),
        (RuleBehavior::Deny, RuleSource::FlagSettings, "WebFetch"),
    ] {
        let mut listed = rules.iter();
        assert!(
            listed.any(|known| known.rule == rule
                && known.behavior == behavior
                && known.source == source),
            "{rules:?}"
        );
    }
    close(session, lab).await;
    Ok(())
}

async fn hooks(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let hook = json!({"type": "command", "command": "true"});
    let hooks = json!({"hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [hook]}]}});
    let session = soon("the start", builder(&lab).settings(hooks).connect()).await?;
    let listing = session.hooks_listing().await?;
    assert!(listing.event_catalog.iter().any(|event| event.name == "PreToolUse"));
    let event = listing.events.iter().find(|event| event.name == "PostToolUse");
    if matches!(cli, Cli::Real(_)) {
        assert_eq!(event.map(|event| event.hook_count), Some(1), "{listing:?}");
        assert!(listing.hooks.iter().any(|hook| hook.matcher == "Write"), "{listing:?}");
    }
    close(session, lab).await;
    Ok(())
}

async fn written(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let sources = [SettingSource::User, SettingSource::Project, SettingSource::Local];
    let session = soon("the start", builder(&lab).setting_sources(sources).connect()).await?;
    let style = json!({"outputStyle": "Explanatory"});
    session.update_settings(SettingsSource::Local, style.clone()).await?;
    let file = lab.work().join(".claude/settings.local.json");
    let written =
        || -> Option<Value> { serde_json::from_str(&std::fs::read_to_string(&file).ok()?).ok() };
    until("the settings are written", || written().as_ref() == Some(&style)).await;
    let settings = session.settings().await?;
    let local = settings.sources.iter().find(|layer| layer.source == SettingsSource::Local);
    assert_eq!(local.unwrap().settings.decode::<Value>()?, style);
    let effective: Value = settings.effective.decode()?;
    assert_eq!(effective["outputStyle"], "Explanatory");
    let refused = session.update_settings(SettingsSource::Local, json!({"env": {}})).await;
    assert_refused(cli, refused, None);
    close(session, lab).await;
    Ok(())
}

async fn reloaded(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let builder = builder(&lab).setting_sources([SettingSource::User]);
    let session = soon("the start", builder.connect()).await?;
    let home = lab.home().join(".claude");
    let skill = home.join("skills/sharpen");
    std::fs::create_dir_all(&skill)?;
    let text = "---\nname: sharpen\ndescription: Sharpens pencils.\n---\nSharpen.\n";
    std::fs::write(skill.join("SKILL.md"), text)?;
    let skills = session.reload_skills().await?;
    assert!(skills.iter().any(|skill| skill.name == "sharpen"), "{skills:?}");
    let plugins = session.reload_plugins().await?;
    assert!(plugins.commands.iter().any(|command| command.name == "sharpen"));
    if has(cli, "reload_output_styles") {
        let styles = home.join("output-styles");
        std::fs::create_dir_all(&styles)?;
        let text = "---\nname: Terse\ndescription: Says little.\n---\nSay little.\n";
        std::fs::write(styles.join("terse.md"), text)?;
        let styles = session.reload_output_styles().await?;
        assert!(styles.iter().any(|style| style == "Terse"), "{styles:?}");
    }
    close(session, lab).await;
    Ok(())
}
