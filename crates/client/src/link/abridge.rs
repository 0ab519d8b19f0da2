//! What is kept of a line that is too long to be kept.

use memchr::memchr2;

/// How long a field may be to be kept.
const FIELD: usize = 4 * 1024;

/// How much is kept of a line.
const WHOLE: usize = 16 * 1024;

/// How many objects within each other are gone through. What tells a frame from others is in the
/// outermost, and in the request or response within it.
const LEVELS: usize = 2;

/// Abridges an object as it passes by: its long fields are left out, wherever they stand, so that
/// the short ones still tell what it was.
///
/// Where the text breaks off, or is no JSON any more, the object ends after the last whole field.
#[derive(Debug, Default)]
pub(crate) struct Abridger {
    kept: Vec<u8>,
    at: At,
    /// How many objects are open in what is kept.
    open: usize,
    /// Where in what is kept the field begins that is being read.
    field: usize,
    /// Whether that field is left out.
    is_left_out: bool,
}

/// Where in the text it is.
#[derive(Debug, Default, Clone, Copy)]
enum At {
    /// Before the object.
    #[default]
    Start,
    /// Before a field, or after one.
    Between,
    Name {
        escaped: bool,
    },
    /// After the name of a field.
    Colon,
    /// In a value that is kept or left out as a whole, so many levels deep.
    Value {
        depth: usize,
    },
    /// In a string of such a value.
    Text {
        depth: usize,
        escaped: bool,
    },
    /// After the object, or where it is none.
    End,
}

impl Abridger {
    /// The next bytes of the line.
    pub(crate) fn pass(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = rest;
            self.at = self.step(byte);
            if let (At::Text { escaped: false, .. }, true) = (self.at, self.is_left_out) {
                // Nearly all of a long line is this.
                let skipped = memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                bytes = bytes.get(skipped..).unwrap_or_default();
            }
        }
    }

    /// The object without its long fields; empty if there is none.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if !matches!(self.at, At::Start | At::Between | At::End) {
            self.kept.truncate(self.field);
        }
        self.kept.extend(std::iter::repeat_n(b'}', self.open));
        self.kept
    }

    fn step(&mut self, byte: u8) -> At {
        match (self.at, byte) {
            (At::End, _) => At::End,
            (At::Start, b'{') => self.enter(),
            // A byte order mark may stand before it.
            (At::Start, b' ' | b'\t' | b'\r' | 0xEF | 0xBB | 0xBF) => At::Start,
            (At::Between, b' ' | b'\t' | b'\r' | b',') => At::Between,
            (At::Between, b'}') => self.leave(),
            (At::Between, b'"') => {
                self.field = self.kept.len();
                self.is_left_out = false;
                if self.kept.last() != Some(&b'{') {
                    self.keep(b',');
                }
                self.keep(b'"');
                At::Name { escaped: false }
            }
            (At::Name { escaped }, _) => {
                self.keep(byte);
                match byte {
                    b'"' if !escaped => At::Colon,
                    _ => At::Name { escaped: byte == b'\\' && !escaped },
                }
            }
            (At::Colon, b' ' | b'\t' | b'\r' | b':') => At::Colon,
            (At::Colon, _) => {
                self.keep(b':');
                if byte == b'{' && self.open < LEVELS && !self.is_left_out {
                    self.enter()
                } else {
                    self.value(byte, 0)
                }
            }
            (At::Value { depth: 0 }, b',' | b'}') => {
                self.at = At::Between;
                self.step(byte)
            }
            (At::Value { depth }, _) => self.value(byte, depth),
            (At::Text { depth, escaped }, _) => {
                self.keep(byte);
                match byte {
                    b'"' if !escaped => Self::after(depth),
                    _ => At::Text { depth, escaped: byte == b'\\' && !escaped },
                }
            }
            _ => {
                self.kept.truncate(self.field);
                At::End
            }
        }
    }

    fn enter(&mut self) -> At {
        self.kept.push(b'{');
        self.open += 1;
        At::Between
    }

    fn leave(&mut self) -> At {
        self.kept.push(b'}');
        self.open = self.open.saturating_sub(1);
        if self.open == 0 { At::End } else { At::Between }
    }

    fn value(&mut self, byte: u8, depth: usize) -> At {
        self.keep(byte);
        match byte {
            b'"' => At::Text { depth, escaped: false },
            b'{' | b'[' => At::Value { depth: depth + 1 },
            b'}' | b']' => Self::after(depth.saturating_sub(1)),
            _ => At::Value { depth },
        }
    }

    /// Where it is after a string, a list or an object that stands so deep in a value.
    const fn after(depth: usize) -> At {
        if depth == 0 { At::Between } else { At::Value { depth } }
    }

    /// Keeps a byte of the field that is being read, unless that gets too long.
    fn keep(&mut self, byte: u8) {
        if self.is_left_out {
            return;
        }
        if self.kept.len() - self.field >= FIELD || self.kept.len() >= WHOLE {
            self.kept.truncate(self.field);
            self.is_left_out = true;
        } else {
            self.kept.push(byte);
        }
    }
}

/// What [`Abridger`] makes of a whole line.
pub(crate) fn abridged(line: &[u8]) -> Vec<u8> {
    let mut abridger = Abridger::default();
    abridger.pass(line);
    abridger.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn text(line: &str) -> String {
        String::from_utf8(abridged(line.as_bytes())).unwrap()
    }

    #[test]
    fn short_fields_are_kept_wherever_they_stand() {
        let long = "x\\\"}{".repeat(3000);
        let line = format!(
            r#"{{"a":"{long}", "b" : {{"c":[{{"d":"{long}"}}],"e":"}}","f":1}} ,"{long}":2,"g":[1,{{"h":"]"}}],"type":"result"}}"#
        );
        assert!(serde_json::from_str::<Value>(&line).is_ok());
        assert_eq!(text(&line), r#"{"b":{"e":"}","f":1},"g":[1,{"h":"]"}],"type":"result"}"#);
    }

    #[test]
    fn a_line_that_breaks_off_or_is_no_object_leaves_what_can_be_read() {
        assert_eq!(text(r#"{"type":"result","n":5,"x":"#), r#"{"type":"result","n":5}"#);
        assert_eq!(text(r#"{"a":{"b":1,"c":"d"#), r#"{"a":{"b":1}}"#);
        assert_eq!(text(r#"{"a":1,"b":2,5,"c":3}"#), r#"{"a":1}"#);
        assert_eq!(text("no JSON at all"), "");
        assert_eq!(text("[1,2]"), "");
        assert_eq!(text("\u{FEFF} {\"a\":1}\r"), r#"{"a":1}"#);
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let many: Vec<_> = (0..100_000).map(|n| format!(r#""{n}":{{}}"#)).collect();
        let line = format!("{{{}}}", many.join(","));
        let kept = abridged(line.as_bytes());
        assert!(kept.len() <= WHOLE + 2 * LEVELS, "{}", kept.len());
        assert!(serde_json::from_slice::<Value>(&kept).is_ok());
    }

    /// Any value, not deep.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            r#"[a-c"\\{}\[\],: é]{0,12}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(r#"[a-c"\\}]{0,3}"#, inner, 0..4)
                    .prop_map(|fields| json!(fields)),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_short_stays_the_same(
            fields in proptest::collection::btree_map("[a-c\"]{0,3}", values(), 0..4),
        ) {
            let object = json!(fields);
            for line in [object.to_string(), serde_json::to_string_pretty(&object)?.replace('\n', " ")] {
                let kept: Value = serde_json::from_slice(&abridged(line.as_bytes()))?;
                prop_assert_eq!(&kept, &object);
            }
        }

        #[test]
        fn chunks_make_no_difference(line in r#"[{}\[\],:"\\ a1]{0,60}"#, size in 1..9_usize) {
            let mut abridger = Abridger::default();
            for chunk in line.as_bytes().chunks(size) {
                abridger.pass(chunk);
            }
            prop_assert_eq!(abridger.finish(), abridged(line.as_bytes()));
        }
    }
}
