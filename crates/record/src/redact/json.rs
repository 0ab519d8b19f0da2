//! Where the strings and numbers of a JSON text stand, and what holds them.
//!
//! The text is not parsed into values: what is not touched has to stay as it is, with its number
//! spellings, its key order and its escapes.

use std::ops::Range;

/// How deep a text may be nested. Deeper ones are looked at as plain text.
const MAX_DEPTH: usize = 512;

/// How many leaves a text may have. One with more is looked at as plain text: a line that is
/// nothing but brackets and digits must not take all memory.
const MAX_LEAVES: usize = 4 * 1024 * 1024;

/// A string, a key or a number in a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Where it stands; for strings and keys without the quotes.
    pub(super) span: Range<usize>,
    pub(super) kind: LeafKind,
    /// The key whose value this is part of, with nothing but arrays between the two. For a key:
    /// the key that holds its object.
    pub(super) holder: Option<usize>,
    /// The string that stands right before this one in the same array.
    pub(super) previous: Option<usize>,
}

impl Leaf {
    /// Whether this is a key of an object.
    pub(super) fn is_key(&self) -> bool {
        self.kind == LeafKind::Key
    }
}

/// What a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafKind {
    Key,
    Text,
    Number,
}

/// Finds all strings, keys and numbers of a text that is JSON, in order.
///
/// A text that is not JSON from its first to its last byte has none.
pub(super) fn leaves(text: &[u8]) -> Option<Vec<Leaf>> {
    let mut scanner = Scanner { text, at: 0, leaves: Vec::new(), open: Vec::new() };
    scanner.document()?;
    Some(scanner.leaves)
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    leaves: Vec<Leaf>,
    open: Vec<Container>,
}

/// An object or an array that is not closed yet.
#[derive(Clone, Copy)]
struct Container {
    object: bool,
    /// The key that holds the values of this container.
    holder: Option<usize>,
    /// The string that was the last element of this array.
    previous: Option<usize>,
}

impl Scanner<'_> {
    fn document(&mut self) -> Option<()> {
        self.value()?;
        while let Some(container) = self.open.last() {
            let object = container.object;
            if self.leaves.len() > MAX_LEAVES {
                return None;
            }
            match (self.token()?, object) {
                (b'}', true) | (b']', false) => {
                    self.open.pop();
                }
                (b',', _) => {
                    if object {
                        self.key()?;
                    }
                    self.value()?;
                }
                _ => return None,
            }
        }
        self.skip_space();
        (self.at == self.text.len()).then_some(())
    }

    /// Reads a value; of an object or array that is not empty, up to its first scalar.
    fn value(&mut self) -> Option<()> {
        loop {
            match self.token()? {
                b'{' => {
                    if !self.enter(true, b'}')? {
                        return Some(());
                    }
                    self.key()?;
                }
                b'[' => {
                    if !self.enter(false, b']')? {
                        return Some(());
                    }
                }
                b'"' => {
                    let span = self.string()?;
                    self.leaf(span, LeafKind::Text);
                    return Some(());
                }
                b'-' | b'0'..=b'9' => {
                    let span = self.number()?;
                    self.leaf(span, LeafKind::Number);
                    return Some(());
                }
                first => {
                    let word: &[u8] = match first {
                        b't' => b"rue",
                        b'f' => b"alse",
                        b'n' => b"ull",
                        _ => return None,
                    };
                    if !self.rest().starts_with(word) {
                        return None;
                    }
                    self.at += word.len();
                    self.forget_previous();
                    return Some(());
                }
            }
        }
    }

    /// Opens a container, after its bracket. False when it is empty, and closed already.
    fn enter(&mut self, object: bool, close: u8) -> Option<bool> {
        let holder = self.open.last().and_then(|outer| outer.holder);
        self.forget_previous();
        self.skip_space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Some(false);
        }
        if self.open.len() == MAX_DEPTH {
            return None;
        }
        self.open.push(Container { object, holder, previous: None });
        Some(true)
    }

    fn key(&mut self) -> Option<()> {
        if self.token()? != b'"' {
            return None;
        }
        let span = self.string()?;
        // What holds the object, not what holds the value before.
        let outer = self.open.len().checked_sub(2).and_then(|outer| self.open.get(outer));
        let holder = outer.and_then(|outer| outer.holder);
        let key = self.leaves.len();
        self.leaves.push(Leaf { span, kind: LeafKind::Key, holder, previous: None });
        self.open.last_mut()?.holder = Some(key);
        (self.token()? == b':').then_some(())
    }

    fn leaf(&mut self, span: Range<usize>, kind: LeafKind) {
        let leaf = self.leaves.len();
        let mut found = Leaf { span, kind, holder: None, previous: None };
        if let Some(container) = self.open.last_mut() {
            found.holder = container.holder;
            if !container.object {
                found.previous = container.previous;
                container.previous = (kind == LeafKind::Text).then_some(leaf);
            }
        }
        self.leaves.push(found);
    }

    fn forget_previous(&mut self) {
        if let Some(container) = self.open.last_mut() {
            container.previous = None;
        }
    }

    /// Reads a string after its quote, up to and with the closing one.
    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        loop {
            let stop =
                self.rest().iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
            self.at += stop;
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at - 1);
                }
                b'\\' => match self.rest().get(1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    b'u' => {
                        let digits = self.rest().get(2..6)?;
                        if !digits.iter().all(u8::is_ascii_hexdigit) {
                            return None;
                        }
                        self.at += 6;
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Reads a number after its first byte.
    fn number(&mut self) -> Option<Range<usize>> {
        let start = self.at - 1;
        self.at = start + usize::from(self.text.get(start) == Some(&b'-'));
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(start..self.at)
    }

    /// Reads digits, one at least.
    fn digits(&mut self) -> Option<()> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn token(&mut self) -> Option<u8> {
        self.skip_space();
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every leaf with the path of keys to it, and the string before it.
    fn paths(text: &str) -> Vec<String> {
        let leaves = leaves(text.as_bytes()).unwrap();
        let word = |leaf: &Leaf| text[leaf.span.clone()].to_owned();
        leaves
            .iter()
            .map(|leaf| {
                let mut path = vec![word(leaf)];
                let mut holder = leaf.holder;
                while let Some(key) = holder {
                    path.insert(0, word(&leaves[key]));
                    holder = leaves[key].holder;
                }
                let previous = leaf.previous.map(|at| word(&leaves[at])).unwrap_or_default();
                format!("{}<{previous}", path.join("."))
            })
            .collect()
    }

    #[test]
    fn leaves_know_what_holds_them() {
        assert_eq!(
            paths(
                r#" {"a":{"b":["x","y",1,"z",[]],"c":2e-1},"d":null,"e":"","f":[["q"],"r","s"]} "#
            ),
            [
                "a<",
                "a.b<",
                "a.b.x<",
                "a.b.y<x",
                "a.b.1<y",
                "a.b.z<",
                "a.c<",
                "a.c.2e-1<",
                "d<",
                "e<",
                "e.<",
                "f<",
                "f.q<",
                "f.r<",
                "f.s<r"
            ]
        );
        assert_eq!(paths(r#""\"""#), [r#"\"<"#]);
        assert_eq!(paths("[{},[]]"), [""; 0]);
    }

    #[test]
    fn what_is_not_json_has_no_leaves() {
        for text in [
            "",
            "{",
            "}",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{,}",
            "[1 2]",
            "01",
            "1.",
            "-",
            "+1",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "tru",
            "true false",
            "{1:2}",
            "[1}",
            "1e",
            "{\"a\":1]",
        ] {
            assert_eq!(leaves(text.as_bytes()), None, "{text}");
        }
        assert_eq!(leaves("[".repeat(100_000).as_bytes()), None);
    }

    #[test]
    fn it_agrees_with_serde_json_on_what_is_json() {
        for text in ["-0.5E+7", "[-0,0,10,1e9]", r#"{"":{"":[]}}"#, "\ttrue\r\n", r#""\ud800""#] {
            assert!(leaves(text.as_bytes()).is_some(), "{text}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
        }
    }
}
