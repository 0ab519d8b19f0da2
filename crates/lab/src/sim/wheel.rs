//! What comes from outside while a session runs: lines, signals, and the end.

use std::rc::Rc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use super::exec::Executor;
use super::input::{self, Incoming, UserMessage};
use super::json::{Json, obj};
use super::queue::Work;
use super::requests::Reply;
use super::state::Sim;
use super::stdio::{Event, Input, complain};

impl Sim {
    /// Sets everything going.
    pub(super) fn begin(self: &Rc<Self>) {
        if self.is_bare() && self.profile.internals {
            self.emit_system("ui_invalidate", obj! { "event": "ui.render" });
        }
        self.connect_servers();
        self.tasks.spawn(Rc::clone(self).serve());
    }

    fn take_event(self: &Rc<Self>, event: Event) {
        match event {
            Event::Lines(lines) => {
                for line in lines {
                    if !self.life.is_over() {
                        self.take_line(&line);
                    }
                }
            }
            Event::End => {
                self.requests.answer_all(None, &Reply::Closed);
                self.life.closed.raise();
                self.life.work.raise();
            }
            Event::Signal(signal) => self.take_signal(signal),
        }
    }

    fn take_line(self: &Rc<Self>, line: &[u8]) {
        let incoming = input::read(self.profile, line);
        if self.args.await_initialize
            && self.life.initialized.get() == 0
            && !is_initialize(&incoming)
        {
            complain(
                "Error: --await-initialize requires the first line to be an initialize request",
            );
            self.exit(1);
            return;
        }
        match incoming {
            Incoming::Nothing => {}
            Incoming::Fatal(complaint) => {
                complain(&complaint);
                self.exit(1);
            }
            Incoming::User(message) => self.take_message(message),
            Incoming::Request(id, request) => self.handle_request(id, &request),
            Incoming::Answer(id, reply, frame) => {
                if self.args.replay_user_messages {
                    self.emit(&frame);
                }
                self.requests.answer(&id, reply);
            }
            Incoming::Variables(variables, id) => {
                if !self.profile.modern {
                    for (name, value) in variables.iter() {
                        let value = value.as_str().unwrap_or_default().to_owned();
                        self.variables.borrow_mut().insert(name.to_owned(), value);
                    }
                }
                if let Some(id) = id.filter(|_| self.profile.internals) {
                    let response = obj! { "applied": Vec::<Json>::new() };
                    let response =
                        obj! { "subtype": "success", "request_id": id, "response": response };
                    self.emit(&obj! { "type": "control_response", "response": response });
                }
            }
        }
    }

    fn take_message(&self, message: UserMessage) {
        if let Some(uuid) = &message.uuid
            && !self.session.borrow_mut().note_message(uuid)
        {
            // It was here before. The client is shown that it is known.
            if self.args.replay_user_messages {
                self.emit_replay_of_known(&message);
            }
            if self.session.borrow().was_answered(uuid) {
                self.emit_lifecycle(uuid, "completed");
            }
            return;
        }
        if let Some(text) = message.text() {
            self.plan.borrow_mut().note_prompt(text);
        }
        let uuid = message.uuid.clone();
        self.queue.borrow_mut().push(Work::Prompt(message));
        self.tell_state();
        if let Some(uuid) = uuid {
            self.emit_lifecycle(&uuid, "queued");
        }
        self.life.work.raise();
    }

    fn take_signal(&self, signal: i32) {
        let code = match signal {
            signal_hook::consts::SIGHUP => 129,
            signal_hook::consts::SIGINT => {
                if let Some(turn) = self.current_turn().filter(|_| self.profile.sigint_tells) {
                    self.life.leave.set(true);
                    turn.abort.raise();
                    return;
                }
                0
            }
            _ => 143,
        };
        self.exit(code);
    }
}

fn is_initialize(incoming: &Incoming) -> bool {
    match incoming {
        Incoming::Nothing | Incoming::Fatal(_) => true,
        Incoming::Request(_, request) => request.get("subtype") == Some(&"initialize".into()),
        Incoming::User(_) | Incoming::Answer(..) | Incoming::Variables(..) => false,
    }
}

/// Lets tasks go on and takes events, until the process is to end. Gives the exit code.
pub(super) fn turn_the_wheel(sim: &Rc<Sim>, input: &Input) -> u8 {
    let executor = Executor::new();
    let mut running = Vec::new();
    loop {
        executor.run(&sim.tasks, &mut running, || sim.life.is_over());
        if sim.life.frozen.get() {
            input.freeze();
            loop {
                std::thread::park();
            }
        }
        if let Some(code) = sim.life.exit.get() {
            return code;
        }
        let event = match sim.tasks.next_alarm() {
            None => input.events().recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => input.events().recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(event) => {
                sim.take_event(event);
                // What is there already is taken before the tasks go on.
                while !sim.life.is_over()
                    && let Ok(event) = input.events().try_recv()
                {
                    sim.take_event(event);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return 0,
        }
    }
}
