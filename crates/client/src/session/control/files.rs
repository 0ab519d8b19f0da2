//! Files of the workspace.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_protocol::Num;
use countersign_protocol::ids::MessageUuid;
use countersign_protocol::request::{
    FileSuggestion, FileSuggestions, GetWorkspaceDiff, GetWorkspaceDiffResponse, ReadFile,
    ReadFileResponse, RegisterRepoRoot, RewindFiles, RewindFilesResponse, SeedReadState,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// Files.
impl SessionHandle {
    /// Reads a file as the CLI sees it, if its rules let it be read. For bytes, or a part of the
    /// file, see [`ReadFile`]. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call); a file that does not exist is refused like one that may not be read.
    pub async fn read_file(
        &self,
        path: impl Into<String>,
    ) -> Result<ReadFileResponse, ControlError> {
        self.call(ReadFile::new(path)).await
    }

    /// The files that a few letters could mean, the best first. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn file_suggestions(
        &self,
        query: impl Into<String>,
    ) -> Result<Vec<FileSuggestion>, ControlError> {
        Ok(self.call(FileSuggestions::new(query)).await?.suggestions)
    }

    /// Has a file count as read by the model, so that it may edit it, unless the file was changed
    /// after `modified`. The CLI does not say whether it does. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn seed_read_state(
        &self,
        path: impl Into<String>,
        modified: SystemTime,
    ) -> Result<(), ControlError> {
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        // Whole milliseconds, as the CLI compares them.
        let mtime = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        self.call(SeedReadState::new(path, Num::from(mtime))).await.map(drop)
    }

    /// Puts files back to what they were when a message of the user was sent. Needs a session with
    /// [`file_checkpointing`](crate::SessionBuilder::file_checkpointing).
    ///
    /// What changes is told by [`preview_rewind_files`](Self::preview_rewind_files) only.
    ///
    /// # Errors
    /// As [`call`](Self::call); also when it cannot be done.
    pub async fn rewind_files(
        &self,
        message: impl Into<MessageUuid>,
    ) -> Result<RewindFilesResponse, ControlError> {
        self.call(RewindFiles::new(message)).await
    }

    /// Says whether [`rewind_files`](Self::rewind_files) can be done, and what it would change.
    ///
    /// # Errors
    /// As [`call`](Self::call). That it cannot be done is no error here.
    pub async fn preview_rewind_files(
        &self,
        message: impl Into<MessageUuid>,
    ) -> Result<RewindFilesResponse, ControlError> {
        self.call(RewindFiles::new(message).with_dry_run(true)).await
    }

    /// Adds a folder below the working folder, or below one of the builder's, to the workspace, and
    /// gives it as it was resolved. To have its memory, plugins and skills loaded as well, see
    /// [`RegisterRepoRoot`]. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call); also when the folder lies elsewhere, or is there already.
    pub async fn register_repo_root(
        &self,
        folder: impl Into<String>,
    ) -> Result<String, ControlError> {
        Ok(self.call(RegisterRepoRoot::new(folder)).await?.directory)
    }

    /// What changed in the workspace since the last commit, or why that cannot be told. From 2.1.325
    /// on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn workspace_diff(&self) -> Result<GetWorkspaceDiffResponse, ControlError> {
        self.call(GetWorkspaceDiff::new()).await
    }
}
