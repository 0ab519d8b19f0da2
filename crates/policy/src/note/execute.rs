//! Programs that are run unread: from a pipe, from a text in the line, from elsewhere.

use super::download::Downloads;
use super::folder::Folders;
use super::send::connected;
use super::{Danger, Found, shown};
use crate::shell::{Command, Input, Line, Program, Run, Source, Word};

impl Found {
    /// What a shell or an interpreter runs.
    pub(super) fn execution(
        &mut self,
        line: &Line,
        command: &Command,
        run: &Run<'_>,
        downloads: &Downloads,
        folders: &Folders<'_>,
    ) {
        let Some(program) = Program::of(run) else {
            if let Some(name) = run.name.filter(|name| downloads.is_program(name, folders)) {
                self.downloaded(name);
            }
            return;
        };
        let input = |number: usize| line.inputs.get(number);
        let (is_downloaded, text) = match (&program.source, command.input) {
            (Source::Argument(word), _) => (downloads.flow.any(&word.commands), None),
            (Source::File(word), _) if downloads.has(word, folders) => {
                return self.downloaded(word);
            }
            (Source::File(word), _) => {
                let text = word.is_process().then_some("runs what another command writes");
                (downloads.flow.any(&word.commands), text)
            }
            (Source::Input, Some(Input::Pipe(_))) => {
                (downloads.flow.before(command), Some("runs what is piped to it"))
            }
            (Source::Input, Some(Input::Text(number))) => {
                let is_downloaded =
                    input(number).is_some_and(|text| downloads.flow.any(&text.commands));
                (is_downloaded, Some("runs the text that it is given"))
            }
            (Source::Input, Some(Input::File(number))) => {
                let Some(word) = input(number) else { return };
                if downloads.has(word, folders) {
                    return self.downloaded(word);
                }
                let text = word.is_process().then_some("runs what another command writes");
                let is_connection = connected(&word.text).is_some();
                (is_connection || downloads.flow.any(&word.commands), text)
            }
            (Source::Input, None) => return,
        };
        let by = run.program;
        if !program.is_shell {
            match (&program.source, command.input) {
                (Source::Argument(code), _) if !is_downloaded => self.code(code, by),
                (Source::Input, Some(Input::Text(text) | Input::Pipe(Some(text)))) => {
                    if let Some(code) = input(text) {
                        self.code(code, by);
                    }
                }
                _ => {}
            }
        }
        if is_downloaded {
            self.add(Danger::RunsDownload, format!("runs what it downloads, unread (with {by})"));
        } else if let Some(text) = text {
            self.add(Danger::RunsInput, format!("{text} (with {by})"));
        }
    }

    /// A file is run that the line brings from elsewhere.
    fn downloaded(&mut self, file: &Word) {
        let text = format!("runs {}, which it downloads, unread", shown(&file.text));
        self.add(Danger::RunsDownload, text);
    }
}
