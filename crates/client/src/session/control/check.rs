//! What is not sent, because the CLI would do something else than it is asked for.

use countersign_protocol::RawJson;
use countersign_protocol::permission::PermissionMode;
use countersign_protocol::request::{Call as _, ClientRequest, Interrupt, SetPermissionMode};

use crate::cli::Capability;
use crate::error::ControlError;
use crate::session::SessionHandle;

/// Whether the answer to a request says which permission mode is in force.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct SetsMode(pub(in crate::session) bool);

impl SessionHandle {
    /// Refuses what this version of the CLI would ignore, or obey where it should refuse.
    pub(in crate::session) fn check(
        &self,
        request: &ClientRequest,
    ) -> Result<SetsMode, ControlError> {
        match request {
            ClientRequest::Interrupt(interrupt) if interrupt.cancel_queued == Some(true) => {
                self.need(Capability::CANCEL_QUEUED)?;
            }
            ClientRequest::SetPermissionMode(SetPermissionMode { mode: Some(mode), .. }) => {
                self.check_mode(mode)?;
            }
            _ => {}
        }
        Ok(SetsMode(matches!(request, ClientRequest::SetPermissionMode(_))))
    }

    /// [`check`](Self::check) for a request that is sent as it is. One of another shape than the
    /// types have is for the CLI to judge, unless it would have to be checked.
    pub(in crate::session) fn check_raw(
        &self,
        subtype: &str,
        request: &RawJson,
    ) -> Result<SetsMode, ControlError> {
        match request.decode() {
            Ok(request) => self.check(&request),
            Err(_) if ![Interrupt::SUBTYPE, SetPermissionMode::SUBTYPE].contains(&subtype) => {
                Ok(SetsMode(false))
            }
            Err(error) => Err(ControlError::NotARequest {
                subtype: subtype.to_owned(),
                reason: error.to_string(),
            }),
        }
    }

    fn check_mode(&self, mode: &PermissionMode) -> Result<(), ControlError> {
        // Before 2.1.325 the CLI says yes to any mode, also to one that it does not know.
        self.need(Capability::permission_mode(mode).unwrap_or(Capability::MODES_CHECKED))?;
        // 2.1.62 obeys, so a version that is not known is not asked either.
        let shared = self.shared();
        let version = shared.snapshot.borrow().version;
        let refuses =
            version.is_some_and(|version| Capability::BYPASS_BY_LAUNCH.in_version(version));
        if *mode == PermissionMode::BypassPermissions && !shared.setup.may_bypass && !refuses {
            return Err(ControlError::Forbidden {
                subtype: SetPermissionMode::SUBTYPE.to_owned(),
                reason:
                    "the session was not launched for `bypassPermissions`, and not every version \
                         of the CLI refuses it then"
                        .to_owned(),
            });
        }
        Ok(())
    }
}
