//! What handles can be used for.

use countersign_record::page::Diagram;
use countersign_record::redact::{BuildError, RedactError, Redactor};
use countersign_record::{Recorder, RecorderOptions, TapeError, TapeReader, Trouble};

const fn shared<T: Send + Sync + 'static>() {}

#[test]
fn handles_and_errors_can_go_to_any_thread_or_task() {
    const fn cloned<T: Clone>() {}
    cloned::<Recorder>();
    shared::<Recorder>();
    shared::<RecorderOptions>();
    shared::<Trouble>();
    shared::<TapeError>();
    shared::<Diagram>();
    cloned::<Redactor>();
    shared::<Redactor>();
    shared::<RedactError>();
    shared::<BuildError>();
    shared::<TapeReader<std::io::BufReader<std::fs::File>>>();
}
