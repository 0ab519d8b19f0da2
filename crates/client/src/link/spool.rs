//! The file that holds what nobody has read yet.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

/// A file without a name: it is gone when nobody holds it, whatever happens to this process.
#[derive(Debug, Clone)]
pub(crate) struct Spool {
    file: Arc<File>,
}

impl Spool {
    /// Makes the file, in this folder or in that for temporary files.
    pub(crate) fn create(folder: Option<&PathBuf>) -> io::Result<Self> {
        let file = match folder {
            Some(folder) => tempfile::tempfile_in(folder)?,
            None => tempfile::tempfile()?,
        };
        Ok(Self { file: Arc::new(file) })
    }

    /// Writes at a place in the file. Blocks, as files do.
    pub(crate) fn write(&self, at: u64, batches: &[Bytes]) -> io::Result<()> {
        let mut at = at;
        for batch in batches {
            self.file.write_all_at(batch, at)?;
            at += batch.len() as u64;
        }
        Ok(())
    }

    /// Reads from a place in the file. Blocks, as files do.
    pub(crate) fn read(&self, at: u64, length: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes.into())
    }

    /// Gives the room on the disk back.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.file.set_len(0)
    }
}
