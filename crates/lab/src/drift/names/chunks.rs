//! A file, looked at piece by piece.

use std::io::{self, Read};

/// How a file is cut: into pieces of this size, each of which begins with the end of the one before
/// it, so that nothing shorter than the overlap is cut everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    pub(super) size: usize,
    pub(super) overlap: usize,
}

/// A piece of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    /// Nothing stands before it.
    pub(super) first: bool,
    /// Nothing stands behind it.
    pub(super) last: bool,
}

impl Chunks {
    /// What executables of some hundred megabytes are cut into.
    pub(super) const USUAL: Self = Self { size: 4 << 20, overlap: 16 << 10 };

    /// Into how many pieces so many bytes are cut, more or less.
    pub(super) fn count(self, bytes: u64) -> usize {
        let step = u64::try_from(self.size - self.overlap).unwrap_or(u64::MAX);
        usize::try_from(bytes / step).unwrap_or(usize::MAX).saturating_add(1)
    }

    /// Looks at each piece, and holds no more than one.
    pub(super) fn each(
        self,
        mut source: impl Read,
        mut look: impl FnMut(Chunk<'_>),
    ) -> io::Result<()> {
        let mut buffer = vec![0; self.size];
        let (mut filled, mut first) = (0, true);
        loop {
            let mut last = false;
            while let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) {
                match source.read(free) {
                    Ok(0) => {
                        last = true;
                        break;
                    }
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            look(Chunk { bytes: buffer.get(..filled).unwrap_or_default(), first, last });
            if last {
                return Ok(());
            }
            buffer.copy_within(filled - self.overlap..filled, 0);
            (filled, first) = (self.overlap, false);
        }
    }
}
