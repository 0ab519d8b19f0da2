//! The web.

use countersign_protocol_derive::WireObject;

use crate::wire::Extra;

/// Fetches a page and has a model read it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WebFetchInput {
    /// The page.
    pub url: String,
    /// What that model is asked about it.
    pub prompt: String,
    /// Where in a long page to begin.
    pub offset: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Searches the web.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WebSearchInput {
    /// What to search for.
    pub query: String,
    /// Only results of these domains.
    pub allowed_domains: Option<Vec<String>>,
    /// No results of these domains.
    pub blocked_domains: Option<Vec<String>>,
    /// Fields this type does not name.
    pub extra: Extra,
}
