//! What a transcript says of a call.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::PathBuf;

use countersign_protocol::RawJson;
use countersign_protocol::ids::{MessageUuid, ToolUseId};

use crate::transcript::{EntryMessage, Fields, LineReader};

/// What an entry of a transcript has in common with the one before.
const SAME: [&str; 7] =
    ["timestamp", "sessionId", "cwd", "version", "userType", "entrypoint", "gitBranch"];

/// Looks through a transcript for one call, and again for what was added since.
#[derive(Debug)]
pub(super) struct Look {
    transcript: PathBuf,
    /// Where what was not read yet begins.
    offset: u64,
    scan: Scan,
}

/// What the lines of a transcript say of one call.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    call: ToolUseId,
    /// The message that would tell the model what was decided.
    told: MessageUuid,
    /// The message of the model that makes the call.
    message: Option<String>,
    /// The last line of it, as far as it counts for a line that follows it.
    pub(super) parent: Option<Parent>,
    /// Other calls of it without a result.
    pub(super) siblings: Vec<String>,
    /// Whether the call has a result, or the model was told what was decided.
    pub(super) is_done: bool,
    /// The mark that counts, if it is one for the call.
    pub(super) marked: Option<Marked>,
}

/// A mark: what the CLI will ask for.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    pub(super) tool: Option<String>,
    pub(super) input: Option<RawJson>,
}

/// What a line that follows another has of it.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    pub(super) uuid: Option<RawJson>,
    pub(super) same: BTreeMap<&'static str, RawJson>,
}

impl Look {
    pub(super) fn new(transcript: PathBuf, call: ToolUseId, told: MessageUuid) -> Self {
        Self { transcript, offset: 0, scan: Scan::new(call, told) }
    }

    /// Reads what was added since the last look, and says what is known now.
    pub(super) fn again(&mut self) -> io::Result<&Scan> {
        let mut file = File::open(&self.transcript)?;
        if file.metadata()?.len() < self.offset {
            // Another file has taken its place.
            self.offset = 0;
            self.scan = Scan::new(self.scan.call.clone(), self.scan.told.clone());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut lines = LineReader::new(BufReader::with_capacity(256 * 1024, file));
        while let Some(line) = lines.next()? {
            self.scan.line(&line.text);
        }
        // A line without an end is read again: the rest of it may come.
        self.offset += lines.ended();
        Ok(&self.scan)
    }
}

impl Scan {
    pub(super) fn new(call: ToolUseId, told: MessageUuid) -> Self {
        Self {
            call,
            told,
            message: None,
            parent: None,
            siblings: Vec::new(),
            is_done: false,
            marked: None,
        }
    }

    /// Takes a line in; the same line twice is the same as once. What cannot be read is not what
    /// is looked for.
    pub(super) fn line(&mut self, line: &str) {
        let Some(fields) = Fields::parse(line) else { return };
        match fields.text("type").as_deref() {
            Some("assistant") => self.assistant(&fields),
            Some("user") => {
                self.is_done |= fields.id("uuid").as_deref() == Some(self.told.as_str());
                for done in EntryMessage::read(&fields).results() {
                    self.is_done |= done == self.call.as_str();
                    self.siblings.retain(|call| call != done);
                }
            }
            Some("attachment") => {
                let attachment = fields.raw("attachment").and_then(Fields::parse);
                let deferred = attachment
                    .filter(|fields| fields.id("type").as_deref() == Some("hook_deferred_tool"));
                if let Some(fields) = deferred
                    && let Some(call) = fields.id("toolUseID")
                {
                    let input = fields.raw("toolInput").and_then(|raw| raw.parse().ok());
                    let tool = fields.text("toolName").map(|tool| tool.to_string());
                    let is_it = call == self.call.as_str();
                    self.marked = is_it.then_some(Marked { tool, input });
                }
            }
            _ => {}
        }
    }

    fn assistant(&mut self, fields: &Fields<'_>) {
        let message = EntryMessage::read(fields);
        let has_call = message.calls().any(|call| call == self.call.as_str());
        if self.message != message.id || self.message.is_none() {
            if self.parent.is_some() && !has_call {
                // A later message: the call is in the past.
                return;
            }
            self.message.clone_from(&message.id);
            self.siblings.clear();
        }
        let others = message.calls().filter(|call| *call != self.call.as_str());
        self.siblings.extend(others.map(str::to_owned));
        if has_call || self.parent.is_some() {
            let json = |name| fields.raw(name).and_then(|raw| raw.parse::<RawJson>().ok());
            let same = SAME.into_iter().filter_map(|name| Some((name, json(name)?)));
            self.parent = Some(Parent { uuid: json("uuid"), same: same.collect() });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    const CALL: &str = r#"{"type":"assistant","uuid":"a","cwd":"/w","message":{"id":"m","content":[{"type":"tool_use","id":"toolu_1","input":{}}]}}"#;

    fn look(file: &tempfile::NamedTempFile) -> Look {
        Look::new(file.path().to_owned(), ToolUseId::from("toolu_1"), MessageUuid::from("told"))
    }

    #[test]
    fn only_what_was_added_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut look = look(&file);
        writeln!(file, "{CALL}").unwrap();
        assert!(look.again().unwrap().parent.is_some());
        // The same length, and nothing of it can be read.
        let before = file.as_file().metadata().unwrap().len();
        fs::write(file.path(), "x".repeat(usize::try_from(before).unwrap() - 1) + "\n").unwrap();
        let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1"}]}}"#;
        let (first, rest) = result.split_at(40);
        let mut file = File::options().append(true).open(file.path()).unwrap();
        write!(file, "{first}").unwrap();
        let scan = look.again().unwrap();
        assert!(scan.parent.is_some() && !scan.is_done);
        write!(file, "{rest}").unwrap();
        assert!(look.again().unwrap().is_done);
    }

    #[test]
    fn another_file_is_read_from_its_beginning() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut look = look(&file);
        writeln!(file, "{CALL}").unwrap();
        assert!(look.again().unwrap().parent.is_some());
        fs::write(file.path(), "{}\n").unwrap();
        assert!(look.again().unwrap().parent.is_none());
    }

    /// JavaScript writes half of a surrogate pair as an escape, and nests as deep as it likes.
    #[test]
    fn what_serde_refuses_does_not_hide_a_call() {
        let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
        for text in [r#""half a pair \ud83d""#.to_owned(), deep] {
            let line = CALL.replace(
                r#""content":["#,
                &format!(r#""content":[{{"type":"text","text":{text}}},"#),
            );
            let mut scan = Scan::new(ToolUseId::from("toolu_1"), MessageUuid::from("told"));
            scan.line(&line);
            let parent = scan.parent.unwrap();
            assert_eq!(parent.uuid.unwrap().as_str(), r#""a""#);
            assert_eq!(parent.same["cwd"].as_str(), r#""/w""#);
        }
    }
}
