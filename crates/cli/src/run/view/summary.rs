//! What a turn came to, in a line.

use std::time::Duration;

use countersign::turn::Outcome;

use super::call::{span, tool_name};
use super::line::{Line, Tone};

/// Cost, tokens, time and denials.
pub(crate) fn of(outcome: &Outcome) -> Vec<Line> {
    let mut parts = Vec::new();
    if let Some(took) = outcome.result.duration_ms.and_then(countersign::protocol::Num::as_u64) {
        parts.push(span(Duration::from_millis(took)));
    }
    if let Some(usage) = outcome.usage() {
        let of = |tokens: Option<u64>| tokens.unwrap_or_default();
        let cached = of(usage.cache_read_input_tokens) + of(usage.cache_creation_input_tokens);
        let (read, wrote) = (of(usage.input_tokens) + cached, of(usage.output_tokens));
        parts.push(format!("{} tokens in, {} out", short(read), short(wrote)));
    }
    parts.push(format!("${:.4}", outcome.total_cost_usd()));
    let mut lines = vec![Line::of(Tone::Dim, &parts.join(" · "))];
    let mut names: Vec<_> = outcome.denials().iter().map(|denial| &*denial.tool_name).collect();
    if outcome.fresh_start.is_some() {
        // The last plan was approved, for another conversation. The CLI knows no such approval, and
        // counts it with those before that were not.
        let approved = names.iter().rposition(|name| *name == "ExitPlanMode");
        approved.map(|at| names.remove(at));
    }
    if !names.is_empty() {
        let names: Vec<_> = names.into_iter().map(tool_name).collect();
        lines.push(Line::of(Tone::Warn, &format!("denied: {}", names.join(", "))));
    }
    lines
}

/// A number in few characters.
#[expect(clippy::cast_precision_loss, reason = "it is rounded on purpose")]
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}
