//! What a list shows, and of which sessions.

use std::fs;
use std::path::Path;

use countersign::transcript::{ListOptions, ProjectKey, Sessions, TranscriptError};
use serde_json::json;

use super::{Home, SESSION, gives, id, says, text, user, with};

#[test]
fn a_list_shows_what_stands_at_both_ends() {
    let home = Home::new();
    let mut lines = vec![
        with(user("m", None, "<local-command-stdout>x"), "isMeta", true),
        user("c", None, "<command-name>/init</command-name>"),
        with(user("a", None, "Fix\nthe test"), "entrypoint", "cli"),
        gives("g", "a", "x"),
    ];
    // The middle is not read: it has a title that nobody sees.
    let filler = "x".repeat(1000);
    lines.extend((0..100).map(|n| says(&format!("f{n}"), "a", "r", &filler)));
    lines.push(json!({"type": "custom-title", "customTitle": "in the middle"}));
    lines.extend((0..100).map(|n| says(&format!("h{n}"), "a", "r", &filler)));
    lines.push(with(says("z", "a", "r", "end"), "gitBranch", "topic"));
    // Only fields of the line itself count, not what is said in it.
    lines.push(says("q", "a", "r", r#"{"customTitle":"no","tag":"no"}"#));
    lines.push(json!({"type": "last-prompt", "lastPrompt": "And now?"}));
    home.write(SESSION, &lines);
    let info = home.sessions().info(&id()).unwrap().unwrap();
    assert_eq!(info.summary, "And now?");
    assert_eq!(info.first_prompt.as_deref(), Some("Fix the test"));
    assert_eq!(info.custom_title, None);
    assert_eq!(info.git_branch.as_deref(), Some("main"));
    assert_eq!(info.cwd.as_deref(), Some(Path::new("/work")));
    assert_eq!(info.created_at.unwrap().to_string(), "2026-01-01T00:00:00Z");
    assert_eq!(info.project.as_str(), "-work");
    assert!(!info.is_programmatic());
    assert!(!info.archived);
    assert_eq!(info.tag, None);

    let sessions = home.sessions();
    sessions.rename(&id(), "  A title ").unwrap();
    sessions.tag(&id(), Some("v\u{200b}1 ")).unwrap();
    sessions.archive(&id()).unwrap();
    let info = sessions.info(&id()).unwrap().unwrap();
    assert_eq!((info.summary.as_str(), info.tag.as_deref()), ("A title", Some("v1")));
    assert!(info.archived);
    sessions.tag(&id(), None).unwrap();
    sessions.unarchive(&id()).unwrap();
    let info = sessions.info(&id()).unwrap().unwrap();
    assert_eq!((info.tag, info.archived), (None, false));
    for blank in ["", " ", "\n"] {
        assert!(matches!(sessions.rename(&id(), blank), Err(TranscriptError::Empty { .. })));
        assert!(matches!(sessions.tag(&id(), Some(blank)), Err(TranscriptError::Empty { .. })));
    }
}

#[test]
fn a_first_prompt_longer_than_what_is_read_is_shown_all_the_same() {
    let home = Home::new();
    let long = format!("Look at \"this\"\n{}", "y\n".repeat(100_000));
    // In the order in which the CLI writes its fields.
    let line = format!(
        r#"{{"parentUuid":null,"type":"user","message":{{"role":"user","content":{}}},"uuid":"a"}}"#,
        json!(long)
    );
    fs::write(home.file(&format!("{SESSION}.jsonl")), line).unwrap();
    let info = home.sessions().info(&id()).unwrap().unwrap();
    assert!(info.summary.starts_with("Look at \"this\" y y"), "{}", info.summary);
}

#[test]
fn a_list_is_sorted_and_has_pages() {
    let home = Home::new();
    let ids: Vec<String> =
        (0..5).map(|n| format!("{n}1111111-2222-4333-8444-555555555555")).collect();
    for (n, id) in ids.iter().enumerate() {
        home.write(
            id,
            &[with(
                user("a", None, &format!("prompt {n}")),
                "entrypoint",
                if n == 2 { "sdk-cli" } else { "cli" },
            )],
        );
        let file =
            fs::File::options().append(true).open(home.file(&format!("{id}.jsonl"))).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + n as u64);
        file.set_modified(time).unwrap();
    }
    // None of these is a session that a list shows.
    home.write(
        "21111111-2222-4333-8444-555555555556",
        &[with(user("a", None, "x"), "isSidechain", true)],
    );
    home.write("21111111-2222-4333-8444-555555555557", &[json!({"type": "permission-mode"})]);
    fs::write(home.file("21111111-2222-4333-8444-555555555558.jsonl"), "").unwrap();
    home.write("notes", &[user("a", None, "x")]);
    fs::create_dir(home.file("21111111-2222-4333-8444-555555555559.jsonl")).unwrap();
    let shown = |options: &ListOptions| -> Vec<String> {
        let list = home.sessions().list(options).unwrap();
        list.iter().map(|info| info.summary.clone()).collect()
    };
    let all = ["prompt 4", "prompt 3", "prompt 2", "prompt 1", "prompt 0"];
    assert_eq!(shown(&ListOptions::new()), all);
    assert_eq!(shown(&ListOptions::new().offset(1).limit(2)), all[1..3]);
    assert_eq!(
        shown(&ListOptions::new().without_programmatic().offset(1).limit(2)),
        ["prompt 3", "prompt 1"]
    );
    let elsewhere = Sessions::at(home.folder.path().join("none"));
    assert_eq!(elsewhere.list(&ListOptions::new()).unwrap(), []);
}

#[test]
fn the_sessions_of_a_folder_are_those_of_its_working_trees_too() {
    let home = Home::new();
    let root = tempfile::tempdir().unwrap();
    let (main, tree, other) =
        (root.path().join("main"), root.path().join("tree"), root.path().join("main-two"));
    let git = main.join(".git/worktrees/tree");
    for folder in [&git, &tree, &other, &main.join("sub")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(git.join("gitdir"), format!("{}/.git\n", tree.display())).unwrap();
    fs::write(git.join("commondir"), "../..\n").unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    for (n, folder) in [&main, &tree, &other, &main.join("sub")].into_iter().enumerate() {
        let project = home.folder.path().join("projects").join(ProjectKey::of(folder).as_str());
        fs::create_dir_all(&project).unwrap();
        let file = project.join(format!("{n}1111111-2222-4333-8444-555555555555.jsonl"));
        fs::write(file, text(&[user("a", None, &n.to_string())])).unwrap();
    }
    let shown = |sessions: Sessions| -> Vec<String> {
        let list = sessions.list(&ListOptions::new()).unwrap();
        let mut shown: Vec<_> = list.into_iter().map(|info| info.summary).collect();
        shown.sort();
        shown
    };
    let sessions = home.sessions();
    assert_eq!(shown(sessions.clone().in_directory(&main)), ["0", "1"]);
    assert_eq!(shown(sessions.clone().in_directory(&tree)), ["0", "1"]);
    assert_eq!(shown(sessions.clone().in_directory(main.join("sub"))), ["0", "1", "3"]);
    assert_eq!(shown(sessions.clone().in_directory(&tree).without_worktrees()), ["1"]);
    assert_eq!(shown(sessions.clone().in_directory(&other)), ["2"]);
    assert_eq!(shown(sessions), ["0", "1", "2", "3"]);
}
