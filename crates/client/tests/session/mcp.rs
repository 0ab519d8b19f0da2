//! In-process MCP servers in a whole session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign::mcp::{Call, Tool, ToolServer};
use countersign::permission::{AllowAll, PermissionAsk};
use countersign::protocol::request::McpConnection;
use libtest_mimic::Trial;
use serde::Deserialize;
use serde_json::json;

use crate::kit::{Cli, Outcome, V62, V325, builder, close, lab, on_all, soon};

const ADD: &str = r#"
[[answer]]
tool = { name = "mcp__calc__add", input = { a = 2, b = 3 } }

[[answer]]
tool = { name = "mcp__calc__add", input = { a = "two" } }

[[answer]]
text = "Five."
"#;

const TWO_SERVERS: &str = r#"
[[answer]]
tools = [
    { name = "mcp__one__name", input = {} },
    { name = "mcp__two__name", input = {} },
]

[[answer]]
text = "Both."
"#;

const LATER: &str = r#"
[[answer]]
text = "Nothing yet."

[[answer]]
tool = { name = "mcp__calc__double", input = { a = 21 } }

[[answer]]
text = "Forty-two."
"#;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("mcp::a_tool_of_our_own_is_called", V62, called),
        on_all("mcp::several_servers_are_told_apart", V62, several),
        on_all("mcp::a_tool_that_is_added_later_is_called", V325, later),
        on_all("mcp::a_server_that_panics_fails_the_call", V62, panics),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[derive(Deserialize)]
struct Add {
    a: f64,
    b: f64,
}

fn schema() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    })
}

async fn called(cli: Cli) -> Outcome {
    let lab = lab(cli, ADD).await;
    let add = |Add { a, b }: Add, call: Call| async move {
        call.progress(1.0, Some(2.0), Some("half of it"));
        Ok::<_, std::convert::Infallible>((a + b).to_string())
    };
    let add = Tool::new("add", "Adds two numbers.", add).input_schema(schema())?;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let session = builder(&lab).in_process_mcp(ToolServer::new("calc").tool(add)).on_permission(
        move |ask: PermissionAsk| {
            count.fetch_add(1, Ordering::Relaxed);
            async move { ask.allow() }
        },
    );
    let mut session = soon("the start", Box::pin(session.connect())).await?;
    let outcome = soon("the turn", session.send("Add.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "Five.");
    let [right, wrong] = &outcome.tool_calls[..] else { panic!("{:?}", outcome.tool_calls) };
    let (right, wrong) = (right.result.as_ref().unwrap(), wrong.result.as_ref().unwrap());
    assert_eq!((right.text().as_str(), right.is_error), ("5", false));
    assert!(wrong.is_error, "{wrong:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let status = session.call(countersign::protocol::request::McpStatus::new()).await?;
    let [server] = &status.mcp_servers[..] else { panic!("{status:?}") };
    assert_eq!((&*server.name, &server.status), ("calc", &McpConnection::Connected));
    close(session, lab).await;
    Ok(())
}

fn named(name: &'static str) -> ToolServer {
    let tell = move |_: countersign::protocol::RawJson| async move {
        Ok::<_, std::convert::Infallible>(name)
    };
    ToolServer::new(name).tool(Tool::new("name", "Says its name.", tell).read_only(true))
}

async fn several(cli: Cli) -> Outcome {
    let lab = lab(cli, TWO_SERVERS).await;
    let session = builder(&lab)
        .in_process_mcp(named("one"))
        .in_process_mcp(named("two"))
        .on_permission(AllowAll);
    let mut session = soon("the start", Box::pin(session.connect())).await?;
    let outcome = soon("the turn", session.send("Go on.").await?.finish()).await?;
    let texts: Vec<_> = outcome
        .tool_calls
        .iter()
        .map(|call| call.result.as_ref().map(countersign::turn::ToolResult::text))
        .collect();
    assert_eq!(texts, [Some("one".to_owned()), Some("two".to_owned())]);
    close(session, lab).await;
    Ok(())
}

async fn later(cli: Cli) -> Outcome {
    let lab = lab(cli, LATER).await;
    let server = ToolServer::new("calc");
    let session = builder(&lab).in_process_mcp(server.clone()).on_permission(AllowAll);
    let mut session = soon("the start", Box::pin(session.connect())).await?;
    soon("the turn", session.send("What is there?").await?.finish()).await?;
    #[derive(Deserialize)]
    struct Double {
        a: f64,
    }
    let double = |Double { a }: Double| async move {
        Ok::<_, std::convert::Infallible>((2.0 * a).to_string())
    };
    server.add(Tool::new("double", "Doubles a number.", double));
    // The CLI asks for the list in its own time; who speaks before that is told of the old one.
    let listed = async {
        loop {
            let status = session.call(countersign::protocol::request::McpStatus::new()).await?;
            let tools = status.mcp_servers.iter().flat_map(|server| server.tools.iter().flatten());
            if tools.into_iter().any(|tool| tool.name == "double") {
                return Ok::<_, countersign::ControlError>(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    soon("the list", listed).await?;
    let outcome = soon("the turn", session.send("And now?").await?.finish()).await?;
    let [call] = &outcome.tool_calls[..] else { panic!("{:?}", outcome.tool_calls) };
    assert_eq!(call.result.as_ref().unwrap().text(), "42");
    close(session, lab).await;
    Ok(())
}

async fn panics(cli: Cli) -> Outcome {
    let lab = lab(cli, ADD).await;
    let add = |Add { a, b }: Add| async move {
        assert!(a > b, "no numbers today");
        Ok::<_, std::convert::Infallible>((a - b).to_string())
    };
    let add = Tool::new("add", "Adds two numbers.", add).input_schema(schema())?;
    let session =
        builder(&lab).in_process_mcp(ToolServer::new("calc").tool(add)).on_permission(AllowAll);
    let mut session = soon("the start", Box::pin(session.connect())).await?;
    let outcome = soon("the turn", session.send("Add.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "Five.");
    assert!(outcome.tool_calls[0].result.as_ref().is_some_and(|result| result.is_error));
    close(session, lab).await;
    Ok(())
}
