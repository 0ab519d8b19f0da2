//! Every event, told with its own input, and what the answers to the events do that the other tests
//! leave out. All of it happens in one session.
//!
//! Two events cannot be brought about in a session like this. For `Setup`, which `--init` and
//! `--maintenance` are for, the CLI runs the hooks of settings and calls no client; `TeammateIdle`
//! needs a team of agents, and the tools that a session like this has make none. [`LEFT_OUT`] has
//! them, and the test fails when one of them comes after all.
//!
//! `CwdChanged` comes to a client only when there is a hook for it in the settings as well.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use countersign::cli::{Capability, CapabilityKind};
use countersign::hook::{Hook, HookEventInput};
use countersign::permission::{AllowAll, HandlerFailure};
use countersign::protocol::RawJson;
use countersign::protocol::ask::{ElicitationAction, ElicitationAnswer, ElicitationMode};
use countersign::protocol::hook::*;
use countersign::protocol::message::AssistantErrorKind;
use countersign::protocol::permission::{PermissionMode, PermissionUpdate};
use countersign::protocol::request::ErrorCode;
use countersign::protocol::system::CompactTrigger;
use countersign::transcript::Sessions;
use countersign::{ControlError, Session, SessionBuilder, SettingSource};
use countersign_lab::Lab;
use countersign_lab::script::RequestKind;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::asking::{Noted, on_real, say, start};
use crate::elicitation;
use crate::kit::{Cli, Outcome, V197, V325, builder, close, lab, soon};
use crate::puppet::until;

pub(super) fn trials() -> Vec<Trial> {
    on_real("hooks::events::each_is_told_and_its_answer_counts", V197, all)
}

/// The events that nothing in the test brings about.
const LEFT_OUT: [HookEvent; 2] = [HookEvent::Setup, HookEvent::TeammateIdle];

const SCRIPT: &str = r#"
otherwise = "Fine."

[[answer]]
when = { agent = true, text = "look again" }
text = "I have looked twice."

[[answer]]
when = { agent = true }
text = "I have looked."

[[answer]]
when = { side = true }
text = "<summary>They worked.</summary>"

[[answer]]
when = { text = "fail at once" }
error = { status = 403 }

[[answer]]
when = { text = "be refused" }
times = 1
tool = { name = "Bash", input = { command = "node -e 1 > refused.txt" } }

[[answer]]
text = "I say what is hidden."
tools = [
  { name = "Read", input = { file_path = "${cwd}/nothing.txt" } },
  { name = "Read", input = { file_path = "${cwd}/below/inner.txt" } },
]

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
tool = { name = "TaskCreate", input = { subject = "Mend it", description = "It is broken." } }

[[answer]]
tool = { name = "TaskUpdate", input = { taskId = "1", status = "completed" } }

[[answer]]
tool = { name = "mcp__asker__ask", input = {} }

[[answer]]
tool = { name = "Agent", input = { description = "Look", prompt = "Look around.", subagent_type = "general-purpose", run_in_background = false } }

[[answer]]
tool = { name = "EnterWorktree", input = { name = "bold-oak" } }

[[answer]]
tool = { name = "ExitWorktree", input = { action = "remove", discard_changes = true } }

[[answer]]
tool = { name = "Bash", input = { command = "cd below" } }

[[answer]]
text = "Done."

[[answer]]
text = "Done again."
"#;

/// What the hooks were told.
#[derive(Clone, Default)]
struct Told(Noted<HookInput>);

impl Told {
    fn all<I: HookEventInput>(&self) -> Vec<I> {
        self.0.all().into_iter().filter_map(I::pick).collect()
    }

    /// So many and no more, once they are there: the CLI does not wait for every hook.
    async fn several<I: HookEventInput + std::fmt::Debug, const N: usize>(&self) -> [I; N] {
        let there = async {
            while self.all::<I>().len() < N {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        soon("the event", there).await;
        self.all().try_into().unwrap()
    }

    /// One of which this is true, once it is there.
    async fn find<I: HookEventInput>(&self, is_it: impl Fn(&I) -> bool) -> I {
        let there = async {
            loop {
                match self.all().into_iter().find(&is_it) {
                    Some(found) => return found,
                    None => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        soon("the event", there).await
    }

    /// The only one.
    async fn one<I: HookEventInput + std::fmt::Debug>(&self) -> I {
        let [one] = self.several().await;
        one
    }

    fn events(&self) -> BTreeSet<HookEvent> {
        self.0.all().iter().map(HookInput::event).collect()
    }
}

/// Registers a hook for each event that the version has.
macro_rules! hooks_for {
    ($cli:expr, $builder:expr, $told:expr, $work:expr; $($event:ident($input:ident))+) => {{
        let mut builder: SessionBuilder = $builder;
        $(
            if Capability::hook_event(&HookEvent::$event).unwrap().in_version($cli.version()) {
                let (told, work) = ($told.clone(), $work.to_owned());
                builder = builder.hook(Hook::new(move |input: $input, _| {
                    let input = HookInput::$event(input);
                    let output = react(&input, &told, &work);
                    told.0.note(input);
                    async move { output }
                }));
            }
        )+
        builder
    }};
}

fn listening(cli: Cli, builder: SessionBuilder, told: &Told, work: &Path) -> SessionBuilder {
    hooks_for! { cli, builder, told, work;
        PreToolUse(PreToolUseInput)
        PostToolUse(PostToolUseInput)
        PostToolUseFailure(PostToolUseFailureInput)
        PostToolBatch(PostToolBatchInput)
        PermissionRequest(PermissionRequestInput)
        PermissionDenied(PermissionDeniedInput)
        Notification(NotificationInput)
        UserPromptSubmit(UserPromptSubmitInput)
        UserPromptExpansion(UserPromptExpansionInput)
        SessionStart(SessionStartInput)
        SessionEnd(SessionEndInput)
        Setup(SetupInput)
        Stop(StopInput)
        StopFailure(StopFailureInput)
        SubagentStart(SubagentStartInput)
        SubagentStop(SubagentStopInput)
        PreCompact(PreCompactInput)
        PostCompact(PostCompactInput)
        PreModelSwitch(PreModelSwitchInput)
        PostModelSwitch(PostModelSwitchInput)
        TeammateIdle(TeammateIdleInput)
        TaskCreated(TaskCreatedInput)
        TaskCompleted(TaskCompletedInput)
        Elicitation(ElicitationInput)
        ElicitationResult(ElicitationResultInput)
        ConfigChange(ConfigChangeInput)
        WorktreeCreate(WorktreeCreateInput)
        WorktreeRemove(WorktreeRemoveInput)
        InstructionsLoaded(InstructionsLoadedInput)
        CwdChanged(CwdChangedInput)
        FileChanged(FileChangedInput)
        DirectoryAdded(DirectoryAddedInput)
        MessageDisplay(MessageDisplayInput)
    }
}

/// What the hooks answer: each adds, changes or blocks something that can be looked for.
fn react(input: &HookInput, told: &Told, work: &Path) -> HookOutput {
    match input {
        HookInput::PreToolUse(_) => {
            PreToolUseOutput::new().with_additional_context("added before the tool").into()
        }
        HookInput::PostToolUse(input) => {
            let output = PostToolUseOutput::new().with_additional_context("added after the tool");
            match &*input.tool_name {
                "Read" => output.with_updated_tool_output(another_file(&input.tool_response)),
                "mcp__asker__ask" => output.with_updated_mcp_tool_output(raw(
                    &json!([{"type": "text", "text": "another answer of the server"}]),
                )),
                _ => output,
            }
            .into()
        }
        HookInput::PostToolUseFailure(_) => {
            PostToolUseFailureOutput::new().with_additional_context("added to the failure").into()
        }
        HookInput::PostToolBatch(_) => {
            PostToolBatchOutput::new().with_additional_context("added to the batch").into()
        }
        HookInput::PermissionDenied(_) => PermissionDeniedOutput::new().with_retry(true).into(),
        HookInput::UserPromptSubmit(_) => UserPromptSubmitOutput::new()
            .with_additional_context("added to the prompt")
            .with_session_title("A title of the hook")
            .into(),
        HookInput::UserPromptExpansion(input) if input.command_name == "bad" => {
            HookOutput::block("no bad commands")
        }
        HookInput::UserPromptExpansion(_) => {
            UserPromptExpansionOutput::new().with_additional_context("added to the command").into()
        }
        HookInput::SessionStart(_) => SessionStartOutput::new()
            .with_additional_context("added at the start")
            .with_watch_paths([work.join("watched.txt").to_str().unwrap().to_owned()])
            .into(),
        HookInput::Stop(input) if !input.stop_hook_active && told.all::<StopInput>().is_empty() => {
            StopOutput::new().with_additional_context("added at the end").into()
        }
        HookInput::SubagentStart(_) => {
            SubagentStartOutput::new().with_additional_context("added for the agent").into()
        }
        // A compaction is done by an agent without a type.
        HookInput::SubagentStop(input)
            if !input.stop_hook_active
                && input.agent_type.as_deref() == Some("general-purpose") =>
        {
            HookOutput::block("look again")
        }
        HookInput::PreCompact(_) if told.all::<PreCompactInput>().is_empty() => {
            HookOutput::block("not now")
        }
        HookInput::PreModelSwitch(input) if input.switch.to_model.contains("sonnet") => {
            PreModelSwitchOutput::deny("too dear").into()
        }
        HookInput::PostModelSwitch(_) => {
            PostModelSwitchOutput::new().with_additional_context("added to the model").into()
        }
        HookInput::TaskCompleted(_) => HookOutput::block("it is still broken"),
        HookInput::Elicitation(_) => {
            let answer = ElicitationOutput::new().with_action(ElicitationAction::Accept);
            answer.with_content(raw(&json!({"name": "the hook"}))).into()
        }
        HookInput::ElicitationResult(_) => {
            let answer = ElicitationResultOutput::new().with_action(ElicitationAction::Accept);
            answer.with_content(raw(&json!({"name": "the second hook"}))).into()
        }
        HookInput::WorktreeCreate(input) => {
            let tree = work.join(&input.name);
            std::fs::create_dir(&tree).unwrap();
            WorktreeCreateOutput::new(tree.to_str().unwrap()).into()
        }
        HookInput::MessageDisplay(input) if input.delta.contains("hidden") => {
            MessageDisplayOutput::new().with_display_content("I say what is shown.").into()
        }
        _ => HookOutput::no_opinion(),
    }
}

fn raw(value: &Value) -> RawJson {
    RawJson::from_value(value).unwrap()
}

/// What `Read` gives back, for a file of another content.
fn another_file(response: &RawJson) -> RawJson {
    let mut response: Value = response.decode().unwrap();
    response["file"]["content"] = json!("another content of the file");
    raw(&response)
}

fn prepare(work: &Path) -> Outcome {
    let files = [
        ("CLAUDE.md", "Be kind.\n"),
        ("below/CLAUDE.md", "Be quick.\n"),
        ("below/inner.txt", "inner\n"),
        ("more/there.txt", ""),
        (".claude/commands/mine.md", "Say $ARGUMENTS, please.\n"),
        (".claude/commands/bad.md", "Say nothing good.\n"),
        (".claude/settings.json", "{}"),
        ("watched.txt", ""),
    ];
    for (file, content) in files {
        let file = work.join(file);
        std::fs::create_dir_all(file.parent().unwrap())?;
        std::fs::write(file, content)?;
    }
    Ok(())
}

async fn all(cli: Cli) -> Outcome {
    let lab = lab(cli, SCRIPT).await;
    let work = lab.work();
    prepare(&work)?;
    let told = Told::default();
    let watching =
        json!({"hooks": {"CwdChanged": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    let builder = builder(&lab)
        .setting_sources([SettingSource::Project])
        .settings(watching)
        .mcp_server("asker", elicitation::server())
        .on_elicitation(|_| async {
            let answer = ElicitationAnswer::new(ElicitationAction::Accept);
            Ok::<_, HandlerFailure>(answer.with_content(raw(&json!({"name": "Ada"}))))
        })
        // 2.1.325 has these tools when they are named.
        .allow_tool("TaskCreate")
        .allow_tool("TaskUpdate")
        .on_permission(AllowAll);
    let mut session = start(listening(cli, builder, &told, &work)).await?;

    let outcome = say(&mut session, "Work.").await?;
    assert_eq!(outcome.text, "I say what is shown.\n\nDone.\n\nDone again.");
    let id = session.snapshot().session_id.unwrap();
    work_was_told(&told, &work, id.as_str()).await;
    work_was_changed(&lab);

    surroundings(cli, &mut session, &told, &work).await?;
    refusal(&mut session, &told, &lab).await?;
    models(cli, &mut session, &told, &lab).await?;
    commands(&mut session, &told, &lab).await?;
    // The CLI writes its transcript after it has answered.
    let has_title = || {
        let info = Sessions::at(lab.home().join(".claude")).info(&id).unwrap();
        info.and_then(|info| info.custom_title).as_deref() == Some("A title of the hook")
    };
    until("the title of the hook", has_title).await;
    conversations(&mut session, &told, &lab).await?;

    let mut expected: BTreeSet<_> = Capability::all()
        .filter(|capability| capability.in_version(cli.version()))
        .filter(|capability| capability.kind() == CapabilityKind::HookEvent)
        .map(|capability| HookEvent::from(capability.name()))
        .collect();
    expected.retain(|event| !LEFT_OUT.contains(event));
    assert_eq!(told.events(), expected);
    close(session, lab).await;
    Ok(())
}

/// Whether the model was told this, in the conversation of this kind.
fn model_knows(lab: &Lab, kind: RequestKind, what: &str) -> bool {
    lab.model().model_requests().iter().any(|request| {
        request.kind == Some(kind)
            && request.messages().iter().any(|message| message.to_string().contains(what))
    })
}

#[track_caller]
fn assert_model_knows(lab: &Lab, all: &[&str]) {
    for what in all {
        assert!(model_knows(lab, RequestKind::Main, what), "{what}");
    }
}

async fn work_was_told(told: &Told, work: &Path, session: &str) {
    let path = |file: &str| work.join(file).to_str().unwrap().to_owned();

    let prompt: UserPromptSubmitInput = told.one().await;
    assert_eq!(prompt.prompt, "Work.");
    assert_eq!(prompt.base.session_id.as_str(), session);
    assert_eq!(prompt.base.cwd, path("").trim_end_matches('/'));
    assert_eq!(prompt.base.permission_mode, Some(PermissionMode::Default));
    assert!(prompt.base.transcript_path.ends_with(&format!("/{session}.jsonl")));

    let before: Vec<PreToolUseInput> = told.all();
    let tools: Vec<_> = before.iter().map(|call| &*call.tool_name).collect();
    assert_eq!(
        tools,
        [
            "Read",
            "Read",
            "Write",
            "TaskCreate",
            "TaskUpdate",
            "mcp__asker__ask",
            "Agent",
            "EnterWorktree",
            "ExitWorktree",
            "Bash",
        ]
    );
    // The hooks for the first two run at the same time.
    let reads = |file: &str| before.iter().find(|call| call.tool_input.as_str().contains(file));
    let (missing, inner) = (reads("nothing.txt").unwrap(), reads("inner.txt").unwrap());
    let (write, ask) = (&before[2], &before[5]);
    let input: Value = missing.tool_input.decode().unwrap();
    assert_eq!(input, json!({"file_path": path("nothing.txt")}));

    let failed: PostToolUseFailureInput = told.one().await;
    assert_eq!((&*failed.tool_name, &failed.tool_use_id), ("Read", &missing.tool_use_id));
    assert_eq!(failed.tool_input, missing.tool_input);
    assert!(failed.error.contains("does not exist") && failed.is_interrupt == Some(false));

    let after: Vec<PostToolUseInput> = told.all();
    let done = |call: &PreToolUseInput| {
        after.iter().find(|done| done.tool_use_id == call.tool_use_id).unwrap()
    };
    let written: Value = done(write).tool_response.decode().unwrap();
    assert_eq!((&written["type"], &written["content"]), (&json!("create"), &json!("new\n")));
    assert!(done(write).duration_ms.is_some());
    let response: Value = done(inner).tool_response.decode().unwrap();
    assert_eq!(response["file"]["content"], "inner\n", "the hook is told what the tool said");

    let batches: Vec<PostToolBatchInput> = told.all();
    let batch: Vec<_> = batches[0].tool_calls.iter().map(|call| &call.tool_use_id).collect();
    assert_eq!(batch, [&missing.tool_use_id, &inner.tool_use_id]);
    assert!(batches[0].tool_calls.iter().all(|call| call.tool_response.is_some()));

    let requests: Vec<PermissionRequestInput> = told.all();
    let request = requests.iter().find(|request| request.tool_name == "Write").unwrap();
    assert_eq!(request.tool_input, write.tool_input);
    let suggested = request.permission_suggestions.as_deref().unwrap();
    assert!(
        matches!(suggested, [PermissionUpdate::SetMode(set)] if set.mode == PermissionMode::AcceptEdits)
    );

    let created: TaskCreatedInput = told.one().await;
    let completed: TaskCompletedInput = told.one().await;
    assert_eq!((&*created.task_id, &*created.task_subject), ("1", "Mend it"));
    assert_eq!(created.task_description.as_deref(), Some("It is broken."));
    assert_eq!((&*completed.task_id, &*completed.task_subject), ("1", "Mend it"));

    let question: ElicitationInput = told.one().await;
    assert_eq!((&*question.mcp_server_name, &*question.message), ("asker", "Who are you?"));
    assert_eq!(question.mode, Some(ElicitationMode::Form));
    assert!(question.requested_schema.unwrap().as_str().contains("name"));
    let answer: ElicitationResultInput = told.one().await;
    assert_eq!((&*answer.mcp_server_name, answer.action), ("asker", ElicitationAction::Accept));
    assert_eq!(answer.content.unwrap().decode::<Value>().unwrap(), json!({"name": "Ada"}));
    // The CLI takes no answer of a client's hooks for that of the person.
    assert!(done(ask).tool_response.as_str().contains("Ada"));
    let notification: NotificationInput = told.one().await;
    assert_eq!(notification.notification_type.as_deref(), Some("elicitation_response"));
    assert!(notification.message.contains("asker"), "{}", notification.message);

    let begun: SubagentStartInput = told.one().await;
    assert_eq!(begun.agent_type, "general-purpose");
    let [first, second]: [SubagentStopInput; 2] = told.several().await;
    assert_eq!((&first.agent_id, &second.agent_id), (&begun.agent_id, &begun.agent_id));
    assert_eq!((first.stop_hook_active, second.stop_hook_active), (false, true));
    assert_eq!(first.last_assistant_message.as_deref(), Some("I have looked."));
    assert_eq!(second.last_assistant_message.as_deref(), Some("I have looked twice."));
    assert!(first.agent_transcript_path.contains(begun.agent_id.as_str()));

    assert_eq!(told.one::<WorktreeCreateInput>().await.name, "bold-oak");
    assert_eq!(told.one::<WorktreeRemoveInput>().await.worktree_path, path("bold-oak"));
    let moved = told.find(|moved: &CwdChangedInput| moved.new_cwd == path("below")).await;
    assert_eq!(Path::new(&moved.old_cwd), work);

    // Those of the start may be loaded before the CLI knows the hooks.
    let is_nested =
        |loaded: &InstructionsLoadedInput| loaded.load_reason == LoadReason::NestedTraversal;
    let nested = told.find(is_nested).await;
    assert_eq!(
        (nested.file_path, nested.memory_type),
        (path("below/CLAUDE.md"), MemoryType::Project)
    );
    assert_eq!(nested.trigger_file_path, Some(path("below/inner.txt")));

    let shown: Vec<MessageDisplayInput> = told.all();
    assert_eq!(
        (&*shown[0].delta, shown[0].index, shown[0].is_final),
        ("I say what is hidden.", 0, true)
    );
    let [first, second]: [StopInput; 2] = told.several().await;
    assert_eq!((first.stop_hook_active, second.stop_hook_active), (false, true));
    assert_eq!(first.last_assistant_message.as_deref(), Some("Done."));
    assert_eq!(second.last_assistant_message.as_deref(), Some("Done again."));
}

fn work_was_changed(lab: &Lab) {
    assert_model_knows(
        lab,
        &[
            "added to the prompt",
            "added before the tool",
            "added after the tool",
            "added to the failure",
            "added to the batch",
            "added at the end",
            "another content of the file",
            "another answer of the server",
            "it is still broken",
            // What is shown in its place is for the client alone.
            "I say what is hidden.",
        ],
    );
    assert!(model_knows(lab, RequestKind::Agent, "added for the agent"));
    assert!(model_knows(lab, RequestKind::Agent, "look again"));
    for what in ["inner\\n", "Ada", "what is shown"] {
        assert!(!model_knows(lab, RequestKind::Main, what), "{what}");
    }
}

/// Writes a file until somebody has heard of it: a watch that has just begun may miss a change.
async fn change<I: HookEventInput>(told: &Told, file: &Path, content: &str) -> Outcome {
    let heard = async {
        for times in 1.. {
            std::fs::write(file, format!("{content}{}", " ".repeat(times))).unwrap();
            // The CLI waits until a file has been left alone for a while.
            let (now, patience) = (Instant::now(), Duration::from_secs(2 * times as u64));
            while now.elapsed() < patience {
                if !told.all::<I>().is_empty() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    soon("the change", heard).await;
    Ok(())
}

async fn surroundings(cli: Cli, session: &mut Session, told: &Told, work: &Path) -> Outcome {
    let settings = work.join(".claude/settings.json");
    change::<ConfigChangeInput>(told, &settings, r#"{"env": {"SOME": "value"}}"#).await?;
    let changed = told.all::<ConfigChangeInput>().remove(0);
    assert_eq!(changed.source, ConfigSource::ProjectSettings);
    assert_eq!(changed.file_path.as_deref().map(Path::new), Some(&*settings));

    if cli.version() >= V325 {
        let more = work.join("more").to_str().unwrap().to_owned();
        session.register_repo_root(&*more).await?;
        let added = told.one::<DirectoryAddedInput>().await;
        assert_eq!((added.directory, added.source), (more, DirectorySource::RegisterRepoRoot));
    }
    Ok(())
}

async fn models(cli: Cli, session: &mut Session, told: &Told, lab: &Lab) -> Outcome {
    if cli.version() < V325 {
        return Ok(());
    }
    let refused = session.set_model("claude-sonnet-4-5").await;
    let Err(ControlError::Refused { message, code, .. }) = refused else { panic!("{refused:?}") };
    assert!(message.contains("too dear"), "{message}");
    assert_eq!(code, Some(ErrorCode::BlockedByHook));
    session.set_model("claude-haiku-4-5").await?;
    let switched = told.one::<PostModelSwitchInput>().await.switch;
    let [first, _]: [PreModelSwitchInput; 2] = told.several().await;
    assert_eq!(first.switch.to_model, "claude-sonnet-4-5");
    assert_eq!(switched.to_model, "claude-haiku-4-5");
    assert_eq!(switched.requested_model.as_deref(), Some("claude-haiku-4-5"));
    assert_eq!(switched.from_model, first.switch.from_model, "the first change did not happen");
    assert_eq!(switched.source, ModelSwitchSource::Sdk);
    say(session, "Who are you?").await?;
    assert_model_knows(lab, &["added to the model"]);
    Ok(())
}

async fn commands(session: &mut Session, told: &Told, lab: &Lab) -> Outcome {
    say(session, "/mine things").await?;
    assert_model_knows(lab, &["Say things, please.", "added to the command"]);
    let expanded: UserPromptExpansionInput = told.one().await;
    assert_eq!(expanded.expansion_type, ExpansionType::SlashCommand);
    assert_eq!((&*expanded.command_name, &*expanded.command_args), ("mine", "things"));
    assert_eq!(expanded.prompt, "/mine things");
    let before = lab.model().model_requests().len();
    let outcome = say(session, "/bad things").await?;
    assert!(outcome.answer().contains("no bad commands"), "{}", outcome.answer());
    assert_eq!(lab.model().model_requests().len(), before);

    let outcome = say(session, "Now fail at once.").await?;
    assert!(!outcome.succeeded(), "{outcome:?}");
    let failed: StopFailureInput = told.one().await;
    assert_eq!(failed.error, AssistantErrorKind::AuthenticationFailed);
    assert!(failed.last_assistant_message.unwrap().contains("403"));
    Ok(())
}

async fn conversations(session: &mut Session, told: &Told, lab: &Lab) -> Outcome {
    let outcome = say(session, "/compact at once").await?;
    assert!(outcome.answer().contains("blocked"), "{}", outcome.answer());
    assert!(told.all::<PostCompactInput>().is_empty());
    say(session, "/compact but keep the numbers").await?;
    let compacted: PostCompactInput = told.one().await;
    assert_eq!(compacted.trigger, CompactTrigger::Manual);
    assert!(compacted.compact_summary.contains("They worked."), "{compacted:?}");
    let [first, second]: [PreCompactInput; 2] = told.several().await;
    assert_eq!(
        (&first.trigger, &second.trigger),
        (&CompactTrigger::Manual, &CompactTrigger::Manual)
    );
    assert_eq!(first.custom_instructions.as_deref(), Some("at once"));
    assert_eq!(second.custom_instructions.as_deref(), Some("but keep the numbers"));

    let before = session.snapshot().session_id;
    say(session, "/clear").await?;
    let ended: SessionEndInput = told.one().await;
    assert_eq!(ended.reason, SessionEndReason::Clear);
    assert_eq!(Some(&ended.base.session_id), before.as_ref());
    let begun: [SessionStartInput; 2] = told.several().await;
    assert_eq!(
        begun.map(|begun| begun.source),
        [SessionStartSource::Compact, SessionStartSource::Clear]
    );
    assert!(!model_knows(lab, RequestKind::Main, "added at the start"));
    say(session, "Hello again.").await?;
    assert_model_knows(lab, &["added at the start"]);
    let now = session.snapshot().session_id.unwrap();
    assert_ne!(Some(&now), before.as_ref());
    let is_new = |loaded: &InstructionsLoadedInput| loaded.base.session_id == now;
    let loaded = told.find(is_new).await;
    assert_eq!(Path::new(&loaded.file_path).file_name(), Some("CLAUDE.md".as_ref()));
    assert_eq!(loaded.load_reason, LoadReason::SessionStart);

    let watched = lab.work().join("watched.txt");
    change::<FileChangedInput>(told, &watched, "changed").await?;
    let changed = told.all::<FileChangedInput>().remove(0);
    assert_eq!((Path::new(&changed.file_path), changed.event), (&*watched, FileEvent::Change));
    Ok(())
}

/// In the mode in which a classifier decides, of which there is none here: everything is refused.
async fn refusal(session: &mut Session, told: &Told, lab: &Lab) -> Outcome {
    session.set_permission_mode(PermissionMode::Auto).await?;
    say(session, "Now be refused.").await?;
    let denied: PermissionDeniedInput = told.one().await;
    assert_eq!(denied.tool_name, "Bash");
    assert!(denied.tool_input.as_str().contains("refused.txt") && !denied.reason.is_empty());
    assert_eq!(denied.base.permission_mode, Some(PermissionMode::Auto));
    assert!(!Path::new(&denied.base.cwd).join("refused.txt").exists());
    assert_model_knows(lab, &["you may retry"]);
    session.set_permission_mode(PermissionMode::Default).await?;
    Ok(())
}
