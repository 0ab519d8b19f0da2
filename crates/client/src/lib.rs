//! Drive Claude Code from Rust, and countersign what it does.
//!
//! A client for the JSON lines that the `claude` command speaks with a program that started it:
//! typed, complete, and built so that nothing runs which nobody allowed.
//!
//! # One question
//!
//! ```no_run
//! # async fn example() -> Result<(), countersign::QueryError> {
//! let answer = countersign::query("What is 2+2?").await?;
//! println!("{answer}");
//! # Ok(())
//! # }
//! ```
//!
//! # A session, and who decides in it
//!
//! ```no_run
//! use countersign::Session;
//! use countersign::permission::PermissionAsk;
//! use countersign::protocol::tool::ToolInput;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut session = Session::builder()
//!     .model("sonnet")
//!     .on_permission(|ask: PermissionAsk| async move {
//!         match ask.tool() {
//!             ToolInput::Read(_) | ToolInput::Edit(_) => ask.allow(),
//!             ToolInput::Bash(bash) if bash.command == "cargo test" => ask.allow(),
//!             _ => ask.deny("this job is about the tests"),
//!         }
//!     })
//!     .connect()
//!     .await?;
//! let outcome = session.send("Fix the failing test.").await?.finish().await?;
//! println!("{}", outcome.answer());
//! session.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # A turn, as it happens
//!
//! ```no_run
//! use countersign::Session;
//! use countersign::turn::TurnEvent;
//!
//! # async fn example(session: &mut Session) -> Result<(), Box<dyn std::error::Error>> {
//! let mut turn = session.send("What is in this folder?").await?;
//! while let Some(event) = turn.next().await {
//!     match event {
//!         TurnEvent::Text { text, .. } => println!("{text}"),
//!         TurnEvent::ToolCall(call) => println!("{} {}", call.name, call.input),
//!         _ => {}
//!     }
//! }
//! let outcome = turn.finish().await?;
//! println!("{} US dollars so far", outcome.total_cost_usd());
//! # Ok(())
//! # }
//! ```
//!
//! There is a program for each use in the folder `examples`, and the guide in full is
//! `docs/client.md`.
//!
//! # Where things are
//!
//! | to | see |
//! |---|---|
//! | set up a session | [`SessionBuilder`]: one method for each option |
//! | hold it | [`Session`], and [`SessionHandle`] for other tasks |
//! | follow a turn | [`turn`] |
//! | decide about tools, plans and questions | [`permission`] |
//! | take part in what happens | [`hook`] |
//! | give the model tools of your own | `mcp` |
//! | let an approval outlive its process | [`park`] |
//! | bound silence, time, cost and turns | [`Limits`] |
//! | read and change sessions on disk | [`transcript`] |
//! | keep sessions elsewhere | [`store`] |
//! | record a session | [`SessionBuilder::record`] |
//! | find the CLI, and know what its version can do | [`cli`] |
//! | clean up after a crash | [`process`] |
//! | do without an async runtime | `blocking` |
//! | look at frames and their types | [`protocol`] |
//!
//! # Features
//!
//! | feature | is on | gives |
//! |---|---|---|
//! | `mcp` | by default | MCP servers in this process (module `mcp`) |
//! | `schema` | if asked for | answers as Rust types (`SessionBuilder::ask_for`), schemas of tools |
//! | `rmcp` | if asked for | MCP servers written with rmcp (`mcp::McpServer::from_rmcp`) |
//! | `conformance` | if asked for | tests for your own session store (module `store::conformance`) |
//! | `blocking` | if asked for | sessions without an async runtime (module `blocking`) |
//! | `real-cli` | never, but in our tests | nothing: it has the tests install and run the real CLI |
//!
//! # Rules that hold everywhere
//!
//! - **It fails closed.** Without a permission handler everything is denied. A handler that fails,
//!   panics, takes longer than it may or is dropped has denied, and so has a hook that decides
//!   whether something may happen. A request that is unknown, malformed or too long to be read is
//!   refused. The CLI is told why.
//! - **Exactly one answer.** Each request of the CLI gets one answer: whoever takes it from the list
//!   of open ones gives it. One that the CLI has withdrawn gets none.
//! - **Nobody holds up the reader**, whether by deciding or by reading messages. One task reads a
//!   session; handlers run in tasks of their own, and messages that nobody reads are put aside.
//!   Only somebody who is reading, with 4 MiB still to read, is given a few milliseconds before the
//!   rest goes to a file. Where no file can be written, there is an end to it.
//! - **Messages are bounded in memory and never lost in silence.** What exceeds
//!   [`SessionBuilder::unread_in_memory`] goes to a file without a name. What is passed over
//!   because it is too long, or cannot be read back, leaves a [`Saying`] in its place, and [`Stats`]
//!   counts.
//! - **Nothing is an error because it is new.** Unknown frames, fields and values are carried; a
//!   [`Message`] has its line byte for byte.
//! - **Nothing outlives a session**: not the CLI, not its commands, whichever way the session ends,
//!   and also when this process is killed.
//! - **A version that lacks something says so.** What an option needs is compared with the version
//!   of the CLI before it is started, and what a request needs before it is sent.
//!
//! # The life of a session
//!
//! **It begins** with [`SessionBuilder::connect`], which returns when the CLI has answered
//! `initialize`. The CLI may ask before that, and is answered. [`Snapshot`] says what is known: the
//! id of the session is there from the first turn on, or at once if it was given.
//!
//! **It goes on** turn by turn. [`Session::send`] gives a [`turn::Turn`], which reads to the result
//! of its own message. [`SessionHandle::post`] sends without waiting for anything; the CLI queues
//! such a message or joins it to the turn that is running. Turns that nobody asked for, because a
//! task in the background has ended, pass through the turn that reads; or they are read with
//! [`Session::current_turn`] or [`Session::next_message`].
//!
//! **It ends** in one of these ways, and [`SessionHandle::ended`] tells how:
//!
//! | | the running turn | the process |
//! |---|---|---|
//! | [`Session::close`] | is interrupted, and has 2 s to end | its input is closed; it has the times of [`process::ShutdownTimes`] to exit, and after SIGTERM |
//! | [`SessionHandle::kill`], or the [`Session`] is dropped | is cut off | is killed at once |
//! | a limit of the session is reached | is interrupted, and has its grace | as with `close` |
//! | the CLI exits | is cut off: [`TurnError::SessionEnded`] | what it left running is ended |
//! | this process is killed | is cut off | is ended by a helper, with all that it started |
//!
//! `close` and `kill` return when nothing is left. A drop cannot wait; to be certain, `close`.
//!
//! # Ordering
//!
//! - Messages come in the order in which the CLI wrote them, to the one that has the [`Session`].
//! - Requests of the CLI are not messages and do not wait for them: a permission may be asked before
//!   the message with the call was read. Several can be open at once, and each is answered when its
//!   handler is done, in any order.
//! - What is sent goes out in the order in which it was given, each line whole.
//! - [`SessionHandle::set_permission_mode`] returns when the CLI has said that the mode is in force.
//!   A mode that comes with an answer ([`permission::Allowing::mode`]) is in force before the tool
//!   runs.
//!
//! # Cancellation
//!
//! - [`Session::next_message`] and [`turn::Turn::next`] can be dropped at any time: what they would
//!   have returned is still there. So they can stand in a `select!`.
//! - A control request that is dropped before its answer came is withdrawn; whether the CLI had
//!   begun with it is not known then.
//! - A [`turn::Turn`] that is dropped leaves the turn running. [`SessionHandle::interrupt`] stops it.
//! - When the CLI withdraws a request, [`permission::PermissionAsk::cancelled`] is done. The handler
//!   may go on, but its answer goes nowhere. Handlers that still run when the session ends are
//!   dropped.
//!
//! # Where it runs
//!
//! On a tokio runtime with I/O and time, of either kind. A current-thread runtime answers the CLI
//! while something is awaited on it, and not otherwise. It is for Unix, and is tested on Linux;
//! what is said above about processes needs `/proc`.
//!
//! It is tested with 2.1.325, 2.1.197 and 2.1.62 of the CLI.

#![warn(missing_docs, clippy::missing_errors_doc)]

mod builder;
mod counters;
mod dialog;
mod echo;
mod error;
mod limits;
mod link;
mod message;
mod options;
mod query;
mod recording;
#[cfg(feature = "schema")]
mod schema;
mod session;
mod times;

#[cfg(feature = "blocking")]
pub mod blocking;
pub mod cli;
pub mod hook;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod park;
pub mod permission;
pub mod process;
pub mod store;
pub mod transcript;
pub mod turn;

pub use self::builder::SessionBuilder;
pub use self::counters::Stats;
pub use self::error::{ConnectError, ControlError, Dropped, FreshError, SendError, TurnError};
pub use self::limits::{LimitReached, Limits};
pub use self::link::Way;
pub use self::message::{Message, Saying};
pub use self::options::{
    ChildEnvironment, Environment, Launch, OptionsError, PermissionPrompts, PreviewFormat,
    SettingSource, Skills, Thinking, ToolSet,
};
pub use self::query::{QueryError, query};
pub use self::session::{Session, SessionEnd, SessionHandle, Snapshot, Watch};
pub use countersign_protocol as protocol;

/// The examples of the README and of the guides are compiled.
#[cfg(all(doctest, feature = "mcp"))]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/client.md")]
#[doc = include_str!("../../../docs/observing.md")]
struct Guide;

/// The example of the crate's README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
