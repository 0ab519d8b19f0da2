//! What is read from files, or from standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign::protocol::RawJson;
use countersign_server::session::Image;

use crate::failure::{Exit, Failure};

/// The text of a file, or of standard input for `-`.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    let failed =
        |error| Failure::new(format!("cannot read {}: {error}", path.display())).code(Exit::Usage);
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// A JSON object in a file, or on standard input for `-`.
pub(crate) fn object(path: &Path) -> Result<RawJson, Failure> {
    let text = text(path)?;
    let wrong = |why: String| {
        Failure::new(format!("{} has no JSON object in it: {why}", path.display()))
            .code(Exit::Usage)
    };
    let value: RawJson = text.trim().parse().map_err(|error| wrong(format!("{error}")))?;
    if value.is_object() { Ok(value) } else { Err(wrong("it is something else".to_owned())) }
}

/// Words of the command line, or those of standard input for `-`.
pub(crate) fn words(given: &str) -> Result<String, Failure> {
    let words = if given == "-" { text(Path::new("-"))? } else { given.to_owned() };
    if words.trim().is_empty() {
        return Err(Failure::new("there is nothing to say").code(Exit::Usage));
    }
    Ok(words)
}

/// Pictures.
pub(crate) fn images(paths: &[PathBuf]) -> Result<Vec<Image>, Failure> {
    paths.iter().map(|path| image(path)).collect()
}

fn image(path: &Path) -> Result<Image, Failure> {
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::new(format!("cannot read {}: {error}", path.display())).code(Exit::Usage)
    })?;
    let media_type = kind(&bytes).ok_or_else(|| {
        Failure::new(format!("{} is no picture that the model can see", path.display()))
            .hint("PNG, JPEG, GIF and WebP are.")
            .code(Exit::Usage)
    })?;
    Ok(Image { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) })
}

/// What a picture is, by how it begins: names are often wrong, and the whole conversation would be
/// refused with it.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn pictures_are_known_by_how_they_begin() {
        assert_eq!(kind(b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(kind(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(kind(b"GIF89a"), Some("image/gif"));
        assert_eq!(kind(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(kind(b"<svg xmlns"), None);
        assert_eq!(kind(b""), None);
    }
}
