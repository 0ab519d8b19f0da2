//! The real CLI is started with what the builder makes, and asked for all that the table names.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::process::Stdio;

use countersign::cli::{Capability, CapabilityKind, Cli, Version};
use countersign::{Environment, Launch, SessionBuilder, ToolSet};
use countersign_lab::script::{Answer, Script};
use countersign_lab::{Lab, Program, Versions};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::options::{many, since_62, since_197};

async fn lab(version: Version) -> Lab {
    let cli = Versions::in_default_folder().unwrap().install(version).await.unwrap();
    let script = Script::new().then(Answer::text("Done."));
    Lab::builder(Program::Real(cli), script).start().await.unwrap()
}

fn texts(launch: &Launch) -> Vec<String> {
    launch.arguments.iter().map(|argument| argument.to_str().unwrap().to_owned()).collect()
}

/// Starts the CLI of the laboratory with these options, says one thing, and returns the answer to
/// `initialize` and the frame that begins the turn.
async fn begin(lab: &Lab, builder: SessionBuilder) -> (Value, Value) {
    let (program, _) = lab.command_line();
    // The laboratory adds its own environment.
    let nothing = Environment::replace([] as [(&str, &str); 0]);
    let launch = builder.executable(program).environment(nothing).preview().unwrap();
    launch.check(lab.program().version()).unwrap();
    let variables = launch.environment.set.iter().map(|(name, value)| {
        (name.to_str().unwrap().to_owned(), value.to_str().unwrap().to_owned())
    });
    let variables: BTreeMap<_, _> = variables.collect();
    let mut command = lab.command(launch.program.path(), &variables, &texts(&launch)).unwrap();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();

    let mut request = serde_json::to_value(&launch.initialize).unwrap();
    request["subtype"] = "initialize".into();
    let lines = [
        json!({"type": "control_request", "request_id": "first", "request": request}),
        json!({"type": "user", "message": {"role": "user", "content": "Hello"}}),
    ];
    let mut stdin = child.stdin.take().unwrap();
    for line in lines {
        stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut answer, mut init) = (None, None);
    while answer.is_none() || init.is_none() {
        let Some(line) = stdout.next_line().await.unwrap() else {
            let said = child.wait_with_output().await.unwrap();
            panic!("the CLI ended: {}", String::from_utf8_lossy(&said.stderr));
        };
        let frame: Value = serde_json::from_str(&line).unwrap();
        if frame["type"] == "control_response" {
            answer = Some(frame["response"].clone());
        } else if frame["subtype"] == "init" {
            init = Some(frame);
        }
    }
    (answer.unwrap(), init.unwrap())
}

fn tools(init: &Value) -> Vec<&str> {
    init["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap()).collect()
}

#[tokio::test]
async fn all_options_together_start_a_session() {
    for (version, builder) in [
        (Version::new(2, 1, 325), many()),
        (Version::new(2, 1, 197), since_197(since_62())),
        (Version::new(2, 1, 62), since_62()),
    ] {
        let lab = lab(version).await;
        let (answer, init) = begin(&lab, builder).await;
        assert_eq!(answer["subtype"], "success", "{version}: {answer}");
        assert_eq!(init["permissionMode"], "plan", "{version}");
        let tools = tools(&init);
        // Each rule that takes a tool away counts, and the schema is in force.
        for (tool, there) in
            [("Bash", true), ("Read", true), ("Write", false), ("WebFetch", false), ("Glob", false)]
        {
            assert_eq!(tools.contains(&tool), there, "{version}: {tool} in {tools:?}");
        }
        assert!(tools.contains(&"StructuredOutput"), "{version}: {tools:?}");
        lab.close().await.unwrap();
    }
}

#[tokio::test]
async fn an_empty_set_of_tools_leaves_none() {
    for version in Version::TESTED {
        let lab = lab(version).await;
        let (_, init) = begin(&lab, SessionBuilder::default().tools(ToolSet::Empty)).await;
        assert_eq!(tools(&init), [] as [&str; 0], "{version}");
        assert_eq!(init["permissionMode"], "default", "{version}");
        lab.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_version_is_told_by_looking() {
    for version in Version::TESTED {
        let cli = Versions::in_default_folder().unwrap().install(version).await.unwrap();
        let cli = Cli::at(cli.executable()).unwrap();
        assert_eq!(cli.version_if_cheap(), Some(version));
    }
}

/// A flag with a value that the CLI accepts.
fn example(flag: &str) -> String {
    let value = match flag {
        "--output-format" | "--input-format" => "stream-json",
        "--permission-mode" => "plan",
        "--permission-prompts" => "none",
        "--thinking" => "adaptive",
        "--thinking-display" => "omitted",
        "--effort" => "high",
        "--autocompact" => "auto",
        // Read before the rest, and refused when they are wrong.
        "--settings" | "--managed-settings" | "--mcp-config" | "--agents" | "--json-schema" => "{}",
        "--setting-sources" => "user",
        "--system-prompt-snapshot" => "on",
        "--max-turns" | "--max-budget-usd" | "--max-thinking-tokens" | "--task-budget" => "1000",
        "--model"
        | "--fallback-model"
        | "--resume"
        | "--agent"
        | "--session-id"
        | "--betas"
        | "--permission-prompt-tool"
        | "--system-prompt"
        | "--system-prompt-file"
        | "--append-system-prompt"
        | "--append-system-prompt-file"
        | "--tools"
        | "--allowedTools"
        | "--disallowedTools"
        | "--add-dir"
        | "--project-config-root"
        | "--resume-session-at"
        | "--resume-drops-turn"
        | "--plugin-dir"
        | "--plugin-dir-no-mcp"
        | "--debug"
        | "--debug-file"
        | "--append-subagent-system-prompt"
        | "--append-subagent-system-prompt-file"
        | "--plan-mode-instructions"
        | "--rewind-files"
        | "--name"
        | "--worktree"
        | "--plugin-url"
        | "--file"
        | "--advisor"
        | "--workload"
        | "--channels" => "x",
        _ => return flag.to_owned(),
    };
    format!("{flag}={value}")
}

/// The flag that the CLI does not know, when it is given these and then one that nobody knows.
async fn first_unknown(lab: &Lab, flags: &[String]) -> String {
    let (program, _) = lab.command_line();
    let mut arguments = vec!["-p".to_owned()];
    arguments.extend_from_slice(flags);
    arguments.push("--nobody-knows-this".to_owned());
    let mut command = lab.command(&program, &BTreeMap::new(), &arguments).unwrap();
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let unknown =
        said.split_once("unknown option '").map(|(_, rest)| rest.split_once('\'').unwrap().0);
    unknown.unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[tokio::test]
async fn each_version_knows_the_flags_that_the_table_says() {
    let flags: Vec<_> =
        Capability::all().filter(|known| known.kind() == CapabilityKind::Flag).collect();
    for version in Version::TESTED {
        let lab = lab(version).await;
        let has = |flag: &&Capability| flag.in_version(version);
        let known: Vec<_> = flags.iter().filter(has).map(|flag| example(flag.name())).collect();
        assert_eq!(first_unknown(&lab, &known).await, "--nobody-knows-this", "{version}");
        let (program, _) = lab.command_line();
        let program = std::fs::read(program).unwrap();
        for flag in flags.iter().filter(|flag| !has(flag)) {
            // A flag whose name is nowhere in the program need not be tried.
            if memchr::memmem::find(&program, flag.name().as_bytes()).is_none() {
                continue;
            }
            let flag = example(flag.name());
            assert_eq!(first_unknown(&lab, std::slice::from_ref(&flag)).await, flag, "{version}");
        }
        lab.close().await.unwrap();
    }
}

/// Fields that let a request be answered without doing anything.
fn fields(subtype: &str) -> Value {
    match subtype {
        "apply_flag_settings" | "update_settings" => {
            json!({"settings": {}, "source": "localSettings"})
        }
        "mcp_set_servers" => json!({"servers": {}}),
        "set_permission_mode" => json!({"mode": "default"}),
        "rename_session" => json!({"title": "t"}),
        "mcp_message" => {
            json!({"server_name": "none", "message": {"jsonrpc": "2.0", "method": "x"}})
        }
        "read_file" | "set_cwd" => json!({"path": "/nonexistent"}),
        "seed_read_state" => json!({"path": "/nonexistent", "mtime": 1}),
        "register_repo_root" => json!({"directory": "/nonexistent"}),
        "rewind_files" => json!({"user_message_id": "x", "dry_run": true}),
        "rewind_conversation" => json!({"target_message_uuid": "x"}),
        "cancel_async_message" => json!({"message_uuid": "5f0d4b0e-93a4-4c2e-8f4c-5b8f6c0a1d11"}),
        "claim_session" => json!({"cwd": "/nonexistent"}),
        "file_suggestions" => json!({"query": "a"}),
        "side_question" => json!({"question": "q"}),
        "generate_session_title" | "submit_feedback" => json!({"description": "d"}),
        "message_rated" => json!({"messageUuid": "x", "sentiment": "positive"}),
        "set_prompt_suggestions_paused" => json!({"paused": true}),
        "set_has_subscribers" => json!({"has_subscribers": true}),
        "stop_task" | "get_task_output" => json!({"task_id": "x"}),
        "mcp_call" => json!({"tool": "mcp__a__b"}),
        "set_proactivity_level" => json!({"level": "default"}),
        _ => json!({"serverName": "n", "enabled": true, "uri": "ui://x", "mode": null,
                    "callbackUrl": "http://localhost/"}),
    }
}

#[tokio::test]
async fn each_version_answers_the_requests_that_the_table_says() {
    let requests: Vec<_> = Capability::all()
        .filter(|known| known.kind() == CapabilityKind::Request)
        // It ends the process, so it is the last.
        .filter(|known| known.name() != "end_session")
        .chain(Capability::request("end_session"))
        .collect();
    for version in Version::TESTED {
        let lab = lab(version).await;
        let mut cli = lab.launch(countersign_lab::Launch::new()).await.unwrap();
        cli.initialize(json!({})).await.unwrap();
        for request in &requests {
            let mut body = fields(request.name());
            body["subtype"] = request.name().into();
            let answer = cli.request(body).await.unwrap();
            let error = answer["error"].as_str().unwrap_or_default();
            let known = !error.starts_with("Unsupported control request subtype");
            assert_eq!(known, request.in_version(version), "{version}: {request}: {answer}");
        }
        lab.close().await.unwrap();
    }
}
