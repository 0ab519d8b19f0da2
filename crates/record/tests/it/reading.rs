//! Reading tapes: whole, cut, broken, and longer than memory.

use std::io::{BufReader, Read};

use countersign_record::{
    Channel, End, Entry, Header, Note, Record, Tail, TapeError, TapeItem, TapeLine, TapeLines,
    TapeReader, Text,
};
use proptest::prelude::*;

use crate::support::{command, peak_memory, run};

/// The header of the tapes here.
fn header() -> Vec<u8> {
    let mut tape = Vec::new();
    let mut header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
    header.argv = vec!["claude".into(), "--verbose".into()];
    header.write(&mut tape).unwrap();
    tape
}

/// A tape of these entries.
fn tape(entries: &[Entry]) -> Vec<u8> {
    let mut tape = header();
    for record in records(entries) {
        record.write(&mut tape).unwrap();
    }
    tape
}

/// The records that [`tape`] writes for these entries.
fn records(entries: &[Entry]) -> Vec<Record> {
    (1..).zip(entries).map(|(seq, entry)| Record { seq, us: seq, entry: entry.clone() }).collect()
}

fn line(channel: Channel, text: &[u8], more: bool) -> Entry {
    Entry::Line { channel, text: text.to_vec().into(), more }
}

/// All records, and how the tape ends. Any error fails the test.
fn read(tape: &[u8]) -> (Vec<Record>, Tail) {
    let mut reader = TapeReader::new(tape).unwrap();
    let records = reader.by_ref().collect::<Result<_, _>>().unwrap();
    (records, reader.tail())
}

fn lines(entries: &[Entry]) -> Vec<TapeItem> {
    let tape = tape(entries);
    TapeLines::new(TapeReader::new(tape.as_slice()).unwrap()).map(Result::unwrap).collect()
}

fn arbitrary_entry() -> impl Strategy<Value = Entry> {
    let channel = prop_oneof![Just(Channel::In), Just(Channel::Out), Just(Channel::Err)];
    prop_oneof![
        6 => (channel.clone(), any::<Vec<u8>>(), any::<bool>())
            .prop_map(|(channel, text, more)| line(channel, &text, more)),
        6 => (channel.clone(), "\\PC*", any::<bool>())
            .prop_map(|(channel, text, more)| line(channel, text.as_bytes(), more)),
        1 => channel.prop_map(|channel| Entry::Note(Note::Closed { channel })),
        1 => any::<i32>().prop_map(|number| Entry::Note(Note::Signal { number })),
        1 => (any::<u64>(), ".*").prop_map(|(bytes, reason)| Entry::Note(Note::Gap { bytes, reason })),
        1 => any::<i32>().prop_map(|code| Entry::End(End::Code(code))),
    ]
}

proptest! {
    #[test]
    fn a_tape_that_is_cut_anywhere_reads_up_to_its_last_whole_record(
        entries in prop::collection::vec(arbitrary_entry(), 0..6),
    ) {
        let written = records(&entries);
        let tape = tape(&entries);
        // Where each line ends, without its newline; the header is the first.
        let ends: Vec<usize> =
            tape.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at).collect();
        for cut in 0..=tape.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let (kept, _) = tape.split_at(cut);
            if whole == 0 {
                let error = TapeReader::new(kept).unwrap_err();
                let told = matches!(error, TapeError::NoHeader { bytes } if bytes == cut as u64);
                prop_assert!(told, "{}", error);
                continue;
            }
            let (read, tail) = read(kept);
            prop_assert_eq!(&read, &written[..whole - 1]);
            let rest = cut.saturating_sub(ends[whole - 1] + 1) as u64;
            let ended = read.iter().any(|record| matches!(record.entry, Entry::End(_)));
            prop_assert_eq!(tail, match (rest, ended) {
                (0, true) => Tail::Whole,
                (0, false) => Tail::Unfinished,
                (bytes, _) => Tail::Torn { bytes },
            });
        }
    }

    #[test]
    fn rubbish_in_a_tape_never_panics_and_never_goes_on_for_ever(
        entries in prop::collection::vec(arbitrary_entry(), 0..6),
        at in any::<prop::sample::Index>(),
        rubbish in any::<Vec<u8>>(),
    ) {
        let mut tape = tape(&entries);
        let from = header().len();
        let at = from + at.index(tape.len() - from + 1);
        tape.splice(at..at, rubbish.iter().copied());
        let newlines = tape.iter().filter(|byte| **byte == b'\n').count();
        prop_assert!(TapeReader::new(tape.as_slice()).unwrap().count() <= newlines);
        let _ = TapeLines::new(TapeReader::new(tape.as_slice()).unwrap()).count();
    }
}

#[test]
fn a_broken_line_in_the_middle_is_an_error_that_one_can_go_on_after() {
    let mut tape = tape(&[line(Channel::In, b"a", false)]);
    tape.extend_from_slice(b"{\"seq\":2,\n");
    Record { seq: 3, us: 3, entry: Entry::End(End::Code(0)) }.write(&mut tape).unwrap();

    let mut reader = TapeReader::new(tape.as_slice()).unwrap();
    reader.next().unwrap().unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert!(matches!(error, TapeError::Broken { line: 3, .. }), "{error}");
    assert!(matches!(reader.next().unwrap().unwrap().entry, Entry::End(End::Code(0))));
    assert!(reader.next().is_none());
    assert_eq!(reader.tail(), Tail::Whole);
}

#[test]
fn a_last_line_of_rubbish_is_a_torn_end() {
    let mut tape = tape(&[line(Channel::In, b"a", false)]);
    tape.extend_from_slice(b"\0\0\0\0\n");
    let (records, tail) = read(&tape);
    assert_eq!((records.len(), tail), (1, Tail::Torn { bytes: 5 }));
}

#[test]
fn empty_lines_between_records_are_passed_over() {
    let mut tape = tape(&[line(Channel::In, b"a", false)]);
    tape.extend_from_slice(b"\n \r\n");
    Record { seq: 2, us: 3, entry: Entry::End(End::Code(0)) }.write(&mut tape).unwrap();
    tape.push(b'\n');
    let (records, tail) = read(&tape);
    assert_eq!((records.len(), tail), (2, Tail::Whole));
}

#[test]
fn a_file_that_is_no_tape_is_told_from_a_tape_without_a_header() {
    for other in [&b"\x7fELF"[..], b"{\"type\":\"user\"}\n", b"hello\nworld\n"] {
        let error = TapeReader::new(other).unwrap_err();
        assert!(matches!(error, TapeError::Header(_)), "{error}");
    }
    let error = TapeReader::new(&b""[..]).unwrap_err();
    assert!(matches!(error, TapeError::NoHeader { bytes: 0 }), "{error}");
}

#[test]
fn a_line_over_the_limit_is_an_error_that_one_can_go_on_after() {
    let tape = tape(&[
        line(Channel::In, b"short", false),
        line(Channel::In, &[b'x'; 5000], false),
        line(Channel::In, b"short again", false),
    ]);
    let mut reader = TapeReader::with_max_record(tape.as_slice(), 1000).unwrap();
    reader.next().unwrap().unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert!(
        matches!(error, TapeError::TooLong { line: 3, limit: 1000, length } if length > 5000),
        "{error}"
    );
    assert_eq!(reader.next().unwrap().unwrap().seq, 3);
    assert!(reader.next().is_none());
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let error = TapeReader::open("no/such.tape").unwrap_err().to_string();
    assert!(error.starts_with("cannot open the tape no/such.tape: "), "{error}");
}

#[test]
fn an_error_of_the_disk_ends_the_iteration() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let tape = tape(&[line(Channel::In, b"a", false)]);
    let mut reader = TapeReader::new(BufReader::new(tape.as_slice().chain(Failing))).unwrap();
    reader.next().unwrap().unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "cannot read the tape after line 2: the disk is gone");
    assert!(reader.next().is_none());
}

#[test]
fn pieces_of_different_channels_are_joined_each_for_itself() {
    let items = lines(&[
        line(Channel::Out, b"one ", true),
        line(Channel::Err, b"warn", true),
        line(Channel::In, b"input", false),
        line(Channel::Out, b"line", false),
        line(Channel::Err, b"ing", true),
        Entry::Note(Note::Signal { number: 15 }),
        Entry::Note(Note::Closed { channel: Channel::Err }),
        Entry::End(End::Code(0)),
    ]);
    let text = |seq, channel, text: &str, ended| {
        let text = Text::Utf8(text.into());
        TapeItem::Line(TapeLine { seq, us: seq, channel, text, ended })
    };
    assert_eq!(
        items,
        [
            text(3, Channel::In, "input", true),
            text(1, Channel::Out, "one line", true),
            TapeItem::Note { seq: 6, us: 6, note: Note::Signal { number: 15 } },
            text(2, Channel::Err, "warning", false),
            TapeItem::Note { seq: 7, us: 7, note: Note::Closed { channel: Channel::Err } },
            TapeItem::End { seq: 8, us: 8, end: End::Code(0) },
        ]
    );
}

#[test]
fn pieces_that_are_not_text_can_make_a_line_that_is() {
    let items = lines(&[line(Channel::Out, b"\xc3", true), line(Channel::Out, b"\xbc", false)]);
    let text = Text::Utf8("ü".into());
    let whole = TapeLine { seq: 1, us: 1, channel: Channel::Out, text, ended: true };
    assert_eq!(items, [TapeItem::Line(whole)]);
}

#[test]
fn a_gap_ends_the_lines_that_were_open() {
    let gap = Note::Gap { bytes: 9, reason: "the disk is full".into() };
    let items = lines(&[
        line(Channel::Out, b"before", true),
        Entry::Note(gap.clone()),
        line(Channel::Out, b"after", false),
    ]);
    assert!(
        matches!(&items[0], TapeItem::Line(line) if line.text.as_bytes() == b"before" && !line.ended)
    );
    assert_eq!(items[1], TapeItem::Note { seq: 2, us: 2, note: gap });
    assert!(
        matches!(&items[2], TapeItem::Line(line) if line.text.as_bytes() == b"after" && line.ended)
    );
}

#[test]
fn a_joined_line_over_the_limit_is_passed_over_with_its_length() {
    let entries = [
        line(Channel::Out, b"12345", true),
        line(Channel::Out, b"67890", true),
        line(Channel::Out, b"1", false),
        line(Channel::Out, b"1234567890", false),
    ];
    let records = records(&entries).into_iter().map(Ok::<_, TapeError>);
    let items: Vec<_> = TapeLines::with_max_line(records, 10).map(Result::unwrap).collect();
    let too_long =
        TapeItem::TooLong { seq: 1, us: 1, channel: Channel::Out, length: 11, ended: true };
    assert_eq!(items[0], too_long);
    assert!(matches!(&items[1], TapeItem::Line(line) if line.text.as_bytes() == b"1234567890"));
}

/// A tape that is made while it is read: the header, then the same record again and again.
struct Endless {
    header: std::io::Cursor<Vec<u8>>,
    record: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.header.read(buffer)?;
        if read > 0 || self.left == 0 {
            return Ok(read);
        }
        let read = self.record[self.at..].as_ref().read(buffer)?;
        self.at += read;
        if self.at == self.record.len() {
            (self.at, self.left) = (0, self.left - 1);
        }
        Ok(read)
    }
}

/// Set in the process that does the reading: other tests must not count.
const ALONE: &str = "COUNTERSIGN_TEST_ALONE";

#[test]
fn a_tape_of_more_than_a_gigabyte_is_read_in_bounded_memory() {
    if std::env::var_os(ALONE).is_some() {
        return read_a_gigabyte();
    }
    let name = "reading::a_tape_of_more_than_a_gigabyte_is_read_in_bounded_memory";
    let this = std::env::current_exe().unwrap();
    let output = run(command(this).args(["--exact", name, "--nocapture"]).env(ALONE, "1"), b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 passed"));
}

fn read_a_gigabyte() {
    // Pieces of one line, as a recorder writes them; the line is longer than what may be joined.
    let mut record = Vec::new();
    let text = Text::Utf8("x".repeat(1024 * 1024));
    let entry = Entry::Line { channel: Channel::Out, text, more: true };
    Record { seq: 1, us: 1, entry }.write(&mut record).unwrap();
    let endless = Endless { header: std::io::Cursor::new(header()), record, at: 0, left: 1100 };

    let reader = TapeReader::new(BufReader::with_capacity(256 * 1024, endless)).unwrap();
    let mut items = TapeLines::with_max_line(reader, 16 * 1024 * 1024);
    let item = items.next().unwrap().unwrap();
    assert!(
        matches!(item, TapeItem::TooLong { length, ended: false, .. } if length == 1100 << 20),
        "{item:?}"
    );
    assert!(items.next().is_none());
    assert_eq!(items.get_ref().tail(), Tail::Unfinished);
    // The program, a few records, and the line of up to 16 MiB, which doubles while it grows.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = peak_memory(&status);
    assert!(peak < 64 * 1024, "reading took {peak} kB");
}
