//! Where in a line something comes from, and which commands it comes to: by pipes, and by what is put
//! into words.

use std::collections::HashMap;
use std::ops::Range;

use crate::shell::Command;

/// Something that some commands write.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The numbers of these commands, in their order.
    commands: Vec<usize>,
    /// The first place in a pipeline in which one of them stands.
    pipelines: HashMap<usize, usize>,
}

impl Flow {
    /// A command with this number writes it. They are told in their order.
    pub(super) fn add(&mut self, number: usize, command: &Command) {
        self.commands.push(number);
        self.pass(command);
    }

    /// A command passes it on to those that read what it writes.
    pub(super) fn pass(&mut self, command: &Command) {
        for stage in command.stages.iter() {
            let first = self.pipelines.entry(stage.pipeline).or_insert(stage.place);
            *first = stage.place.min(*first);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Whether one of these commands writes it.
    pub(super) fn any(&self, commands: &Range<usize>) -> bool {
        let first = self.commands.partition_point(|number| *number < commands.start);
        self.commands.get(first).is_some_and(|number| *number < commands.end)
    }

    /// Whether a command reads it, by one or more pipes.
    pub(super) fn before(&self, command: &Command) -> bool {
        command.stages.iter().any(|stage| {
            self.pipelines.get(&stage.pipeline).is_some_and(|first| *first < stage.place)
        })
    }
}
