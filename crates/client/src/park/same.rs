//! Whether two inputs of a tool mean the same.

use std::collections::BTreeMap;

use countersign_protocol::RawJson;

/// How deep an input is looked into. What lies deeper counts as it is spelled.
const DEPTH: usize = 100;

/// The input of a call in one spelling for all that mean the same: the order of keys, the space between
/// them and the escapes in texts do not count.
///
/// Numbers are kept as they are spelled. Two that a float cannot hold apart are two.
#[must_use]
pub fn canonical_input(input: &RawJson) -> String {
    let mut text = String::with_capacity(input.as_str().len());
    write(input, 0, &mut text);
    text
}

/// Whether two inputs mean the same.
pub(super) fn is_same(one: &RawJson, other: &RawJson) -> bool {
    one == other || canonical_input(one) == canonical_input(other)
}

fn write(json: &RawJson, depth: usize, text: &mut String) {
    let spelled = json.as_str().trim();
    if depth > DEPTH || written(json, spelled, depth, text).is_none() {
        text.push_str(spelled);
    }
}

/// None when it is to be kept as it is spelled; nothing is written then.
fn written(json: &RawJson, spelled: &str, depth: usize, text: &mut String) -> Option<()> {
    match spelled.as_bytes().first()? {
        b'{' => {
            let fields: BTreeMap<String, RawJson> = json.decode().ok()?;
            text.push('{');
            for (number, (name, value)) in fields.iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                // What is a text can be written as one.
                text.push_str(&serde_json::to_string(name).unwrap_or_default());
                text.push(':');
                write(value, depth + 1, text);
            }
            text.push('}');
        }
        b'[' => {
            let items: Vec<RawJson> = json.decode().ok()?;
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                write(item, depth + 1, text);
            }
            text.push(']');
        }
        b'"' => {
            let said: String = json.decode().ok()?;
            text.push_str(&serde_json::to_string(&said).ok()?);
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        text.parse().unwrap()
    }

    #[test]
    fn the_spelling_does_not_count() {
        let one = raw(r#"{"b": [1, {"d":null,"c":true}], "a": "\u0041/é"}"#);
        let other = raw(r#"{"a":"A\/\u00e9","b":[1,{"c":true,"d":null}]}"#);
        assert!(is_same(&one, &other), "{}", canonical_input(&one));
        assert_eq!(canonical_input(&one), r#"{"a":"A/é","b":[1,{"c":true,"d":null}]}"#);
    }

    #[test]
    fn what_means_something_else_is_not_the_same() {
        let different = [
            (r#"{"a":1}"#, r#"{"a":2}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"["a","b"]"#, r#"["b","a"]"#),
            // A float holds neither apart, and they have the same digits.
            ("[100000000000000000001]", "[100000000000000000010]"),
            ("[0.10000000000000000012]", "[0.10000000000000000021]"),
            (r#"{"a":"x","b":"y"}"#, r#"{"a":"x\",\"b\":\"y"}"#),
        ];
        for (one, other) in different {
            assert!(!is_same(&raw(one), &raw(other)), "{one} {other}");
        }
    }

    #[test]
    fn what_cannot_be_read_counts_as_it_is_spelled() {
        let deep = format!("{}1{}", "[".repeat(DEPTH + 9), "]".repeat(DEPTH + 9));
        assert!(is_same(&raw(&deep), &raw(&deep)));
        let (half, other) = (raw(r#"{"a":"\ud83d"}"#), raw(r#"{"a":"\ud83e"}"#));
        assert!(is_same(&half, &half) && !is_same(&half, &other));
    }
}
