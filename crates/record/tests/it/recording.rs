//! Recording: what comes in is on the tape, whatever the chunks and whatever the disk does.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_record::{
    Channel, CreateError, End, Entry, Header, Note, Record, Recorder, RecorderOptions, Tail,
    TapeReader, Trouble,
};
use proptest::prelude::*;

use crate::support::{channel_bytes, read_tape};

const CHANNELS: [Channel; 3] = [Channel::In, Channel::Out, Channel::Err];

fn header() -> Header {
    Header::new("2026-11-16T08:00:00Z".parse().unwrap())
}

/// All records of a whole tape.
fn read(path: &Path) -> Vec<Record> {
    let (records, tail) = read_tape(path);
    assert_eq!(tail, Tail::Whole);
    records
}

fn texts(records: &[Record]) -> Vec<(&[u8], bool)> {
    records
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Line { text, more, .. } => Some((text.as_bytes(), *more)),
            _ => None,
        })
        .collect()
}

/// Bytes with many newlines, and some that are not UTF-8.
fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(
        prop_oneof![3 => Just(b'\n'), 1 => Just(b'\r'), 8 => 0x20..0x7e_u8, 2 => any::<u8>()],
        0..300,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_chunks_of_any_bytes_give_the_same_bytes_on_the_tape(
        chunks in prop::collection::vec((prop::sample::select(&CHANNELS), stream_bytes()), 0..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        let recorder = Recorder::create(&path, &header(), RecorderOptions::default()).unwrap();
        let mut sent = [(); 3].map(|()| Vec::new());
        for (channel, chunk) in &chunks {
            recorder.record(*channel, chunk);
            sent[*channel as usize].extend_from_slice(chunk);
        }
        let report = recorder.finish(End::Code(0));
        prop_assert!(report.finished && report.lost_bytes == 0 && report.trouble.is_none());
        prop_assert_eq!(report.bytes, path.metadata().unwrap().len());

        let records = read(&path);
        prop_assert_eq!(report.records, records.len() as u64);
        for channel in CHANNELS {
            prop_assert_eq!(&channel_bytes(&records, channel), &sent[channel as usize]);
        }
        let numbers: Vec<u64> = records.iter().map(|record| record.seq).collect();
        prop_assert_eq!(numbers, (1..=report.records).collect::<Vec<_>>());
        prop_assert!(records.is_sorted_by_key(|record| record.us));
    }
}

#[test]
fn lines_are_kept_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let recorder = Recorder::create(&path, &header(), RecorderOptions::default()).unwrap();
    recorder.record(Channel::Out, b"crlf\r\n\n\xff\xfe\n\"quo");
    recorder.record(Channel::Out, b"ted\"\n\0\nno newline");
    drop(recorder.finish(End::Signal(9)));

    let records = read(&path);
    let expected: [(&[u8], bool); 6] = [
        (b"crlf\r", false),
        (b"", false),
        (b"\xff\xfe", false),
        (b"\"quoted\"", false),
        (b"\0", false),
        (b"no newline", true),
    ];
    assert_eq!(texts(&records), expected);
    assert_eq!(records.last().unwrap().entry, Entry::End(End::Signal(9)));
}

#[test]
fn the_order_of_the_calls_is_the_order_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let recorder = Recorder::create(&path, &header(), RecorderOptions::default()).unwrap();
    // Two threads take turns: each records only after it has seen what the other recorded.
    let turn = Arc::new(Mutex::new(0));
    let threads = [Channel::In, Channel::Out].map(|channel| {
        let (recorder, turn) = (recorder.clone(), Arc::clone(&turn));
        std::thread::spawn(move || {
            loop {
                let mut turn = turn.lock().unwrap();
                if *turn >= 200 {
                    return;
                }
                if *turn % 2 == channel as u32 {
                    recorder.record(channel, format!("{turn}\n").as_bytes());
                    *turn += 1;
                }
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    drop(recorder.finish(End::Code(0)));
    let records = read(&path);
    let numbers: Vec<u32> = texts(&records)
        .iter()
        .map(|(text, _)| std::str::from_utf8(text).unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
}

#[test]
fn a_tape_is_never_overwritten_and_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    drop(Recorder::create(&path, &header(), RecorderOptions::default()).unwrap());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let before = std::fs::read(&path).unwrap();
    let error = Recorder::create(&path, &header(), RecorderOptions::default()).unwrap_err();
    assert!(matches!(error, CreateError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_recorder_that_is_dropped_leaves_a_tape_without_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let recorder = Recorder::create(&path, &header(), RecorderOptions::default()).unwrap();
    recorder.record(Channel::Err, b"half a li");
    drop(recorder);
    let mut reader = TapeReader::open(&path).unwrap();
    let records: Vec<Record> = reader.by_ref().collect::<Result<_, _>>().unwrap();
    assert_eq!(texts(&records), [(&b"half a li"[..], true)]);
    assert_eq!(reader.tail(), Tail::Unfinished);
}

#[test]
fn what_is_recorded_after_the_end_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let recorder = Recorder::create(&path, &header(), RecorderOptions::default()).unwrap();
    let other = recorder.clone();
    let report = recorder.finish(End::Code(0));
    other.record(Channel::In, b"too late\n");
    other.note(Note::Signal { number: 15 });
    assert_eq!(other.finish(End::Code(1)), report);
    assert_eq!(read(&path).len(), 1);
}

#[test]
fn a_line_without_its_newline_reaches_the_tape_all_the_same() {
    let (reader, writer) = std::io::pipe().unwrap();
    let file = File::from(std::os::fd::OwnedFd::from(writer));
    let recorder = Recorder::to_file(file, &header(), RecorderOptions::default()).unwrap();
    recorder.record(Channel::Err, "Password für €\u{20ac}".as_bytes());
    recorder.record(Channel::Err, b"\xe2\x82");
    // Nothing ends the line, and the recorder is still there; but somebody may read along.
    let mut tape = TapeReader::new(BufReader::new(reader)).unwrap();
    let record = tape.next().unwrap().unwrap();
    assert_eq!(texts(&[record]), [("Password für €\u{20ac}".as_bytes(), true)]);
    // The half of a character waited for its other half.
    recorder.record(Channel::Err, b"\xac\n");
    let record = tape.next().unwrap().unwrap();
    assert_eq!(texts(&[record]), [("€".as_bytes(), false)]);
    drop(recorder.finish(End::Code(0)));
}

#[test]
fn a_disk_that_is_full_is_told_once_and_counted() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    // Whoever records does not wait for room that cannot come, however patient.
    let options = RecorderOptions::default()
        .queue_bytes(10_000)
        .patience(Duration::from_secs(3600))
        .on_trouble(move |trouble| seen.lock().unwrap().push(trouble.clone()));
    let recorder = Recorder::create("/dev/full", &header(), options).unwrap();
    for _ in 0..1000 {
        recorder.record(Channel::In, b"a hundred bytes, or something near to it, at least\n");
    }
    let report = recorder.finish(End::Code(0));
    assert!(!report.finished);
    assert_eq!((report.records, report.lost_bytes), (0, 1000 * 51));
    let trouble = report.trouble.unwrap();
    assert!(matches!(&trouble, Trouble::Write { message } if message.contains("No space left")));
    assert_eq!(*told.lock().unwrap(), [trouble]);
}

#[test]
fn a_disk_that_hangs_leaves_a_gap_where_bytes_are_missing() {
    // A pipe that nobody reads takes 64 KiB and then hangs, as a disk would.
    let (mut reader, writer) = std::io::pipe().unwrap();
    let file = File::from(std::os::fd::OwnedFd::from(writer));
    let options =
        RecorderOptions::default().queue_bytes(100_000).patience(Duration::from_millis(20));
    let recorder = Recorder::to_file(file, &header(), options).unwrap();
    let line = |number: u32| format!("{number:9999}\n");
    for number in 0..100 {
        recorder.record(Channel::Out, line(number).as_bytes());
    }
    recorder.record(Channel::Out, b"half a line");
    let health = recorder.health();
    assert!(matches!(health.trouble, Some(Trouble::Stalled { .. })), "{health:?}");
    assert!(health.lost_bytes > 0);

    // The disk comes back.
    let tape = std::thread::spawn(move || {
        let mut tape = Vec::new();
        reader.read_to_end(&mut tape).unwrap();
        tape
    });
    while recorder.health().trouble.is_some() {
        std::thread::yield_now();
    }
    recorder.record(Channel::Out, b"all is well again\n");
    let report = recorder.finish(End::Code(0));
    assert!(report.finished, "{report:?}");
    assert!(matches!(report.trouble, Some(Trouble::Stalled { .. })));
    drop(recorder);

    let tape = tape.join().unwrap();
    let records: Vec<Record> =
        TapeReader::new(tape.as_slice()).unwrap().collect::<Result<_, _>>().unwrap();
    let gap = records
        .iter()
        .position(|record| matches!(record.entry, Entry::Note(Note::Gap { .. })))
        .unwrap();
    let Entry::Note(Note::Gap { bytes, reason }) = &records[gap].entry else { panic!("no gap") };
    assert!(reason.contains("too slowly"), "{reason}");
    assert_eq!(*bytes, report.lost_bytes);
    // Before the gap is all that was recorded first, after it all that came later.
    let kept = channel_bytes(&records[..gap], Channel::Out);
    let sent: String = (0..100).map(line).collect();
    assert_eq!(kept, sent.as_bytes()[..kept.len()]);
    assert_eq!(kept.len() as u64 + bytes, sent.len() as u64 + 11);
    assert_eq!(channel_bytes(&records[gap..], Channel::Out), b"all is well again\n");
}

#[test]
fn whoever_finishes_does_not_wait_for_ever_for_a_disk_that_hangs() {
    let (_reader, writer) = std::io::pipe().unwrap();
    let file = File::from(std::os::fd::OwnedFd::from(writer));
    let options = RecorderOptions::default()
        .patience(Duration::ZERO)
        .finish_patience(Duration::from_millis(20));
    let recorder = Recorder::to_file(file, &header(), options).unwrap();
    recorder.record(Channel::Out, &vec![b'x'; 1_000_000]);
    let report = recorder.finish(End::Code(0));
    assert!(!report.finished);
    assert!(matches!(report.trouble, Some(Trouble::NotFinished { .. })));
}

#[test]
fn a_tape_that_was_opened_elsewhere_is_appended_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let file = OpenOptions::new().create_new(true).append(true).open(&path).unwrap();
    let recorder = Recorder::to_file(file, &header(), RecorderOptions::default()).unwrap();
    assert!(recorder.finish(End::Code(0)).finished);
    assert_eq!(read(&path).len(), 1);
}
