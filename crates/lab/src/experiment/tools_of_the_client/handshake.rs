//! When the client's server is asked for its tools, and what happens when it does not tell them.

use serde_json::{Value, json};

use super::server::reply;
use super::{Fact, Outcome, Trial, V62, V325};
use crate::driver::{Cli, DriverError};
use crate::experiment::look::is_init;
use crate::experiment::turn::{name, rest, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::{Reply, is_result};

const METHODS: &str = "initialize, notifications/initialized, tools/list";

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version(
        "the handshake begins",
        &[(V62, "with the first message"), (V325, "before the first message")],
    ),
    Fact::always("a turn begins without it", "no"),
    Fact::always("methods", METHODS),
];

pub(super) const CONFIGURED: &[Fact] = &[
    Fact::always("the handshake begins", "before the first message"),
    Fact::always("methods", METHODS),
    Fact::always("a call, with --allowedTools", "not asked, ran"),
];

pub(super) const REFUSED: &[Fact] =
    &[Fact::always("status of the server", "failed"), Fact::always("the turn", "Something.")];

/// The server is named in `initialize`, and its handshake is not answered for a while.
pub(super) async fn in_initialize(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"sdkMcpServers": ["calc"]})).await?;
    settled(&mut cli).await?;
    begins(trial, &cli);
    let begin = cli.log().len();
    cli.say("Say something.").await?;
    let ask = cli.asked("mcp_message").await?;
    settled(&mut cli).await?;
    let begun = cli.log().iter().any(|said| is_init(&said.frame));
    trial.found("a turn begins without it", yes_or_no(begun));
    let Reply::Success(response) = reply(&ask) else { return Ok(()) };
    cli.answer(&ask, response).await?;
    let turn = rest(&mut cli, begin, is_result, reply).await?;
    let methods: Vec<_> = [name(&ask)].into_iter().chain(turn.names()).collect();
    trial.found("methods", methods.join(", "));
    cli.close().await?;
    Ok(())
}

/// Asks some questions that any version answers at once: what was about to be said is then said.
async fn settled(cli: &mut Cli) -> Result<(), DriverError> {
    for _ in 0..5 {
        cli.request(json!({"subtype": "mcp_status"})).await?;
    }
    Ok(())
}

/// Tells whether the handshake has begun although nothing was said yet.
fn begins(trial: &mut Trial, cli: &Cli) -> bool {
    let asked = cli.log().iter().any(|said| said.frame["request"]["subtype"] == "mcp_message");
    let begins = if asked { "before the first message" } else { "with the first message" };
    trial.found("the handshake begins", begins);
    asked
}

/// The server is named in the configuration, and its tools are allowed beforehand.
pub(super) async fn configured(trial: &mut Trial) -> Outcome {
    let config = json!({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}).to_string();
    let launch = Launch::new().arg("--mcp-config").arg(config);
    let mut cli = trial.launch(launch.arg("--allowedTools").arg("mcp__calc")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    settled(&mut cli).await?;
    let mut methods = Vec::new();
    if begins(trial, &cli) {
        while methods.last().is_none_or(|method| method != "tools/list") {
            let ask = cli.asked("mcp_message").await?;
            methods.push(name(&ask));
            let Reply::Success(response) = reply(&ask) else { return Ok(()) };
            cli.answer(&ask, response).await?;
        }
    }
    let turn = turn(&mut cli, "call add", reply).await?;
    methods.extend(turn.names());
    methods.retain(|method| method != "tools/call");
    // Older versions may begin a second handshake with the first message: a matter of luck.
    let handshakes = methods.iter().filter(|method| *method == "initialize").count();
    methods.truncate(3);
    trial.found("methods", methods.join(", "));
    trial.found("handshakes", handshakes);
    trial.found("a call, with --allowedTools", turn.tool());
    cli.close().await?;
    Ok(())
}

/// The handshake is answered with an error.
pub(super) async fn refused(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"sdkMcpServers": ["calc"]})).await?;
    let refuse = |_: &Value| Reply::Error("there is no server");
    let turn = turn(&mut cli, "Say something.", refuse).await?;
    let init = turn.frames.iter().find(|frame| is_init(frame));
    let status = init.map(|init| init["mcp_servers"][0]["status"].clone());
    trial.found("status of the server", status);
    trial.found("the turn", turn.result["result"].clone());
    cli.close().await?;
    Ok(())
}
