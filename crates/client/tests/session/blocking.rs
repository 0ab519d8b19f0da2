//! All of it from programs without a runtime.

use std::os::unix::fs::symlink;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use countersign::blocking::{self, BlockingError};
use countersign::permission::PermissionAsk;
use countersign::protocol::FromCli;
use countersign::protocol::message::UserMessage;
use countersign::protocol::permission::PermissionMode;
use countersign_lab::Lab;
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V62, V325, builder, lab, on_all, soon, trial};

const FOUR: &str = r#"
[[answer]]
text = "Four."
"#;

const WRITE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."

[[answer]]
text = "And more."
"#;

const SIMULATED: Cli = Cli::Simulated(V325);

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = [
        on_all("blocking::a_plain_program_asks", V62, plain_program),
        on_all("blocking::handlers_run_while_the_thread_does_something_else", V62, meanwhile),
    ]
    .into_iter()
    .flatten()
    .collect();
    trials.extend([
        trial("blocking::a_missing_cli_is_told_with_what_to_do", missing),
        trial("blocking::within_a_runtime_waiting_is_refused", within_runtime),
    ]);
    trials
}

/// Says to this very program what it is to ask.
const QUESTION: &str = "COUNTERSIGN_TEST_QUESTION";

/// Asks a question as a plain program does, if that is what this program was started for.
pub(crate) fn as_a_program() -> Option<ExitCode> {
    let question = std::env::var(QUESTION).ok()?;
    let (said, code) = match blocking::query(question) {
        Ok(answer) => (answer, ExitCode::SUCCESS),
        Err(error) => (error.to_string(), ExitCode::FAILURE),
    };
    #[expect(clippy::print_stdout, reason = "whoever started it reads that")]
    {
        println!("{said}");
    }
    Some(code)
}

/// What this program says when it asks a question, with the CLI in this search path, if any.
async fn asked_by_a_program(lab: &Lab, with_cli: bool) -> (bool, String) {
    let (program, environment) = lab.for_a_client().unwrap();
    let folder = lab.root().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = environment.get("PATH").filter(|_| with_cli) {
        symlink(program, folder.join("claude")).unwrap();
        path.push(":");
        path.push(others);
    }
    #[expect(clippy::disallowed_methods, reason = "it is waited for, and ends by itself")]
    let this = tokio::process::Command::new(std::env::current_exe().unwrap())
        .env_clear()
        .envs(environment)
        .env("PATH", path)
        .env(QUESTION, "What is 2+2?")
        .current_dir(lab.work())
        .output();
    let output = soon("the program", this).await.unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

async fn plain_program(cli: Cli) -> Outcome {
    let lab = lab(cli, FOUR).await;
    let (succeeded, said) = asked_by_a_program(&lab, true).await;
    assert_eq!((succeeded, &*said), (true, "Four.\n"));
    lab.close().await?;
    Ok(())
}

async fn missing() -> Outcome {
    let lab = lab(SIMULATED, FOUR).await;
    let (succeeded, said) = asked_by_a_program(&lab, false).await;
    assert!(!succeeded && said.contains("npm install"), "{said}");
    lab.close().await?;
    Ok(())
}

/// Runs something on a thread that knows of no runtime.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, done) = tokio::sync::oneshot::channel();
    let thread = std::thread::spawn(move || sender.send(work()).ok());
    let output = soon("the thread", done).await;
    drop(thread);
    output.unwrap()
}

async fn meanwhile(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let (asked, was_asked) = mpsc::sync_channel(1);
    let builder = builder(&lab).on_permission(move |ask: PermissionAsk| {
        asked.send(ask.tool_name().to_owned()).ok();
        async move { ask.allow() }
    });
    let end = on_thread(move || {
        let mut session = blocking::Session::connect(builder).unwrap();
        let message = UserMessage::prompt("Write it.");
        session.with(|handle| async move { handle.post(message).await }).unwrap().unwrap();
        // This thread waits for something else, and the handler runs.
        let tool = was_asked.recv_timeout(Duration::from_secs(240)).unwrap();
        assert_eq!(tool, "Write");
        while let Some(message) = session.next_message().unwrap() {
            if matches!(message.frame(), Some(FromCli::Result(_))) {
                break;
            }
        }
        let mut calls = 0;
        let outcome = session.send_with("Go on.", |_| calls += 1).unwrap();
        assert_eq!(outcome.answer(), "And more.");
        assert!(calls > 0 && session.handle().snapshot().results == 2);
        let plan = PermissionMode::Plan;
        session.with(|handle| async move { handle.set_permission_mode(plan).await }).unwrap()?;
        Ok::<_, countersign::ControlError>(session.close().unwrap())
    });
    assert!(end.await?.still_running.is_empty());
    assert!(lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

async fn within_runtime() -> Outcome {
    let lab = lab(SIMULATED, FOUR).await;
    let refused = |error| assert!(matches!(error, BlockingError::WithinRuntime), "{error:?}");
    refused(blocking::query("What is 2+2?").err().unwrap());
    refused(blocking::Session::connect(builder(&lab)).err().unwrap());
    let (one, two) = (builder(&lab), builder(&lab));
    let connect = |builder| on_thread(|| blocking::Session::connect(builder).unwrap());
    let mut session = connect(one).await;
    refused(session.send("What is 2+2?").err().unwrap());
    refused(session.next_message().err().unwrap());
    refused(session.with(|_| async {}).err().unwrap());
    let process = session.handle().process_id().unwrap();
    // Dropped here, it ends all the same.
    drop(session);
    soon("the end", gone(process)).await;
    let session = connect(two).await;
    let process = session.handle().process_id().unwrap();
    refused(session.close().err().unwrap());
    soon("the end", gone(process)).await;
    lab.close().await?;
    Ok(())
}

async fn gone(process: countersign::process::ProcessId) {
    while process.is_alive() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
