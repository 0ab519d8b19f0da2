//! One call of a tool, seen from its handler.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use countersign_protocol::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::call_request::CallRequest;
use super::connection::Shared;
use super::{ToolServer, rpc};

/// One call of a tool, for a handler that wants more than its arguments.
///
/// ```
/// use countersign::mcp::{Call, Tool};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Visit {
///     rooms: Vec<String>,
/// }
///
/// async fn visit(Visit { rooms }: Visit, call: Call) -> Result<String, String> {
///     for (done, room) in rooms.iter().enumerate() {
///         if call.is_cancelled() {
///             return Err(format!("stopped before {room}"));
///         }
///         call.progress(done as f64, Some(rooms.len() as f64), Some(room));
///     }
///     Ok(format!("{} rooms", rooms.len()))
/// }
/// let tool = Tool::new("visit", "Visits rooms.", visit);
/// ```
#[derive(Clone)]
pub struct Call {
    state: Arc<CallState>,
}

impl Call {
    pub(super) const fn new(state: Arc<CallState>) -> Self {
        Self { state }
    }

    /// The id of the tool use that the model made, by which it is known in messages, permission
    /// requests and hooks. It is missing when something else than a model called the tool.
    #[must_use]
    pub fn tool_use_id(&self) -> Option<&str> {
        self.state.known().tool_use_id.as_deref()
    }

    /// All that the CLI says about the call: the `_meta` of its parameters.
    #[must_use]
    pub fn meta(&self) -> Option<RawJson> {
        self.state.request.meta().and_then(|meta| meta.parse().ok())
    }

    /// Tells the CLI how far the work is: `done` of `total`, in whatever unit, and a word about it.
    /// `done` should grow from one report to the next.
    ///
    /// Nothing is sent when the CLI did not ask for reports, when the call has been answered
    /// already, when the CLI does not read what waits for it, or when a number is infinite or not a
    /// number.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let finite = done.is_finite() && total.is_none_or(f64::is_finite);
        let Some(token) = self.state.known().progress_token.as_deref().filter(|_| finite) else {
            return;
        };
        if !self.state.is_over() {
            let report = Report { progress_token: token, progress: done, total, message };
            self.state.shared.send(rpc::notification("notifications/progress", Some(&report)));
        }
    }

    /// Whether the CLI has withdrawn the call, or the session is over.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state.withdrawn.load(Ordering::SeqCst)
    }

    /// Waits until the CLI withdraws the call, or the session is over.
    ///
    /// A handler has five seconds from then on to put things in order; then it is dropped. At the
    /// end of the session it is dropped at once.
    pub async fn cancelled(&self) {
        self.state.cancellation().cancelled().await;
    }

    /// The token that [`cancelled`](Self::cancelled) waits for, to hand on.
    ///
    /// It also fires when the handler is dropped before it has finished, because it took too long
    /// for instance.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        self.state.cancellation().clone()
    }

    /// The server that the tool belongs to.
    #[must_use]
    pub fn server(&self) -> ToolServer {
        self.state.shared.server().clone()
    }

    pub(super) fn arguments(&self) -> &str {
        self.state.request.arguments()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("id", &self.state.request.id().get())
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// What the handler of a call and its connection both know.
pub(super) struct CallState {
    request: CallRequest,
    shared: Arc<Shared>,
    /// Whether the CLI has withdrawn it.
    withdrawn: AtomicBool,
    /// Made when somebody wants to wait for it: most calls are over before.
    cancelled: OnceLock<CancellationToken>,
    /// Whether the call is answered, or given up.
    over: AtomicBool,
    /// Decoded when somebody asks: most handlers do not.
    known: OnceLock<Known>,
}

impl CallState {
    pub(super) const fn new(request: CallRequest, shared: Arc<Shared>) -> Self {
        Self {
            request,
            shared,
            withdrawn: AtomicBool::new(false),
            cancelled: OnceLock::new(),
            over: AtomicBool::new(false),
            known: OnceLock::new(),
        }
    }

    pub(super) const fn request(&self) -> &CallRequest {
        &self.request
    }

    pub(super) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn cancel(&self) {
        // The flag first, and for making the token the other way round: one of the two sees what
        // the other did.
        self.withdrawn.store(true, Ordering::SeqCst);
        if let Some(token) = self.cancelled.get() {
            token.cancel();
        }
    }

    pub(super) fn cancellation(&self) -> &CancellationToken {
        let token = self.cancelled.get_or_init(CancellationToken::new);
        if self.withdrawn.load(Ordering::SeqCst) {
            token.cancel();
        }
        token
    }

    /// Says that the call is answered or given up. Whether it was so before.
    pub(super) fn end(&self) -> bool {
        self.over.swap(true, Ordering::AcqRel)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| {
            let wire: Meta<'_> = self
                .request
                .meta()
                .filter(|meta| meta.starts_with('{'))
                .and_then(|meta| serde_json::from_str(meta).ok())
                .unwrap_or_default();
            Known {
                tool_use_id: wire.tool_use_id.map(Cow::into_owned),
                progress_token: wire.progress_token.map(ToOwned::to_owned),
            }
        })
    }
}

struct Known {
    tool_use_id: Option<String>,
    progress_token: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "claudecode/toolUseId")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    progress_token: &'a RawValue,
    progress: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}
