//! What becomes of an answer that breaks off.

use super::Aborted;
use super::stream::Stream;
use crate::script::ApiError;
use crate::sim::json::{Json, Object, obj};
use crate::sim::meter::Tokens;
use crate::sim::profile::{BrokenStream, Interrupted};

/// Why a stream broke off.
pub(super) enum Broken {
    /// The connection is gone.
    Cut,
    /// The API says that something is wrong.
    Error(ApiError),
    /// The turn is to end now.
    Aborted,
}

impl From<Aborted> for Broken {
    fn from(_: Aborted) -> Self {
        Self::Aborted
    }
}

impl Stream<'_> {
    /// Ends a stream that broke off. False when nothing had come of it yet.
    pub(super) fn close(&mut self, broken: &Broken, interrupted: Interrupted) -> bool {
        let begun = self.events > 0;
        let open = self.open.take();
        if let Broken::Aborted = broken {
            let text = open.as_ref().and_then(|(_, text)| text.clone());
            let text = text.filter(|text| !text.is_empty() && self.scope.agent().is_none());
            if interrupted != Interrupted::Quiet
                && let Some(text) = text
            {
                let mut extra = Object::default();
                if interrupted == Interrupted::WithTextAborted {
                    extra.set("aborted", true);
                }
                self.frame_with(obj! { "type": "text", "text": text }, Json::Null, extra);
            }
            if self.scope.agent().is_none() {
                self.scope.turn.stop_reason.replace(None);
                self.sim.emit_interruption(self.scope, false);
            }
            if interrupted != Interrupted::WithTextAborted {
                return begun;
            }
        } else if self.sim.profile.broken_stream != BrokenStream::Retry {
            return begun;
        }
        if begun {
            self.close_blocks(open.map(|(index, _)| index), matches!(broken, Broken::Aborted));
        }
        begun
    }

    fn close_blocks(&self, open: Option<usize>, aborted: bool) {
        let next = open.map_or(0, |index| index + 1);
        if let Some(index) = open {
            self.emit(obj! { "type": "content_block_stop", "index": index }, Object::default());
        }
        let mut extra = Object::default();
        if aborted {
            let delta = obj! {
                "container": Json::Null,
                "stop_details": Json::Null,
                "stop_reason": Json::Null,
                "stop_sequence": Json::Null,
            };
            let usage = Tokens { output: 0, ..self.tokens }.at_start(0);
            self.emit(
                obj! { "type": "message_delta", "context_management": Json::Null, "delta": delta, "usage": usage },
                Object::default(),
            );
            let id = &self.said.message_id;
            extra.set("abandoned_blocks", obj! { "api_message_id": id, "from_block_index": next });
        }
        self.emit(obj! { "type": "message_stop" }, extra);
    }
}
