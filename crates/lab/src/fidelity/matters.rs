//! Fields that do not matter when two CLIs are compared, and why.

use countersign_record::meaning::{Rules, Treat};

/// What is passed over. Everything else is compared.
const DOES_NOT_MATTER: &[(&str, Treat)] = &[
    // Lists of what the CLI has on board. They change with every release, and no client depends on
    // what is in them.
    ("system/init:tools", Treat::Ignore),
    ("system/init:slash_commands", Treat::Ignore),
    ("system/init:terminal_slash_commands", Treat::Ignore),
    ("system/init:skills", Treat::Ignore),
    ("system/init:agents", Treat::Ignore),
    ("system/init:plugins", Treat::Ignore),
    ("system/init:capabilities", Treat::Ignore),
    ("control_response/success:response.response.commands", Treat::Ignore),
    ("control_response/success:response.response.agents", Treat::Ignore),
    ("control_response/success:response.response.models", Treat::Ignore),
    ("control_response/success:response.response.available_output_styles", Treat::Ignore),
    ("control_response/success:response.response.capabilities", Treat::Ignore),
    ("control_response/success:response.response.account", Treat::Ignore),
    ("control_response/success:response.response.pid", Treat::Any),
    // A socket for other programs, named after the process.
    ("system/init:messaging_socket_path", Treat::Any),
    // How the input of a tool is cut into pieces is up to the model, and the folder of the laboratory
    // may be cut in two. The whole input is in the message that follows.
    ("stream_event:event.delta.partial_json", Treat::Any),
    // What was counted and what it would cost: the scripted model makes the numbers up.
    ("**.usage", Treat::Ignore),
    ("**.modelUsage", Treat::Ignore),
    ("**.model_usage_since_last_result", Treat::Ignore),
    ("**.total_cost_usd", Treat::Any),
    ("**.post_tokens", Treat::Any),
    ("**.subagent_stats", Treat::Ignore),
    // A hash by which the CLI knows its own words again.
    ("**.harnessSectionHash", Treat::Any),
];

pub(super) fn rules() -> Rules {
    let add = |rules: Rules, &(pattern, treat): &(&str, Treat)| {
        // A pattern that is none is found by the test below.
        rules.clone().with(pattern, treat).unwrap_or(rules)
    };
    DOES_NOT_MATTER.iter().fold(Rules::new(), add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        for (pattern, treat) in DOES_NOT_MATTER {
            assert!(Rules::new().with(pattern, *treat).is_ok(), "{pattern}");
        }
    }
}
