//! One turn after the other, until the client has nothing more to say.

use std::rc::Rc;

use crate::sim::json::Object;
use crate::sim::state::Sim;

impl Sim {
    /// Works off the queue until the end.
    pub(crate) async fn serve(self: Rc<Self>) {
        loop {
            let next = self.queue.borrow_mut().pop();
            if let Some(work) = next {
                self.run_work(work).await;
                if self.life.leave.get() {
                    self.exit(0);
                    return;
                }
                continue;
            }
            if self.life.closed.is_raised() && !self.waits_for_background() {
                if self.profile.misses_session_end {
                    // Nobody is there to be asked any more, which is complained of.
                    let (event, reason) = ("SessionEnd", "other");
                    self.call_hooks(event, Some(reason), Object::default(), None).await;
                }
                self.exit(u8::from(self.life.failed.get()));
                return;
            }
            self.life.work.lower();
            self.life.work.raised().await;
        }
    }
}
