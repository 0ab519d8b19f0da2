//! The examples, each run as a process of its own, as whoever copies them would.
//!
//! They find the CLI by `CLAUDE_CODE_PATH` and inherit an environment, which here is that of the
//! laboratory.

use std::path::PathBuf;
use std::process::Stdio;

use libtest_mimic::Trial;
use tokio::io::AsyncWriteExt as _;

use crate::kit::{Cli, Outcome, V62, V325, lab, soon, trial};

/// An example, what the model says in it, what is typed, and what is printed.
struct Example {
    name: &'static str,
    script: &'static str,
    typed: &'static str,
    /// Texts that are printed, in this order.
    prints: &'static [&'static str],
    /// Files that are there afterwards, with their content.
    leaves: &'static [(&'static str, &'static str)],
    /// Files that must not be there.
    lacks: &'static [&'static str],
}

impl Example {
    const fn new(
        name: &'static str,
        script: &'static str,
        prints: &'static [&'static str],
    ) -> Self {
        Self { name, script, typed: "", prints, leaves: &[], lacks: &[] }
    }

    const fn typed(mut self, typed: &'static str) -> Self {
        self.typed = typed;
        self
    }

    const fn leaves(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.leaves = files;
        self
    }

    const fn lacks(mut self, files: &'static [&'static str]) -> Self {
        self.lacks = files;
        self
    }
}

const FOUR: &str = r#"
[[answer]]
text = "It is four."
"#;

const READ: &str = r#"
[[answer]]
text = "I will look."
tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

[[answer]]
text = "It says hello."
"#;

/// Two files, each in a call of its own.
const WRITE_TWO: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/one.md", content = "1\n" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/two.txt", content = "2\n" } }

[[answer]]
when = { error = true, result = "rather not" }
text = "I read that you would rather not."

[[answer]]
text = "Both were tried."
"#;

const PLAN: &str = r##"
[[answer]]
when = { text = "Implement the following plan" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { tool = "Write", result = "new.txt" }
text = "The plan is done."

[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { tool = "ExitPlanMode", error = true, result = "shorter" }
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }
"##;

const QUESTION: &str = r#"
[[answer]]
[answer.tool]
name = "AskUserQuestion"
[answer.tool.input]
questions = [
    { question = "Which color?", header = "Color", multiSelect = false, options = [
        { label = "Red", description = "Warm" }, { label = "Green", description = "Calm" } ] },
    { question = "Which fruits?", header = "Fruits", multiSelect = true, options = [
        { label = "Apple", description = "Round" }, { label = "Plum", description = "Small" } ] },
    { question = "Which name?", header = "Name", multiSelect = false, options = [
        { label = "Ada", description = "Short" }, { label = "Grace", description = "Long" } ] },
]

[[answer]]
text = "You said: ${result}"
"#;

const HOOKED: &str = r#"
[[answer]]
tool = { name = "Bash", input = { command = "date > date.txt" } }

[[answer]]
when = { tool = "Bash", error = true }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "Without a command, then."
"#;

#[cfg(feature = "mcp")]
const STOCK: &str = r#"
[[answer]]
tool = { name = "mcp__store__stock", input = { number = "A-7" } }

[[answer]]
text = "There are ${result}."
"#;

const NUMBERS: &str = r#"
[[answer]]
when = { text = "Remember" }
text = "I will."

[[answer]]
when = { text = "What is my number", first = "42" }
text = "It is 42."

[[answer]]
when = { text = "twice", first = "42" }
text = "It is 84."
"#;

const PARKED: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

const SEVENS: &str = r#"
[[answer]]
when = { text = '/What is (\d+) times 7/' }
text = "${match.1} sevens."
"#;

const NOTES: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/NOTES.md", content = "A test.\n" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/more.md", content = "More.\n" } }

[[answer]]
text = "It is a test."
"#;

/// On every CLI that is tested here.
const EXAMPLES: &[Example] = &[
    Example::new("readme", NOTES, &["It is a test.", "(1 denied)"])
        .leaves(&[("NOTES.md", "A test.\n")])
        .lacks(&["more.md"]),
    Example::new("ask", FOUR, &["It is four.", "US dollars"]),
    Example::new(
        "stream",
        READ,
        &["I will look.\n", "[Read {", "[Read: done]", "It says hello.\n", "1 tool calls"],
    ),
    Example::new(
        "approve_by_hand",
        WRITE_TWO,
        &["one.md", "always means:", "why not?", "two.txt", "I read that", "(2 calls, 1 denied)"],
    )
    .typed("\ny\nI would rather not\n")
    .leaves(&[("one.md", "1\n")])
    .lacks(&["two.txt"]),
    Example::new(
        "approve_by_hand",
        WRITE_TWO,
        // What was suggested is applied: the second is not asked for.
        &["one.md", "why not? \nBoth were tried.", "(2 calls, 0 denied)"],
    )
    .typed("always\n")
    .leaves(&[("one.md", "1\n"), ("two.txt", "2\n")]),
    Example::new("approve_by_hand", WRITE_TWO, &["one.md", "two.txt", "(2 calls, 2 denied)"])
        .lacks(&["one.md", "two.txt"]),
    Example::new(
        "selective_handler",
        WRITE_TWO,
        &["Both were tried.", "one.md", "Allowed", "two.txt", "Denied", "write notes"],
    )
    .leaves(&[("one.md", "1\n")])
    .lacks(&["two.txt"]),
    Example::new(
        "plan_review",
        PLAN,
        &["1. Write it.", "1. Write it.", "The plan is done.", "now acceptEdits"],
    )
    .typed("make it shorter\n2\n")
    .leaves(&[("new.txt", "new\n")]),
    Example::new("plan_review", PLAN, &["1. Write it.", "The plan is done.", "now acceptEdits"])
        .typed("1\n")
        .leaves(&[("new.txt", "new\n")]),
    Example::new("plan_review", PLAN, &["1. Write it.", "The plan is done.", "now default"])
        .typed("3\n")
        .leaves(&[("new.txt", "new\n")]),
    Example::new("plan_review", PLAN, &["1. Write it.", "now plan"]).lacks(&["new.txt"]),
    Example::new(
        "questions",
        QUESTION,
        &["Color: Which color?", "1  Red", "2  Plum", "You said:", "Green", "Apple, Plum", "Rosa"],
    )
    .typed("2\n1, 2\nRosa\n"),
    Example::new("questions", QUESTION, &["Name: Which name?", "You said:"]),
    Example::new(
        "hooks",
        HOOKED,
        &["asked: Run `date`", "to run: {", "ran: Write", "Without a command, then."],
    )
    .leaves(&[("new.txt", "new\n")])
    .lacks(&["date.txt"]),
    #[cfg(feature = "mcp")]
    Example::new("in_process_tool", STOCK, &["[looking up A-7]", "There are 12."]),
    Example::new(
        "resume_and_fork",
        NUMBERS,
        &["I will.", "It is 42.", "same id: true", "It is 84.", "same id: false"],
    ),
    PARKS,
    Example::new("park_and_resume", FOUR, &["Nothing was asked for: It is four."]),
    Example::new(
        "record_and_replay",
        FOUR,
        &["live: It is four.", "which is Whole", "played: It is four.", r#""verdict": "followed""#],
    ),
    Example::new("many_sessions", SEVENS, &["3 of 3 answered"]),
];

const PARKS: Example = Example::new(
    "park_and_resume",
    PARKED,
    &["parked", "to be decided: Write {", "the answer went to the call itself", "That was it."],
)
.leaves(&[("new.txt", "new\n")]);

/// A version that does not ask again: the model is told, and makes the call itself.
const TOLD: Example = Example::new(
    "park_and_resume",
    r#"
[[answer]]
when = { text = "approved your pending call" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { tool = "Write" }
text = "That was it."

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }
"#,
    &["parked", "the model was told instead: 2.1.62 does not ask again", "That was it."],
)
.leaves(&[("new.txt", "new\n")]);

pub(crate) fn trials() -> Vec<Trial> {
    let clis = [
        ("simulated 2.1.325", Cli::Simulated(V325)),
        #[cfg(feature = "real-cli")]
        ("2.1.325", Cli::Real(V325)),
    ];
    let mut trials = vec![trial("examples::park_and_resume::simulated 2.1.62", || {
        run(&TOLD, Cli::Simulated(V62))
    })];
    for (at, example) in EXAMPLES.iter().enumerate() {
        for (cli_name, cli) in clis {
            let name = format!("examples::{}::{at}::{cli_name}", example.name);
            trials.push(trial(name, move || run(example, cli)));
        }
    }
    trials.push(Trial::test("examples::none_is_forgotten", none_is_forgotten));
    trials.push(Trial::test("examples::the_one_of_the_readme_is_run", readme));
    trials
}

async fn run(example: &Example, cli: Cli) -> Outcome {
    let lab = lab(cli, example.script).await;
    let (claude, environment) = lab.for_a_client()?;
    #[expect(clippy::disallowed_methods, reason = "it ends by itself, or with this test")]
    let mut process = tokio::process::Command::new(program(example.name))
        .env_clear()
        .envs(environment)
        .env("CLAUDE_CODE_PATH", claude)
        .current_dir(lab.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut stdin) = process.stdin.take() {
        // It may end before it has read all of it.
        drop(stdin.write_all(example.typed.as_bytes()).await);
    }
    let output = soon("the end of the example", process.wait_with_output()).await?;
    let said = String::from_utf8_lossy(&output.stdout);
    let all = format!("{said}\n--- stderr\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{all}", output.status);
    let mut rest = &*said;
    for text in example.prints {
        let Some((_, after)) = rest.split_once(text) else {
            panic!("{text:?} is not printed, or not at its place:\n{all}");
        };
        rest = after;
    }
    for (name, content) in example.leaves {
        let found = std::fs::read_to_string(lab.work().join(name)).ok();
        assert_eq!(found.as_deref(), Some(*content), "{name}\n{all}");
    }
    for name in example.lacks {
        assert!(!lab.work().join(name).exists(), "{name} was written\n{all}");
    }
    lab.close().await?;
    Ok(())
}

/// Cargo builds examples with the tests, and puts them beside the folder of the test programs.
fn program(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let built = this.ancestors().nth(2).unwrap().join("examples").join(name);
    // With `--test session` alone it does not build them.
    assert!(built.exists(), "run `cargo build -p countersign --examples` for {name}");
    built
}

fn none_is_forgotten() -> Outcome {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
        let needs_mcp = name == "in_process_tool" && cfg!(not(feature = "mcp"));
        assert!(
            needs_mcp || EXAMPLES.iter().any(|example| example.name == name),
            "{name} is not run"
        );
        let lines = std::fs::read_to_string(&path)?.lines().count();
        assert!(lines <= 60, "{name} has {lines} lines: nobody copies that");
    }
    Ok(())
}

fn readme() -> Outcome {
    let example = include_str!("../../examples/readme.rs");
    let (_, code) = example.split_once(")]\n\n").unwrap();
    let quoted = format!("```rust,no_run\n{code}```\n");
    assert!(include_str!("../../../../README.md").contains(&quoted), "the README has another one");
    Ok(())
}
