//! Requests about the session and its tasks.

use std::rc::Rc;

use serde_json::json;

use super::Asked;
use crate::script::Block;
use crate::sim::exec::yield_now;
use crate::sim::json::{Json, Object, obj};
use crate::sim::state::Sim;

impl Sim {
    pub(super) fn session_request(self: &Rc<Self>, asked: &Asked, body: &Json) {
        match asked.subtype.as_str() {
            "cancel_async_message" => {
                let uuid = body.text("message_uuid").unwrap_or_default();
                let cancelled = self.queue.borrow_mut().cancel(uuid);
                if cancelled {
                    self.emit_lifecycle(uuid, "cancelled");
                }
                self.answer(asked, obj! { "cancelled": cancelled });
            }
            "end_session" => {
                self.acknowledge(asked);
                self.exit(0);
            }
            "rename_session" => {
                let title = body.text("title").unwrap_or_default();
                self.session.borrow_mut().set_title(title);
                if self.profile.internals {
                    self.emit_system("session_title_changed", obj! { "title": title });
                }
                self.acknowledge(asked);
            }
            "stop_task" => {
                let id = body.text("task_id").unwrap_or_default();
                if !self.stop_task(id) && self.profile.unknown_task_is_error {
                    self.refuse(asked, &format!("No task found with ID: {id}"), None);
                    return;
                }
                // It is answered when the end of the task has been told.
                let (sim, asked, id) = (Rc::clone(self), asked.clone(), id.to_owned());
                self.tasks.spawn(async move {
                    while sim.background.borrow().find(&id).is_some() {
                        yield_now().await;
                    }
                    sim.answer(&asked, Object::default());
                });
            }
            "get_task_output" => {
                let id = body.text("task_id").unwrap_or_default();
                match self.task_output_tail(id) {
                    Some(output) => self.answer(asked, output),
                    None => self.refuse(asked, &format!("No task found with ID: {id}"), None),
                }
            }
            "side_question" => self.side_question(asked, body.text("question").unwrap_or_default()),
            "generate_session_title" => self.answer(asked, obj! { "title": Json::Null }),
            _ => self.answer(asked, Object::default()),
        }
    }

    /// A question to the model beside the conversation.
    fn side_question(&self, asked: &Asked, question: &str) {
        if self.profile.internals {
            let id = asked.id.clone().unwrap_or_default();
            self.emit_system(
                "control_request_progress",
                obj! { "request_id": id, "status": "started" },
            );
        }
        let model = self.model.borrow().clone();
        let request = json!({
            "model": model,
            "messages": [{"role": "user", "content": question}],
            "tools": [],
        });
        let answer = self.player.borrow_mut().answer(&request);
        let texts = answer.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        self.answer(asked, obj! { "response": text, "synthetic": false });
    }
}
