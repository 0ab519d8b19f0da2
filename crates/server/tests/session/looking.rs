//! What can be looked at beside the log: what passed to and from the CLI, its process, rules in force.

use countersign_server::id::SessionId;
use countersign_server::service::{RuleInForce, RuleSource};
use countersign_server::session::{Allow, Answer, ChosenSuggestion, Happening, State};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, on_all, on_real, simulated};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("looking::at_what_passed", wire),
        on_all("looking::at_rules", rules),
        on_all("looking::at_changed_files", files),
        on_real("looking::at_the_folder_of_a_call", folder),
        simulated("looking::at_nothing", nothing),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a person is asked passed as a request, and the answer as its answer; pieces of text are counted.
async fn wire(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let before = world.client.process(session).await?;
    assert!(before.is_alive && before.last_line.is_some(), "{before:?}");
    assert!(!before.commands.is_empty() && before.unknown_frames == 0, "{before:?}");
    assert!(!world.client.server().await?.models.is_empty());
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    let passed = world.client.wire(session).await?;
    let frames: Vec<(bool, Value)> = passed
        .lines
        .iter()
        .filter(|line| line.left_out == 0)
        .map(|line| (line.to_cli, serde_json::from_str(&line.text).unwrap()))
        .collect();
    let request = frames
        .iter()
        .position(|(to_cli, frame)| !to_cli && frame["request"]["subtype"] == "can_use_tool");
    let request = request.unwrap();
    let id = &frames[request].1["request_id"];
    let answered = frames[request..].iter().any(|(to_cli, frame)| {
        *to_cli
            && frame["response"]["request_id"] == *id
            && frame["response"]["response"]["behavior"] == "allow"
    });
    assert!(answered, "{frames:?}");
    assert!(frames.iter().any(|(to_cli, frame)| *to_cli && frame["type"] == "user"));
    assert!(frames.iter().all(|(_, frame)| frame["type"] != "stream_event"));
    assert!(passed.pieces > 0);
    // It stays when the process is gone, and goes with the session.
    world.stop(session).await;
    assert!(!world.client.process(session).await?.is_alive);
    assert!(world.client.wire(session).await?.lines.len() >= frames.len());
    world.client.delete_session(session).await?;
    assert!(world.hub.wire(session).lines.is_empty());
    world.close().await
}

/// A command that changes the folder changes it for the next one, which is told with it.
async fn folder(cli: Cli) -> Outcome {
    const LEAVE: &str = r#"
[[answer]]
tool = { name = "Bash", input = { command = "mkdir inner && cd inner" } }

[[answer]]
tool = { name = "Bash", input = { command = "touch here.txt" } }

[[answer]]
text = "That was it."
"#;
    let world = World::new(cli, LEAVE).await;
    let session = world.create("Go in.").await;
    for _ in 0..2 {
        let asked = world.asked(session).await;
        world.answer(&asked, Answer::allow()).await;
        world.written(&asked).await;
    }
    world.at_rest(session).await;
    assert!(world.has_file("inner/here.txt"));
    let happenings = world.happenings(session).await;
    let folders: Vec<&str> = happenings
        .iter()
        .filter_map(|happening| match happening {
            Happening::ToolCalled(called) => called.folder.as_deref(),
            _ => None,
        })
        .collect();
    assert!(matches!(folders[..], [first, second] if second == format!("{first}/inner")));
    world.close().await
}

/// Rules are told with where they came from.
async fn rules(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let settings = world.lab.work().join(".claude");
    std::fs::create_dir_all(&settings)?;
    let text =
        json!({"permissions": {"deny": ["Read(./secret)"], "additionalDirectories": ["/srv"]}});
    std::fs::write(settings.join("settings.json"), text.to_string())?;
    std::fs::write(settings.join("settings.local.json"), "{")?;
    let mut new = world.new_session("Write it.");
    new.options.setting_sources = Some(vec!["project".to_owned(), "local".to_owned()]);
    new.options.allowed_tools = vec!["Bash(ls:*)".to_owned()];
    // A file that is not JSON keeps the CLI from nothing; it is told.
    let session = world.client.create_session(&new).await?.session;
    let asked = world.asked(session).await;
    let found = world.client.rules(session).await?;
    let named = |rule: &RuleInForce| (rule.behavior.clone(), rule.rule.clone(), rule.source);
    let all: Vec<_> = found.rules.iter().map(named).collect();
    let rule = |behavior: &str, rule: &str, source| (behavior.to_owned(), rule.to_owned(), source);
    assert_eq!(
        all,
        [
            rule("allow", "Bash(ls:*)", RuleSource::Start),
            rule("deny", "Read(./secret)", RuleSource::Project),
            rule("folder", "/srv", RuleSource::Project),
        ]
    );
    assert!(found.problems.iter().any(|why| why.contains("settings.local.json")), "{found:?}");
    std::fs::remove_file(settings.join("settings.local.json"))?;
    // With an answer, for the session.
    let suggestion = ChosenSuggestion { number: 0, destination: Some("session".into()) };
    let allow = Allow { suggestions: vec![suggestion], ..Allow::default() };
    world.answer(&asked, Answer::Allow(allow)).await;
    world.at_rest(session).await;
    let found = world.client.rules(session).await?;
    let given = found.rules.iter().find(|rule| rule.source == RuleSource::Session);
    // The first suggestion for a file is a mode, which is no rule.
    let has_mode = world.head(session).await.mode.as_str() == "acceptEdits";
    assert!(given.is_some_and(|rule| rule.approval == Some(asked.id)) || has_mode, "{found:?}");
    world.close().await
}

/// Files that tools change are told, with how many lines.
async fn files(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create_in("Write it.", "acceptEdits").await;
    let head = world.at_rest(session).await;
    let changed: Vec<_> = world
        .happenings(session)
        .await
        .into_iter()
        .filter_map(|happening| match happening {
            Happening::FileChanged(file) => {
                Some((file.path, file.is_new, file.added, file.removed))
            }
            _ => None,
        })
        .collect();
    let path = world.lab.work().join("new.txt").display().to_string();
    assert_eq!(changed, [(path, true, 1, 0)]);
    assert_eq!((head.changes.added, head.changes.removed), (1, 0));
    world.close().await
}

/// Of a session that is not there, nothing is told; of one that never had a process, little.
async fn nothing(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let mut new = world.new_session("");
    new.prompt = None;
    let session = world.client.create_session(&new).await?.session;
    assert_eq!(world.head(session).await.state(), State::Idle);
    assert!(!world.client.process(session).await?.is_alive);
    assert!(world.client.wire(session).await?.lines.is_empty());
    assert!(world.client.rules(session).await?.rules.is_empty());
    let none = SessionId::new();
    assert!(world.client.process(none).await.is_err());
    assert!(world.client.wire(none).await.is_err());
    assert!(world.client.rules(none).await.is_err());
    world.close().await
}
