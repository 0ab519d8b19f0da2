//! Programs that are run unread: from a pipe, from a text in the line, from elsewhere.

use std::collections::HashMap;
use std::ops::Range;

use super::{Danger, Found};
use crate::shell::{Command, Input, Line, Program, Run, Source};

/// Programs that bring something from elsewhere.
const FETCHING: &[&str] = &[
    "aria2c", "curl", "fetch", "ftp", "http", "https", "lynx", "nc", "ncat", "telnet", "w3m",
    "wget", "xh",
];

/// Where in a line something is downloaded.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    /// The numbers of the commands that do, in their order.
    commands: Vec<usize>,
    /// The first place in a pipeline in which that happens.
    pipelines: HashMap<usize, usize>,
}

impl Downloads {
    pub(super) fn of(line: &Line) -> Self {
        let mut downloads = Self::default();
        for (number, command) in line.commands.iter().enumerate() {
            if !command.runs().iter().any(|run| FETCHING.contains(&run.program)) {
                continue;
            }
            downloads.commands.push(number);
            for stage in command.stages.iter() {
                let first = downloads.pipelines.entry(stage.pipeline).or_insert(stage.place);
                *first = stage.place.min(*first);
            }
        }
        downloads
    }

    /// Whether one of these commands does.
    fn any(&self, commands: &Range<usize>) -> bool {
        let first = self.commands.partition_point(|number| *number < commands.start);
        self.commands.get(first).is_some_and(|number| *number < commands.end)
    }

    /// Whether one does whose output a command reads, by one or more pipes.
    fn before(&self, command: &Command) -> bool {
        command.stages.iter().any(|stage| {
            self.pipelines.get(&stage.pipeline).is_some_and(|first| *first < stage.place)
        })
    }
}

impl Found {
    /// What a shell or an interpreter runs.
    pub(super) fn execution(
        &mut self,
        line: &Line,
        command: &Command,
        run: &Run<'_>,
        downloads: &Downloads,
    ) {
        let Some(program) = Program::of(run) else { return };
        let input = |number: usize| line.inputs.get(number);
        let (is_downloaded, text) = match (&program.source, command.input) {
            (Source::Argument(word), _) => (downloads.any(&word.commands), None),
            (Source::File(word), _) => {
                let text = word.is_process().then_some("runs what another command writes");
                (downloads.any(&word.commands), text)
            }
            (Source::Input, Some(Input::Pipe(_))) => {
                (downloads.before(command), Some("runs what is piped to it"))
            }
            (Source::Input, Some(Input::Text(number))) => {
                let is_downloaded = input(number).is_some_and(|text| downloads.any(&text.commands));
                (is_downloaded, Some("runs the text that it is given"))
            }
            (Source::Input, Some(Input::File(number))) => {
                let Some(word) = input(number) else { return };
                let text = word.is_process().then_some("runs what another command writes");
                (downloads.any(&word.commands), text)
            }
            (Source::Input, None) => return,
        };
        let by = run.program;
        if is_downloaded {
            self.add(Danger::RunsDownload, format!("runs what it downloads, unread (with {by})"));
        } else if let Some(text) = text {
            self.add(Danger::RunsInput, format!("{text} (with {by})"));
        }
    }
}
