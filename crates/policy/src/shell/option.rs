//! Options of programs, and their values.

use std::borrow::Cow;

use super::word::Word;

/// Which options a program has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Letters without a value.
    pub(crate) flags: &'static str,
    /// Letters with a value, in the same word or in the next one.
    pub(crate) valued: &'static str,
    /// Letters that can have a value, in the same word only.
    pub(crate) attached: &'static str,
    /// Names without a value, or with one after `=`.
    pub(crate) long: &'static [&'static str],
    /// Names with a value, after `=` or in the next word.
    pub(crate) long_valued: &'static [&'static str],
    /// Whether options can begin with `+`, too.
    pub(crate) plus: bool,
}

/// An option that was given.
#[derive(Clone, Debug)]
pub(crate) struct Setting<'a> {
    /// Its letter or its name.
    pub(crate) name: &'a str,
    /// Its value.
    pub(crate) value: Option<Cow<'a, Word>>,
}

/// The arguments of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parsed<'a> {
    /// The options, in their order.
    pub(crate) options: Vec<Setting<'a>>,
    /// What is not an option.
    pub(crate) operands: Vec<&'a Word>,
    /// What comes after the options, where options end at the first operand.
    pub(crate) rest: &'a [Word],
    /// An option that is not known, so that it cannot be told whether the next word is its value.
    pub(crate) has_unknown: bool,
}

impl<'a> Parsed<'a> {
    /// Whether one of these options was given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(&option.name))
    }

    /// The values of these options.
    pub(crate) fn values(&self, names: &[&str]) -> impl Iterator<Item = Cow<'a, Word>> {
        let options = self.options.iter().filter(move |option| names.contains(&option.name));
        options.filter_map(|option| option.value.clone())
    }
}

impl Options {
    /// No options that are known.
    pub(crate) const NONE: Self =
        Self { flags: "", valued: "", attached: "", long: &[], long_valued: &[], plus: false };

    /// Letters with a value; all others have none.
    pub(crate) const fn valued(valued: &'static str) -> Self {
        Self { valued, ..Self::NONE }
    }

    /// Letters and names with a value; all others have none.
    pub(crate) const fn with(valued: &'static str, long_valued: &'static [&'static str]) -> Self {
        Self { valued, long_valued, ..Self::NONE }
    }

    /// Reads arguments in which options can stand anywhere.
    pub(crate) fn anywhere<'a>(&self, words: &'a [Word]) -> Parsed<'a> {
        self.read(words, false)
    }

    /// Reads arguments in which options end at the first word that is none.
    pub(crate) fn leading<'a>(&self, words: &'a [Word]) -> Parsed<'a> {
        self.read(words, true)
    }

    fn read<'a>(&self, mut words: &'a [Word], ends_early: bool) -> Parsed<'a> {
        let mut parsed = Parsed::default();
        while let Some((word, rest)) = words.split_first() {
            let text = word.text.as_str();
            let is_option = (text.starts_with('-') || (self.plus && text.starts_with('+')))
                && text.len() > 1
                && word.hole != Some(0);
            if text == "--" {
                parsed.rest = rest;
                parsed.operands.extend(rest);
                return parsed;
            }
            if !is_option {
                if ends_early {
                    break;
                }
                parsed.operands.push(word);
                words = rest;
                continue;
            }
            let takes_next = match text.strip_prefix("--") {
                Some(name) => self.long_option(word, name, &mut parsed),
                None => self.letters(word, &mut parsed),
            };
            words = rest;
            if takes_next
                && let Some((value, after)) = rest.split_first()
                && let Some(option) = parsed.options.last_mut()
            {
                option.value = Some(Cow::Borrowed(value));
                words = after;
            }
        }
        parsed.rest = words;
        parsed
    }

    /// An option with a name. True where its value is the next word.
    fn long_option<'a>(&self, word: &'a Word, text: &'a str, parsed: &mut Parsed<'a>) -> bool {
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name, Some(Cow::Owned(word.after(name.len() + 3)))),
            None => (text, None),
        };
        // A name can be cut short as long as there is only one that begins like that.
        let named = |names: &'static [&'static str]| {
            let exact = names.iter().find(|known| **known == name);
            exact.or_else(|| names.iter().find(|known| known.starts_with(name))).copied()
        };
        let (flag, valued) = (named(self.long), named(self.long_valued));
        let is_valued = match (flag, valued) {
            (Some(flag), Some(valued)) => {
                parsed.has_unknown |= flag != name && valued != name;
                flag != name
            }
            (None, None) => {
                parsed.has_unknown |= value.is_none();
                false
            }
            (_, valued) => valued.is_some(),
        };
        let full = if is_valued { valued } else { flag };
        let takes_next = is_valued && value.is_none();
        parsed.options.push(Setting { name: full.unwrap_or(name), value });
        takes_next
    }

    /// Options with letters, several of which can stand in one word. True where the value of the last
    /// one is the next word.
    fn letters<'a>(&self, word: &'a Word, parsed: &mut Parsed<'a>) -> bool {
        for (at, letter) in word.text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = word.text.get(at..end).unwrap_or_default();
            let rest = || (end < word.text.len()).then(|| Cow::Owned(word.after(end)));
            if self.valued.contains(letter) || self.attached.contains(letter) {
                let value = rest();
                let takes_next = value.is_none() && self.valued.contains(letter);
                parsed.options.push(Setting { name, value });
                return takes_next;
            }
            parsed.has_unknown |= !self.flags.contains(letter);
            parsed.options.push(Setting { name, value: None });
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &Options, line: &str) -> String {
        let words: Vec<Word> = line.split(' ').map(Word::known).collect();
        let parsed = options.anywhere(&words);
        let mut said: Vec<String> = parsed
            .options
            .iter()
            .map(|option| match &option.value {
                Some(value) => format!("{}={}", option.name, value.text),
                None => option.name.to_owned(),
            })
            .collect();
        said.extend(parsed.operands.iter().map(|word| format!("[{}]", word.text)));
        said.join(" ")
    }

    #[test]
    fn options_and_values_are_told_apart() {
        let options = Options {
            valued: "ot",
            attached: "i",
            long: &["force", "follow"],
            long_valued: &["output"],
            ..Options::NONE
        };
        assert_eq!(read(&options, "-so x -ty z -o"), "s o=x t=y o [z]");
        assert_eq!(read(&options, "-i -isuffix -ni x"), "i i=suffix n i [x]");
        assert_eq!(
            read(&options, "--output x --output=y --out z -- -o"),
            "output=x output=y output=z [-o]"
        );
        assert_eq!(read(&options, "--forc - a --other b"), "force other [-] [a] [b]");
    }
}
