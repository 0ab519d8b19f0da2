//! Names of things, each a type of its own.
//!
//! All are UUIDs of version 7, which sort by the time at which they were made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$about:meta])* $name:ident;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
        pub struct $name(Uuid);

        impl $name {
            /// A new one.
            #[must_use]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            /// The UUID.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    )+};
}

ids! {
    /// Names a session of this server. It stays the same through restarts, resumes and a cleared
    /// context; what the CLI calls a session is a [`ConversationId`].
    SessionId;
    /// Names a conversation of the CLI, and with it a transcript.
    ConversationId;
    /// Names one turn of a session. Whoever interrupts has to name the turn.
    TurnId;
    /// Names a message of a user. The CLI is given the same name, so that it takes it only once.
    MessageId;
    /// Names something that a person is asked.
    ApprovalId;
    /// Names an API token.
    TokenId;
    /// Names a browser that was let in with a link.
    BrowserId;
}
