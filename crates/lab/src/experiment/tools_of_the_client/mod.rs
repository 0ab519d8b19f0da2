//! P: tools that the client serves itself, over the protocol.

mod calls;
mod handshake;
mod server;

use super::{Case, Experiment, Fact, Outcome, Trial, V62, V197, V325};

/// The model calls the tool that it is told to call.
const SCRIPT: &str = r#"
[[answer]]
when = { text = '/call (\w+) wrongly/' }
tool = { name = "mcp__calc__${match.1}", input = { a = "two" } }

[[answer]]
when = { text = '/call (\w+)/' }
tool = { name = "mcp__calc__${match.1}", input = { a = 2, b = 3 } }

[[answer]]
when = { result = "/(?s)./" }
text = "That was it."

[[answer]]
when = { text = "Say something" }
text = "Something."
"#;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "P",
    "tools-of-the-client",
    "A client serves tools over the protocol. When is it asked for them, are their calls put to \
     the person, and what becomes of each kind of answer?",
    &[
        Case::new("in-initialize", SCRIPT, handshake::FACTS, |trial| {
            Box::pin(handshake::in_initialize(trial))
        }),
        Case::new("in-the-configuration", SCRIPT, handshake::CONFIGURED, |trial| {
            Box::pin(handshake::configured(trial))
        }),
        Case::new("refused", SCRIPT, handshake::REFUSED, |trial| {
            Box::pin(handshake::refused(trial))
        }),
        Case::new("calls", SCRIPT, calls::FACTS, |trial| Box::pin(calls::steps(trial))),
    ],
);
