//! What a redactor put in the place of something.

use super::sort::is_word_byte;

/// The placeholder that begins here.
pub(crate) fn at(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    if text.get(..at)?.bytes().next_back().is_some_and(|b| is_word_byte(b) || b == b'-') {
        return None;
    }
    let length = match rest.as_bytes().first()? {
        b'r' => redacted(rest)?,
        b'u' => {
            let length = numbered(rest, "user-")?;
            rest.get(length..)?.strip_prefix("@example.invalid")?;
            length + "@example.invalid".len()
        }
        b'/' => numbered(rest, "/home/user-").or_else(|| numbered(rest, "/Users/user-"))?,
        _ => return None,
    };
    let after = rest.as_bytes().get(length);
    if after.is_some_and(|&b| is_word_byte(b)) {
        return None;
    }
    rest.get(..length)
}

/// The length of the prefix with the number after it.
fn numbered(text: &str, prefix: &str) -> Option<usize> {
    let rest = text.strip_prefix(prefix)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then_some(prefix.len() + digits)
}

/// The length of `redacted-`, the name of a kind, and a number.
fn redacted(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("redacted-")?;
    let length =
        rest.bytes().take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
    let word = rest.get(..length.count())?;
    let (kind, number) = word.rsplit_once('-')?;
    let whole =
        !kind.is_empty() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    whole.then_some("redacted-".len() + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_words() {
        for (text, length) in [
            ("redacted-api-key-1", Some(18)),
            ("redacted-api-key-12 and more", Some(19)),
            ("redacted-api-key", None),
            ("redacted-1", None),
            ("/home/user-1/project", Some(12)),
            ("/home/user-1x", None),
            ("/home/user/project", None),
            ("user-1@example.invalid", Some(22)),
            ("user-1@example.com", None),
            ("user-1", None),
        ] {
            assert_eq!(at(text, 0).map(str::len), length, "{text}");
        }
        assert_eq!(at("xredacted-api-key-1", 1), None);
    }
}
