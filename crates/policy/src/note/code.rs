//! Code in other languages than that of shells. It is not read, but some of its words say a lot.

use super::{Danger, Found};
use crate::shell::Word;

/// Parts of calls that delete.
const DELETING: &[&str] = &[
    ".rmdir",
    "Dir.delete",
    "Dir.unlink",
    "File.delete",
    "FileUtils.rm",
    "fs.rm(",
    "os.remove",
    "remove_tree",
    "rimraf",
    "rm_r",
    "rmSync",
    "rmdirSync",
    "rmtree",
    "unlink",
];

/// Parts of calls that run other programs.
const RUNNING: &[&str] = &[
    "IO.popen",
    "Open3",
    "child_process",
    "execSync",
    "execvp",
    "os.exec",
    "os.popen",
    "os.spawn",
    "os.system",
    "passthru(",
    "proc_open",
    "pty.spawn",
    "qx(",
    "qx{",
    "shell_exec",
    "spawnSync",
    "subprocess",
];

/// Parts of calls that run code which is made while it runs.
const MAKING: &[&str] = &[
    "Buffer.from(",
    "Function(",
    "__import__",
    "atob(",
    "b64decode",
    "eval(",
    "exec(",
    "fromCharCode",
    "instance_eval",
];

/// Parts of calls that send something.
const SENDING: &[&str] = &[
    "IO::Socket",
    "TCPSocket",
    "XMLHttpRequest",
    "axios.post",
    "axios.put",
    "create_connection",
    "ftplib",
    "httpx.post",
    "httpx.put",
    "net.connect",
    "net.createConnection",
    "requests.patch",
    "requests.post",
    "requests.put",
    "smtplib",
    "socket.socket",
];

/// Parts of calls that change files, which can be anywhere.
const CHANGING: &[&str] = &[
    "File.write",
    "appendFile",
    "copyFileSync",
    "createWriteStream",
    "os.rename",
    "os.replace",
    "renameSync",
    "shutil.copy",
    "shutil.move",
    "symlink",
    "writeFile",
    "write_bytes",
    "write_text",
];

impl Found {
    /// What code would do that a program runs.
    pub(super) fn code(&mut self, code: &Word, program: &str) {
        if code.hole == Some(0) {
            let text = format!("runs code that is only known when it runs (with {program})");
            self.add(Danger::Opaque, text);
            return;
        }
        let has = |parts: &[&str]| parts.iter().any(|part| code.text.contains(part));
        if has(DELETING) {
            self.add(Danger::Deletes, format!("has code that can delete files (with {program})"));
        }
        if has(SENDING) {
            let text =
                format!("has code that can send something to another machine (with {program})");
            self.add(Danger::Sends, text);
        }
        if has(CHANGING) {
            let text = format!("has code that can change files anywhere (with {program})");
            self.add(Danger::Opaque, text);
        }
        if has(MAKING) {
            let text = format!("has code that is only made when it runs (with {program})");
            self.add(Danger::Opaque, text);
        }
        if has(RUNNING) || calls_system(&code.text) || has_ticks(&code.text, program) {
            let text = format!("has code that can run other programs (with {program})");
            self.add(Danger::Opaque, text);
        }
    }
}

/// Whether there is a call of `system` in it, which has the same name in most languages.
fn calls_system(code: &str) -> bool {
    code.match_indices("system").any(|(at, name)| {
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(at + name.len()..).unwrap_or_default();
        // `platform.system()` asks for the name of the system.
        !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/'))
            && !before.ends_with("platform.")
            && after.trim_start().starts_with(['(', '"', '\''])
    })
}

/// In these languages a text in ticks is a command.
fn has_ticks(code: &str, program: &str) -> bool {
    let runs = ["perl", "php", "ruby"].iter().any(|name| program.starts_with(name));
    runs && code.matches('`').count() > 1
}
