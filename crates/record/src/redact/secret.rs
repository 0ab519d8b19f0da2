//! What the rules find.

use std::ops::Range;

use super::placeholder::Form;

/// A rule, by its place in the list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RuleId(pub(super) usize);

/// A kind of placeholder, by its place in the list of kinds. Each kind is numbered for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct KindId(pub(super) usize);

/// A secret that the ledger knows, by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SecretId(pub(super) usize);

/// Where a secret has to go once it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Wherever its value stands: the value cannot be anything else.
    Everywhere,
    /// Only where a rule finds it: its value is a word that may stand elsewhere for itself.
    Here,
}

/// A secret that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) rule: RuleId,
    pub(super) kind: KindId,
    /// The value without any escapes. For a home it is the name of its owner.
    pub(super) value: Vec<u8>,
    pub(super) reach: Reach,
}

/// Which secret was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// One that is known, found by its value.
    Known(SecretId),
    /// One that a rule found. It may be known as well.
    Found(Secret),
}

/// A place that a rule found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// What is replaced.
    pub(super) range: Range<usize>,
    /// What the rule looked at. It has to stand within one string, and it must not have a
    /// placeholder in it: otherwise taking out one secret could make another text look like one.
    pub(super) context: Range<usize>,
    pub(super) identity: Identity,
    pub(super) form: Form,
}
