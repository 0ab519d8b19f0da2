//! The names that the protocol has types for.

use countersign_protocol::ask::CliRequest;
use countersign_protocol::hook::HookEvent;
use countersign_protocol::message::ResultSubtype;
use countersign_protocol::permission::PermissionMode;
use countersign_protocol::request::{ClientRequest, ErrorCode};
use countersign_protocol::system::SystemMessage;
use countersign_protocol::{FromCli, ToCli};

use super::Kind;

impl Kind {
    /// The names of this kind that countersign-protocol knows.
    pub(super) fn known(self) -> impl Iterator<Item = &'static str> {
        let lists: [&[&str]; 2] = match self {
            Self::Frame => [FromCli::KNOWN, ToCli::KNOWN],
            Self::System => [SystemMessage::KNOWN, &[]],
            Self::Control => [ClientRequest::KNOWN, CliRequest::KNOWN],
            Self::Result => [ResultSubtype::KNOWN, &[]],
            Self::Hook => [HookEvent::KNOWN, &[]],
            Self::Mode => [PermissionMode::KNOWN, &[]],
            Self::Error => [ErrorCode::KNOWN, &[]],
            Self::Flag => [&[], &[]],
        };
        lists.into_iter().flatten().copied()
    }

    /// Whether countersign-protocol knows this name.
    pub(super) fn knows(self, name: &str) -> bool {
        self.known().any(|known| known == name)
    }
}
