//! Hooks: what they are told, and what their answers do.

mod deciding;
mod events;
mod failing;
mod racing;
mod telling;

use countersign::SessionBuilder;
use countersign::protocol::permission::PermissionMode;
use libtest_mimic::Trial;

use crate::asking::{calls, write};
use crate::kit::{Cli, V197};

pub(crate) fn trials() -> Vec<Trial> {
    [deciding::trials(), events::trials(), failing::trials(), racing::trials(), telling::trials()]
        .into_iter()
        .flatten()
        .collect()
}

fn one_write(then: &str) -> String {
    calls(&[("Write", &write("new.txt"))], then)
}

fn bypass(builder: SessionBuilder) -> SessionBuilder {
    builder.allow_dangerously_skip_permissions().permission_mode(PermissionMode::BypassPermissions)
}

/// The model reads a file that is not there, writes one, and has a sub-agent write one.
fn delegating(cli: Cli) -> String {
    let agent = if cli.version() < V197 { "Task" } else { "Agent" };
    format!(
        r#"
        [[answer]]
        when = {{ agent = true, tool = "Write" }}
        text = "I read: ${{result}}"

        [[answer]]
        when = {{ agent = true }}
        tool = {{ name = "Write", input = {{ file_path = "${{cwd}}/agent.txt", content = "new\n" }} }}

        [[answer]]
        tool = {{ name = "Read", input = {{ file_path = "${{cwd}}/nothing.txt" }} }}

        [[answer]]
        tool = {{ name = "Write", input = {{ file_path = "${{cwd}}/main.txt", content = "new\n" }} }}

        [[answer]]
        tool = {{ name = "{agent}", input = {{ description = "Write", prompt = "Write the file.", subagent_type = "general-purpose" }} }}

        [[answer]]
        text = "Done."

        [[answer]]
        text = "The sub-agent is done."
        "#
    )
}

/// Makes sure that nothing was written.
fn lab_files_are_missing(lab: countersign_lab::Lab) -> countersign_lab::Lab {
    for file in ["main.txt", "agent.txt", "new.txt"] {
        assert!(!lab.work().join(file).exists(), "{file}");
    }
    lab
}
