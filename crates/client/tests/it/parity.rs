//! The document that compares this library with the official SDKs.
