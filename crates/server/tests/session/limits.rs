//! What a server and a session may take, and what becomes of those that want more; and what the API
//! keeps in order: lists, the audit, commands that come twice.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use countersign_server::access::Scope;
use countersign_server::access::api::CreateToken;
use countersign_server::api::view::{ListAllEvents, ListAudit, ListEvents, ListSessions};
use countersign_server::client::Client;
use countersign_server::config::Secret;
use countersign_server::id::SessionId;
use countersign_server::server::{Server, StartError};
use countersign_server::service::{ForkSession, NewMessage, NewSession};
use countersign_server::session::{
    Allow, Answer, By, Happening, Head, NewRule, Process, SessionLimits, Stage, State, TurnEnd,
};
use countersign_server::store::StoreError;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, on_all, simulated, start_cli_through};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("limits::one_process_for_two_that_ask", two_that_ask),
        on_all("limits::nothing_to_do", nothing_to_do),
        on_all("limits::over_budget", over_budget),
        on_all("limits::what_is_left_of_a_budget", left_of_budget),
        simulated("limits::a_turn_takes_too_long", too_long),
        simulated("limits::the_cli_says_nothing", too_silent),
        simulated("limits::the_cli_does_not_end_its_turn", does_not_end),
        simulated("limits::the_model_is_called_too_often", too_often),
        simulated("limits::a_person_may_take_any_time", any_time),
        on_all("limits::rules_of_a_session_outlive_its_process", rules),
        on_all("limits::bypass", bypass),
        on_all("limits::plan_mode_after_bypass", plan_after_bypass),
        simulated("limits::a_cli_that_dies_at_every_start", dies_at_start),
        simulated("limits::a_cli_that_is_not_there", not_there),
        simulated("limits::sessions_are_found_again", lists),
        simulated("limits::the_audit_says_who_and_what", audit),
        simulated("limits::a_command_that_comes_twice", twice),
        simulated("limits::a_second_server", second_server),
        on_all("limits::a_folder_becomes_a_link", folder_becomes_a_link),
        simulated("limits::a_folder_is_in_no_root_any_more", fewer_roots),
        simulated("limits::secrets_of_mcp_servers_are_for_the_cli_alone", secrets_of_servers),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A session with programs of its own is for those who may do everything, and what is secret about
/// them gets to the CLI and to nobody else: it is neither on a command line nor in anything that can be
/// read with a token.
async fn secrets_of_servers(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let mut new = world.new_session("Write it.");
    let server = serde_json::json!({"command": "true", "args": [], "env": {"KEY": "canary-1"}});
    let remote = serde_json::json!({
        "type": "http", "url": "http://127.0.0.1:9/", "headers": {"Authorization": "canary-2"},
    });
    let servers = [("local".to_owned(), server), ("remote".to_owned(), remote)];
    new.options.mcp_servers = Some(servers.into_iter().collect());
    let with = async |scope| {
        let new = CreateToken { name: "other".to_owned(), scope, expires_at: None };
        let made = world.client.create_token(&new).await.unwrap();
        Client::builder(&world.client.address(), &made.secret).retries(0).build().unwrap()
    };
    let refused = with(Scope::Decide).await.create_session(&new).await.unwrap_err();
    let problem = refused.problem().unwrap();
    assert_eq!((problem.status(), problem.kind()), (403, "scope-too-low"), "{problem:?}");
    let session = world.client.create_session(&new).await?.session;
    world.asked(session).await;
    let head = world.head(session).await;
    let Process::Alive { process: Some(process), .. } = &head.process else { panic!("{head:?}") };
    let line = std::fs::read(format!("/proc/{}/cmdline", process.pid()))?;
    let line = String::from_utf8_lossy(&line).into_owned();
    assert!(!line.contains("canary"), "{line}");
    let given = line.split('\0').find_map(|word| word.strip_prefix("--mcp-config="));
    let file = std::path::PathBuf::from(given.unwrap());
    assert!(std::fs::read_to_string(&file)?.contains("canary-1"));
    assert_eq!(std::fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    let reader = with(Scope::Read).await;
    let shown = format!(
        "{:?} {:?} {:?} {:?}",
        reader.sessions(&ListSessions::default()).await?,
        reader.events(session, &ListEvents::default()).await?,
        reader.all_events(&ListAllEvents::default()).await?,
        reader.audit(&ListAudit::default()).await?,
    );
    let mut export = reader.export_audit(&ListAudit::default()).await?;
    let mut exported = String::new();
    while let Some(entry) = export.next().await? {
        exported.push_str(entry.detail.as_str());
    }
    let mut stream =
        world.open_raw(&format!("GET /api/v1/sessions/{session}/stream?after=0"), &[], "").await;
    let (mut streamed, mut part) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&streamed).contains("approval.opened") {
        let read = stream.read(&mut part).await?;
        assert!(read > 0);
        streamed.extend(&part[..read]);
    }
    for text in [shown, exported, String::from_utf8_lossy(&streamed).into_owned()] {
        assert!(text.contains("(hidden)") && !text.contains("canary"), "{text}");
    }
    // It comes back with its servers.
    world.stop(session).await;
    assert!(!file.exists());
    world.close().await
}

/// Two files, each written by whoever is told to.
const TWO: &str = r#"
otherwise = "Hello."

[[answer]]
when = { text = '/Make the call again.*/', first = "Write one" }
tool = { name = "Write", input = { file_path = "${cwd}/one.txt", content = "one\n" } }

[[answer]]
when = { text = "Make the call again", first = "Write two" }
tool = { name = "Write", input = { file_path = "${cwd}/two.txt", content = "two\n" } }

[[answer]]
when = { text = '/Write (one|two)/' }
tool = { name = "Write", input = { file_path = "${cwd}/${match.1}.txt", content = "new\n" } }

[[answer]]
when = { tool = "Write", error = false }
text = "Written."
"#;

/// There is one process. Whoever waits for a person does without it while somebody else has work, and
/// whoever has nothing to do gives it up.
async fn two_that_ask(cli: Cli) -> Outcome {
    let world = World::with(cli, TWO, |config| config.limits.live_processes = 1).await;
    let one = world.create("Write one.").await;
    let first = world.asked(one).await;
    let two = world.create("Write two.").await;
    let second = world.asked(two).await;
    assert_eq!(world.head(one).await.state(), State::Parked);
    assert_eq!(world.head(two).await.state(), State::Waiting);

    world.answer(&first, Answer::allow()).await;
    world.at_rest(one).await;
    assert_eq!(world.head(two).await.state(), State::Parked);
    assert_eq!(world.head(one).await.state(), State::Ready);

    world.answer(&second, Answer::allow()).await;
    world.at_rest(two).await;
    assert_eq!(world.head(one).await.state(), State::Idle);

    world.say(one, "Hello?").await;
    world.at_rest(one).await;
    assert_eq!(world.head(two).await.state(), State::Idle);
    assert_eq!(world.texts(one).await, ["Written.", "Hello."]);
    assert_eq!(world.texts(two).await, ["Written."]);
    for session in [one, two] {
        assert_eq!(world.stages(session).await, [Stage::Done]);
        let failed =
            |happening: &Happening| matches!(happening, Happening::ProcessEnded(e) if e.failed);
        assert_eq!(world.count(session, failed).await, 0);
    }
    assert!(world.has_file("one.txt") && world.has_file("two.txt"));
    world.close().await
}

async fn nothing_to_do(cli: Cli) -> Outcome {
    let soon = Some(Duration::from_millis(100));
    let world =
        World::with(cli, "otherwise = \"I say.\"", |config| config.limits.idle_after = soon).await;
    let session = world.create("One.").await;
    let is_idle =
        |turns| move |head: &Head| head.state() == State::Idle && head.usage.turns == turns;
    world.until(session, "idle", is_idle(1)).await;
    world.say(session, "Two.").await;
    let head = world.until(session, "idle again", is_idle(2)).await;
    assert_eq!((head.generation, head.failures.len()), (2, 0));
    assert_eq!(world.texts(session).await, ["I say.", "I say."]);
    world.close().await
}

/// No turn begins when all is spent: messages are refused, and those that wait go on waiting.
async fn over_budget(cli: Cli) -> Outcome {
    let world = World::with(cli, "otherwise = \"That was dear.\"", |config| {
        start_cli_through(config, "while [ ! -e $HERE/go ]; do sleep 0.05; done");
        config.limits.idle_after = Some(Duration::from_millis(100));
    })
    .await;
    let mut new = world.new_session("Say it.");
    new.options.limits.budget_usd = Some(0.000_001);
    let session = world.client.create_session(&new).await?.session;
    let said = NewMessage { text: "And again.".to_owned(), ..NewMessage::default() };
    let waits = world.client.send(session, &said).await?.message;
    std::fs::write(world.config.data.join("go"), "")?;
    let spent = |head: &Head| head.usage.turns == 1 && head.state() == State::Idle;
    let head = world.until(session, "spent", spent).await;
    assert!(head.usage.cost_usd > 0.000_001, "{:?}", head.usage);
    assert_eq!(head.queue.iter().map(|queued| queued.message).collect::<Vec<_>>(), [waits]);
    let refused = world.client.send(session, &said).await.unwrap_err();
    let problem = refused.problem().unwrap();
    assert_eq!((problem.kind(), problem.status()), ("over-budget", 409));
    assert!(problem.detail().unwrap().contains("start another one"), "{problem:?}");
    let world = world.restart().await;
    world.client.resume(session).await?;
    world.client.remove_message(session, waits).await?;
    let head = world.at_rest(session).await;
    assert_eq!((head.usage.turns, head.generation), (1, 1), "nothing was begun");
    world.close().await
}

/// What was spent counts once: a process may cost what is left, also where the CLI goes on counting from
/// what the process before had come to.
async fn left_of_budget(cli: Cli) -> Outcome {
    const DEAR: &str = r#"
otherwise = "Cheap."

[[answer]]
when = { text = "Be dear" }
text = "Dear."
usage = { output_tokens = 100000 }
"#;
    let soon = Some(Duration::from_millis(100));
    let world = World::with(cli, DEAR, |config| config.limits.idle_after = soon).await;
    let first = world.create("Be dear.").await;
    let is_spent = |head: &Head| head.usage.turns == 1 && head.state() == State::Idle;
    let dear = world.until(first, "idle", is_spent).await.usage.cost_usd;
    let budget = Some(dear * 1.4);
    let session = limited(&world, "Be dear.", |limits| limits.budget_usd = budget).await;
    for turns in 1..4 {
        let is_over = |head: &Head| head.usage.turns == turns && head.state() == State::Idle;
        let head = world.until(session, "idle", is_over).await;
        assert_eq!(head.generation, turns, "each turn has a process of its own");
        assert!(head.usage.cost_usd < dear * 1.2, "{:?}", head.usage);
        world.say(session, "Be cheap.").await;
    }
    world.at_rest(session).await;
    assert_eq!(ends(&world, session).await, vec![(TurnEnd::Done, String::new()); 4]);
    // It ends there, too.
    world.until(session, "idle", |head| head.state() == State::Idle).await;
    world.say(session, "Be dear.").await;
    let head = world.until(session, "spent", Head::is_over_budget).await;
    assert_eq!(head.usage.turns, 5);
    let [.., (end, why)] = &ends(&world, session).await[..] else { panic!() };
    assert!(*end == TurnEnd::Failed && why.contains("budget_usd"), "{end:?} {why}");
    world.close().await
}

/// Starts a session with these limits.
async fn limited(
    world: &World,
    prompt: &str,
    change: impl FnOnce(&mut SessionLimits),
) -> SessionId {
    let mut new = world.new_session(prompt);
    new.options.allowed_tools = vec!["Bash".to_owned()];
    change(&mut new.options.limits);
    world.client.create_session(&new).await.unwrap().session
}

/// How turns ended, and why.
async fn ends(world: &World, session: SessionId) -> Vec<(TurnEnd, String)> {
    let end = |happening| match happening {
        Happening::TurnEnded(ended) => Some((ended.end, ended.why.unwrap_or_default())),
        _ => None,
    };
    world.happenings(session).await.into_iter().filter_map(end).collect()
}

const SLOW: &str = r#"
[[answer]]
when = { text = "Be slow" }
tool = { name = "Bash", input = { command = "sleep 1000" }, takes = "1000s" }

[[answer]]
when = { text = "Freeze" }
blocks = [ { text = "Before." }, { fault = "freeze" } ]

[[answer]]
when = { text = "Go on" }
text = "Next."
"#;

async fn too_long(cli: Cli) -> Outcome {
    let world = World::new(cli, SLOW).await;
    let session = limited(&world, "Be slow.", |limits| limits.turn_seconds = Some(1)).await;
    world.until(session, "over", |head| head.usage.turns == 1).await;
    let [(end, why)] = &ends(&world, session).await[..] else { panic!() };
    assert_eq!(*end, TurnEnd::Interrupted);
    assert!(why.contains("turn_seconds") && why.contains("1s"), "{why}");
    // The next one has its own time, and nothing of this.
    world.say(session, "Go on.").await;
    let head = world.until(session, "done", |head| head.usage.turns == 2).await;
    assert_eq!(head.generation, 1);
    assert_eq!(ends(&world, session).await[1], (TurnEnd::Done, String::new()));
    world.close().await
}

async fn too_silent(cli: Cli) -> Outcome {
    let world = World::new(cli, SLOW).await;
    let session = limited(&world, "Be slow.", |limits| limits.silence_seconds = Some(1)).await;
    world.until(session, "over", |head| head.usage.turns == 1).await;
    let [(end, why)] = &ends(&world, session).await[..] else { panic!() };
    assert_eq!(*end, TurnEnd::Interrupted);
    assert!(why.contains("silence_seconds") && why.contains("1s"), "{why}");
    world.close().await
}

/// The process is ended then, and the turn is over: it is not tried again and again.
async fn does_not_end(cli: Cli) -> Outcome {
    let soon = Duration::from_millis(300);
    let world = World::with(cli, SLOW, |config| config.limits.interrupt_within = soon).await;
    let session = limited(&world, "Freeze.", |limits| limits.silence_seconds = Some(1)).await;
    let over = |head: &Head| head.generation == 1 && head.turn.is_none() && head.queue.is_empty();
    let head = world.until(session, "over", over).await;
    assert_eq!(head.state(), State::Idle);
    let [(end, why)] = &ends(&world, session).await[..] else { panic!() };
    assert_eq!(*end, TurnEnd::Interrupted);
    assert!(why.contains("silence_seconds"), "{why}");
    world.say(session, "Go on.").await;
    let head = world.at_rest(session).await;
    assert_eq!((head.generation, head.state()), (2, State::Ready));
    assert_eq!(world.last_text(session).await, "Next.");
    world.close().await
}

async fn too_often(cli: Cli) -> Outcome {
    const AGAIN: &str = r#"
[[answer]]
when = { text = "Go on" }
text = "Next."

[[answer]]
tool = { name = "Bash", input = { command = "true" } }
times = 100
"#;
    let world = World::new(cli, AGAIN).await;
    let session = limited(&world, "Again.", |limits| limits.turns_a_message = Some(2)).await;
    world.until(session, "over", |head| head.usage.turns == 1).await;
    let [(end, why)] = &ends(&world, session).await[..] else { panic!() };
    assert_eq!(*end, TurnEnd::Failed);
    assert!(why.contains("turns_a_message"), "{why}");
    world.say(session, "Go on.").await;
    world.until(session, "done", |head| head.usage.turns == 2).await;
    assert_eq!(world.last_text(session).await, "Next.");
    world.close().await
}

/// Neither a permission nor a plan that is to be made counts as time or as silence of the turn.
async fn any_time(cli: Cli) -> Outcome {
    const ASKS: &str = r#"
otherwise = "Done."

[[answer]]
when = { text = "Plan it" }
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { text = "Write it" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }
"#;
    let world = World::new(cli, ASKS).await;
    for prompt in ["Write it.", "Plan it."] {
        let session = limited(&world, prompt, |limits| {
            (limits.turn_seconds, limits.silence_seconds) = (Some(1), Some(1));
        })
        .await;
        let asked = world.asked(session).await;
        tokio::time::sleep(Duration::from_millis(2500)).await;
        world.answer(&asked, Answer::allow()).await;
        world.at_rest(session).await;
        assert_eq!(ends(&world, session).await, [(TurnEnd::Done, String::new())], "{prompt}");
        assert_eq!(world.stages(session).await, [Stage::Done], "{prompt}");
    }
    world.close().await
}

/// The CLI forgets the rules of a session with its process; the server does not.
async fn rules(cli: Cli) -> Outcome {
    const TOUCH: &str = r#"
otherwise = "Done."

[[answer]]
when = { text = '/Touch (\w+)/' }
tool = { name = "Bash", input = { command = "touch ${match.1}.txt" } }
"#;
    let world = World::new(cli, TOUCH).await;
    let session = world.create("Touch one.").await;
    let asked = world.asked(session).await;
    let rule = NewRule {
        tool: "Bash".to_owned(),
        content: Some("touch:*".to_owned()),
        destination: Some("session".into()),
    };
    let allow = Allow { rules: vec![rule], ..Allow::default() };
    world.answer(&asked, Answer::Allow(allow)).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.rules.rules.len(), 1, "{:?}", head.rules);
    world.say(session, "Touch two.").await;
    world.at_rest(session).await;
    world.stop(session).await;
    world.say(session, "Touch three.").await;
    let head = world.at_rest(session).await;
    assert_eq!(head.generation, 2);
    let world = world.restart().await;
    world.say(session, "Touch four.").await;
    world.at_rest(session).await;
    assert_eq!(world.stages(session).await, [Stage::Done], "nobody was asked again");
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done; 4]);
    if matches!(cli, Cli::Real(_)) {
        for name in ["one", "two", "three", "four"] {
            assert!(world.has_file(&format!("{name}.txt")), "{name}");
        }
    }
    world.close().await
}

/// Nobody is asked in this mode, but the gate sees what runs; and it is the server that allows it.
async fn bypass(cli: Cli) -> Outcome {
    let world = World::with(cli, WRITE, |config| {
        // The CLI does not do it for root otherwise.
        config.cli.set.insert("IS_SANDBOX".to_owned(), Secret::new("1"));
    })
    .await;
    let new =
        NewSession { mode: Some("bypassPermissions".into()), ..world.new_session("Write it.") };
    let refused = world.client.create_session(&new).await.unwrap_err();
    let problem = refused.problem().unwrap();
    assert_eq!(problem.kind(), "invalid");
    assert!(problem.detail().unwrap().contains("allow_bypass"), "{problem:?}");

    let world = world.restart_with(|config| config.allow_bypass = true).await;
    let session = world.client.create_session(&new).await?.session;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, []);
    let seen: Vec<_> = world
        .happenings(session)
        .await
        .into_iter()
        .filter_map(|happening| match happening {
            Happening::ToolCalled(called) => Some(called.tool),
            _ => None,
        })
        .collect();
    assert_eq!(seen, ["Write"]);

    // What was allowed then is not allowed any more.
    let world = world.restart_with(|config| config.allow_bypass = false).await;
    world.say(session, "Go on.").await;
    let head = world.until(session, "failed", |head| head.state() == State::Failed).await;
    assert!(head.failure.as_ref().unwrap().contains("choose another mode"), "{:?}", head.failure);
    world.client.set_mode(session, "default".into()).await?;
    world.client.resume(session).await?;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "And more.");
    world.close().await
}

/// A process that may bypass permissions writes without asking in plan mode, so it is not kept for that.
async fn plan_after_bypass(cli: Cli) -> Outcome {
    const PLAN: &str = r#"
otherwise = "Done."

[[answer]]
when = { text = "Write it" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { text = "Enter" }
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { tool = "EnterPlanMode", error = true }
text = "I read: ${result}"

[[answer]]
when = { text = "Run" }
tool = { name = "Bash", input = { command = "touch ran.txt; sleep 3" }, takes = "3s" }
"#;
    let world = World::with(cli, PLAN, |config| {
        // The CLI does not do it for root otherwise.
        config.cli.set.insert("IS_SANDBOX".to_owned(), Secret::new("1"));
        config.allow_bypass = true;
    })
    .await;
    let session = world.create_in("Enter.", "bypassPermissions").await;
    let head = world.at_rest(session).await;
    assert_eq!(head.mode.as_str(), "bypassPermissions");
    let told = world.last_text(session).await;
    assert!(told.contains("Plan mode cannot be entered"), "{told}");

    // Not in a turn.
    world.say(session, "Run.").await;
    let is_running = |head: &Head| head.turn.is_some();
    world.until(session, "at work", is_running).await;
    let called = |h: &Happening| matches!(h, Happening::ToolCalled(c) if c.tool == "Bash");
    while world.count(session, called).await == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    world.client.set_mode(session, "plan".into()).await?;
    let refused =
        |h: &Happening| matches!(h, Happening::WishRefused(r) if r.why.contains("interrupt"));
    while world.count(session, refused).await == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let head = world.at_rest(session).await;
    assert_eq!((head.mode.as_str(), head.generation), ("bypassPermissions", 1));

    world.client.set_mode(session, "plan".into()).await?;
    let head = world.until(session, "in plan mode", |head| head.mode.as_str() == "plan").await;
    assert!(!head.process.is_there());
    world.say(session, "Write it.").await;
    let asked = world.asked(session).await;
    assert_eq!((&*asked.tool, world.has_file("new.txt")), ("Write", false));
    world.answer(&asked, Answer::deny("no")).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.generation, 2);
    world.close().await
}

/// It is tried as often as it is configured, and not for ever. What was said is not lost.
async fn dies_at_start(cli: Cli) -> Outcome {
    let world = World::with(cli, "otherwise = \"I say.\"", |config| {
        start_cli_through(config, "[ -e $HERE/dead ] && { echo 'the cable is cut' >&2; exit 7; }");
        config.limits.restarts.count = 2;
    })
    .await;
    let dead = world.config.data.join("dead");
    std::fs::write(&dead, "")?;
    let session = world.create("One.").await;
    let has_failed = |head: &Head| head.state() == State::Failed;
    let head = world.until(session, "failed", has_failed).await;
    assert_eq!(head.generation, 3, "the first, and two more");
    let failure = head.failure.unwrap();
    assert!(failure.contains("3 times") && failure.contains("the cable is cut"), "{failure}");
    assert!(failure.contains("Send a message or resume it"), "{failure}");

    let world = world.restart().await;
    let again = world.head(session).await;
    assert_eq!((again.state(), again.generation), (State::Failed, 3), "nothing is tried");
    assert_eq!(again.failure, Some(failure));

    world.client.resume(session).await?;
    let again =
        world.until(session, "failed again", |head| head.generation == 6 && has_failed(head));
    again.await;
    std::fs::remove_file(&dead)?;
    world.say(session, "Two.").await;
    let head = world.at_rest(session).await;
    assert_eq!((head.failure, head.generation), (None, 7));
    assert_eq!(world.texts(session).await, ["I say.", "I say."]);
    world.close().await
}

async fn not_there(cli: Cli) -> Outcome {
    let mut there = None;
    let world = World::with(cli, "otherwise = \"I say.\"", |config| {
        there = config.cli.path.replace(config.data.join("no-such-claude"));
    })
    .await;
    let session = world.create("One.").await;
    let head = world.until(session, "failed", |head| head.state() == State::Failed).await;
    assert_eq!(head.generation, 1, "it is not tried again");
    let failure = head.failure.unwrap();
    assert!(failure.contains("no-such-claude"), "{failure}");
    let world = world.restart_with(|config| config.cli.path = there).await;
    assert_eq!(world.head(session).await.state(), State::Failed);
    world.client.resume(session).await?;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "I say.");
    world.close().await
}

async fn lists(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"The answer is a walrus.\"").await;
    let of = async |wanted: ListSessions| {
        let page = world.client.sessions(&wanted).await.unwrap();
        page.items.into_iter().map(|view| view.head.id).collect::<Vec<_>>()
    };
    let mut new = world.new_session("Where is the zebra?");
    new.labels = ["zoo".to_owned(), "urgent".to_owned()].into();
    let one = world.client.create_session(&new).await?.session;
    let two = world.create("Something else.").await;
    for session in [one, two] {
        world.at_rest(session).await;
    }
    let labels = ["sea".to_owned()].into();
    world.client.label(two, labels).await?;
    world.client.rename(two, "About fish").await?;
    let labelled =
        |label: &str| ListSessions { label: Some(label.to_owned()), ..Default::default() };
    assert_eq!(of(labelled("zoo,urgent")).await, [one]);
    assert_eq!(of(labelled("sea")).await, [two]);
    assert_eq!(of(labelled("zoo,sea")).await, []);
    let saying = |q: &str| ListSessions { q: Some(q.to_owned()), ..Default::default() };
    assert_eq!(of(saying("zebra")).await, [one]);
    assert_eq!(of(saying("fish")).await, [two]);
    assert_eq!(of(saying("walrus")).await.len(), 2, "what the model said is found, too");

    let fork = ForkSession { title: Some("A copy".to_owned()), ..ForkSession::default() };
    let copy = world.client.fork(one, &fork).await?.session;
    let from = ListSessions { parent: Some(one), ..ListSessions::default() };
    assert_eq!(of(from).await, [copy]);
    let in_state =
        |state: &str| ListSessions { state: Some(state.to_owned()), ..Default::default() };
    assert_eq!(of(in_state("idle")).await, [copy]);
    assert_eq!(of(in_state("ready,idle")).await.len(), 3);
    let wrong = world.client.sessions(&in_state("asleep")).await.unwrap_err();
    assert_eq!(wrong.problem().unwrap().status() / 100, 4, "{wrong}");
    let wrong = ListSessions { after: Some("nonsense".to_owned()), ..ListSessions::default() };
    let wrong = world.client.sessions(&wrong).await.unwrap_err();
    assert_eq!(wrong.problem().unwrap().status() / 100, 4, "{wrong}");

    // Page by page, everything once.
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let wanted = ListSessions { after, limit: Some(1), ..ListSessions::default() };
        let page = world.client.sessions(&wanted).await?;
        seen.extend(page.items.into_iter().map(|view| view.head.id));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    seen.sort();
    let mut all = vec![one, two, copy];
    all.sort();
    assert_eq!(seen, all);

    // Not while there is a process.
    let busy = world.client.archive(one, true).await.unwrap_err();
    assert_eq!(busy.problem().unwrap().kind(), "conflict");
    let busy = world.client.delete_session(one).await.unwrap_err();
    assert_eq!(busy.problem().unwrap().kind(), "conflict");
    world.stop(one).await;
    world.client.archive(one, true).await?;
    let archived = ListSessions { archived: Some(true), ..ListSessions::default() };
    assert_eq!(of(archived).await, [one]);
    assert!(!of(ListSessions::default()).await.contains(&one));
    world.client.delete_session(one).await?;
    assert!(world.client.session(one).await.unwrap_err().is_not_found());
    assert_eq!(of(saying("zebra")).await, [], "nothing of it is found any more");
    world.close().await
}

async fn audit(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::deny("not on a Sunday")).await;
    world.at_rest(session).await;
    world.stop(session).await;
    world.client.delete_session(session).await?;
    let wanted = ListAudit { session: Some(session), ..ListAudit::default() };
    let entries = world.client.audit(&wanted).await?.items;
    let kinds: Vec<_> = entries.iter().rev().map(|entry| &*entry.kind).collect();
    assert!(kinds.contains(&"session.deleted"), "it is there after the session is not: {kinds:?}");
    let answered = entries.iter().find(|entry| entry.kind == "approval.answered").unwrap();
    let By::Person { name, token, from } = &answered.by else { panic!("{:?}", answered.by) };
    let me = world.client.me().await?;
    assert_eq!((&**name, from.as_deref()), (me.name(), Some("127.0.0.1")));
    assert!(world.client.tokens().await?.iter().any(|known| known.id == *token));
    assert_eq!(answered.approval, Some(asked.id));
    let detail: Value = answered.detail.decode()?;
    let detail = detail.to_string();
    for exactly in ["not on a Sunday", "Write", "new.txt"] {
        assert!(detail.contains(exactly), "{exactly}: {detail}");
    }
    let mut export = world.client.export_audit(&wanted).await?;
    let mut count = 0;
    while export.next().await?.is_some() {
        count += 1;
    }
    assert_eq!(count, entries.len());
    world.close().await
}

async fn twice(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let body = serde_json::to_string(&world.new_session("Hello."))?;
    let key = ["Idempotency-Key: the-same"];
    let first = world.raw("POST /api/v1/sessions", &key, &body).await;
    let again = world.raw("POST /api/v1/sessions", &key, &body).await;
    let session = |answer: &str| {
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str::<Value>(body).unwrap()["session"].clone()
    };
    assert_eq!(session(&first), session(&again));
    let is_replayed = |answer: &str| answer.to_lowercase().contains("idempotent-replayed: true");
    assert!(!is_replayed(&first) && is_replayed(&again), "{again}");
    assert_eq!(world.client.sessions(&ListSessions::default()).await?.items.len(), 1);
    let other = serde_json::to_string(&world.new_session("Something else."))?;
    let other = world.raw("POST /api/v1/sessions", &key, &other).await;
    assert!(other.starts_with("HTTP/1.1 422") && other.contains("key-reused"), "{other}");
    // After a restart, too.
    let world = world.restart().await;
    let again = world.raw("POST /api/v1/sessions", &key, &body).await;
    assert_eq!(session(&first), session(&again));
    assert_eq!(world.client.sessions(&ListSessions::default()).await?.items.len(), 1);
    world.close().await
}

async fn second_server(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let Err(error) = Server::start(&world.config).await else { panic!("there are two") };
    assert!(matches!(error, StartError::Store(StoreError::InUse(_))), "{error:?}");
    let words = error.to_string();
    let this = format!("process {}", std::process::id());
    assert!(words.contains("stop that one first") && words.contains(&this), "{words}");
    // The first one has lost nothing by it.
    assert_eq!(world.head(session).await.state(), State::Waiting);
    world.answer(&asked, Answer::allow()).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.generation, 1);
    assert!(world.has_file("new.txt"));
    world.close().await
}

/// A project within the roots, and a folder outside of them.
fn project(world: &World) -> (std::path::PathBuf, TempDir) {
    let project = world.lab.work().join("project");
    std::fs::create_dir(&project).unwrap();
    (project, TempDir::new().unwrap())
}

async fn failed_for(world: &World, session: SessionId, generation: u64) {
    let is_so = |head: &Head| head.state() == State::Failed && head.generation == generation;
    let head = world.until(session, "failed", is_so).await;
    let failure = head.failure.unwrap();
    assert!(failure.contains("leads to another place now"), "{failure}");
    assert!(failure.contains("put it back, or start a session there"), "{failure}");
    let started = |h: &Happening| matches!(h, Happening::ProcessStarted(_));
    assert_eq!(world.count(session, started).await, 1, "there was no other process");
}

/// What leads out of the roots is not followed, however it was when the session was made.
async fn folder_becomes_a_link(cli: Cli) -> Outcome {
    const TOLD: &str = r#"
otherwise = "Hello."

[[answer]]
when = { text = "Write it" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }
"#;
    let world = World::new(cli, TOLD).await;
    let (project, outside) = project(&world);
    let mut new = world.new_session("Write it.");
    new.folder = project.display().to_string();
    let session = world.client.create_session(&new).await?.session;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::deny("not yet")).await;
    world.at_rest(session).await;
    // Beside the folder of the session, one that its tools may use.
    let beside = world.lab.work().join("beside");
    std::fs::create_dir(&beside)?;
    let mut new = world.new_session("Hello.");
    new.options.add_dirs = vec![beside.display().to_string()];
    let other = world.client.create_session(&new).await?.session;
    world.at_rest(other).await;
    for session in [session, other] {
        world.stop(session).await;
    }

    for folder in [&project, &beside] {
        std::fs::rename(folder, folder.with_extension("old"))?;
        std::os::unix::fs::symlink(outside.path(), folder)?;
    }
    let before = world.lab.model().model_requests().len();
    for session in [session, other] {
        world.say(session, "Write it now.").await;
        failed_for(&world, session, 2).await;
    }
    let fork = world.client.fork(session, &ForkSession::default()).await.unwrap_err();
    assert_eq!(fork.problem().unwrap().status(), 422, "{fork}");
    assert_eq!(world.lab.model().model_requests().len(), before);
    assert_eq!(std::fs::read_dir(outside.path())?.count(), 0);

    for folder in [&project, &beside] {
        std::fs::remove_file(folder)?;
        std::fs::rename(folder.with_extension("old"), folder)?;
    }
    for session in [session, other] {
        world.client.resume(session).await?;
        world.until(session, "at work", |head| head.usage.turns == 2 || head.is_asking()).await;
        world.stop(session).await;
    }
    world.close().await
}

async fn fewer_roots(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let (project, outside) = project(&world);
    let mut new = world.new_session("One.");
    new.folder = project.display().to_string();
    let session = world.client.create_session(&new).await?.session;
    world.at_rest(session).await;
    let work = world.lab.work();
    let other = outside.path().canonicalize()?;
    let world = world.restart_with(|config| config.roots = vec![other]).await;
    world.say(session, "Two.").await;
    failed_for(&world, session, 2).await;
    let world = world.restart_with(|config| config.roots = vec![work]).await;
    world.client.resume(session).await?;
    world.at_rest(session).await;
    assert_eq!(world.texts(session).await, ["I say.", "I say."]);
    world.close().await
}
