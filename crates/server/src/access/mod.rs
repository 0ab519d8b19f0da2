//! Who may do what.
//!
//! There are two ways to say who one is. A program sends an API token with each request, as
//! `Authorization: Bearer cst_…`. A person opens a link that works once, and their browser has a
//! cookie from then on. Behind every cookie is a token: it ends with it, and has no more rights.
//!
//! - [`Scope`]: what a token is good for.
//! - [`Access`]: makes tokens, links and browser sessions, and knows whom a request comes from.
//! - [`AccessStore`]: where they are kept, as hashes.
//! - [`Identity`], with the extractors [`Read`], [`Decide`] and [`Admin`]: what a handler gets.
//! - [`layer`]: the two layers that make it hold for all routes, also for one that forgot to ask.
//! - [`login`]: the page behind the link. [`api`]: tokens and links over HTTP. [`first`]: the token of
//!   the first start.
//!
//! All secrets have 256 bits, so nobody guesses one, and a plain hash keeps them as well as a slow one
//! would. Too many failures from one address are answered with 429; a valid token is let in all the
//! same, since otherwise one script with an old token would lock out everybody behind its address.

pub mod api;
mod clock;
mod cookie;
mod failures;
pub mod first;
mod gate;
mod identity;
pub mod layer;
pub mod login;
mod memory;
mod once;
mod scope;
mod secret;
mod store;
mod streams;

pub use clock::{Clock, ManualClock, SystemClock};
pub use cookie::Cookies;
pub use gate::{
    Access, AccessError, BROWSER_IDLE, Credential, LOGIN_CODE_VALID, Login, NewToken, Refusal, Seen,
};
pub use identity::{Admin, Decide, Identity, Read, Who};
pub use memory::MemoryAccess;
pub use scope::Scope;
pub use secret::{NoRandomness, SecretHash};
pub use store::{
    AccessStore, AccessStoreError, BrowserRecord, CarriedOut, LoginCodeRecord, StoreFuture,
    TokenRecord,
};
pub use streams::{OpenStream, Streams};
