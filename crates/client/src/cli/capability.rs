//! What a version of the CLI can do.

use std::fmt;

use countersign_protocol::Version;
use countersign_protocol::hook::HookEvent;
use countersign_protocol::permission::PermissionMode;

use super::table::{BEHAVIORS, OLDEST, TABLE};

/// Something that not every version of the CLI can do, and since which version.
///
/// The table was made by trying: three versions, 2.1.62, 2.1.197 and 2.1.325, were asked for each
/// flag and each request. So `since` is the oldest *of these* that has it, unless a release in
/// between is known for certain; the CLI may have had it a little earlier, and such a version is
/// then refused what it could do. Hook events, variables and fields of `initialize` were looked up
/// in the programs and not tried one by one.
///
/// ```
/// use countersign::cli::{Capability, Version};
///
/// let old = Version::new(2, 1, 62);
/// let list = Capability::request("list_models").unwrap();
/// assert_eq!(list.since(), Version::new(2, 1, 325));
/// assert!(!list.in_version(old));
/// assert_eq!(
///     list.check(old).unwrap_err().to_string(),
///     "the request `list_models` needs version 2.1.325 of the Claude Code CLI, and this is \
///      2.1.62: update it with `npm install -g @anthropic-ai/claude-code@latest`, or do without",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability {
    kind: CapabilityKind,
    name: &'static str,
    since: Version,
}

/// What a [`Capability`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CapabilityKind {
    /// A control request that a client can send.
    Request,
    /// A flag of the command line.
    Flag,
    /// A value of a flag, written `--flag=value`.
    FlagValue,
    /// A field of `initialize`.
    InitializeField,
    /// An event that hooks are called for.
    HookEvent,
    /// A permission mode.
    PermissionMode,
    /// A variable of the environment.
    Variable,
    /// Something that the CLI does, described in words.
    Behavior,
}

impl Capability {
    pub(super) const fn new(kind: CapabilityKind, name: &'static str, since: Version) -> Self {
        Self { kind, name, since }
    }

    /// The control request of this subtype. `None` for what no tested version answers.
    #[must_use]
    pub fn request(subtype: &str) -> Option<Self> {
        Self::named(CapabilityKind::Request, subtype)
    }

    /// This flag of the command line, with its dashes.
    #[must_use]
    pub fn flag(flag: &str) -> Option<Self> {
        Self::named(CapabilityKind::Flag, flag)
    }

    /// This value of a flag, when it is younger than the flag.
    #[must_use]
    pub fn flag_value(flag_and_value: &str) -> Option<Self> {
        Self::named(CapabilityKind::FlagValue, flag_and_value)
    }

    /// This field of `initialize`, as it is spelled on the wire.
    #[must_use]
    pub fn initialize_field(field: &str) -> Option<Self> {
        Self::named(CapabilityKind::InitializeField, field)
    }

    /// This event that hooks are called for.
    #[must_use]
    pub fn hook_event(event: &HookEvent) -> Option<Self> {
        Self::named(CapabilityKind::HookEvent, event.as_str())
    }

    /// This permission mode.
    #[must_use]
    pub fn permission_mode(mode: &PermissionMode) -> Option<Self> {
        Self::named(CapabilityKind::PermissionMode, mode.as_str())
    }

    /// This variable of the environment.
    #[must_use]
    pub fn variable(name: &str) -> Option<Self> {
        Self::named(CapabilityKind::Variable, name)
    }

    /// The whole table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().chain(BEHAVIORS).copied()
    }

    fn named(kind: CapabilityKind, name: &str) -> Option<Self> {
        Self::all().find(|known| known.kind == kind && known.name == name)
    }

    /// What it is.
    #[must_use]
    pub const fn kind(self) -> CapabilityKind {
        self.kind
    }

    /// Its name on the wire or the command line; for a behaviour, a description.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The oldest version that is known to have it.
    #[must_use]
    pub const fn since(self) -> Version {
        self.since
    }

    /// Whether a version has it.
    #[must_use]
    pub fn in_version(self, version: Version) -> bool {
        version >= self.since
    }

    /// Whether every version has it that is supported, so that it need not be looked up which one
    /// there is.
    pub(crate) fn in_every_version(self) -> bool {
        self.in_version(OLDEST)
    }

    /// Makes sure that a version has it.
    ///
    /// # Errors
    ///
    /// When it does not.
    pub fn check(self, version: Version) -> Result<(), Unsupported> {
        if self.in_version(version) {
            return Ok(());
        }
        Err(Unsupported { what: self, since: self.since, version })
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.kind {
            CapabilityKind::Request => write!(f, "the request `{name}`"),
            CapabilityKind::Flag | CapabilityKind::FlagValue => write!(f, "the flag `{name}`"),
            CapabilityKind::InitializeField => write!(f, "the field `{name}` of `initialize`"),
            CapabilityKind::HookEvent => write!(f, "a hook for `{name}`"),
            CapabilityKind::PermissionMode => write!(f, "the permission mode `{name}`"),
            CapabilityKind::Variable => write!(f, "the variable `{name}`"),
            CapabilityKind::Behavior => f.write_str(name),
        }
    }
}

/// A version of the CLI cannot do what it is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error(
    "{what} needs version {since} of the Claude Code CLI, and this is {version}: \
     update it with `npm install -g @anthropic-ai/claude-code@latest`, or do without"
)]
pub struct Unsupported {
    /// What it cannot do.
    pub what: Capability,
    /// The oldest version that can.
    pub since: Version,
    /// The version that there is.
    pub version: Version,
}
