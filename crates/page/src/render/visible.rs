//! Characters that are not seen, made visible.
//!
//! What a person allows is what they see. Characters that change the direction of a text, that are not
//! drawn, or that control a terminal could show them something else.

use countersign_policy::{Danger, Note};

use super::Html;
use super::code::{self, Language};

/// Whether a character is not seen, or changes how others are. Those that only make a picture of the sign
/// before them, or one picture of two, are seen by what they make.
fn is_hidden(character: char, before: Option<char>) -> bool {
    let is_picture = before.is_some_and(|before| {
        matches!(before, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
            && !is_never_seen(before)
    });
    match character {
        '\u{fe0f}' => !is_picture,
        '\u{200d}' => !is_picture && before != Some('\u{fe0f}'),
        other => is_never_seen(other),
    }
}

const fn is_never_seen(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether there are such characters in a text. The end of a line as some systems write it is none.
#[must_use]
pub fn is_in(text: &str) -> bool {
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        let ends_line = character == '\r' && characters.peek() == Some(&'\n');
        if is_hidden(character, before) && !ends_line {
            return true;
        }
        before = Some(character);
    }
    false
}

/// Whether there are such characters in a JSON text: as they are, or written as an escape.
#[must_use]
pub fn has_hidden(json: &str) -> bool {
    let in_text = is_in;
    in_text(json)
        || super::json::read(json).is_some_and(|(value, _)| {
            let mut open = vec![&value];
            while let Some(value) = open.pop() {
                match value {
                    serde_json::Value::String(text) if in_text(text) => return true,
                    serde_json::Value::Array(items) => open.extend(items),
                    serde_json::Value::Object(fields) => {
                        if fields.keys().any(|key| in_text(key)) {
                            return true;
                        }
                        open.extend(fields.values());
                    }
                    _ => {}
                }
            }
            false
        })
}

/// What a person should know where a text has half of a character.
#[must_use]
pub fn note_of_halves() -> Note {
    let text = "has half of a character, which is shown as \u{fffd} and is something else";
    Note { danger: Danger::Opaque, text: text.to_owned() }
}

/// What a person should know about them.
#[must_use]
pub fn note() -> Note {
    let text = "has characters that are not seen or change the direction of the text; they are shown as U+…";
    Note { danger: Danger::Opaque, text: text.to_owned() }
}

/// Code in which such characters are shown by their numbers.
#[must_use]
pub fn html(text: &str, language: Option<Language>) -> Html {
    if is_in(text) { text_of(text) } else { code::html(text, language) }
}

/// A text in which such characters are shown by their numbers.
#[must_use]
pub fn text_of(text: &str) -> Html {
    let mut html = Html::new();
    write(&mut html, text);
    html
}

/// Adds a text in which such characters are shown by their numbers.
pub fn write(html: &mut Html, text: &str) {
    let (mut before, mut done) = (None, 0);
    for (at, character) in text.char_indices() {
        if is_hidden(character, before) {
            html.text(text.get(done..at).unwrap_or_default()).tag("<b class=\"odd\">");
            html.text(&format!("U+{:04X}", character as u32)).tag("</b>");
            done = at + character.len_utf8();
        }
        before = Some(character);
    }
    html.text(text.get(done..).unwrap_or_default());
}

/// A text without the escape codes of a terminal.
#[must_use]
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => match characters.next() {
                Some('[') => {
                    while characters.next().is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c)) {}
                }
                Some(']') => while characters.next().is_some_and(|c| c != '\u{7}') {},
                _ => {}
            },
            '\n' | '\t' => plain.push(character),
            other if other.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_found_and_shown() {
        assert!(has_hidden("{\"a\":\"x\u{202e}y\"}"));
        assert!(has_hidden(r#"{"a":"x\u202ey"}"#));
        assert!(has_hidden(r#"{"a\u200b":1}"#));
        assert!(!has_hidden("{\"a\":\"plain\\n\\ttext é 漢\"}"));
        assert_eq!(html("a\u{202e}<b>", None).as_str(), "a<b class=\"odd\">U+202E</b>&lt;b&gt;");
        assert_eq!(html("plain\n\t", None).as_str(), "plain\n\t");
        assert_eq!(html("a\rb", None).as_str(), "a<b class=\"odd\">U+000D</b>b");
        assert!(is_in("a\rb") && !is_in("a\r\nb"));
    }

    #[test]
    fn pictures_are_no_hidden_characters() {
        assert!(!is_in("⚠️ careful 👩‍💻 ❤️‍🔥"));
        for hidden in
            ["a\u{fe0f}", "a\u{200d}b", "\u{200d}", "\u{2800}\u{fe0f}", "\u{2060}\u{fe0f}"]
        {
            assert!(is_in(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn codes_of_a_terminal_are_taken_out() {
        assert_eq!(without_escapes("\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7}x\u{8}"), "bold x");
        assert_eq!(without_escapes("\u{1b}"), "");
    }
}
