//! Lines out of bytes.

use countersign_protocol::{Ending, LineSplitter, Piece};

/// A piece, to keep.
#[derive(Debug, PartialEq)]
pub(crate) enum Owned {
    Line(Vec<u8>, Ending),
    Blank(Vec<u8>, Ending),
    TooLong(Vec<u8>, u64),
}

impl Owned {
    fn of(piece: Piece<'_>) -> Self {
        match piece {
            Piece::Line { bytes, ending } => Self::Line(bytes.to_vec(), ending),
            Piece::Blank { bytes, ending } => Self::Blank(bytes.to_vec(), ending),
            Piece::TooLong { head, length } => Self::TooLong(head.to_vec(), length),
            other => panic!("{other:?}"),
        }
    }
}

/// Everything that comes out of a stream cut into these chunks.
pub(crate) fn split<'a>(max: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
    let mut splitter = LineSplitter::with_max_line(max);
    let mut all = Vec::new();
    for chunk in chunks {
        splitter.feed(chunk, |piece| all.push(Owned::of(piece)));
        assert!(splitter.held() <= max, "it holds more than a line");
    }
    splitter.finish(|piece| all.push(Owned::of(piece)));
    splitter.finish(|piece| panic!("the end comes once, not again as {piece:?}"));
    all
}

fn check(stream: &[u8], expect: &[Owned]) {
    for cut in 0..=stream.len() {
        let (first, second) = stream.split_at(cut);
        assert_eq!(split(20, [first, second]), expect, "cut at {cut}");
    }
    assert_eq!(split(20, stream.chunks(1)), expect, "byte by byte");
}

fn line(text: &str) -> Owned {
    Owned::Line(text.into(), Ending::Lf)
}

#[test]
fn lines_are_the_same_wherever_the_stream_is_cut() {
    check(b"", &[]);
    check(b"{}\n", &[line("{}")]);
    check(b"{}\n{\"a\":1}\n", &[line("{}"), line("{\"a\":1}")]);
    check(b"{}\n{\"a\"", &[line("{}"), Owned::Line(b"{\"a\"".into(), Ending::Eof)]);
    check("{\"é\":\"\u{1F600}\"}\n".as_bytes(), &[line("{\"é\":\"\u{1F600}\"}")]);
}

#[test]
fn blank_lines_and_windows_endings_are_told() {
    check(
        b"\n{}\r\n \t\r\n\r\n\r{}\r\n",
        &[
            Owned::Blank(b"".into(), Ending::Lf),
            Owned::Line(b"{}".into(), Ending::CrLf),
            Owned::Blank(b" \t".into(), Ending::CrLf),
            Owned::Blank(b"".into(), Ending::CrLf),
            Owned::Line(b"\r{}".into(), Ending::CrLf),
        ],
    );
}

#[test]
fn bytes_that_are_not_text_are_a_line_like_others() {
    check(b"\xff\xfe\0\n{}\n", &[Owned::Line(b"\xff\xfe\0".into(), Ending::Lf), line("{}")]);
}

#[test]
fn a_long_line_is_skipped_and_the_stream_goes_on() {
    check(b"12345678901234567890\n{}\n", &[line("12345678901234567890"), line("{}")]);
    check(
        b"{}\n123456789012345678901\n{}\n",
        &[line("{}"), Owned::TooLong(b"12345678901234567890".into(), 21), line("{}")],
    );
    check(b"1234567890123456789012345", &[Owned::TooLong(b"12345678901234567890".into(), 25)]);
}

#[test]
fn what_is_kept_of_a_long_line_is_small_and_shows_what_it_was() {
    let mut splitter = LineSplitter::with_max_line(1024 * 1024);
    let head = br#"{"type":"control_request","request_id":"r1","request":{"subtype":"#;
    splitter.feed(head, |piece| panic!("{piece:?}"));
    for _ in 0..64 {
        splitter.feed(&[b'x'; 64 * 1024], |piece| panic!("{piece:?}"));
        assert!(splitter.held() <= 1024 * 1024);
    }
    let mut pieces = Vec::new();
    splitter.feed(b"\n{}\n", |piece| pieces.push(Owned::of(piece)));
    let [Owned::TooLong(kept, length), Owned::Line(line, _)] = &pieces[..] else { panic!() };
    assert!(kept.starts_with(head) && kept.len() < 10_000);
    assert_eq!(*length, head.len() as u64 + 64 * 64 * 1024);
    assert_eq!((&line[..], splitter.held()), (&b"{}"[..], 0));
}
