//! Agents that go on when a turn is over.

use countersign::protocol::FromCli;
use countersign::protocol::system::SystemMessage;
use countersign::turn::TurnEvent;

/// How the CLI calls an agent among its tasks. Others, such as a server that was started, may run for
/// ever and are not waited for.
const AGENT: &str = "local_agent";

/// Agents that run in the background.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Background {
    agents: usize,
}

impl Background {
    /// Takes note of what the CLI says of them.
    pub(crate) fn saw(&mut self, event: &TurnEvent) {
        let TurnEvent::Other(message) = event else { return };
        if let Some(FromCli::System(SystemMessage::BackgroundTasksChanged(now))) = message.frame() {
            let asked_for = now.tasks.iter().filter(|task| task.ambient != Some(true));
            self.agents = asked_for.filter(|task| task.task_type == AGENT).count();
        }
    }

    /// Whether there are any. Each that ends begins a turn, in which the model reads of it.
    pub(crate) const fn is_busy(self) -> bool {
        self.agents > 0
    }
}
