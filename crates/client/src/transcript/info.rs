//! What is known about a session without reading all of it.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use countersign_protocol::ids::SessionId;
use jiff::Timestamp;

use super::digest::Digest;
use super::fields::Fields;
use super::files::Located;
use super::project::ProjectKey;

/// How much is read at the beginning and at the end of a transcript.
const WINDOW: u64 = 64 << 10;

/// What a list shows of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session.
    pub session_id: SessionId,
    /// What stands for it in a list: the title, else the last prompt, else a summary that the CLI
    /// wrote, else the first prompt.
    pub summary: String,
    /// When something was last written to it.
    pub last_modified: Timestamp,
    /// How large the transcript is, in bytes. A session store does not say.
    pub file_size: Option<u64>,
    /// The title: that of the user, else that of the CLI.
    pub custom_title: Option<String>,
    /// The first prompt of a person, shortened.
    pub first_prompt: Option<String>,
    /// The git branch at the end.
    pub git_branch: Option<String>,
    /// The working folder at the beginning.
    pub cwd: Option<PathBuf>,
    /// The tag.
    pub tag: Option<String>,
    /// When the first entry was written.
    pub created_at: Option<Timestamp>,
    /// Whether it was put into the archive.
    pub archived: bool,
    /// What started the CLI, such as `cli` for the terminal; those of programs begin with `sdk`.
    pub entrypoint: Option<String>,
    /// The project it is kept under.
    pub project: ProjectKey,
}

impl SessionInfo {
    /// Whether a program started it, not a person at a terminal.
    #[must_use]
    pub fn is_programmatic(&self) -> bool {
        self.entrypoint.as_deref().is_some_and(|entrypoint| entrypoint.starts_with("sdk"))
    }

    /// What a digest says; nothing for a session that a list does not show.
    pub(crate) fn from_digest(
        session_id: SessionId,
        project: ProjectKey,
        last_modified: Timestamp,
        digest: Digest,
    ) -> Option<Self> {
        if digest.is_sidechain == Some(true) {
            return None;
        }
        Some(Self {
            session_id,
            summary: digest.summary()?.to_owned(),
            last_modified,
            file_size: None,
            custom_title: digest.title().map(ToOwned::to_owned),
            first_prompt: digest.first_prompt().map(ToOwned::to_owned),
            created_at: digest.created_at.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
            git_branch: digest.git_branch.filter(|branch| !branch.is_empty()),
            cwd: digest.cwd.map(PathBuf::from),
            tag: digest.tag,
            archived: false,
            entrypoint: digest.entrypoint,
            project,
        })
    }
}

/// Reads the beginning and the end of a transcript. Nothing for one that a list does not show:
/// that of a sub-agent, or one in which nobody said anything.
pub(super) fn read(session: &SessionId, files: &Located) -> io::Result<Option<SessionInfo>> {
    let metadata = fs::metadata(&files.transcript)?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(None);
    }
    let digest = digest(&files.transcript)?;
    let name = files.project.file_name().unwrap_or_default().to_string_lossy();
    let Some(project) = ProjectKey::from_name(&name) else { return Ok(None) };
    let modified = modified(&metadata);
    let info = SessionInfo::from_digest(session.clone(), project, modified, digest);
    Ok(info.map(|info| SessionInfo {
        file_size: Some(metadata.len()),
        archived: is_archived(&files.folder.join(ARCHIVED)),
        ..info
    }))
}

/// The file that says whether a session is in the archive.
pub(super) const ARCHIVED: &str = "archived.json";

pub(super) fn modified(metadata: &fs::Metadata) -> Timestamp {
    let time = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or(Timestamp::UNIX_EPOCH)
}

fn is_archived(file: &Path) -> bool {
    // The CLI does not read a larger one either.
    const LARGEST: u64 = 4096;
    let small = fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
    let text = if small { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
    Fields::parse(text.trim()).is_some_and(|fields| fields.is_true("archived"))
}

/// Gathers what stands in the first and in the last 64 KiB.
pub(crate) fn digest(transcript: &Path) -> io::Result<Digest> {
    let mut file = File::open(transcript)?;
    let mut digest = Digest::default();
    let size = file.metadata()?.len();
    // What is appended meanwhile is not of interest, and must not be read without end.
    let whole = size <= 2 * WINDOW;
    let head = read_window(&mut file, if whole { 2 * WINDOW } else { WINDOW })?;
    let (lines, rest) = head.rsplit_once('\n').unwrap_or(("", &head));
    for line in lines.split('\n') {
        digest.add(line);
    }
    if whole {
        digest.add(rest);
        return Ok(digest);
    }
    digest.add_cut(rest);
    file.seek(SeekFrom::Start(size - WINDOW))?;
    let tail = read_window(&mut file, WINDOW)?;
    // The first line of the end is cut, too, and begins nowhere.
    for line in tail.split('\n').skip(1) {
        digest.add(line);
    }
    Ok(digest)
}

fn read_window(file: &mut File, length: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
