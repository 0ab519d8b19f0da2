//! Times, sums and sizes, in few words.

/// How long something took: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
#[must_use]
pub fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, milliseconds % 1_000 / 100),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A sum of US dollars: `$0.0042`, `$0.31`, `$12.50`.
#[must_use]
pub fn cost(usd: f64) -> String {
    if !usd.is_finite() || usd <= 0.0 {
        return "$0".to_owned();
    }
    match usd {
        ..0.000_05 => "<$0.0001".to_owned(),
        ..0.01 => format!("${usd:.4}"),
        _ => format!("${usd:.2}"),
    }
}

/// A number of tokens: `950`, `12k`, `1.2M`.
#[must_use]
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A number of things: `1 file`, `3 files`.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// A number of bytes: `12 B`, `3.4 kB`, `5.0 MB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{}.{} kB", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A path as somebody in a folder would write it.
#[must_use]
pub fn within<'a>(path: &'a str, folder: &str) -> &'a str {
    let inside = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    inside.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// The beginning of a text, on one line.
#[must_use]
pub fn short(text: &str, most: usize) -> String {
    let mut line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let is_whole = line.chars().count() <= most && text.trim() == line;
    if let Some((at, _)) = line.char_indices().nth(most) {
        line = line.split_at(at).0.trim_end();
    }
    if is_whole { line.to_owned() } else { format!("{line}…") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_sizes_are_short() {
        assert_eq!(cost(0.0), "$0");
        assert_eq!(cost(f64::NAN), "$0");
        assert_eq!(cost(0.000_01), "<$0.0001");
        assert_eq!(cost(0.0042), "$0.0042");
        assert_eq!(cost(12.5), "$12.50");
        assert_eq!(tokens(999), "999");
        assert_eq!(tokens(1_250), "1.2k");
        assert_eq!(tokens(199_999), "199k");
        assert_eq!(tokens(1_250_000), "1.2M");
        assert_eq!(duration(450), "0.4 s");
        assert_eq!(duration(65_000), "1 min 5 s");
        assert_eq!(bytes(3_400), "3.4 kB");
    }

    #[test]
    fn paths_and_texts_are_shortened() {
        assert_eq!(within("/project/a/b.rs", "/project"), "a/b.rs");
        assert_eq!(within("/projects/b.rs", "/project"), "/projects/b.rs");
        assert_eq!(within("/project", "/project"), "/project");
        assert_eq!(short("one", 10), "one");
        assert_eq!(short("one\ntwo", 10), "one…");
        assert_eq!(short("a long line", 6), "a long…");
        assert_eq!(short("\n  x\n", 5), "x");
    }
}
