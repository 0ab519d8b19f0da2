//! Files of the workspace.

use countersign::permission::AllowAll;
use countersign::protocol::request::NoDiffReason;
use libtest_mimic::Trial;

use super::{OK, assert_refused, has, turn};
use crate::kit::{Cli, Outcome, V62, V197, V325, builder, close, lab, on_all, on_real, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("control::files::they_are_put_back", V62, rewound),
        on_all("control::files::one_is_read", V197, read),
        on_real("control::files::one_counts_as_read", V197, seeded),
        on_real("control::files::a_few_letters_are_enough", V197, suggested),
        on_real("control::files::a_folder_is_added", V197, registered),
        on_all("control::files::there_is_no_diff_without_a_repository", V325, diff),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const WRITES: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "one\n" } }

[[answer]]
text = "Written."

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "two\nthree\n" } }

[[answer]]
text = "Written again."
"#;

async fn rewound(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITES).await;
    let builder = builder(&lab).on_permission(AllowAll).file_checkpointing();
    let mut session = soon("the start", builder.connect()).await?;
    let file = lab.work().join("new.txt");
    let (_, first, _) = turn(&mut session, "Write.").await;
    let (_, second, outcome) = turn(&mut session, "Write again.").await;
    assert_eq!(outcome.answer(), "Written again.");
    assert_eq!(std::fs::read_to_string(&file)?, "two\nthree\n");

    let preview = session.preview_rewind_files(second.clone()).await?;
    assert!(preview.can_rewind, "{preview:?}");
    let changed = preview.files_changed.unwrap();
    assert!(changed.len() == 1 && changed.iter().all(|path| path.ends_with("new.txt")));
    assert_eq!(std::fs::read_to_string(&file)?, "two\nthree\n");

    assert!(session.rewind_files(second).await?.can_rewind);
    assert_eq!(std::fs::read_to_string(&file)?, "one\n");
    assert!(session.rewind_files(first).await?.can_rewind);
    assert!(!file.exists());

    let nowhere = "5f0d4b0e-93a4-4c2e-8f4c-5b8f6c0a1d11";
    assert!(!session.preview_rewind_files(nowhere).await?.can_rewind);
    assert_refused(cli, session.rewind_files(nowhere).await, None);
    close(session, lab).await;
    Ok(())
}

async fn read(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    let file = session.read_file("hello.txt").await?;
    assert_eq!(file.contents, "Hello.\n");
    assert!(file.abs_path.ends_with("/hello.txt"));
    assert!(session.read_file("no-such-file.txt").await.is_err());
    close(session, lab).await;
    Ok(())
}

const OVERWRITES: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/hello.txt", content = "Hi.\n" } }

[[answer]]
text = "First."

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/hello.txt", content = "Hi.\n" } }

[[answer]]
text = "Second."
"#;

/// Up to 2.1.197 the model may only write over what it has read. 2.1.325 lets it write anyhow, so
/// there is nothing to see but the answer.
async fn seeded(cli: Cli) -> Outcome {
    let lab = lab(cli, OVERWRITES).await;
    let file = lab.work().join("hello.txt");
    let mut session = soon("the start", builder(&lab).on_permission(AllowAll).connect()).await?;
    let modified = std::fs::metadata(&file)?.modified()?;
    turn(&mut session, "Write.").await;
    if cli.version() < V325 {
        assert_eq!(std::fs::read_to_string(&file)?, "Hello.\n");
    }
    session.seed_read_state(file.to_str().unwrap(), modified).await?;
    turn(&mut session, "Write again.").await;
    assert_eq!(std::fs::read_to_string(&file)?, "Hi.\n");
    close(session, lab).await;
    Ok(())
}

async fn suggested(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    // The CLI looks for files when it is asked first, and answers with what it has found so far.
    let found = async {
        loop {
            let files = session.file_suggestions("hel").await.unwrap();
            if files.iter().any(|file| file.path.ends_with("hello.txt")) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    soon("the suggestion", found).await;
    close(session, lab).await;
    Ok(())
}

async fn registered(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let folder = lab.work().join("below");
    std::fs::create_dir(&folder)?;
    let session = soon("the start", builder(&lab).connect()).await?;
    let added = session.register_repo_root(folder.to_str().unwrap()).await?;
    assert_eq!(added, folder.to_str().unwrap());
    if has(cli, "list_permission_rules") {
        let state = session.permission_rules().await?;
        let mut folders = state.workspace_directories.iter();
        assert!(folders.any(|known| known.path == added), "{state:?}");
    }
    assert_refused(cli, session.register_repo_root("/usr").await, None);
    close(session, lab).await;
    Ok(())
}

async fn diff(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    let response = session.workspace_diff().await?;
    assert!(response.diff.is_none());
    assert_eq!(response.no_diff_reason, Some(NoDiffReason::NoRepository));
    close(session, lab).await;
    Ok(())
}
