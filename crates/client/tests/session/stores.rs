//! Sessions that are kept in a store, and come from one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::permission::PermissionAsk;
use countersign::protocol::ids::SessionId;
use countersign::protocol::permission::PermissionMode;
use countersign::protocol::{FromCli, RawJson};
use countersign::store::{
    ConfigSource, FileStore, MemoryStore, MirrorFailure, MirrorOptions, SessionStore, StoreError,
    StoreFuture, StoreKey,
};
use countersign::transcript::ProjectKey;
use countersign::{ConnectError, SessionHandle, SettingSource};
use countersign_lab::Lab;
use libtest_mimic::Trial;
use tokio::sync::Semaphore;

use crate::asking::Noted;
use crate::kit::{Cli, Outcome, V62, V197, builder, close, lab, on_all, soon, trial};
use crate::sessions::{model_saw, talk, transcript};

const WRITE: &str = r#"
[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."

[[answer]]
text = "And more."

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/other.txt", content = "other\n" } }

[[answer]]
text = "All of it."
"#;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = [
        on_all("stores::a_store_has_what_the_disk_has", V197, the_same),
        on_all("stores::a_result_waits_for_a_slow_store_and_nothing_else_does", V197, slow),
        on_all("stores::a_store_that_hangs_is_given_up_and_the_session_goes_on", V197, hangs),
        on_all("stores::a_session_from_a_store_goes_on_in_a_fresh_home", V197, resumed),
        on_all("stores::a_session_from_a_store_has_the_settings_that_were_named", V197, settings),
    ]
    .into_iter()
    .flatten()
    .collect();
    let old_ones = [
        Cli::Simulated(V62),
        #[cfg(feature = "real-cli")]
        Cli::Real(V62),
    ];
    let refused = "stores::an_old_version_is_refused_before_it_starts";
    trials.extend(
        old_ones.into_iter().map(|cli| trial(format!("{refused}::{cli:?}"), move || old(cli))),
    );
    trials.push(trial("stores::what_a_session_from_a_store_lacks_is_said", lacking));
    trials.push(trial("stores::who_gives_up_waiting_again_and_again_gets_the_result", impatient));
    trials
}

/// Notes what does not reach the store.
fn noting(lost: &Noted<String>) -> MirrorOptions {
    let lost = lost.clone();
    MirrorOptions::new().on_error(move |error| lost.note(error.to_string()))
}

fn key(lab: &Lab, session: &SessionId) -> StoreKey {
    StoreKey::new(ProjectKey::of(&lab.work()), session.clone()).unwrap()
}

/// The entries of a transcript on disk, without the log of its requests to the model, which 2.1.325
/// keeps there and does not mirror.
fn on_disk(file: &Path) -> Vec<RawJson> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with(r#"{"type":"api-request"#));
    lines.map(|line| line.parse().unwrap()).collect()
}

async fn the_same(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let stores: [Arc<dyn SessionStore>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(FileStore::new(lab.root().join("store")))];
    let lost = Noted::default();
    for store in stores {
        let allow = |ask: PermissionAsk| async move { ask.allow() };
        let kept =
            builder(&lab).session_store(Arc::clone(&store), noting(&lost)).on_permission(allow);
        let mut session = soon("the start", kept.connect()).await?;
        let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
        let id = outcome.session_id().unwrap().clone();
        // What led to the result is there when the result is.
        let stored = store.load(&key(&lab, &id)).await?.unwrap();
        let text = format!("{stored:?}");
        assert!(text.contains("Write it.") && text.contains(outcome.answer()), "{text}");
        let end = soon("the end", session.close()).await;
        assert!(end.still_running.is_empty(), "{end:?}");
        // And when the session has ended, so is what came after.
        let stored = store.load(&key(&lab, &id)).await?.unwrap();
        assert_eq!(stored, on_disk(&transcript(&lab, &id)));
    }
    assert!(lost.all().is_empty(), "{:?}", lost.all());
    lab.close().await?;
    Ok(())
}

/// A store that lets nothing in until it is told to.
struct Gate {
    store: MemoryStore,
    /// One for each append that has begun.
    knocked: Semaphore,
    open: Semaphore,
}

impl Gate {
    fn new() -> Arc<Self> {
        let (knocked, open) = (Semaphore::new(0), Semaphore::new(0));
        Arc::new(Self { store: MemoryStore::new(), knocked, open })
    }
}

impl SessionStore for Gate {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.knocked.add_permits(1);
            self.open.acquire().await.map_err(StoreError::backend)?.forget();
            self.store.append(key, entries).await
        })
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        self.store.load(key)
    }
}

async fn slow(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let gate = Gate::new();
    let store: Arc<dyn SessionStore> = Arc::<Gate>::clone(&gate);
    let lost = Noted::default();
    let kept = builder(&lab).session_store(store, noting(&lost));
    let mut session = soon("the start", kept.connect()).await?;
    let handle = session.handle();
    let mut turn = Box::pin(async {
        let outcome = session.send("Write it.").await?.finish().await;
        Ok::<_, countersign::SendError>(outcome)
    });
    let meanwhile = async {
        // Nothing is sent before a result is read, so the result is there.
        soon("an append", gate.knocked.acquire()).await.unwrap().forget();
        assert_eq!(handle.snapshot().results, 1);
        switch_modes(&handle).await;
    };
    tokio::select! {
        biased;
        outcome = &mut turn => panic!("a result before the store has it: {outcome:?}"),
        () = meanwhile => {}
    }
    gate.open.add_permits(1000);
    let outcome = soon("the turn", turn).await??;
    assert_eq!(outcome.answer(), "That was it.");
    let stored = gate.load(&key(&lab, outcome.session_id().unwrap())).await?.unwrap();
    assert!(format!("{stored:?}").contains("That was it."));
    close(session, lab).await;
    assert!(lost.all().is_empty(), "{:?}", lost.all());
    Ok(())
}

/// The session still does what it is asked.
async fn switch_modes(session: &SessionHandle) {
    for mode in [PermissionMode::Plan, PermissionMode::Default] {
        soon("the mode", session.set_permission_mode(mode)).await.unwrap();
    }
}

async fn hangs(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let gate = Gate::new();
    let store: Arc<dyn SessionStore> = Arc::<Gate>::clone(&gate);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&reports);
    let options = MirrorOptions::new()
        .timeout(Duration::from_millis(50))
        .on_error(move |error| told.lock().unwrap().push(error));
    let mut session =
        soon("the start", builder(&lab).session_store(store, options).connect()).await?;
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    for error in reports.lock().unwrap().iter() {
        let failure = &error.failure;
        let timeout = MirrorFailure::Store(StoreError::Timeout {
            operation: "append",
            after: Duration::from_millis(50),
        });
        assert_eq!(failure.to_string(), timeout.to_string());
    }
    assert!(!reports.lock().unwrap().is_empty());
    let outcome = soon("the turn", session.send("Go on.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "And more.");
    close(session, lab).await;
    Ok(())
}

/// A variable that the process of a session was given.
pub(crate) fn variable(session: &SessionHandle, name: &str) -> Option<String> {
    let pid = session.process_id().unwrap().pid();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let mut variables = environment.split(|byte| *byte == 0).filter_map(|pair| {
        let (variable, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        (variable == name).then(|| value.to_owned())
    });
    variables.next()
}

fn config_home(session: &SessionHandle) -> PathBuf {
    variable(session, "CLAUDE_CONFIG_DIR").unwrap().into()
}

async fn resumed(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let lost = Noted::default();
    let kept = || builder(&lab).session_store(Arc::clone(&store), noting(&lost));
    let first = talk(kept(), "The first.").await;
    let home = lab.home().join(".claude");
    fs::remove_dir_all(&home)?;

    let resumed = kept().resume_from_store(&first.session);
    let mut session = soon("the start", resumed).await?;
    assert_eq!(session.snapshot().session_id.as_ref(), Some(&first.session));
    let outcome = soon("the turn", session.send("The second.").await?.finish()).await?;
    assert_eq!(outcome.session_id(), Some(&first.session));
    assert_eq!(outcome.answer(), "And more.");
    model_saw(cli, &lab, &["The first.", "That was it.", "The second."], &[]);
    let folder = config_home(&session);
    assert!(folder.exists() && !home.join("projects").exists());
    soon("the end", session.close()).await;
    assert!(!folder.exists(), "the folder is gone with the session");
    let stored = format!("{:?}", store.load(&key(&lab, &first.session)).await?);
    assert!(stored.contains("The first.") && stored.contains("The second."), "{stored}");

    // Also when the session is dropped, and not before its process has ended.
    let session = soon("the start", kept().resume_from_store(&first.session)).await?;
    let (folder, handle) = (config_home(&session), session.handle());
    drop(session);
    soon("the end", handle.ended()).await;
    assert!(!folder.exists());
    assert!(lost.all().is_empty(), "{:?}", lost.all());
    lab.close().await?;
    Ok(())
}

async fn settings(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let lost = Noted::default();
    let kept = builder(&lab).session_store(Arc::clone(&store), noting(&lost));
    let first = talk(kept, "Write it.").await;
    assert!(!lab.work().join("new.txt").exists(), "nobody allowed it");
    let user = lab.root().join("user");
    fs::create_dir_all(user.join(".claude"))?;
    fs::write(user.join(".claude/settings.json"), r#"{"permissions":{"allow":["Write"]}}"#)?;
    // The order in which the two are said does not matter.
    let resumed = builder(&lab)
        .setting_sources([SettingSource::User])
        .store_config(ConfigSource::of_home(&user))
        .session_store(store, noting(&lost))
        .resume_from_store(&first.session);
    let mut session = soon("the start", resumed).await?;
    for prompt in ["Go on.", "Write the other."] {
        soon("the turn", session.send(prompt).await?.finish()).await?;
    }
    let written = ["new.txt", "other.txt"].map(|name| lab.work().join(name).exists());
    assert!(written.contains(&true), "the rule of the settings holds");
    close(session, lab).await;
    assert!(lost.all().is_empty(), "{:?}", lost.all());
    Ok(())
}

async fn old(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let tape = lab.root().join("never.tape");
    let kept =
        builder(&lab).session_store(Arc::new(MemoryStore::new()) as Arc<_>, MirrorOptions::new());
    let error = soon("the refusal", kept.record(&tape).connect()).await.err().unwrap();
    let ConnectError::Unsupported(unsupported) = &error else { panic!("{error:?}") };
    assert!(unsupported.to_string().contains("2.1.197"), "{unsupported}");
    assert!(!tape.exists(), "nothing was begun");
    lab.close().await?;
    Ok(())
}

async fn lacking() -> Outcome {
    let lab = lab(Cli::Simulated(crate::kit::V325), WRITE).await;
    let session = SessionId::from("11111111-2222-4333-8444-555555555555");
    let error = builder(&lab).resume_from_store(&session).await.err().unwrap();
    assert!(error.to_string().contains("session_store"), "{error}");
    let kept = || {
        builder(&lab).session_store(Arc::new(MemoryStore::new()) as Arc<_>, MirrorOptions::new())
    };
    let error = kept().resume_from_store(&session).await.err().unwrap();
    assert!(error.to_string().contains(session.as_str()), "{error}");
    let (program, _) = lab.for_a_client()?;
    let homeless = kept()
        .executable(program)
        .environment(countersign::Environment::replace([("PATH", "/bin")]));
    let error = homeless.connect().await.err().unwrap();
    assert!(error.to_string().contains("set HOME or CLAUDE_CONFIG_DIR"), "{error}");
    lab.close().await?;
    Ok(())
}

/// A store that takes longer than somebody waits.
struct Leisurely(MemoryStore);

impl SessionStore for Leisurely {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.0.append(key, entries).await
        })
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        self.0.load(key)
    }
}

/// Whoever reads beside other things begins to wait anew all the time.
async fn impatient() -> Outcome {
    let lab = lab(Cli::Simulated(V197), WRITE).await;
    let store: Arc<dyn SessionStore> = Arc::new(Leisurely(MemoryStore::new()));
    let allow = |ask: PermissionAsk| async move { ask.allow() };
    let kept = builder(&lab).session_store(store, MirrorOptions::new()).on_permission(allow);
    let mut session = soon("the start", kept.connect()).await?;
    session.post("Write it.").await?;
    let result = async {
        loop {
            let patience = Duration::from_millis(1);
            match tokio::time::timeout(patience, session.next_message()).await {
                Ok(Some(message)) if matches!(message.frame(), Some(FromCli::Result(_))) => {
                    return;
                }
                Ok(None) => panic!("the session has ended"),
                _ => {}
            }
        }
    };
    soon("the result", result).await;
    close(session, lab).await;
    Ok(())
}
