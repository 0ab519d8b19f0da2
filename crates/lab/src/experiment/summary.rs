//! What was said, in numbers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::driver::{Said, Speaker};

/// What was said in all conversations of an experiment, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The permission mode that the CLI reported first, in `system/init`.
    pub mode: Option<String>,
    /// Messages from the CLI.
    pub from_cli: usize,
    /// Messages to the CLI.
    pub to_cli: usize,
    /// Control responses of the CLI.
    pub control_responses: usize,
    /// Permission requests: `can_use_tool`.
    pub permission_requests: usize,
    /// Answers to them.
    pub permission_answers: usize,
    /// The tools that were asked for.
    pub tools_asked_for: BTreeSet<String>,
    /// What the CLI says that it cost, in dollars.
    pub cost: Option<f64>,
}

impl Summary {
    /// Counts one more conversation.
    pub(super) fn add(&mut self, conversation: &[Said]) {
        let mut asked = BTreeSet::new();
        let mut cost = None;
        for Said { by, frame, .. } in conversation {
            match by {
                Speaker::StandardError => {}
                Speaker::Client => {
                    self.to_cli += 1;
                    let id = frame["response"]["request_id"].as_str();
                    let answers = id.is_some_and(|id| asked.remove(id));
                    self.permission_answers += usize::from(answers);
                }
                Speaker::Cli => {
                    self.from_cli += 1;
                    self.hear(frame, &mut asked);
                    // The last result has the total.
                    cost = frame["total_cost_usd"].as_f64().or(cost);
                }
            }
        }
        self.cost = self.cost.zip(cost).map(|(all, one)| all + one).or(self.cost).or(cost);
    }

    fn hear(&mut self, frame: &Value, asked: &mut BTreeSet<String>) {
        let request = &frame["request"];
        match frame["type"].as_str() {
            Some("system") if frame["subtype"] == "init" && self.mode.is_none() => {
                self.mode = frame["permissionMode"].as_str().map(ToOwned::to_owned);
            }
            Some("control_response") => self.control_responses += 1,
            Some("control_request") if request["subtype"] == "can_use_tool" => {
                self.permission_requests += 1;
                asked.extend(frame["request_id"].as_str().map(ToOwned::to_owned));
                let tool = request["tool_name"].as_str().map(ToOwned::to_owned);
                self.tools_asked_for.extend(tool);
            }
            _ => {}
        }
    }

    /// Adds what was said in another case.
    pub(super) fn join(&mut self, other: Self) {
        self.mode = self.mode.take().or(other.mode);
        self.from_cli += other.from_cli;
        self.to_cli += other.to_cli;
        self.control_responses += other.control_responses;
        self.permission_requests += other.permission_requests;
        self.permission_answers += other.permission_answers;
        self.tools_asked_for.extend(other.tools_asked_for);
        self.cost = self.cost.zip(other.cost).map(|(a, b)| a + b).or(self.cost).or(other.cost);
    }
}
