//! What the simulated CLI does wrong on purpose.

use std::rc::Rc;

use super::json::obj;
use super::requests::About;
use super::state::Sim;
use super::stdio::flood_stderr;
use super::turn::{Aborted, Scope};
use crate::script::Fault;

/// The exit code of a process that ends in the middle of a line: as if it had been killed.
const KILLED: u8 = 137;

impl Sim {
    /// Does it.
    pub(crate) async fn misbehave(
        self: &Rc<Self>,
        scope: &Scope,
        fault: Fault,
    ) -> Result<(), Aborted> {
        match fault {
            Fault::DieMidLine => {
                let frame = self
                    .signed(obj! { "type": "system", "subtype": "status", "status": "requesting" });
                let line = frame.to_string();
                self.out.write(line.get(..line.len() / 2).unwrap_or_default().as_bytes());
                self.exit(KILLED);
                std::future::pending::<()>().await;
            }
            Fault::Exit(code) => {
                self.exit(u8::try_from(code).unwrap_or(1));
                std::future::pending::<()>().await;
            }
            Fault::Freeze => {
                self.life.frozen.set(true);
                std::future::pending::<()>().await;
            }
            Fault::FloodStderr(bytes) => flood_stderr(bytes),
            Fault::LongLine(bytes) => {
                let text = "x".repeat(bytes);
                self.emit_system("local_command_output", obj! { "content": text });
            }
            Fault::NotJson => self.out.write(b"this line is not JSON\n"),
            Fault::UnknownFrame => {
                let frame = self.signed(obj! { "type": "hologram", "beam": 7 });
                self.emit(&frame);
            }
            Fault::UnknownRequest => {
                let request = obj! { "subtype": "hologram_request", "beam": 7 };
                let (_, reply) = self.ask_client(About::Other, false, request);
                scope.turn.wait(reply.take()).await?;
            }
        }
        Ok(())
    }
}
