//! What callers rely on without its being written anywhere.

use countersign_protocol::{
    Decoded, EncodeError, Extra, FromCli, Kind, Line, LineSplitter, Malformed, Named, NotAFrame,
    Num, Piece, RawJson, RawJsonError, ToCli,
};

fn is_shareable<T: Send + Sync + Unpin + std::fmt::Debug>() {}
fn is_owned<T: Clone + PartialEq + 'static>() {}
fn is_an_error<T: std::error::Error + Send + Sync + 'static>() {}

#[test]
fn frames_can_be_sent_shared_cloned_and_compared() {
    is_shareable::<Line<'_>>();
    is_shareable::<LineSplitter>();
    is_shareable::<Piece<'_>>();
    is_shareable::<Decoded<FromCli>>();
    is_shareable::<Decoded<ToCli>>();
    is_owned::<FromCli>();
    is_owned::<ToCli>();
    is_owned::<Extra>();
    is_owned::<Named>();
    is_owned::<Num>();
    is_owned::<RawJson>();
    is_owned::<Kind>();
    is_an_error::<Malformed>();
    is_an_error::<NotAFrame>();
    is_an_error::<EncodeError>();
    is_an_error::<RawJsonError>();
}

/// A frame is moved often, through channels and out of boxes.
#[test]
fn a_frame_is_small() {
    assert!(size_of::<FromCli>() <= 256, "{}", size_of::<FromCli>());
    assert!(size_of::<ToCli>() <= 256, "{}", size_of::<ToCli>());
}
