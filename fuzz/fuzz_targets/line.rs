//! Any bytes as a line: no panic, the bytes are kept, and what is read can be written and read
//! again as the same.
#![no_main]

use countersign_protocol::{Decoded, Frame, FromCli, Line, ToCli};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(line) = Line::parse(bytes) {
        assert_eq!(line.bytes(), bytes);
        check::<FromCli>(&line);
        check::<ToCli>(&line);
    }
});

fn check<F: Frame>(line: &Line<'_>) {
    let (Decoded::Known(frame) | Decoded::Unknown(frame)) = line.decode::<F>() else { return };
    let written = frame.to_line().expect("what was read can be written");
    let again = Line::parse(written.strip_suffix(b"\n").expect("a line ends"))
        .expect("what was written is a frame");
    let again = again.decode::<F>().frame().expect("and well formed");
    // A carriage return between tokens of raw JSON is written as a space.
    if !line.bytes().contains(&b'\r') {
        assert_eq!(again, frame);
    }
    if let Ok(value) = serde_json::from_slice::<Value>(line.bytes()) {
        assert_eq!(serde_json::from_slice::<Value>(&written).expect("JSON"), value);
    }
}
