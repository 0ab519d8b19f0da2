//! May this tool run?

use countersign::protocol::RawJson;
use countersign::protocol::ask::CanUseTool;
use countersign::protocol::tool::ToolInput;

use super::choices::{Choice, Choices};
use super::field::Field;
use super::{Decision, Reaction};
use crate::run::terminal::keys::Key;
use crate::run::view::ask::Shown;
use crate::run::view::json::tidy;
use crate::run::view::line::{Line, Tone};
use crate::run::view::place::Place;
use crate::run::view::suggestion;

/// How many rows of what would be done are always shown, however low the window is.
const LEAST: usize = 4;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Yes,
    /// With this suggestion.
    Always(usize),
    Edit,
    No,
    Stop,
}

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Typing {
    /// The command.
    Command(Field),
    /// Why not.
    Reason(Field),
}

/// May this tool run?
#[derive(Clone, Debug)]
pub(crate) struct ToolDialog {
    ask: CanUseTool,
    place: Place,
    shown: Shown,
    entries: Vec<Entry>,
    choices: Choices,
    typing: Option<Typing>,
    /// Whether the input is another one than the model's.
    is_edited: bool,
    problem: Option<String>,
}

impl ToolDialog {
    pub(crate) fn new(ask: CanUseTool, place: Place) -> Self {
        let (mut entries, mut choices) = (vec![Entry::Yes], vec![Choice::new("Yes", Some('y'))]);
        // Where a lasting choice should not be made, none is offered.
        let lasting = ask.suppress_always_allow_rule != Some(true);
        let suggestions = ask.permission_suggestions.as_deref().unwrap_or_default();
        for (number, update) in suggestions.iter().enumerate().filter(|_| lasting) {
            if let Some(words) = suggestion::words(update, &place) {
                let letter =
                    (!entries.iter().any(|entry| matches!(entry, Entry::Always(_)))).then_some('a');
                entries.push(Entry::Always(number));
                choices.push(Choice::new(words, letter));
            }
        }
        let what = if ask.tool_name == "Bash" { "Edit the command" } else { "Edit the input" };
        entries.extend([Entry::Edit, Entry::No, Entry::Stop]);
        choices.extend([
            Choice::new(what, Some('e')),
            Choice::new("No, and tell Claude what to do differently", Some('n')),
            Choice::new("No, and stop", Some('s')),
        ]);
        let mut choices = Choices::new(choices);
        if ask.default_to_no == Some(true) {
            choices.go_to(entries.iter().position(|entry| *entry == Entry::No).unwrap_or_default());
        }
        let shown = Shown::new(&ask, &place);
        Self { ask, place, shown, entries, choices, typing: None, is_edited: false, problem: None }
    }

    pub(crate) fn key(&mut self, key: &Key) -> Reaction {
        self.problem = None;
        if let Some(typing) = &mut self.typing {
            let (Typing::Command(field) | Typing::Reason(field)) = typing;
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
            Key::Escape => Reaction::Decided(Decision::Deny(None)),
            Key::Char('v') => Reaction::Print(self.whole()),
            key => match self.choices.key(key).and_then(|at| self.entries.get(at).copied()) {
                Some(entry) => self.choose(entry),
                None => Reaction::Stay,
            },
        }
    }

    fn choose(&mut self, entry: Entry) -> Reaction {
        let input = self.is_edited.then(|| self.ask.input.clone());
        match entry {
            Entry::Yes => Reaction::Decided(Decision::Allow { input, suggestion: None }),
            Entry::Always(number) => {
                Reaction::Decided(Decision::Allow { input, suggestion: Some(number) })
            }
            Entry::Edit => match self.command() {
                Some(command) => {
                    self.typing = Some(Typing::Command(Field::new(&command)));
                    Reaction::Stay
                }
                None => Reaction::Edit(tidy(self.ask.input.as_str()), ".json"),
            },
            Entry::No => {
                self.typing = Some(Typing::Reason(Field::default()));
                Reaction::Stay
            }
            Entry::Stop => Reaction::Decided(Decision::Stop),
        }
    }

    fn command(&self) -> Option<String> {
        match ToolInput::parse(&self.ask.tool_name, &self.ask.input) {
            Ok(ToolInput::Bash(bash)) => Some(bash.command),
            _ => None,
        }
    }

    /// What was typed is complete.
    fn typed(&mut self) -> Reaction {
        match self.typing.take() {
            Some(Typing::Reason(field)) => {
                let reason = field.text().trim().to_owned();
                Reaction::Decided(Decision::Deny((!reason.is_empty()).then_some(reason)))
            }
            Some(Typing::Command(field)) => match with_command(&self.ask.input, &field.text()) {
                Ok(input) => {
                    self.take(input);
                    let input = self.is_edited.then(|| self.ask.input.clone());
                    Reaction::Decided(Decision::Allow { input, suggestion: None })
                }
                Err(error) => {
                    self.problem = Some(error.to_string());
                    Reaction::Stay
                }
            },
            None => Reaction::Stay,
        }
    }

    fn take(&mut self, input: RawJson) {
        self.is_edited |= input != self.ask.input;
        self.ask.input = input;
        self.shown = Shown::new(&self.ask, &self.place);
    }

    /// The input comes back from the editor. It is shown before it is used.
    pub(crate) fn edited(&mut self, text: &str) -> Reaction {
        let compact = serde_json::from_str::<Box<serde_json::value::RawValue>>(text)
            .map(|raw| raw.get().to_owned());
        match compact.map(|text| text.parse::<RawJson>()) {
            Ok(Ok(input)) if tidy(input.as_str()) == tidy(self.ask.input.as_str()) => {}
            Ok(Ok(input)) if input.is_object() => self.take(input),
            Ok(Ok(_)) => self.problem = Some("The input has to be an object.".to_owned()),
            Ok(Err(error)) => self.problem = Some(format!("That is not JSON: {error}")),
            Err(error) => self.problem = Some(format!("That is not JSON: {error}")),
        }
        self.choices.go_to(0);
        Reaction::Stay
    }

    /// All of it, to be printed.
    fn whole(&self) -> Vec<Line> {
        let body = self.shown.body.iter().map(|line| line.clone().indented(2));
        let about = self.shown.about.iter().map(|line| line.clone().indented(2));
        std::iter::once(self.shown.title.clone()).chain(body).chain(about).collect()
    }

    /// How many rows there are for the body.
    fn room(&self, columns: usize, rows: usize) -> usize {
        let rest = self.around(columns).iter().flat_map(|line| line.wrapped(columns)).count();
        rows.saturating_sub(rest + 2).max(LEAST)
    }

    fn body_rows(&self, columns: usize) -> Vec<Line> {
        let lines = self.shown.body.iter().map(|line| line.clone().indented(2));
        lines.flat_map(|line| line.wrapped(columns)).collect()
    }

    /// A command that does not fit is printed whole above the dialog, and so is everything when the
    /// window is too low for the dialog: of that the first rows are not shown, which say what it is.
    pub(crate) fn opening(&self, columns: usize, rows: usize) -> Vec<Line> {
        let is_cut = self.body_rows(columns).len() > self.room(columns, rows);
        let panel = self.lines(columns, rows);
        let is_too_high = panel.iter().flat_map(|line| line.wrapped(columns)).count() > rows;
        if is_too_high || (self.shown.is_whole && is_cut) { self.whole() } else { Vec::new() }
    }

    /// What stands around the body.
    fn around(&self, columns: usize) -> Vec<Line> {
        let mut lines = vec![Line::of(Tone::Dim, &"─".repeat(columns))];
        let mut title = self.shown.title.clone();
        if self.is_edited {
            title = title.and(Tone::Warn, "  (edited by you)");
        }
        lines.push(title);
        lines.push(Line::new());
        lines.extend(self.shown.about.iter().map(|line| line.clone().indented(2)));
        lines.extend(self.problem.as_deref().map(|problem| Line::of(Tone::Bad, problem).kept()));
        lines.extend(self.below());
        lines
    }

    fn below(&self) -> Vec<Line> {
        match &self.typing {
            None => {
                let mut lines = vec![Line::of(Tone::Plain, "Do you want to allow this?").kept()];
                lines.extend(self.choices.lines(|_| ""));
                lines.push(
                    Line::of(Tone::Dim, "↑↓ Enter, a number or a letter · Esc denies").kept(),
                );
                lines
            }
            Some(Typing::Command(field)) => {
                let mut lines = field.lines("$ ", Tone::Plain);
                lines.push(Line::of(Tone::Dim, "Enter runs this · Esc goes back").kept());
                lines
            }
            Some(Typing::Reason(field)) => {
                let mut lines =
                    vec![Line::of(Tone::Plain, "What should Claude do differently?").kept()];
                lines.extend(field.lines("> ", Tone::Plain));
                lines.push(Line::of(Tone::Dim, "Enter denies with this · Esc goes back").kept());
                lines
            }
        }
    }

    pub(crate) fn lines(&self, columns: usize, rows: usize) -> Vec<Line> {
        let mut around = self.around(columns);
        let (mut body, room) = (self.body_rows(columns), self.room(columns, rows));
        if body.len() > room {
            let more = body.len() - room;
            body.truncate(room);
            body.push(Line::of(Tone::Warn, &format!("  … {more} more rows (v shows all)")));
        }
        body.push(Line::new());
        // After the ruler and the title.
        around.splice(2..3, body);
        around
    }
}

/// The input with another command; the rest of it as it came.
fn with_command(input: &RawJson, command: &str) -> Result<RawJson, serde_json::Error> {
    use serde_json::value::RawValue;
    let mut fields: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(input.as_str())?;
    fields.insert("command".to_owned(), serde_json::value::to_raw_value(command)?);
    RawJson::from_value(&fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASH: &str = r#"{"tool_name":"Bash","tool_use_id":"t","input":{"command":"npm test","timeout":9},
        "permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"},{"type":"new"}]}"#;

    fn dialog(ask: &str) -> ToolDialog {
        ToolDialog::new(serde_json::from_str(ask).unwrap(), Place::new("/project".into()))
    }

    fn decided(ask: &str, keys: &[Key]) -> Decision {
        let mut dialog = dialog(ask);
        let (last, before) = keys.split_last().unwrap();
        for key in before {
            assert_eq!(dialog.key(key), Reaction::Stay, "{key:?}");
        }
        match dialog.key(last) {
            Reaction::Decided(decision) => decision,
            other => panic!("{other:?}"),
        }
    }

    fn typed(text: &str) -> Key {
        Key::Paste(text.to_owned())
    }

    const ALLOW: Decision = Decision::Allow { input: None, suggestion: None };

    #[test]
    fn every_choice_has_its_keys() {
        use Key::{Char, Down, Enter, Escape, Up};
        assert_eq!(decided(BASH, &[Enter]), ALLOW);
        assert_eq!(decided(BASH, &[Char('y')]), ALLOW);
        assert_eq!(decided(BASH, &[Char('1')]), ALLOW);
        let always = Decision::Allow { input: None, suggestion: Some(0) };
        assert_eq!(decided(BASH, &[Char('a')]), always);
        assert_eq!(decided(BASH, &[Down, Enter]), always);
        assert_eq!(decided(BASH, &[Escape]), Decision::Deny(None));
        assert_eq!(decided(BASH, &[Char('n'), Enter]), Decision::Deny(None));
        let reason = Decision::Deny(Some("use make".to_owned()));
        assert_eq!(decided(BASH, &[Char('n'), typed("use make"), Enter]), reason);
        assert_eq!(decided(BASH, &[Up, Enter]), Decision::Stop);
        assert_eq!(decided(BASH, &[Char('k'), Enter]), Decision::Stop);
        // Back from the reason to the list.
        assert_eq!(decided(BASH, &[Char('n'), typed("x"), Escape, Char('y')]), ALLOW);
    }

    #[test]
    fn keys_without_a_meaning_decide_nothing() {
        let mut dialog = dialog(BASH);
        for key in [Key::Char('x'), Key::Char('9'), Key::Char('0'), typed("y"), Key::Tab] {
            assert_eq!(dialog.key(&key), Reaction::Stay, "{key:?}");
        }
    }

    #[test]
    fn a_command_is_edited_in_its_line() {
        let keys = [Key::Char('e'), Key::Ctrl('w'), typed("run lint"), Key::Enter];
        let Decision::Allow { input: Some(input), suggestion: None } = decided(BASH, &keys) else {
            panic!("it was edited")
        };
        assert_eq!(input.as_str(), r#"{"command":"npm run lint","timeout":9}"#);
        // Not changed after all.
        assert_eq!(decided(BASH, &[Key::Char('e'), Key::Enter]), ALLOW);
    }

    #[test]
    fn another_input_is_shown_before_it_is_used() {
        let ask = r#"{"tool_name":"mcp__x__y","tool_use_id":"t","input":{"a":1.0}}"#;
        let mut dialog = dialog(ask);
        let text = "{\n  \"a\": 1.0\n}";
        assert_eq!(dialog.key(&Key::Char('e')), Reaction::Edit(text.to_owned(), ".json"));
        dialog.edited(text);
        assert_eq!(dialog.key(&Key::Enter), Reaction::Decided(ALLOW));
        dialog.edited("nonsense");
        dialog.edited("[]");
        assert_eq!(dialog.key(&Key::Enter), Reaction::Decided(ALLOW));
        dialog.edited(r#" {"a": 2} "#);
        let shown: String = dialog.lines(60, 24).iter().map(Line::text).collect();
        assert!(shown.contains("edited by you") && shown.contains("\"a\": 2"), "{shown}");
        let Reaction::Decided(Decision::Allow { input, .. }) = dialog.key(&Key::Enter) else {
            panic!("it is allowed")
        };
        assert_eq!(input.unwrap().as_str(), r#"{"a": 2}"#);
    }

    #[test]
    fn no_is_at_hand_and_nothing_lasts_where_the_cli_says_so() {
        let ask = BASH.replace(
            r#""tool_use_id""#,
            r#""default_to_no":true,"suppress_always_allow_rule":true,"tool_use_id""#,
        );
        assert_eq!(decided(&ask, &[Key::Enter, Key::Enter]), Decision::Deny(None));
        let shown: String = dialog(&ask).lines(80, 24).iter().map(Line::text).collect();
        assert!(!shown.contains("don't ask again"), "{shown}");
    }

    #[test]
    fn it_fits_into_the_window_and_says_what_is_missing() {
        let content = "line\\n".repeat(100);
        let ask = format!(
            r#"{{"tool_name":"Write","tool_use_id":"t","input":{{"file_path":"a","content":"{content}"}}}}"#
        );
        let dialog = dialog(&ask);
        let lines = dialog.lines(79, 23);
        assert!(lines.iter().flat_map(|line| line.wrapped(79)).count() <= 23);
        assert!(lines.iter().any(|line| line.text().contains("more rows (v shows all)")));
        assert!(dialog.opening(79, 23).is_empty());
        // A command is printed whole.
        let ask = BASH.replace("npm test\"", &format!("npm test{}\"", "\\nls".repeat(50)));
        assert_eq!(self::dialog(&ask).opening(79, 23).len(), 52);
    }

    #[test]
    fn in_a_low_window_it_is_printed_above() {
        assert!(dialog(BASH).opening(79, 14).is_empty());
        let printed: Vec<_> = dialog(BASH).opening(79, 8).iter().map(Line::text).collect();
        assert_eq!(printed, ["Bash", "  npm test"]);
    }

    #[test]
    fn the_whole_dialog() {
        let shown: Vec<_> = dialog(BASH).lines(72, 24).iter().map(Line::text).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        ────────────────────────────────────────────────────────────────────────
        Bash
          npm test

        Do you want to allow this?
        ❯ 1. Yes (y)
          2. Yes, and don't ask again for Bash(npm test:*) in this folder (for you) (a)
          3. Edit the command (e)
          4. No, and tell Claude what to do differently (n)
          5. No, and stop (s)
        ↑↓ Enter, a number or a letter · Esc denies
        ");
    }
}
