//! The two directions of the pipe: what goes to the CLI, and what comes from it.

mod abridge;
mod framing;
mod mailbox;
mod outbox;
mod spare;
mod spool;

pub(crate) use self::abridge::abridged;
pub(crate) use self::framing::{Framing, Run};
pub(crate) use self::mailbox::{Delivery, Mailbox, Reader};
pub(crate) use self::outbox::{Outbox, OutboxClosed};

use std::sync::Arc;

/// Which way a line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the CLI.
    ToCli,
    /// From the CLI.
    FromCli,
}

/// Who is given each line.
pub(crate) type OnLine = Arc<dyn Fn(Way, &[u8]) + Send + Sync>;
