//! Server-sent events, as they come over the wire.
//!
//! Bytes go in as they come, in pieces of any length, and events come out. What a stream may look like
//! is said in the HTML standard, "Interpreting an event stream".

use std::collections::VecDeque;
use std::time::Duration;

use thiserror::Error;

/// What stood between two empty lines. Comments are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// What kind of event it is.
    pub(super) event: Option<String>,
    /// The lines of data, joined.
    pub(super) data: Option<String>,
    /// What whoever reconnects goes on after.
    pub(super) id: Option<String>,
    /// How long to wait before one reconnects.
    pub(super) retry: Option<Duration>,
}

/// An event is longer than anybody wants to read.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("an event of the stream is longer than {0} bytes")]
pub(super) struct TooLong(pub(super) usize);

/// Takes a stream apart.
#[derive(Debug)]
pub(super) struct Parser {
    most: usize,
    /// The line that is not over yet.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    /// Whether no line is over yet. A byte order mark may stand before the first one.
    is_first: bool,
    block: Block,
    /// How long the block is, without the line that is not over.
    length: usize,
    ready: VecDeque<Block>,
}

impl Parser {
    /// A parser for a stream from its beginning, in which no event is longer than this.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            after_return: false,
            is_first: true,
            block: Block { event: None, data: None, id: None, retry: None },
            length: 0,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next bytes. After an error there is nothing more to be had.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), TooLong> {
        loop {
            if self.after_return && !bytes.is_empty() {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
                self.after_return = false;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let (before, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.length + self.line.len() + before.len() > self.most {
                return Err(TooLong(self.most));
            }
            self.line.extend_from_slice(before);
            let Some((end, rest)) = rest.split_first() else { return Ok(()) };
            self.end_of_line();
            self.after_return = *end == b'\r';
            bytes = rest;
        }
    }

    /// The next event that is whole.
    pub(super) fn next(&mut self) -> Option<Block> {
        self.ready.pop_front()
    }

    fn end_of_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut line = &*line;
        if std::mem::take(&mut self.is_first) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let block = std::mem::take(&mut self.block);
            self.length = 0;
            if block != Block::default() {
                self.ready.push_back(block);
            }
            return;
        }
        // A line never ends inside a character, so nothing is lost by looking at it alone.
        let line = String::from_utf8_lossy(line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        self.field(name, value);
    }

    fn field(&mut self, name: &str, value: &str) {
        let block = &mut self.block;
        match name {
            "event" => block.event = Some(value.to_owned()),
            "data" => match &mut block.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => block.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => block.id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                block.retry = value.parse().ok().map(Duration::from_millis);
            }
            // Comments have no name; other fields are for others.
            _ => return,
        }
        self.length += value.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{Block, Parser, TooLong};

    fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Block> {
        let mut parser = Parser::new(1 << 20);
        let mut blocks = Vec::new();
        for piece in pieces {
            parser.feed(piece).unwrap();
            blocks.extend(std::iter::from_fn(|| parser.next()));
        }
        blocks
    }

    fn data(text: &str) -> Block {
        Block { data: Some(text.to_owned()), ..Block::default() }
    }

    #[test]
    fn an_event_has_a_kind_an_id_and_data() {
        let text = ": a comment\nid: 7\nevent: turn.began\ndata: {\"a\":1}\nretry: 1500\n\n";
        let block = Block {
            event: Some("turn.began".to_owned()),
            data: Some("{\"a\":1}".to_owned()),
            id: Some("7".to_owned()),
            retry: Some(Duration::from_millis(1500)),
        };
        assert_eq!(parse([text.as_bytes()]), [block]);
    }

    #[test]
    fn lines_of_data_are_joined_and_one_space_is_taken_off() {
        let text = "data:one\ndata:  two\ndata\ndata: \n\ndata:\n\n";
        assert_eq!(parse([text.as_bytes()]), [data("one\n two\n\n"), data("")]);
    }

    #[test]
    fn comments_and_unknown_fields_make_no_event() {
        let text = ": alive\n\n:\n\nfoo: bar\n\nretry: soon\n\nretry:\n\nid: a\0b\n\n";
        assert_eq!(parse([text.as_bytes()]), []);
    }

    #[test]
    fn an_id_alone_is_told() {
        let id = Block { id: Some("3".to_owned()), ..Block::default() };
        assert_eq!(parse([&b": open\nid: 3\n\n"[..]]), [id]);
    }

    #[test]
    fn what_is_not_ended_by_an_empty_line_is_no_event() {
        assert_eq!(parse([&b"data: one\n\ndata: two\n"[..]]), [data("one")]);
        assert_eq!(parse([&b"data: one\n\ndata: tw"[..]]), [data("one")]);
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r", "\r\n"] {
            let text = format!("data: one{end}data: two{end}{end}data: three{end}{end}");
            assert_eq!(parse([text.as_bytes()]), [data("one\ntwo"), data("three")], "{end:?}");
        }
    }

    #[test]
    fn a_return_and_its_line_feed_may_come_apart() {
        let text = "data: one\r\n\r\ndata: two\r\n\r\n";
        assert_eq!(parse(text.as_bytes().chunks(1)), [data("one"), data("two")]);
        assert_eq!(parse([&b"data: one\r"[..], b"\n", b"\n"]), [data("one")]);
        assert_eq!(parse([&b"data: one\r"[..], b"", b"\n\r"]), [data("one")]);
    }

    #[test]
    fn a_mark_is_left_out_at_the_beginning_and_nowhere_else() {
        let text = "\u{feff}data: one\n\n\u{feff}data: two\n\ndata: \u{feff}\n\n";
        assert_eq!(parse([text.as_bytes()]), [data("one"), data("\u{feff}")]);
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(parse([&b"data: a\xffb\n\n"[..]]), [data("a\u{fffd}b")]);
    }

    #[test]
    fn nothing_is_longer_than_it_may_be() {
        let long = "x".repeat(100);
        for text in
            [format!("data: {long}"), format!(": {long}"), long, "data: 12345678\n".repeat(20)]
        {
            let mut parser = Parser::new(64);
            assert_eq!(parser.feed(text.as_bytes()), Err(TooLong(64)), "{text}");
        }
        let mut parser = Parser::new(64);
        for _ in 0..100 {
            // Neither comments nor events that are over count.
            parser.feed(b": a comment of some length\ndata: 123456789\n\n").unwrap();
            assert_eq!(parser.next(), Some(data("123456789")));
        }
    }

    /// The same in the plainest way: all of it is there, as text.
    fn plainly(bytes: &[u8]) -> Vec<Block> {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut blocks = Vec::new();
        let mut block = Block::default();
        let mut lines: Vec<_> = text.split('\n').collect();
        // After the last end of a line there is no line that is over.
        lines.pop();
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                _ if line.is_empty() => {
                    blocks.extend(
                        Some(std::mem::take(&mut block)).filter(|b| *b != Block::default()),
                    );
                }
                "event" => block.event = Some(value.to_owned()),
                "id" if !value.contains('\0') => block.id = Some(value.to_owned()),
                "data" => {
                    let before = block.data.take().map(|data| data + "\n").unwrap_or_default();
                    block.data = Some(before + value);
                }
                "retry" if !value.is_empty() && value.chars().all(|c| c.is_ascii_digit()) => {
                    block.retry = value.parse().ok().map(Duration::from_millis);
                }
                _ => {}
            }
        }
        blocks
    }

    fn streams() -> impl Strategy<Value = Vec<u8>> {
        let parts: Vec<&[u8]> = vec![
            b"data",
            b"data:",
            b"data: ",
            b"id: ",
            b"event: ",
            b"retry: ",
            b"12",
            b":",
            b" ",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"x",
            "é".as_bytes(),
            "\u{feff}".as_bytes(),
            b"\0",
            b"\xff",
            b"\xe2\x82",
        ];
        let parts = prop::collection::vec(prop::sample::select(parts), 0..60);
        parts.prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_same_events(
            stream in streams(),
            mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut at: Vec<_> = cuts.drain(..).map(|cut| cut.index(stream.len() + 1)).collect();
            at.extend([0, stream.len()]);
            at.sort_unstable();
            let pieces = at.windows(2).map(|ends| &stream[ends[0]..ends[1]]);
            prop_assert_eq!(parse(pieces), plainly(&stream));
            prop_assert_eq!(parse(stream.chunks(1)), plainly(&stream));
        }

        #[test]
        fn any_bytes_are_read_without_harm(stream in any::<Vec<u8>>(), most in 0..100_usize) {
            let mut parser = Parser::new(most);
            for piece in stream.chunks(7) {
                if parser.feed(piece).is_err() {
                    break;
                }
                prop_assert!(parser.line.len() + parser.length <= most + 1);
            }
        }
    }
}
