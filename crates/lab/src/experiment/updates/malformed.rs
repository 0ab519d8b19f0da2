//! A good update beside one that is none.

use serde_json::json;

use super::super::{Fact, Outcome, Trial, V62, V197};
use super::{set_mode, then, update, write};
use crate::lab::Launch;

const REFUSED: &[(crate::Version, &str)] = &[(V62, "refused"), (V197, "runs")];

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version("without a destination", REFUSED),
    Fact::always("without a destination, then", "asks"),
    Fact::by_version("of an unknown type", REFUSED),
    Fact::always("of an unknown type, then", "asks"),
    Fact::by_version("with an unknown mode", REFUSED),
    Fact::always("with an unknown mode, then", "asks"),
    Fact::by_version("with tool, path and permission", REFUSED),
    Fact::always("with tool, path and permission, then", "asks"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for (name, bad) in [
        ("without a destination", json!({"type": "setMode", "mode": "acceptEdits"})),
        ("of an unknown type", json!({"type": "teleport", "destination": "session"})),
        ("with an unknown mode", set_mode("wildly")),
        (
            "with tool, path and permission",
            json!({"tool": "Write", "path": "/**", "permission": "allow"}),
        ),
    ] {
        let turn = update(&mut cli, json!([set_mode("acceptEdits"), bad])).await?;
        trial.found(name, if turn.refused() { "refused" } else { "runs" });
        let then = then(&mut cli, &write(trial, "new.txt")).await?;
        trial.found(&format!("{name}, then"), then);
    }
    cli.close().await?;
    Ok(())
}
