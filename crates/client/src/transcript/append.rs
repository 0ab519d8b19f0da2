//! Lines at the end of a file that somebody else may have been writing when it died.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// Writes whole lines at the end of a file that is opened for reading and appending, and says how
/// long it was before.
///
/// It is one write, so that it does not get into the middle of what a running CLI writes. After a
/// crash the last line may be torn; it stays so, and does not take these with it.
pub(crate) fn append_lines(file: &mut File, lines: &str) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let mut lines = Cow::Borrowed(lines);
    if !lines.ends_with('\n') {
        lines.to_mut().push('\n');
    }
    if last != *b"\n" {
        lines.to_mut().insert(0, '\n');
    }
    file.write_all(lines.as_bytes())?;
    Ok(length)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_torn_line_does_not_take_the_next_one_with_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (before, after) in [("", "x\n"), ("a\n", "a\nx\n"), ("a\n{\"tor", "a\n{\"tor\nx\n")] {
            fs::write(file.path(), before).unwrap();
            let mut open = File::options().read(true).append(true).open(file.path()).unwrap();
            assert_eq!(append_lines(&mut open, "x").unwrap(), before.len() as u64);
            assert_eq!(fs::read_to_string(file.path()).unwrap(), after);
        }
    }
}
