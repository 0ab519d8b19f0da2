//! Words that can be searched for.
//!
//! Databases disagree on what a word is; here it is said once, so that the same search finds the
//! same sessions in both stores. A word is a run of letters and digits in lower case. Scripts that
//! do not put spaces between words have one word a character.

use std::collections::BTreeSet;

/// How much of a text is looked at, in bytes.
const TEXT: usize = 64 << 10;
/// How long a word is at most, in characters. Longer ones are cut, in texts and in searches.
const WORD: usize = 64;
/// How many words a search has at most.
const SEARCH: usize = 32;

/// The words of a text, each once.
pub(super) fn words_of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    each_word(head_of(text), |word| {
        words.insert(word.to_owned());
    });
    words
}

/// A text as titles are compared: in lower case, and without what not every database can keep.
pub(super) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(storable_char).collect()
}

/// A text without what not every database can keep.
pub(super) fn storable(text: &str) -> String {
    text.chars().map(storable_char).collect()
}

const fn storable_char(char: char) -> char {
    if char == '\0' { char::REPLACEMENT_CHARACTER } else { char }
}

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// Words that have to be there, in the title or in what was said.
    pub(super) words: Vec<String>,
    /// The beginning of a word that has to be there.
    pub(super) beginning: Option<String>,
    /// What the title has to have, where there is no word to search for.
    pub(super) title: Option<String>,
}

impl Search {
    /// What a text searches for; nothing if it is blank.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = head_of(text.trim());
        if text.is_empty() {
            return None;
        }
        let mut words: Vec<String> = Vec::new();
        each_word(text, |word| {
            if words.len() < SEARCH {
                words.push(word.to_owned());
            }
        });
        let beginning = words.pop();
        words.sort();
        words.dedup();
        let title = beginning.is_none().then(|| folded(text));
        Some(Self { words, beginning, title })
    }
}

/// The beginning of a text, without cutting a character.
fn head_of(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT)).unwrap_or(text)
}

fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let (mut word, mut length) = (String::new(), 0);
    for char in text.chars() {
        if is_word_by_itself(char) {
            if !word.is_empty() {
                take(&word);
            }
            take(char.encode_utf8(&mut [0; 4]));
            word.clear();
            length = 0;
        } else if char.is_alphanumeric() {
            if length < WORD {
                word.extend(char.to_lowercase());
            }
            length += 1;
        } else if !word.is_empty() {
            take(&word);
            word.clear();
            length = 0;
        }
    }
    if !word.is_empty() {
        take(&word);
    }
}

/// Whether it is of a script that is written without spaces: Thai, Lao, Burmese and Khmer, kana and
/// Chinese characters.
const fn is_word_by_itself(char: char) -> bool {
    matches!(char,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let words = words_of(text);
        assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn words_are_letters_and_digits_in_lower_case() {
        check("", &[]);
        check("?! … \0", &[]);
        check("Fix src/main.rs, then FIX it", &["fix", "it", "main", "rs", "src", "then"]);
        check("Straße ÄRGER", &["straße", "ärger"]);
        check("版本2 ok", &["2", "ok", "本", "版"]);
    }

    #[test]
    fn a_long_text_is_cut_where_a_character_ends() {
        let text = "ä".repeat(TEXT);
        check(&text, &[&"ä".repeat(WORD)]);
        let text = "a ".repeat(TEXT) + "end";
        check(&text, &["a"]);
    }

    #[test]
    fn a_search_has_words_and_the_beginning_of_one() {
        assert_eq!(Search::of(" \n"), None);
        let search = Search::of("\"two words\" AND mor*").unwrap();
        assert_eq!(search.words, ["and", "two", "words"]);
        assert_eq!(search.beginning.as_deref(), Some("mor"));
        assert_eq!(search.title, None);
        let search = Search::of(" -> ").unwrap();
        assert_eq!((search.beginning, search.title.as_deref()), (None, Some("->")));
        let many = (0..1000).map(|n| format!("w{n} ")).collect::<String>();
        assert!(Search::of(&many).unwrap().words.len() < SEARCH);
    }
}
