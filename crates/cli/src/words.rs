//! Times, ids and texts in a few words.

use jiff::Timestamp;
use uuid::Uuid;

use crate::output::plain;

/// How long ago something was, roughly.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    const UNITS: [(i64, &str); 4] =
        [(86_400 * 365, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let seconds = now.as_second().saturating_sub(then.as_second()).max(0);
    let unit = UNITS.into_iter().find(|(length, _)| seconds >= *length);
    match unit {
        Some((length, name)) if seconds / length == 1 => {
            format!("1 {} ago", name.trim_end_matches('s'))
        }
        Some((length, name)) => format!("{} {name} ago", seconds / length),
        None => "just now".to_owned(),
    }
}

/// A text from outside on one line, no longer than this.
pub(crate) fn one_line(text: &str, length: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = plain(&words.join(" "));
    if line.chars().count() <= length {
        return line;
    }
    let cut: String = line.chars().take(length.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// The end of an id, by which it can be named. Its beginning is the time, and much alike.
pub(crate) fn short(id: Uuid) -> String {
    const LENGTH: usize = 8;
    let text = id.simple().to_string();
    text.chars().skip(text.len().saturating_sub(LENGTH)).collect()
}

/// So many of something.
pub(crate) fn count(number: usize, one: &str, several: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {several}") }
}

/// A word for a shell, which reads it as it is whatever is in it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // Between single quotes a shell knows no escapes, so a single quote stands outside.
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// An amount of US dollars.
pub(crate) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_largest_unit() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        for (then, words) in [
            ("2026-11-16T11:59:30Z", "just now"),
            ("2026-11-16T11:59:00Z", "1 minute ago"),
            ("2026-11-16T09:00:00Z", "3 hours ago"),
            ("2026-11-15T12:00:00Z", "1 day ago"),
            ("2024-01-01T00:00:00Z", "2 years ago"),
            ("2027-01-01T00:00:00Z", "just now"),
        ] {
            assert_eq!(ago(then.parse().unwrap(), now), words, "{then}");
        }
    }

    #[test]
    fn a_line_is_one_line_without_anything_that_a_terminal_would_act_on() {
        assert_eq!(one_line("a\n b\x1b[2J", 20), "a b\\u{1b}[2J");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }

    #[test]
    fn a_shell_reads_a_word_as_it_was_meant() {
        assert_eq!(quoted("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(rm it)"), "'$(rm it)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn small_amounts_are_not_nothing() {
        assert_eq!(dollars(0.0), "$0.00");
        assert_eq!(dollars(0.0042), "$0.0042");
        assert_eq!(dollars(12.345), "$12.35");
    }
}
