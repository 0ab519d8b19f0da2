//! A CLI that does what it is told when it is told: for what the others do not do.

use std::ffi::OsString;
use std::io::{BufRead as _, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::{self, Piped};
use crate::pty::{self, Pty};

/// Says to this very program that it is to be that CLI, and where it is told to go on.
const PUPPET: &str = "COUNTERSIGN_TEST_PUPPET";

/// Says to it that it waits before it asks, and does not withdraw what it asks.
const WAITS: &str = "COUNTERSIGN_TEST_PUPPET_WAITS";

/// Says to it what else it asks at once; then it says what it was told.
const ASKS: &str = "COUNTERSIGN_TEST_PUPPET_ASKS";

/// Says to it what it asks before that, and withdraws when it is told to go on.
const WITHDRAWS: &str = "COUNTERSIGN_TEST_PUPPET_WITHDRAWS";

/// Says to it what it says, line by line, instead of asking.
const SAYS: &str = "COUNTERSIGN_TEST_PUPPET_SAYS";

/// Says to it that it is done at once, and does all that by itself when it is told to go on.
const BY_ITSELF: &str = "COUNTERSIGN_TEST_PUPPET_BY_ITSELF";

/// Says to this program that it is an editor, and where it is told what to write.
const EDITOR: &str = "COUNTERSIGN_TEST_PUPPET_EDITOR";

/// A folder with that CLI.
pub(crate) struct Stage {
    folder: TempDir,
    socket: UnixListener,
    editor: UnixListener,
    waits: bool,
    asks: Option<Value>,
    withdraws: Option<Value>,
    says: Option<Value>,
    by_itself: bool,
}

impl Stage {
    /// The same, but it says that it is done, and asks or says it by itself when it is told to go
    /// on. In a terminal there is a conversation.
    pub(crate) fn by_itself(self) -> Self {
        Self { by_itself: true, ..self }
    }

    /// The same, but it takes some seconds to start.
    pub(crate) fn starting_slowly(self) -> Self {
        self.begin_with("sleep 3");
        self
    }

    /// The same, but it starts once, and the next time never comes to its point.
    pub(crate) fn starting_once(self) -> Self {
        self.begin_with(
            "if [ -e \"$0.began\" ]; then : > \"$0.again\"; exec sleep 4321; fi; : > \"$0.began\"",
        );
        self
    }

    /// Has it do this first, unless it is asked for its version.
    fn begin_with(&self, first: &str) {
        let this = std::env::current_exe().unwrap();
        let first = format!("case \"$*\" in --version) ;; *) {first};; esac");
        kit::program(&self.path("claude"), &format!("{first}\nexec '{}' \"$@\"", this.display()));
    }

    /// Whether it was started again.
    pub(crate) fn has_started_again(&self) -> bool {
        self.path("claude.again").exists()
    }

    /// One that says these lines, and that it is done. In a terminal there is a conversation.
    pub(crate) fn that_says(lines: Value) -> Self {
        Self { says: Some(lines), ..Self::with(false) }
    }

    /// One that asks this, and says what it was told.
    pub(crate) fn that_asks(request: Value) -> Self {
        Self { asks: Some(request), ..Self::with(false) }
    }

    /// One that asks the first, the second when it is told to go on, and then withdraws the first.
    /// It waits once more when the withdrawal has been read.
    pub(crate) fn that_withdraws(first: Value, second: Value) -> Self {
        Self { withdraws: Some(first), ..Self::that_asks(second) }
    }

    /// One that asks, and withdraws it when it is told to go on.
    pub(crate) fn new() -> Self {
        Self::with(false)
    }

    /// One that asks when it is told to go on.
    pub(crate) fn new_that_waits() -> Self {
        Self::with(true)
    }

    fn with(waits: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = UnixListener::bind(folder.path().join("socket")).unwrap();
        let editor = UnixListener::bind(folder.path().join("editor")).unwrap();
        let stage = Self {
            folder,
            socket,
            editor,
            waits,
            asks: None,
            withdraws: None,
            says: None,
            by_itself: false,
        };
        stage.begin_with(":");
        stage
    }

    pub(crate) fn run(&self, size: (u16, u16)) -> Pty {
        let mut command = pty::command(env!("CARGO_BIN_EXE_countersign"));
        let program = self.path("claude");
        command.args(["run", "Go.", "--cli", &program.to_string_lossy()]);
        if self.by_itself || self.says.is_some() {
            command.arg("-i");
        }
        command.envs(self.environment()).current_dir(self.folder.path());
        Pty::start(command, size)
    }

    /// The same without a terminal.
    pub(crate) fn piped(&self) -> Piped {
        self.piped_with(&[])
    }

    /// The same with more options.
    pub(crate) fn piped_with(&self, options: &[&str]) -> Piped {
        #[expect(clippy::disallowed_methods, reason = "it is waited for")]
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["run", "Go.", "--cli"]).arg(self.path("claude")).args(options);
        command.env_clear().envs(self.environment()).current_dir(self.folder.path());
        let ended = command.stdin(std::process::Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Piped { code: ended.status.code(), out: text(ended.stdout), err: text(ended.stderr) }
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let this = std::env::current_exe().unwrap();
        let mut environment = vec![
            ("TERM", "xterm".into()),
            ("PATH", "/usr/bin:/bin".into()),
            ("HOME", self.folder.path().into()),
            (PUPPET, self.path("socket").into()),
            // The CLI inherits it, too, but is started with arguments of another kind.
            (EDITOR, self.path("editor").into()),
            ("VISUAL", format!("'{}' --edit", this.display()).into()),
        ];
        environment.extend(self.waits.then(|| (WAITS, "1".into())));
        environment.extend(self.by_itself.then(|| (BY_ITSELF, "1".into())));
        for (name, lines) in [(ASKS, &self.asks), (WITHDRAWS, &self.withdraws), (SAYS, &self.says)]
        {
            environment.extend(lines.as_ref().map(|lines| (name, lines.to_string().into())));
        }
        environment
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets it go on.
    pub(crate) fn go_on(&self) {
        // It waits for the end of what it is told, which is nothing.
        drop(self.socket.accept().unwrap());
    }

    /// Waits until the editor is open.
    pub(crate) fn editor(&self) -> Editor {
        Editor(self.editor.accept().unwrap().0)
    }
}

/// An editor that is open.
pub(crate) struct Editor(UnixStream);

impl Editor {
    /// Has it write this and end.
    pub(crate) fn save(mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
    }
}

/// Plays the editor.
fn edit(socket: &std::ffi::OsStr, path: &str) -> ExitCode {
    let mut text = String::new();
    UnixStream::connect(socket).unwrap().read_to_string(&mut text).unwrap();
    std::fs::write(path, text).unwrap();
    ExitCode::SUCCESS
}

/// What the model says, whole.
pub(crate) fn text(text: &str) -> Value {
    json!({"type": "assistant", "session_id": "puppet", "parent_tool_use_id": null,
        "message": {"id": "m", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": text}], "stop_reason": null,
            "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}})
}

/// A piece of it.
pub(crate) fn piece(text: &str) -> Value {
    json!({"type": "stream_event", "session_id": "puppet", "parent_tool_use_id": null,
        "uuid": "00000000-0000-4000-8000-000000000001",
        "event": {"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}}})
}

fn write_line(line: &Value) {
    #[expect(clippy::disallowed_methods, reason = "it is what the program that is played does")]
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}

fn wait(socket: &std::ffi::OsStr) {
    UnixStream::connect(socket).unwrap().read_to_end(&mut Vec::new()).unwrap();
}

/// Plays that CLI or the editor, if that is what this program was started for.
pub(crate) fn as_a_puppet() -> Option<ExitCode> {
    let socket = std::env::var_os(PUPPET)?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [word, path] = &*arguments
        && word == "--edit"
    {
        return Some(edit(&std::env::var_os(EDITOR)?, path));
    }
    let waits = std::env::var_os(WAITS).is_some();
    let asks = std::env::var(ASKS).ok();
    let withdraws = std::env::var(WITHDRAWS).ok();
    let says: Option<Vec<Value>> =
        std::env::var(SAYS).ok().map(|lines| serde_json::from_str(&lines).unwrap());
    let by_itself = std::env::var_os(BY_ITSELF).is_some();
    let request = match &asks {
        Some(request) => serde_json::from_str(request).unwrap(),
        None => json!({
            "subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "toolu_1",
            "input": {"command": "make"},
        }),
    };
    let ask = json!({"type": "control_request", "request_id": "ask", "request": request});
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "session_id": "puppet",
        "duration_ms": 0, "duration_api_ms": 0, "num_turns": 1, "total_cost_usd": 0, "result": "",
    });
    if arguments.iter().any(|word| word == "--version") {
        write_line(&json!("2.1.325 (Claude Code)"));
        return Some(ExitCode::SUCCESS);
    }
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match line["type"].as_str() {
            Some("control_request") => {
                let response = json!({"subtype": "success", "request_id": line["request_id"],
                    "response": {"commands": [], "agents": [], "models": [], "account": {},
                        "output_style": "default", "available_output_styles": []}});
                write_line(&json!({"type": "control_response", "response": response}));
                if by_itself && line["request"]["subtype"] == "interrupt" {
                    write_line(&result);
                }
            }
            Some("user") if by_itself && line.to_string().contains("Go.") => {
                write_line(&result);
                wait(&socket);
                match &says {
                    Some(lines) => lines.iter().for_each(write_line),
                    None => write_line(&ask),
                }
            }
            Some("user") if by_itself => {
                write_line(&text("I carry it out."));
                write_line(&result);
            }
            Some("user") if says.is_some() => {
                says.iter().flatten().for_each(write_line);
                write_line(&result);
            }
            Some("user") if waits => {
                wait(&socket);
                write_line(&ask);
            }
            Some("user") if withdraws.is_some() => {
                let request = withdraws.as_deref().map(serde_json::from_str::<Value>);
                let request = request.unwrap().unwrap();
                write_line(
                    &json!({"type": "control_request", "request_id": "first", "request": request}),
                );
                wait(&socket);
                write_line(&ask);
                wait(&socket);
                write_line(&json!({"type": "control_cancel_request", "request_id": "first"}));
                // Lines are read in their order: when this is answered, that one has been read.
                let request = json!({"subtype": "nothing_known"});
                write_line(
                    &json!({"type": "control_request", "request_id": "then", "request": request}),
                );
            }
            Some("user") if asks.is_some() => write_line(&ask),
            Some("user") => {
                write_line(&ask);
                wait(&socket);
                write_line(&json!({"type": "control_cancel_request", "request_id": "ask"}));
                write_line(&text("Never mind."));
                write_line(&result);
            }
            Some("control_response") if line["response"]["request_id"] == "then" => wait(&socket),
            Some("control_response") => {
                write_line(&text(&format!("I was told {}", line["response"]["response"])));
                write_line(&result);
            }
            _ => {}
        }
    }
    Some(ExitCode::SUCCESS)
}
