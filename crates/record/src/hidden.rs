//! Characters that nobody can see, or that turn others around.

/// The characters that nobody can see, or that change the order or the place of others, by their
/// numbers. The script of a page has the same list.
const HIDDEN: &[(u32, u32)] = &[
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff9, 0xfffb),
    (0xe0000, 0xe007f),
    (0xe0100, 0xe01ef),
];

/// Whether a character cannot be seen, or changes the order or the place of others.
///
/// Text from outside is shown with such characters by their numbers: what a person decides about must
/// be what it looks like. Control characters are not among them; see [`char::is_control`].
///
/// ```
/// use countersign_record::is_hidden;
///
/// assert!(is_hidden('\u{202e}') && is_hidden('\u{200b}'));
/// assert!(!is_hidden('a') && !is_hidden('ü'));
/// ```
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let number = u32::from(c);
    HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&number))
}

/// Text from outside, with what could control a terminal, or hide in it, made visible. Lines stay
/// lines.
///
/// ```
/// use countersign_record::plain;
///
/// assert_eq!(plain("a\u{1b}[31mb\r\n\tc"), "a\\u{1b}[31mb\\u{d}\n\tc");
/// assert_eq!(plain("rm \u{202e}txt"), "rm \\u{202e}txt");
/// ```
#[must_use]
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() || (is_hidden(c) && !joins(c)) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether a character joins letters or pictures, which many languages and pictures need.
const fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_controls_the_terminal() {
        assert_eq!(plain("a\x1b[31mb\r\n\tc"), "a\\u{1b}[31mb\\u{d}\n\tc");
        assert_eq!(plain("rm \u{202e}txt"), "rm \\u{202e}txt");
        assert_eq!(plain("rm\u{200b}x\u{e0041}"), "rm\\u{200b}x\\u{e0041}");
        assert_eq!(plain("a\u{e0100}\u{2800}"), "a\\u{e0100}\\u{2800}");
        assert_eq!(plain("grüß 🙂 👩\u{200d}💻"), "grüß 🙂 👩\u{200d}💻");
    }

    #[test]
    fn the_script_of_a_page_has_the_same_list() {
        let script = include_str!("page/assets/text.js");
        let number = |number: u32| match number {
            0..=0xffff => format!("\\u{number:04x}"),
            number => format!("\\u{{{number:x}}}"),
        };
        for (first, last) in HIDDEN {
            let range = match first == last {
                true => number(*first),
                false => format!("{}-{}", number(*first), number(*last)),
            };
            assert!(script.contains(&range), "{range} is not in text.js");
        }
    }
}
