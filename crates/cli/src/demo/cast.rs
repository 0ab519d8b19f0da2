//! The sessions of the demo.

use std::path::Path;

use countersign::protocol::permission::PermissionMode;
use countersign_server::service::NewSession;
use countersign_server::session::SessionOptions;

/// What is there before a session begins, below the folder of the demo.
pub(super) const FILES: [(&str, &str); 3] = [
    ("work/greeting.py", "def greet():\n    print(\"Hello, world!\")\n\n\ngreet()\n"),
    ("home/lists/here.txt", "Ada\nGrace\n"),
    ("home/lists/there.txt", "Ada\nMargaret\n"),
];

/// A session of the demo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// What there is to see.
    pub(super) tells: &'static str,
    /// Whether it asks for something.
    pub(super) asks: bool,
    /// Whether it waits without a process from the beginning.
    pub(super) is_parked: bool,
    title: &'static str,
    prompt: &'static str,
    /// Whether it begins in plan mode.
    plans: bool,
}

/// One that asks for something.
const USUAL: Part =
    Part { tells: "", asks: true, is_parked: false, title: "", prompt: "", plans: false };

impl Part {
    /// All of them, for the simulated CLI or the real one.
    pub(super) fn all(real: bool) -> Vec<Self> {
        if real { of_the_real_cli() } else { of_the_script() }
    }

    pub(super) fn session(&self, folder: &Path) -> NewSession {
        NewSession {
            folder: folder.display().to_string(),
            prompt: Some(self.prompt.to_owned()),
            images: Vec::new(),
            title: Some(self.title.to_owned()),
            labels: ["demo".to_owned()].into(),
            mode: self.plans.then_some(PermissionMode::Plan),
            model: None,
            options: SessionOptions::default(),
        }
    }
}

fn of_the_script() -> Vec<Part> {
    vec![
        Part {
            tells: "is parked: its process ended with an earlier server, and it can be answered",
            is_parked: true,
            title: "Release notes",
            prompt: "Write the release notes.",
            ..USUAL
        },
        Part {
            tells: "wants to run a command, and suggests a rule; then it wants to change a file",
            title: "A name for the greeting",
            prompt: "Let the greeting take a name.",
            ..USUAL
        },
        Part {
            tells: "has made a plan: approve it, edit it, or say what to change",
            title: "A command line",
            prompt: "Give it a command line.",
            plans: true,
            ..USUAL
        },
        Part { tells: "has two questions", title: "Tests", prompt: "Write tests for it.", ..USUAL },
        Part {
            tells: "asks for two things at once: answer them in any order",
            title: "Two lists",
            prompt: "Compare the two lists.",
            ..USUAL
        },
        Part {
            tells: "writes, so that you can watch: countersign watch",
            asks: false,
            title: "How it works",
            prompt: "Tell me how this works.",
            ..USUAL
        },
    ]
}

fn of_the_real_cli() -> Vec<Part> {
    vec![
        Part {
            tells: "is parked: its process ended with an earlier server, and it can be answered",
            is_parked: true,
            title: "Release notes",
            prompt: "Write NOTES.md with one line about greeting.py. Use the Write tool at once.",
            ..USUAL
        },
        Part {
            tells: "wants to run a command and to change a file",
            title: "A name for the greeting",
            prompt: "Let the function in greeting.py take a name, with \"world\" as the default. Then \
                     run the program.",
            ..USUAL
        },
        Part {
            tells: "makes a plan: approve it, edit it, or say what to change",
            title: "A command line",
            prompt: "Give greeting.py a command line that takes a name. Keep the plan short.",
            plans: true,
            ..USUAL
        },
        Part {
            tells: "has a question",
            title: "Tests",
            prompt: "Before you do anything, ask me with the AskUserQuestion tool which kind of test I \
                     want for greeting.py: unit tests or a doctest. Then write it.",
            ..USUAL
        },
    ]
}
