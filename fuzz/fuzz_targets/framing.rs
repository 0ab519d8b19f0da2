//! Any stream, cut anywhere: the same pieces, and never more than a line in memory.
#![no_main]

use countersign_protocol::{LineSplitter, Piece};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>, Vec<u8>)| {
    let (max, cuts, stream) = input;
    let max = usize::from(max) + 1;
    let whole = pieces(max, std::iter::once(&stream[..]));
    let mut rest = &stream[..];
    let mut chunks = Vec::new();
    for cut in cuts {
        let (chunk, after) = rest.split_at(usize::from(cut).min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    assert_eq!(pieces(max, chunks.into_iter()), whole);
});

/// The pieces of a stream, as text that can be compared.
fn pieces<'a>(max: usize, chunks: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut splitter = LineSplitter::with_max_line(max);
    let mut all = Vec::new();
    for chunk in chunks {
        splitter.feed(chunk, |piece| all.push(show(piece)));
        assert!(splitter.held() <= max);
    }
    splitter.finish(|piece| all.push(show(piece)));
    all
}

fn show(piece: Piece<'_>) -> String {
    format!("{piece:?}")
}
