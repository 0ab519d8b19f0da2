//! The model is asked: one request, and as many more as it takes.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Scope;
use super::api_error::Trouble;
use super::broken::Broken;
use super::result::End;
use super::stream::{Said, Stream};
use crate::script::{Answer, Ending};
use crate::sim::clock::ms_since;
use crate::sim::json::obj;
use crate::sim::profile::BrokenStream;
use crate::sim::state::Sim;

/// The least time that a model takes. What a client writes in one go is read before a turn goes
/// on, as it is with a model far away.
const LATENCY: Duration = Duration::from_millis(4);

impl Sim {
    /// Asks the model, as often as it takes.
    pub(super) async fn speak(self: &Rc<Self>, scope: &Rc<Scope>) -> Result<Said, End> {
        if self.streams(scope) && self.profile.stream_status {
            let uuids = scope.turn.uuids.borrow().clone();
            let first = !scope.turn.marked.get() && self.profile.lifecycle && !uuids.is_empty();
            self.emit_system(
                "status",
                obj! { "status": "requesting", "user_message_uuids"?: first.then_some(uuids) },
            );
        }
        let mut trouble = Trouble::default();
        let mut model = self.model.borrow().clone();
        let mut whole = false;
        loop {
            let asked = Instant::now();
            if scope.turn.wait(self.tasks.sleep(LATENCY)).await.is_err() {
                return Err(self.stopped_before_a_word(scope));
            }
            let answer = self.ask_player(scope, &model);
            let broken = match &answer.ending {
                Ending::Error(error) => Broken::Error(error.clone()),
                Ending::Reset => Broken::Cut,
                _ => {
                    let mut stream = Stream::new(self, scope, &answer, whole, &model);
                    let result = stream.run().await;
                    scope.turn.api_ms.set(scope.turn.api_ms.get() + ms_since(asked));
                    match result {
                        Ok(()) => {
                            self.meter.borrow_mut().count(&model, stream.tokens, ms_since(asked));
                            if scope.agent().is_none() {
                                let mut meter = self.meter.borrow_mut();
                                meter.requests += 1;
                                meter.latest = stream.tokens;
                                self.answers.set(self.answers.get() + 1);
                            }
                            return Ok(stream.said);
                        }
                        Err(broken) => {
                            let closed = stream.close(&broken, self.profile.interrupted);
                            let again = matches!(broken, Broken::Error(_))
                                || self.profile.broken_stream == BrokenStream::AskAgainWhole;
                            if matches!(broken, Broken::Aborted) {
                                return Err(End::Aborted { in_tools: false });
                            }
                            if closed && again && !whole {
                                whole = true;
                                continue;
                            }
                            broken
                        }
                    }
                }
            };
            let error = match broken {
                Broken::Error(error) => Some(error),
                Broken::Cut => None,
                Broken::Aborted => return Err(End::Aborted { in_tools: false }),
            };
            if error.as_ref().is_some_and(|error| error.status == 404) && !whole {
                // A gateway may not know streams: the request is made once more without.
                whole = true;
                continue;
            }
            self.retry(scope, &mut trouble, &mut model, error).await?;
        }
    }

    /// The turn is to end, and the model has said nothing yet.
    pub(super) fn stopped_before_a_word(&self, scope: &Scope) -> End {
        if scope.agent().is_none() {
            scope.turn.stop_reason.replace(None);
            self.emit_interruption(scope, false);
        }
        End::Aborted { in_tools: false }
    }

    fn ask_player(&self, scope: &Scope, model: &str) -> Answer {
        let tools = self.tool_names();
        let notes = self.notes();
        let answer = scope.with_thread(self, |thread| {
            let request = thread.request(model, &tools, &notes);
            self.player.borrow_mut().answer(request)
        });
        self.session.borrow_mut().note_progress(&self.player.borrow().progress());
        answer
    }

    /// What the CLI tells the model about its surroundings.
    fn notes(&self) -> String {
        let mut notes = vec![format!("Primary working directory: {}", self.env.cwd.display())];
        if self.permissions.borrow().mode() == "plan" {
            let path = self.plan.borrow_mut().path(self);
            notes.push(format!("create your plan at {}", path.display()));
        }
        notes.extend(self.args.system_prompt.clone());
        notes.extend(self.args.append_system_prompt.clone());
        notes.join("\n")
    }

    /// Whether the client sees this answer grow.
    pub(super) fn streams(&self, scope: &Scope) -> bool {
        self.args.partial_messages && scope.agent().is_none()
    }
}
