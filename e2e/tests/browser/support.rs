//! Tapes to draw, and their pages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use countersign_record::page::{Diagram, Limits, page};
use countersign_record::{Channel, End, Entry, Header, Record, TapeReader, Text};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A tape that is being written, with times as they are told.
pub(crate) struct Tape {
    text: Vec<u8>,
    seq: u64,
    us: u64,
}

impl Tape {
    pub(crate) fn new() -> Self {
        let mut header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
        header.cli = Some("2.1.325".to_owned());
        header.argv = ["claude", "--verbose", "--model", "x\u{202e}y"].map(String::from).into();
        header.cwd = "/home/user-1/project".to_owned();
        let mut text = Vec::new();
        header.write(&mut text).unwrap();
        Self { text, seq: 0, us: 0 }
    }

    /// So many microseconds later.
    pub(crate) fn after(mut self, us: u64) -> Self {
        self.us += us;
        self
    }

    /// At this time, even if it was later before.
    pub(crate) fn at(mut self, us: u64) -> Self {
        self.us = us;
        self
    }

    fn record(mut self, entry: Entry) -> Self {
        self.seq += 1;
        let record = Record { seq: self.seq, us: self.us, entry };
        record.write(&mut self.text).unwrap();
        self
    }

    pub(crate) fn line(self, channel: Channel, text: &str) -> Self {
        self.record(Entry::Line { channel, text: Text::Utf8(text.to_owned()), more: false })
    }

    /// A line of the CLI that is no text.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let text = Text::Bytes(bytes.to_vec());
        self.record(Entry::Line { channel: Channel::Out, text, more: false })
    }

    /// A frame of the CLI.
    pub(crate) fn says(self, frame: &Value) -> Self {
        self.line(Channel::Out, &frame.to_string())
    }

    /// A frame of the client.
    pub(crate) fn told(self, frame: &Value) -> Self {
        self.line(Channel::In, &frame.to_string())
    }

    /// Deltas of a text, one a word.
    pub(crate) fn deltas(mut self, text: &str) -> Self {
        for word in text.split_inclusive(' ') {
            self = self.after(9_000).says(&json!({
                "type": "stream_event",
                "event": {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": { "type": "text_delta", "text": word },
                },
                "session_id": "s",
                "parent_tool_use_id": null,
                "uuid": "u",
            }));
        }
        self
    }

    pub(crate) fn ended(self, code: i32) -> Self {
        self.record(Entry::End(End::Code(code)))
    }

    /// Writes it to a file.
    pub(crate) fn write(&self, path: &Path) {
        fs::write(path, &self.text).unwrap();
    }

    pub(crate) fn diagram(&self) -> Diagram {
        Diagram::read(TapeReader::new(self.text.as_slice()).unwrap(), Limits::default()).unwrap()
    }
}

/// A conversation of one turn: 8 words are streamed, a tool is allowed after 1.5 s.
pub(crate) fn conversation() -> Tape {
    let input = json!({ "file_path": "/home/user-1/project/a.txt", "content": "hi\nthere\n" });
    Tape::new()
        .after(1_000)
        .told(&json!({"type": "control_request", "request_id": "c1", "request": {"subtype": "initialize"}}))
        .after(400_000)
        .says(&json!({"type": "control_response", "response": {"subtype": "success", "request_id": "c1", "response": {"commands": []}}}))
        .after(5_000)
        .told(&json!({"type": "user", "message": {"role": "user", "content": "Write it. </script><img src=x onerror=alert(1)>"}}))
        .after(300_000)
        .deltas("I will write the greeting into the file.")
        .after(2_000)
        .says(&json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Write", "input": input}]}}))
        .after(500)
        .says(&json!({"type": "control_request", "request_id": "r1", "request": {"subtype": "can_use_tool", "tool_name": "Write", "input": input, "tool_use_id": "toolu_1"}}))
        .after(1_500_000)
        .told(&json!({"type": "control_response", "response": {"subtype": "success", "request_id": "r1", "response": {"behavior": "allow", "updatedInput": input}}}))
        .after(20_000)
        .line(Channel::Err, "a warning <b>not bold</b>")
        .says(&json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "written"}]}}))
        .after(200_000)
        .says(&json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done.", "num_turns": 2, "total_cost_usd": 0.0123}))
        .after(100_000)
        .ended(0)
}

/// A page in a folder of its own.
pub(crate) struct Page {
    folder: TempDir,
}

impl Page {
    pub(crate) fn of(diagrams: &[Diagram]) -> Self {
        let made = Self { folder: tempfile::tempdir().unwrap() };
        page(File::create(made.file()).unwrap(), "session.tape", diagrams).unwrap();
        made
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("page.html")
    }

    /// Its address on the disk.
    pub(crate) fn address(&self) -> String {
        format!("file://{}", fs::canonicalize(self.file()).unwrap().display())
    }
}
