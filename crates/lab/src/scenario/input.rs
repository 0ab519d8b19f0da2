//! What a client can send and ask for besides plain words: pictures, messages with an id, a form for
//! the answer, the files as they were, settings and the end of the session.

use serde_json::{Value, json};

use super::{Outcome, Scenario, ensure, frames};
use crate::Version;
use crate::lab::{Lab, Launch};
use crate::talk::{ONE, TALK, TWO, WRITE, message};

const HELLO: &str = r#"
[[answer]]
text = "Hello."

[[answer]]
text = "Hello again."
"#;

/// One red dot.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("picture", "A picture in a message comes back as it was sent.", HELLO, |lab| {
        Box::pin(picture(lab))
    }),
    Scenario::new(
        "same-message-twice",
        "A message with an id that was there already is passed over.",
        TALK,
        |lab| Box::pin(same_twice(lab)),
    ),
    Scenario::new(
        "message-replayed",
        "With the flag, what the client says comes back.",
        r#"
        [[answer]]
        text = "Hello."
        "#,
        |lab| Box::pin(replayed(lab)),
    ),
    Scenario::new(
        "structured-output",
        "The answer has the form that the client asked for.",
        r#"
        [[answer]]
        tool = { name = "StructuredOutput", input = { color = "red", count = 2 } }

        [[answer]]
        text = "That was it."
        "#,
        |lab| Box::pin(structured(lab)),
    ),
    Scenario::new(
        "answers-replayed",
        "With the flag, answers of the client come back as well.",
        WRITE,
        |lab| Box::pin(answers_replayed(lab)),
    ),
    Scenario::new(
        "files-rewound",
        "Files become again what they were when a message came.",
        WRITE,
        |lab| Box::pin(rewound(lab)),
    ),
    Scenario::new(
        "settings-of-the-session",
        "Requests about thinking, servers and the title are answered.",
        HELLO,
        |lab| Box::pin(settings(lab)),
    )
    .since(Version::new(2, 1, 197)),
    Scenario::new("session-ended", "A request ends the process.", HELLO, |lab| {
        Box::pin(ended(lab))
    })
    .since(Version::new(2, 1, 197)),
];

async fn picture(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--replay-user-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let source = json!({"type": "base64", "media_type": "image/png", "data": PICTURE});
    let content = json!([
        {"type": "text", "text": "What is it?"},
        {"type": "image", "source": source},
    ]);
    cli.send(&message(content.clone(), ONE)).await?;
    let again = cli.wait("the message", |frame| frame["isReplay"] == true).await?;
    ensure(again["message"]["content"] == content, "it comes back as it was", &again)?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}

async fn same_twice(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&message("One.", ONE)).await?;
    cli.result().await?;
    cli.send(&message("One.", ONE)).await?;
    cli.send(&message("Two.", TWO)).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Second.", "the repeated message has no turn", &result)?;
    Ok(vec![cli.close().await?])
}

async fn replayed(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--replay-user-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&message("Hello!", ONE)).await?;
    let again = cli.wait("the message", |frame| frame["isReplay"] == true).await?;
    ensure(again["uuid"] == ONE, "the message comes back with its id", &again)?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}

async fn structured(lab: &Lab) -> Outcome {
    let schema = json!({
        "type": "object",
        "properties": {"color": {"type": "string"}, "count": {"type": "number"}},
        "required": ["color", "count"],
    });
    let mut cli = lab.launch(Launch::new().arg("--json-schema").arg(schema.to_string())).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Which color, and how many?").await?;
    let result = cli.result().await?;
    let expected = json!({"color": "red", "count": 2});
    ensure(result["structured_output"] == expected, "the result has the form", &result)?;
    Ok(vec![cli.close().await?])
}

async fn answers_replayed(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--replay-user-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Write it.").await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.allow(&ask).await?;
    cli.result().await?;
    let ended = cli.close().await?;
    let id = &ask["request_id"];
    let replayed = |frame: &Value| {
        frame["type"] == "control_response" && frame["response"]["request_id"] == *id
    };
    ensure(frames(&ended).any(replayed), "the answer comes back", &ask)?;
    Ok(vec![ended])
}

async fn rewound(lab: &Lab) -> Outcome {
    let launch =
        Launch::new().mode("acceptEdits").env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "1");
    let mut cli = lab.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&message("Write it.", ONE)).await?;
    cli.result().await?;
    let file = lab.work().join("new.txt");
    ensure(file.exists(), "the file is written", &json!(null))?;
    let rewind = json!({"subtype": "rewind_files", "user_message_id": ONE});
    let answer = cli.request(crate::driver::with(rewind.clone(), "dry_run", true)).await?;
    ensure(file.exists(), "it can be tried without effect", &answer)?;
    let answer = cli.request(rewind).await?;
    ensure(!file.exists(), "the file is gone", &answer)?;
    Ok(vec![cli.close().await?])
}

async fn settings(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let requests = [
        json!({"subtype": "mcp_status"}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 4000}),
        json!({"subtype": "rename_session", "title": "A new name"}),
    ];
    for request in requests {
        let answer = cli.request(request).await?;
        ensure(answer["subtype"] == "success", "it is answered", &answer)?;
    }
    cli.say("Hello!").await?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}

async fn ended(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Hello!").await?;
    cli.result().await?;
    cli.request(json!({"subtype": "end_session"})).await?;
    let ended = cli.ended().await?;
    ensure(ended.status.success(), "it exits with 0", &json!(ended.status.to_string()))?;
    Ok(vec![ended])
}
