//! Times and identifiers.

use std::time::Instant;

use uuid::Uuid;

/// A new id, as the CLI gives to every frame.
pub(crate) fn new_uuid() -> String {
    Uuid::new_v4().to_string()
}

/// A new id of `length` characters, with a prefix: `msg_…`, `req_…`.
pub(crate) fn new_id(prefix: &str, length: usize) -> String {
    let hex = Uuid::new_v4().simple().to_string();
    let more = Uuid::new_v4().simple().to_string();
    format!("{prefix}{}", (hex + &more).get(..length).unwrap_or_default())
}

/// The time of day, as the CLI writes it: `2026-11-15T20:50:08.463Z`.
pub(crate) fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Milliseconds since 1970.
pub(crate) fn epoch_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Milliseconds since a moment.
pub(crate) fn ms_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
