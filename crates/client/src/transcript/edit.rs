//! Changes to a session: lines at the end of its transcript, and files beside it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use countersign_protocol::ids::SessionId;
use jiff::Timestamp;
use serde_json::json;

use super::append::append_lines;
use super::error::{TranscriptError, io_error};
use super::files::Located;
use super::info::ARCHIVED;

/// The line that gives a session a title.
pub(crate) fn title_line(session: &SessionId, title: &str) -> Result<String, TranscriptError> {
    let title = title.trim();
    if title.is_empty() {
        return Err(TranscriptError::Empty { what: "title" });
    }
    let line = json!({"type": "custom-title", "customTitle": title, "sessionId": session});
    Ok(line.to_string())
}

/// The line that gives a session a tag, or takes it away.
pub(crate) fn tag_line(session: &SessionId, tag: Option<&str>) -> Result<String, TranscriptError> {
    let tag = tag.map(|tag| tag.chars().filter(|c| !is_invisible(*c)).collect::<String>());
    let tag = tag.as_deref().map(str::trim);
    if tag == Some("") {
        return Err(TranscriptError::Empty { what: "tag" });
    }
    // Readers look for the type at the beginning of the line.
    let (tag, session) = (json!(tag.unwrap_or_default()), json!(session));
    Ok(format!(r#"{{"type":"tag","tag":{tag},"sessionId":{session}}}"#))
}

/// Whether a character can hide in a tag: two tags that look the same should be the same.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e007f}' | '\u{f0000}'..='\u{10ffff}')
}

/// Writes a line at the end of a transcript.
pub(super) fn append(transcript: &Path, line: &str) -> Result<(), TranscriptError> {
    let failed = || io_error("append to", transcript);
    let mut file = OpenOptions::new().read(true).append(true).open(transcript).map_err(failed())?;
    append_lines(&mut file, line).map_err(failed())?;
    file.sync_data().map_err(failed())
}

/// Notes that a session is in the archive, or not.
pub(super) fn archive(files: &Located, archived: bool) -> Result<(), TranscriptError> {
    let file = files.folder.join(ARCHIVED);
    let at = format!("{:.3}", Timestamp::now());
    let note = json!({"archived": archived, "at": at, "by": "countersign"});
    fs::create_dir_all(&files.folder).map_err(io_error("create", &files.folder))?;
    let mut temporary =
        tempfile::NamedTempFile::new_in(&files.folder).map_err(io_error("write", &file))?;
    temporary.write_all(note.to_string().as_bytes()).map_err(io_error("write", &file))?;
    temporary.persist(&file).map_err(|error| io_error("write", &file)(error.error))?;
    Ok(())
}

/// Removes the transcript of a session and the folder beside it.
pub(super) fn delete(files: &Located) -> Result<(), TranscriptError> {
    fs::remove_file(&files.transcript).map_err(io_error("remove", &files.transcript))?;
    match fs::remove_dir_all(&files.folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_error("remove", &files.folder)(error))
        }
        _ => Ok(()),
    }
}
