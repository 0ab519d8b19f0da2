//! JSON as the CLI writes it, as values.

use countersign_protocol::RawJson;
use serde_json::Value;

/// A JSON text as a value.
///
/// JavaScript writes half of a surrogate pair, which no text here can hold: it becomes U+FFFD. None if it
/// cannot be read for another reason, as when it is too deep.
#[must_use]
pub fn value(json: &RawJson) -> Option<Value> {
    read(json.as_str()).map(|(value, _)| value)
}

/// The same, and whether all of it could be kept.
#[must_use]
pub fn read(json: &str) -> Option<(Value, bool)> {
    match serde_json::from_str(json) {
        Ok(value) => Some((value, true)),
        Err(_) => serde_json::from_str(&mended(json)).ok().map(|value| (value, false)),
    }
}

/// It, with a character for each half of a pair.
fn mended(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
        text.push_str(plain);
        let length = match unit(escape) {
            Some(0xd800..=0xdbff) => {
                let is_pair = escape.get(6..).and_then(unit).is_some_and(is_low);
                if is_pair { 12 } else { 0 }
            }
            Some(low) if is_low(low) => 0,
            // What stands behind a backslash is not the beginning of an escape.
            _ => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        text.push_str(if length == 0 {
            "\\ufffd"
        } else {
            escape.get(..length).unwrap_or_default()
        });
        rest = escape.get(if length == 0 { 6 } else { length }..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

const fn is_low(unit: u16) -> bool {
    matches!(unit, 0xdc00..=0xdfff)
}

/// The number of the escape that a text begins with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_pair_becomes_one_character() {
        let read = |text| read(text).unwrap();
        assert_eq!(read(r#"{"a":"\ud83d","b":1}"#), (json!({"a": "\u{fffd}", "b": 1}), false));
        assert_eq!(read(r#"["\udc00\ud83d\ude00\\ud800"]"#), (json!(["\u{fffd}😀\\ud800"]), false));
        assert_eq!(read(r#"["\ud800\ud800x\u00e9\n"]"#), (json!(["\u{fffd}\u{fffd}xé\n"]), false));
        assert_eq!(super::read("{"), None);
    }

    proptest! {
        #[test]
        fn any_text_of_units_is_read(units in prop::collection::vec(prop_oneof![any::<u16>(), 0xd7f0_u16..0xe010], 0..20)) {
            let json: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let (read, _) = read(&format!("\"{json}\"")).unwrap();
            prop_assert_eq!(read, json!(String::from_utf16_lossy(&units)));
        }
    }
}
