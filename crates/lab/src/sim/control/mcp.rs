//! Requests about MCP servers.

use std::rc::Rc;

use super::Asked;
use crate::sim::json::{Json, Object, obj};
use crate::sim::state::Sim;

impl Sim {
    pub(super) fn mcp_request(self: &Rc<Self>, asked: &Asked, body: &Json) {
        let name = body.text("serverName").unwrap_or_default();
        match asked.subtype.as_str() {
            "mcp_status" => {
                let statuses = self.servers.borrow().statuses(self.profile.internals);
                self.answer(asked, obj! { "mcpServers": statuses });
            }
            "mcp_set_servers" => self.set_servers(asked, body.get("servers")),
            "mcp_message" => {
                self.acknowledge(asked);
                if let (Some(server), Some(message)) =
                    (body.text("server_name"), body.get("message"))
                {
                    self.hear_server(server, message);
                }
            }
            "mcp_toggle" | "mcp_reconnect" => {
                let enabled = asked.subtype == "mcp_reconnect" || body.is_true("enabled");
                if !self.servers.borrow().has(name) {
                    self.refuse(asked, &format!("Server not found: {name}"), None);
                    return;
                }
                self.toggle_server(name, enabled);
                self.acknowledge(asked);
            }
            _ => self.acknowledge(asked),
        }
    }

    /// Puts other servers in place of those that the client has set. Only its own are known here;
    /// the others would be processes.
    fn set_servers(self: &Rc<Self>, asked: &Asked, servers: Option<&Json>) {
        let empty = Object::default();
        let wanted = servers.and_then(Json::as_object).unwrap_or(&empty);
        let before = self.servers.borrow().names();
        let mut errors = Object::default();
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for name in &before {
            if wanted.get(name).is_none() {
                self.servers.borrow_mut().remove(name);
                removed.push(name.clone());
            }
        }
        for (name, config) in wanted.iter() {
            if before.iter().any(|known| known == name) {
                continue;
            }
            if config.text("type") == Some("sdk") {
                self.servers.borrow_mut().add([name]);
                added.push(name.to_owned());
            } else {
                errors.set(name, "the simulated CLI starts no processes");
            }
        }
        self.answer(asked, obj! { "added": added, "removed": removed, "errors": errors });
        self.connect_servers();
    }
}
