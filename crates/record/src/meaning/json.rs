//! Lines as JSON values.

use serde_json::Value;

/// Reads a line as JSON, if it is that.
///
/// A text of JavaScript can hold half of a surrogate pair, which JSON can write (`\ud83d`) and Rust
/// cannot hold. Such a half is read as the six characters it is written with, so that it is kept
/// and can be compared.
#[must_use]
pub fn parse_line(line: &[u8]) -> Option<Value> {
    let line = line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(line);
    match serde_json::from_slice(line) {
        Ok(value) => Some(value),
        Err(_) => serde_json::from_slice(&without_halves(line)?).ok(),
    }
}

/// The line with a second backslash before each half of a surrogate pair; nothing if it has none.
fn without_halves(line: &[u8]) -> Option<Vec<u8>> {
    let mut fixed = Vec::with_capacity(line.len() + 8);
    let mut changed = false;
    let mut rest = line;
    while let [first, after @ ..] = rest {
        if *first != b'\\' {
            fixed.push(*first);
            rest = after;
            continue;
        }
        let length = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                changed = true;
                fixed.push(b'\\');
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        let (escape, after) = rest.split_at(length.min(rest.len()));
        fixed.extend_from_slice(escape);
        rest = after;
    }
    changed.then_some(fixed)
}

/// The UTF-16 unit that is written here as an escape.
fn unit(text: &[u8]) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = text else { return None };
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_pair_is_kept_as_it_is_written() {
        for (line, value) in [
            (r#"{"a":"\ud83d\ude00"}"#, json!({"a": "😀"})),
            (r#"{"a":"\ud83d"}"#, json!({"a": "\\ud83d"})),
            (r#"{"a":"\ud83dx\\ud83d"}"#, json!({"a": "\\ud83dx\\ud83d"})),
            (r#"{"a":"\ude00\ud83d\ude00\n"}"#, json!({"a": "\\ude00😀\n"})),
            ("\u{FEFF}{}", json!({})),
        ] {
            assert_eq!(parse_line(line.as_bytes()), Some(value), "{line}");
        }
        for line in ["", "{", r#"{"a":"\ud83d"#, r#"{"a":"\u"#, "\\"] {
            assert_eq!(parse_line(line.as_bytes()), None, "{line}");
        }
    }
}
