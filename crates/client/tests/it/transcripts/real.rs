//! Sessions that the real CLI holds, read and changed on disk, and resumed by the CLI.

use countersign::protocol::content::ContentBlock;
use countersign::protocol::ids::SessionId;
use countersign::transcript::{
    ForkOptions, ListOptions, MessageOptions, Sessions, StoredBody, StoredMessage,
};
use countersign_lab::script::Script;
use countersign_lab::{Lab, Launch, Program, Said, Version, Versions};

/// Two files are read at once, then a sub-agent works, then whatever is asked is answered.
pub(crate) const SCRIPT: &str = r#"
otherwise = "And so on."

[[answer]]
when = { agent = true }
text = "The sub-agent is done."

[[answer]]
text = "I read both."
tools = [
  { name = "Read", input = { file_path = "${cwd}/a.txt" } },
  { name = "Read", input = { file_path = "${cwd}/b.txt" } },
]

[[answer]]
text = "Both are read."

[[answer]]
tool = { name = "AGENT", input = { description = "Work", prompt = "Do it.", subagent_type = "general-purpose", run_in_background = false } }

[[answer]]
text = "The work is done."
"#;

/// A laboratory with this version of the CLI.
pub(crate) async fn lab(version: Version) -> Lab {
    let cli = Versions::in_default_folder().unwrap().install(version).await.unwrap();
    let agent = if version < Version::new(2, 1, 197) { "Task" } else { "Agent" };
    let script = Script::parse(&SCRIPT.replace("AGENT", agent), "script").unwrap();
    let lab = Lab::builder(Program::Real(cli), script).file("a.txt", "alpha").file("b.txt", "beta");
    lab.start().await.unwrap()
}

pub(crate) fn launch() -> Launch {
    Launch::new().mode("bypassPermissions")
}

/// Says these things one after the other in one process, and tells the session.
pub(crate) async fn talk(lab: &Lab, launch: Launch, prompts: &[&str]) -> (SessionId, Vec<Said>) {
    let mut cli = lab.launch(launch).await.unwrap();
    let (mut session, mut last) = (None, String::new());
    for prompt in prompts {
        cli.say(prompt).await.unwrap();
        let result = cli.result().await.unwrap();
        assert_eq!(result["is_error"], false, "{result}");
        session = result["session_id"].as_str().map(SessionId::from);
        last = result["result"].to_string();
    }
    // The CLI writes its transcripts after it has answered, and 2.1.62 may end before it has written what
    // was said last, or anything of a subagent. A test that waits in vain is ended by the runner.
    let name = format!("{}.jsonl", session.as_ref().unwrap());
    let least = usize::from(prompts.contains(&DELEGATE));
    let is_written = || {
        // A line that is not whole yet is none.
        let is_whole = |text: &str, last: &str| text.contains(last) && text.ends_with('\n');
        let found = transcripts(&lab.home().join(".claude/projects"));
        let agents = || found.iter().filter(|(name, _)| name.starts_with("agent-"));
        agents().count() >= least
            && agents().all(|(_, text)| is_whole(text, LAST))
            && found.iter().filter(|(own, _)| *own == name).all(|(_, text)| is_whole(text, &last))
    };
    while !is_written() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let ended = cli.close().await.unwrap();
    (session.unwrap(), ended.log)
}

/// What has the model start a sub-agent.
pub(crate) const DELEGATE: &str = "Have it done.";

/// What a sub-agent says last.
const LAST: &str = "The sub-agent is done.";

/// The transcripts below a folder, with the names of their files.
fn transcripts(folder: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(transcripts(&path));
        } else if name.ends_with(".jsonl") {
            found.push((name, std::fs::read_to_string(&path).unwrap_or_default()));
        }
    }
    found
}

/// The texts of a conversation, in which each call is its name and each result `=`.
pub(crate) fn texts(messages: &[StoredMessage]) -> Vec<String> {
    messages
        .iter()
        .flat_map(|message| match &message.body {
            StoredBody::User(said) => match &said.content {
                countersign::protocol::content::Content::Blocks(blocks) => shown(blocks),
                content => content.texts().map(ToOwned::to_owned).collect(),
            },
            StoredBody::Assistant(said) => shown(said.blocks()),
            other => vec![format!("{other:?}")],
        })
        .collect()
}

fn shown(blocks: &[ContentBlock]) -> Vec<String> {
    let show = |block: &ContentBlock| match block {
        ContentBlock::Text(block) => block.text.clone(),
        ContentBlock::ToolUse(block) => block.name.clone(),
        ContentBlock::ToolResult(_) => "=".to_owned(),
        other => format!("{other:?}"),
    };
    blocks.iter().map(show).collect()
}

/// What the model was last asked by the main conversation, as text.
pub(crate) fn last_request(lab: &Lab) -> String {
    let requests = lab.model().model_requests();
    requests.last().unwrap().body["messages"].to_string()
}

/// How many of the two files that were read at once the model is told about. On resuming, 2.1.62
/// leaves out all parallel calls but the one that the conversation went on from, which is the one that
/// ended last; newer versions put them back.
fn reads_in(request: &str) -> usize {
    ["alpha", "beta"].into_iter().filter(|text| request.contains(text)).count()
}

async fn a_conversation_is_read_back(version: Version) {
    let lab = lab(version).await;
    let (session, _) = talk(&lab, launch(), &["Read both.", DELEGATE]).await;
    let all = Sessions::at(lab.home().join(".claude"));
    let sessions = all.clone().in_directory(lab.work());

    let list = sessions.list(&ListOptions::new()).unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!(list[0].session_id, session);
    assert_eq!(list[0].first_prompt.as_deref(), Some("Read both."));
    assert_eq!(list[0].cwd.as_deref(), Some(&*lab.work()));
    assert_eq!(all.list(&ListOptions::new()).unwrap(), list);

    let read = |session: &SessionId| -> Vec<StoredMessage> {
        sessions.messages(session, &MessageOptions::new()).unwrap().map(Result::unwrap).collect()
    };
    let said = texts(&read(&session));
    let agent = if version < Version::new(2, 1, 197) { "Task" } else { "Agent" };
    let expected = [
        "Read both.",
        "I read both.",
        "Read",
        "Read",
        "=",
        "=",
        "Both are read.",
        DELEGATE,
        agent,
        "=",
        "The work is done.",
    ];
    assert_eq!(said, expected);

    let agents = sessions.subagents(&session).unwrap();
    assert_eq!(agents.len(), 1);
    let inner = sessions.subagent_messages(&session, &agents[0].agent_id, &MessageOptions::new());
    let inner: Vec<_> = inner.unwrap().map(Result::unwrap).collect();
    let files = transcripts(&lab.home().join(".claude/projects"));
    assert_eq!(texts(&inner), ["Do it.", LAST], "{files:#?}");

    sessions.rename(&session, "A title of ours").unwrap();
    sessions.tag(&session, Some("ours")).unwrap();
    let mut cli = lab.launch(launch().resume(session.as_str())).await.unwrap();
    cli.say("Once more.").await.unwrap();
    assert_eq!(cli.result().await.unwrap()["session_id"], session.as_str());
    assert_eq!(sessions.info(&session).unwrap().unwrap().summary, "A title of ours");
    // While it runs. It has the title in mind that it began with; 2.1.62 writes that one again when
    // it ends, newer versions take ours.
    let newer = version >= Version::new(2, 1, 197);
    let title = if newer { "A title while it runs" } else { "A title of ours" };
    sessions.rename(&session, "A title while it runs").unwrap();
    cli.say("And again.").await.unwrap();
    cli.result().await.unwrap();
    cli.close().await.unwrap();
    assert!(last_request(&lab).contains("The work is done."));
    assert_eq!(reads_in(&last_request(&lab)), if newer { 2 } else { 1 });
    let info = sessions.info(&session).unwrap().unwrap();
    assert_eq!(info.custom_title.as_deref(), Some(title));
    assert_eq!(info.tag.as_deref(), Some("ours"));
    assert_eq!(
        texts(&read(&session))[expected.len()..],
        ["Once more.", "And so on.", "And again.", "And so on."]
    );

    // A fork that ends before the sub-agent: the CLI goes on from there.
    let middle = read(&session)
        .into_iter()
        .find(|message| texts(std::slice::from_ref(message)) == ["Both are read."]);
    let options = ForkOptions::new().up_to_message(middle.unwrap().uuid);
    let fork = sessions.fork(&session, &options).unwrap();
    assert_eq!(texts(&read(&fork)), expected[..7]);
    let (resumed, _) = talk(&lab, launch().resume(fork.as_str()), &["Another way."]).await;
    assert_eq!(resumed, fork);
    let request = last_request(&lab);
    assert_eq!(reads_in(&request), if newer { 2 } else { 1 });
    for text in ["Read both.", "Both are read.", "Another way."] {
        assert!(request.contains(text), "{text} is not in {request}");
    }
    assert!(!request.contains(DELEGATE));
    assert_eq!(texts(&read(&fork))[7..], ["Another way.", "And so on."]);
    let info = sessions.info(&fork).unwrap().unwrap();
    assert_eq!(info.custom_title, Some(format!("{title} (fork)")));

    sessions.archive(&session).unwrap();
    assert!(sessions.info(&session).unwrap().unwrap().archived);
    sessions.delete(&session).unwrap();
    let left = sessions.list(&ListOptions::new()).unwrap();
    assert_eq!(left.iter().map(|info| &info.session_id).collect::<Vec<_>>(), [&fork]);
    let mut cli = lab.launch(launch().resume(session.as_str())).await.unwrap();
    // It may be gone before it could be told anything.
    cli.say("Hello?").await.ok();
    let ended = cli.close().await.unwrap();
    assert!(!ended.status.success(), "a session that is deleted cannot be resumed");
    lab.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_read_back_325() {
    a_conversation_is_read_back(Version::TESTED[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_read_back_197() {
    a_conversation_is_read_back(Version::TESTED[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_read_back_62() {
    a_conversation_is_read_back(Version::TESTED[2]).await;
}
