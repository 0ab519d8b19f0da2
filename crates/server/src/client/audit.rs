//! Who decided what.

use std::collections::VecDeque;
use std::fmt;

use http::Method;

use super::call::{Call, refusal};
use super::{Client, ClientError};
use crate::api::view::ListAudit;
use crate::outgoing::Pieces;
use crate::store::{AuditEntry, Page};

/// How long the reason may be why there is no stream.
pub(super) const LONGEST_REASON: usize = 8 << 20;

impl Client {
    /// Who decided what, when, from where and exactly how, newest first.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn audit(&self, wanted: &ListAudit) -> Result<Page<AuditEntry>, ClientError> {
        self.call(Call::get("/audit").query(wanted)?).await
    }

    /// The whole audit, or what of it fits, newest first, as it comes: it can be longer than memory.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn export_audit(&self, wanted: &ListAudit) -> Result<AuditExport, ClientError> {
        let mut ask = self.0.bare(Method::GET, "/audit/export", "application/x-ndjson");
        Call::get("").query(wanted)?.put_into(&mut ask);
        let answer = self.0.outgoing.open(ask).await?;
        let (parts, pieces) = answer.into_parts();
        if !parts.status.is_success() {
            let reason = pieces.rest(LONGEST_REASON).await?;
            return Err(refusal(parts.status, &parts.headers, &reason));
        }
        let most = self.0.limits.body;
        Ok(AuditExport { pieces, line: Vec::new(), ready: VecDeque::new(), most, is_over: false })
    }
}

/// The audit, entry by entry.
pub struct AuditExport {
    pieces: Pieces,
    /// The line that is not over yet.
    line: Vec<u8>,
    ready: VecDeque<AuditEntry>,
    most: usize,
    is_over: bool,
}

impl AuditExport {
    /// The next entry; none after the last. It can be dropped while it waits, and nothing is lost.
    ///
    /// # Errors
    /// When the connection is lost, so that entries are missing, or one cannot be read.
    pub async fn next(&mut self) -> Result<Option<AuditEntry>, ClientError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Ok(Some(entry));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.pieces.next().await? {
                Some(piece) => self.take(&piece)?,
                None => {
                    self.is_over = true;
                    self.end_of_line()?;
                }
            }
        }
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), ClientError> {
        let mut lines = piece.split(|byte| *byte == b'\n');
        if let Some(rest) = lines.next() {
            self.line.extend_from_slice(rest);
        }
        for begun in lines {
            self.end_of_line()?;
            self.line.extend_from_slice(begun);
        }
        if self.line.len() > self.most {
            return Err(ClientError::TooLong { most: self.most });
        }
        Ok(())
    }

    fn end_of_line(&mut self) -> Result<(), ClientError> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Ok(());
        }
        let entry = serde_json::from_slice(&line)
            .map_err(|source| ClientError::Unreadable { what: "an entry of the audit", source })?;
        self.ready.push_back(entry);
        Ok(())
    }
}

impl fmt::Debug for AuditExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditExport").finish_non_exhaustive()
    }
}
