//! The editor of the person, for what is too long for a line.

use std::io::{self, Read as _, Write as _};

/// Lets the person edit a text. None if the editor said that it failed.
///
/// The terminal has to be given away before.
pub(crate) fn edit(text: &str, suffix: &str) -> io::Result<Option<String>> {
    let mut file = tempfile::Builder::new().prefix("countersign-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    // The value may have arguments and quotes, which a shell understands.
    #[expect(clippy::disallowed_methods, reason = "it is waited for, and belongs to the person")]
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .status()?;
    if !status.success() {
        return Ok(None);
    }
    let mut edited = String::new();
    // By its name: many editors put another file in its place.
    std::fs::File::open(file.path())?.read_to_string(&mut edited)?;
    Ok(Some(edited))
}
