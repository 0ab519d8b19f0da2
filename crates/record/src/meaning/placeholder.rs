//! What a redactor put in the place of something.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::PLACEHOLDER_PATTERN;

/// The pattern is a constant, and the test below uses it.
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PLACEHOLDER_PATTERN).ok());

/// Where the placeholders in a text are.
pub(crate) fn placeholders(text: &str) -> VecDeque<Range<usize>> {
    // Nearly no text has any, and this is quicker to see.
    if !text.contains("redacted-") && !text.contains("user-") {
        return VecDeque::new();
    }
    let Some(pattern) = &*PATTERN else { return VecDeque::new() };
    pattern.find_iter(text).map(|found| found.range()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_in_texts() {
        let text = "a redacted-api-key-1, /home/user-1/x, user-2@example.invalid; -home-user-1-x";
        let found: Vec<&str> =
            placeholders(text).into_iter().filter_map(|range| text.get(range)).collect();
        assert_eq!(
            found,
            ["redacted-api-key-1", "/home/user-1", "user-2@example.invalid", "-home-user-1"]
        );
        for text in ["redacted", "a redacted-key", "/home/user/x", "user-1@example.com"] {
            assert!(placeholders(text).is_empty(), "{text}");
        }
    }
}
