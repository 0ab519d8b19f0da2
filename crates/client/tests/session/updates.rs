//! Permissions that change with an answer: rules, modes and folders.

use countersign::SettingSource;
use countersign::hook::Hook;
use countersign::permission::{PermissionAnswer, PermissionAsk};
use countersign::protocol::hook::{
    HookOutput, PermissionRequestAllow, PermissionRequestInput, PermissionRequestOutput,
};
use countersign::protocol::permission::{
    DirectoriesUpdate, PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, RulesUpdate,
    SetMode, UpdateDestination,
};
use countersign::turn::Decision;
use countersign_lab::Lab;
use libtest_mimic::Trial;

use crate::asking::{Asked, calls, say, start, write};
use crate::kit::{Cli, Outcome, V62, builder, close, close_session, lab, on_all};
use crate::puppet::until;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("updates::always_allow_is_what_was_suggested", V62, always),
        on_all("updates::rules_are_added_replaced_and_removed", V62, rules),
        on_all("updates::a_rule_can_deny", V62, denied),
        on_all("updates::the_mode_changes_and_changes_back", V62, mode),
        on_all("updates::permissions_are_bypassed_only_when_launched_for_it", V62, bypass),
        on_all("updates::folders_are_added_and_removed", V62, folders),
        on_all("updates::rules_are_kept_where_they_are_to_be", V62, destinations),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const SESSION: UpdateDestination = UpdateDestination::Session;

fn allow_rules(tools: &[&str], destination: UpdateDestination) -> RulesUpdate {
    let rules: Vec<_> = tools.iter().map(|tool| PermissionRule::new(*tool)).collect();
    RulesUpdate::new(rules, RuleBehavior::Allow, destination)
}

/// The calls of a script; those of them that are asked for, with what changes with the answer.
type Steps = Vec<(&'static str, String, Option<Vec<PermissionUpdate>>)>;

/// Plays a script, and makes sure that just what is to be asked for is asked for.
async fn play(cli: Cli, steps: impl Fn(&Lab) -> Steps, script: &[(&str, &str)]) -> Outcome {
    let lab = lab(cli, &calls(script, "Done.")).await;
    let steps = steps(&lab);
    let expected: Vec<_> = steps
        .iter()
        .filter(|(_, _, updates)| updates.is_some())
        .map(|step| step.1.clone())
        .collect();
    let asked = Asked::default();
    let handler = asked.answering(move |ask| {
        let step = steps.iter().find(|(tool, file, _)| {
            *tool == ask.tool_name() && ask.input().as_str().contains(&**file)
        });
        let updates = step.and_then(|(_, _, updates)| updates.clone());
        let updates = updates.ok_or_else(|| format!("not to be asked: {:?}", ask.request()))?;
        Ok::<_, String>(ask.allowing().updates(updates).answer())
    });
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Do it all.").await?;
    assert_eq!(outcome.answer(), "Done.");
    let files: Vec<_> = asked
        .all()
        .iter()
        .map(|ask| {
            let input: serde_json::Value = ask.input.decode().unwrap();
            let path = input["file_path"].as_str().unwrap();
            path.rsplit('/').next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(files, expected);
    close(session, lab).await;
    Ok(())
}

/// A call that is asked for, with what changes with the answer.
fn asked(
    tool: &'static str,
    file: &str,
    updates: impl IntoIterator<Item = PermissionUpdate>,
) -> (&'static str, String, Option<Vec<PermissionUpdate>>) {
    (tool, file.to_owned(), Some(updates.into_iter().collect()))
}

fn read(file: &str) -> String {
    format!(r#"{{"file_path": "${{home}}/far/{file}"}}"#)
}

async fn always(cli: Cli) -> Outcome {
    let script = [write("a.txt"), write("b.txt")];
    let lab = lab(cli, &calls(&script.each_ref().map(|input| ("Write", &**input)), "Done.")).await;
    let asked = Asked::default();
    let handler = asked.answering(|ask| {
        assert!(!ask.suggestions().is_empty());
        ask.allow_always()
    });
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Write both.").await?;
    assert_eq!(asked.all().len(), 1);
    assert_eq!(outcome.tool_calls[1].decision, Decision::NotAsked);
    assert!(lab.work().join("a.txt").exists() && lab.work().join("b.txt").exists());
    close(session, lab).await;
    Ok(())
}

async fn rules(cli: Cli) -> Outcome {
    let script = [
        ("Write", &*write("1.txt")),
        ("Write", &*write("2.txt")),
        ("Read", &*read("3.txt")),
        ("Write", &*write("4.txt")),
        ("Read", &*read("5.txt")),
        ("Write", &*write("6.txt")),
        ("Read", &*read("7.txt")),
    ];
    let steps = |_: &Lab| {
        vec![
            asked("Write", "1.txt", [PermissionUpdate::AddRules(allow_rules(&["Write"], SESSION))]),
            // The rule for writing is gone with the one for reading.
            asked(
                "Read",
                "3.txt",
                [PermissionUpdate::ReplaceRules(allow_rules(&["Read"], SESSION))],
            ),
            asked("Write", "4.txt", []),
            // 5 is read without asking.
            asked(
                "Write",
                "6.txt",
                [PermissionUpdate::RemoveRules(allow_rules(&["Read"], SESSION))],
            ),
            asked("Read", "7.txt", []),
        ]
    };
    play(cli, steps, &script).await
}

async fn denied(cli: Cli) -> Outcome {
    let script = [write("a.txt"), write("b.txt")];
    let lab = lab(cli, &calls(&script.each_ref().map(|input| ("Write", &**input)), "Done.")).await;
    let asked = Asked::default();
    let handler = asked.answering(|ask| {
        let rules = vec![PermissionRule::new("Write")];
        let deny = RulesUpdate::new(rules, RuleBehavior::Deny, SESSION);
        ask.allowing().updates([PermissionUpdate::AddRules(deny)]).answer()
    });
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Write both.").await?;
    assert_eq!(asked.all().len(), 1);
    let refused = outcome.tool_calls[1].result.as_ref().unwrap();
    assert!(refused.is_error, "{refused:?}");
    assert!(lab.work().join("a.txt").exists() && !lab.work().join("b.txt").exists());
    close(session, lab).await;
    Ok(())
}

async fn mode(cli: Cli) -> Outcome {
    let script = [
        ("Write", &*write("1.txt")),
        ("Write", &*write("2.txt")),
        ("Read", &*read("3.txt")),
        ("Write", &*write("4.txt")),
    ];
    let set = |mode| PermissionUpdate::SetMode(SetMode::new(mode, SESSION));
    let steps = move |_: &Lab| {
        vec![
            asked("Write", "1.txt", [set(PermissionMode::AcceptEdits)]),
            asked("Read", "3.txt", [set(PermissionMode::Default)]),
            asked("Write", "4.txt", []),
        ]
    };
    play(cli, steps, &script).await
}

/// By the handler and by a hook, in a session that was launched for it and in one that was not.
async fn bypass(cli: Cli) -> Outcome {
    for (launched, by_hook) in [(false, false), (false, true), (true, false)] {
        let script = [write("1.txt"), write("2.txt")];
        let script = script.each_ref().map(|input| ("Write", &**input));
        let lab = lab(cli, &calls(&script, "I read: ${result}")).await;
        let update = || {
            let destination = UpdateDestination::UserSettings;
            PermissionUpdate::from(SetMode::new(PermissionMode::BypassPermissions, destination))
        };
        let asked = Asked::default();
        let handler = asked.answering(move |ask| ask.allowing().updates([update()]).answer());
        let mut builder = builder(&lab).setting_sources([SettingSource::User]);
        if launched {
            builder = builder.allow_dangerously_skip_permissions();
        }
        if by_hook {
            let hook = Hook::new(move |_: PermissionRequestInput, _| async move {
                let allow = PermissionRequestAllow::new().with_updated_permissions([update()]);
                HookOutput::from(PermissionRequestOutput::new(allow))
            });
            // The hook is the first to answer.
            let never = |ask: PermissionAsk| async move {
                ask.cancelled().await;
                ask.deny("too late")
            };
            builder = builder.hook(hook).on_permission(never);
        } else {
            builder = builder.on_permission(handler);
        }
        let mut session = start(builder).await?;
        let outcome = say(&mut session, "Write both.").await?;
        let (reason, said) = ("`bypassPermissions`", outcome.answer());
        assert_eq!(said.contains(reason), !launched, "by hook: {by_hook}: {said}");
        let written = ["1.txt", "2.txt"].map(|file| lab.work().join(file).exists());
        assert_eq!(written, [launched; 2], "by hook: {by_hook}");
        if !by_hook {
            assert_eq!(asked.all().len(), if launched { 1 } else { 2 });
        }
        let mode = session.snapshot().permission_mode;
        assert_eq!(mode == Some(PermissionMode::BypassPermissions), launched, "{mode:?}");
        // What the CLI writes after its answer is there when it has ended.
        close_session(session).await;
        let settings = std::fs::read_to_string(lab.root().join("home/.claude/settings.json"));
        // Not every version keeps this mode, even when it may.
        assert!(launched || !settings.unwrap_or_default().contains("bypassPermissions"));
        lab.close().await?;
    }
    Ok(())
}

async fn folders(cli: Cli) -> Outcome {
    let script = [
        ("Read", &*read("1.txt")),
        ("Read", &*read("2.txt")),
        ("Write", &*write("3.txt")),
        ("Read", &*read("4.txt")),
    ];
    let steps = |lab: &Lab| {
        let far = lab.home().join("far");
        std::fs::create_dir(&far).unwrap();
        let far = || DirectoriesUpdate::new(vec![far.display().to_string()], SESSION);
        vec![
            asked("Read", "1.txt", [PermissionUpdate::AddDirectories(far())]),
            asked("Write", "3.txt", [PermissionUpdate::RemoveDirectories(far())]),
            asked("Read", "4.txt", []),
        ]
    };
    play(cli, steps, &script).await
}

/// Where a rule and a mode end up, for each place that they can be kept in.
async fn destinations(cli: Cli) -> Outcome {
    let files = [
        "home/.claude/settings.json",
        "work/.claude/settings.json",
        "work/.claude/settings.local.json",
    ];
    let cases = [
        (UpdateDestination::UserSettings, Some(0)),
        (UpdateDestination::ProjectSettings, Some(1)),
        (UpdateDestination::LocalSettings, Some(2)),
        (UpdateDestination::Session, None),
        (UpdateDestination::CliArg, None),
    ];
    for (destination, place) in cases {
        let lab = lab(cli, &calls(&[("Write", &write("a.txt"))], "Done.")).await;
        let to = destination.clone();
        let handler = move |ask: PermissionAsk| {
            let answer: PermissionAnswer = ask
                .allowing()
                .rule("WebFetch", Some("domain:example.org"), to.clone())
                .mode(PermissionMode::AcceptEdits, to.clone())
                .answer();
            async move { answer }
        };
        let sources = [SettingSource::User, SettingSource::Project, SettingSource::Local];
        let builder = builder(&lab).setting_sources(sources).on_permission(handler);
        let mut session = start(builder).await?;
        say(&mut session, "Write it.").await?;
        let read = |file: &str| std::fs::read_to_string(lab.root().join(file)).unwrap_or_default();
        let contents = ["WebFetch(domain:example.org)", "acceptEdits"];
        // The CLI writes settings after it has answered.
        if let Some(at) = place {
            let is_written = || contents.iter().all(|what| read(files[at]).contains(what));
            until(&format!("{destination} in {}", files[at]), is_written).await;
        }
        close_session(session).await;
        for (at, file) in files.iter().enumerate() {
            let settings = read(file);
            let has = contents.map(|what| settings.contains(what));
            assert_eq!(has, [place == Some(at); 2], "{destination} in {file}: {settings}");
        }
        lab.close().await?;
    }
    Ok(())
}
