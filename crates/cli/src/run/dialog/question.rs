//! Questions of the model, one after the other.

use countersign::protocol::tool::Question;

use super::choices::{Choice, Choices};
use super::field::Field;
use super::{Decision, Reaction};
use crate::run::terminal::keys::Key;
use crate::run::view::line::{Line, Tone, lines};

/// How many rows of a preview are shown.
const PREVIEW: usize = 8;

/// What was answered to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// The labels that were chosen.
    pub(crate) labels: Vec<String>,
    /// Words of one's own.
    pub(crate) words: Option<String>,
}

/// Questions of the model, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct QuestionDialog {
    questions: Vec<Question>,
    given: Vec<Given>,
    /// The question that is shown.
    number: usize,
    choices: Choices,
    /// Which answers are ticked, where several may be.
    ticked: Vec<bool>,
    /// Words of one's own, while they are typed.
    typing: Option<Field>,
    hint: Option<&'static str>,
}

impl QuestionDialog {
    pub(crate) fn new(questions: Vec<Question>) -> Self {
        let given = vec![Given::default(); questions.len()];
        let choices = Choices::new(Vec::new());
        let mut dialog = Self {
            questions,
            given,
            number: 0,
            choices,
            ticked: Vec::new(),
            typing: None,
            hint: None,
        };
        dialog.open(0);
        dialog
    }

    fn question(&self) -> Option<&Question> {
        self.questions.get(self.number)
    }

    fn takes_several(&self) -> bool {
        self.question().is_some_and(|question| question.multi_select == Some(true))
    }

    /// How many answers are offered. Words of one's own come after them.
    fn offered(&self) -> usize {
        self.question().map_or(0, |question| question.options.len())
    }

    fn open(&mut self, number: usize) {
        self.number = number;
        let given = self.given.get(number).cloned().unwrap_or_default();
        let options = self.question().map(|question| question.options.clone()).unwrap_or_default();
        let mut choices: Vec<_> = options
            .iter()
            .map(|option| {
                let note = option.description.clone().unwrap_or_default();
                Choice::new(option.label.clone(), None).note(note)
            })
            .collect();
        let own = given.words.clone().unwrap_or_else(|| "in your own words".to_owned());
        choices.push(Choice::new("Other", Some('o')).note(own));
        choices.push(Choice::new("Skip this question", Some('s')));
        self.choices = Choices::new(choices);
        self.ticked = options.iter().map(|option| given.labels.contains(&option.label)).collect();
        self.typing = None;
    }

    pub(crate) fn key(&mut self, key: &Key) -> Reaction {
        self.hint = None;
        if let Some(field) = &mut self.typing {
            match key {
                Key::Escape => self.typing = None,
                Key::Enter => return self.typed(),
                key => {
                    field.key(key);
                }
            }
            return Reaction::Stay;
        }
        match key {
            // Nobody answers anything.
            Key::Escape => {
                return Reaction::Decided(Decision::Answers(vec![
                    Given::default();
                    self.questions.len()
                ]));
            }
            Key::Left | Key::BackTab if self.number > 0 => self.open(self.number - 1),
            Key::Char(' ') => {
                if self.takes_several() && self.choices.at() < self.offered() {
                    self.tick(self.choices.at());
                } else {
                    return self.choose(self.choices.at());
                }
            }
            // Where several may be chosen, Enter is for all of them.
            Key::Enter if self.takes_several() && self.choices.at() < self.offered() => {
                return self.confirm();
            }
            key => match self.choices.key(key) {
                Some(at) if self.takes_several() && at < self.offered() => self.tick(at),
                Some(at) => return self.choose(at),
                None => {}
            },
        }
        Reaction::Stay
    }

    fn tick(&mut self, at: usize) {
        if let Some(ticked) = self.ticked.get_mut(at) {
            *ticked = !*ticked;
        }
    }

    fn choose(&mut self, at: usize) -> Reaction {
        match at.checked_sub(self.offered()) {
            // Words of one's own.
            Some(0) => {
                let words = self.given.get(self.number).and_then(|given| given.words.clone());
                self.typing = Some(Field::new(&words.unwrap_or_default()));
                Reaction::Stay
            }
            Some(_) => self.give(Given::default()),
            None => {
                let option = self.question().and_then(|question| question.options.get(at));
                let labels = option.map(|option| option.label.clone()).into_iter().collect();
                self.give(Given { labels, words: None })
            }
        }
    }

    fn labels(&self) -> Vec<String> {
        let options = self.question().map(|question| question.options.as_slice());
        let ticked = options.unwrap_or_default().iter().zip(&self.ticked);
        ticked.filter(|(_, is)| **is).map(|(option, _)| option.label.clone()).collect()
    }

    /// What is ticked is the answer, with the words of one's own if there are any.
    fn confirm(&mut self) -> Reaction {
        let labels = self.labels();
        let words = self.given.get(self.number).and_then(|given| given.words.clone());
        if labels.is_empty() && words.is_none() {
            self.hint = Some("Nothing is chosen: Space chooses, s skips.");
            return Reaction::Stay;
        }
        self.give(Given { labels, words })
    }

    fn typed(&mut self) -> Reaction {
        let words = self.typing.take().map(|field| field.text().trim().to_owned());
        let words = words.filter(|words| !words.is_empty());
        if self.takes_several() {
            // There may be more to tick.
            let (labels, at) = (self.labels(), self.offered());
            if let Some(given) = self.given.get_mut(self.number) {
                *given = Given { labels, words };
            }
            self.open(self.number);
            self.choices.go_to(at.saturating_sub(1));
            return Reaction::Stay;
        }
        match words {
            Some(words) => self.give(Given { labels: Vec::new(), words: Some(words) }),
            None => Reaction::Stay,
        }
    }

    fn give(&mut self, answer: Given) -> Reaction {
        if let Some(given) = self.given.get_mut(self.number) {
            *given = answer;
        }
        if self.number + 1 < self.questions.len() {
            self.open(self.number + 1);
            return Reaction::Stay;
        }
        Reaction::Decided(Decision::Answers(self.given.clone()))
    }

    /// What is asked is printed above a dialog that the window is too low for.
    pub(crate) fn opening(&self, columns: usize, rows: usize) -> Vec<Line> {
        if self.lines(columns).iter().flat_map(|line| line.wrapped(columns)).count() <= rows {
            return Vec::new();
        }
        let asked = self.questions.iter().flat_map(|question| {
            let header = Line::of(Tone::Accent, &format!(" {} ", question.header));
            std::iter::once(header).chain(lines(Tone::Bold, &question.question))
        });
        asked.collect()
    }

    pub(crate) fn lines(&self, columns: usize) -> Vec<Line> {
        let Some(question) = self.question() else { return Vec::new() };
        let mut head = Line::of(Tone::Accent, &format!(" {} ", question.header));
        if self.questions.len() > 1 {
            let of = format!(" question {} of {}", self.number + 1, self.questions.len());
            head = head.and(Tone::Dim, &of);
        }
        let mut shown = vec![Line::of(Tone::Dim, &"─".repeat(columns)), head];
        shown.extend(lines(Tone::Bold, &question.question).into_iter().map(Line::kept));
        shown.push(Line::new());
        let several = self.takes_several();
        shown.extend(self.choices.lines(|number| match self.ticked.get(number) {
            Some(true) if several => "[✓] ",
            Some(false) if several => "[ ] ",
            _ => "",
        }));
        let preview = question.options.get(self.choices.at());
        if let Some(preview) = preview.and_then(|option| option.preview.as_deref()) {
            shown.push(Line::new());
            let more = preview.lines().count().saturating_sub(PREVIEW);
            let rows = lines(Tone::Code, preview).into_iter().take(PREVIEW);
            shown.extend(rows.map(|line| Line::of(Tone::Dim, "  │ ").followed_by(line).hanging(4)));
            if more > 0 {
                shown.push(Line::of(Tone::Dim, &format!("  │ … {more} more lines")));
            }
        }
        if let Some(field) = &self.typing {
            shown.extend(field.lines("> ", Tone::Plain));
            shown.push(Line::of(Tone::Dim, "Enter answers with this · Esc goes back").kept());
            return shown;
        }
        shown.extend(self.hint.map(|hint| Line::of(Tone::Warn, hint).kept()));
        let mut keys = String::from("↑↓ Enter or a number");
        if several {
            keys = String::from("↑↓, Space or a number ticks · Enter answers");
        }
        if self.number > 0 {
            keys.push_str(" · ← goes back");
        }
        keys.push_str(" · Esc answers nothing");
        shown.push(Line::of(Tone::Dim, &keys).kept());
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialog() -> QuestionDialog {
        let questions = r#"[
            {"question": "Which colour?", "header": "Colour", "options": [
                {"label": "Red", "preview": "rrr\nr"}, {"label": "Green", "description": "Calm"}]},
            {"question": "Which fruits?", "header": "Fruits", "multiSelect": true, "options": [
                {"label": "Apple"}, {"label": "Plum"}]}
        ]"#;
        QuestionDialog::new(serde_json::from_str(questions).unwrap())
    }

    fn given(labels: &[&str], words: Option<&str>) -> Given {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Given { labels, words: words.map(str::to_owned) }
    }

    fn answers(keys: &[Key]) -> Vec<Given> {
        let mut dialog = dialog();
        let (last, before) = keys.split_last().unwrap();
        for key in before {
            assert_eq!(dialog.key(key), Reaction::Stay, "{key:?}");
        }
        match dialog.key(last) {
            Reaction::Decided(Decision::Answers(given)) => given,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_and_several_are_chosen() {
        use Key::{Char, Down, Enter};
        let keys = [Down, Enter, Char(' '), Down, Char(' '), Enter];
        assert_eq!(answers(&keys), [given(&["Green"], None), given(&["Apple", "Plum"], None)]);
        // A number ticks where there may be several, and a second time takes it back.
        let keys = [Char('1'), Char('1'), Char('2'), Char('1'), Enter];
        assert_eq!(answers(&keys), [given(&["Red"], None), given(&["Plum"], None)]);
    }

    #[test]
    fn words_of_ones_own_beside_what_is_ticked() {
        use Key::{Char, Enter, Paste};
        let words = |text: &str| Paste(text.to_owned());
        let keys =
            [Char('o'), words("blue"), Enter, Char('1'), Char('o'), words("figs"), Enter, Enter];
        assert_eq!(answers(&keys), [given(&[], Some("blue")), given(&["Apple"], Some("figs"))]);
    }

    #[test]
    fn questions_can_be_skipped_and_taken_up_again() {
        use Key::{Char, Enter, Escape, Left};
        assert_eq!(answers(&[Char('s'), Char('s')]), [Given::default(), Given::default()]);
        assert_eq!(answers(&[Enter, Escape]), [Given::default(), Given::default()]);
        let keys = [Enter, Left, Char('2'), Enter, Char('1'), Enter];
        assert_eq!(answers(&keys), [given(&["Green"], None), given(&["Apple"], None)]);
    }

    #[test]
    fn in_a_low_window_what_is_asked_is_printed_above() {
        assert!(dialog().opening(40, 24).is_empty());
        let printed: Vec<_> = dialog().opening(40, 8).iter().map(Line::text).collect();
        assert_eq!(printed, [" Colour ", "Which colour?", " Fruits ", "Which fruits?"]);
    }

    #[test]
    fn the_preview_of_what_the_cursor_is_on() {
        let shown: Vec<_> = dialog().lines(40).iter().map(Line::text).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        ────────────────────────────────────────
         Colour  question 1 of 2
        Which colour?

        ❯ 1. Red
          2. Green  Calm
          3. Other (o)  in your own words
          4. Skip this question (s)

          │ rrr
          │ r
        ↑↓ Enter or a number · Esc answers nothing
        ");
    }
}
