//! Who is asked, and for what.

use countersign_protocol::permission::PermissionMode;

use super::OptionsError;
use super::draft::{Draft, reject_empty};
use crate::SessionBuilder;
use crate::cli::Capability;

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Permissions {
    mode: Option<PermissionMode>,
    allow_bypass: bool,
    prompts: PermissionPrompts,
}

/// Who decides about a call that the CLI asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPrompts {
    /// This program, by its permission handler.
    #[default]
    Host,
    /// A tool of an MCP server, such as `mcp__gate__decide`. The permission handler is then not
    /// asked.
    McpTool(String),
    /// Nobody: what would be asked for is refused at once. Tools that need a person, such as
    /// `AskUserQuestion`, are then not offered to the model.
    Nobody,
}

impl Permissions {
    /// The mode that the session begins in.
    pub(super) fn begins_in(&self) -> PermissionMode {
        self.mode.clone().unwrap_or(PermissionMode::Default)
    }

    /// The mode that the session begins in, unless one was chosen.
    pub(super) fn begin_in(&mut self, mode: PermissionMode) {
        // Bypassing permissions is never taken over: it has to be asked for.
        if self.mode.is_none() && mode != PermissionMode::BypassPermissions {
            self.mode = Some(mode);
        }
    }

    /// Whether the mode in which next to nothing is asked for is available.
    pub(super) const fn allows_bypass(&self) -> bool {
        self.allow_bypass
    }

    pub(super) fn set_mode(&mut self, mode: PermissionMode) {
        self.mode = Some(mode);
    }
}

impl SessionBuilder {
    /// The permission mode that the session begins in. Default: [`PermissionMode::Default`], also
    /// when the settings name another one, or the CLI would choose [`PermissionMode::Auto`].
    ///
    /// [`PermissionMode::Manual`] is passed as `default`, which all versions know and which is the
    /// same. [`PermissionMode::Auto`] needs 2.1.197.
    ///
    /// [`PermissionMode::BypassPermissions`] is only accepted together with
    /// [`allow_dangerously_skip_permissions`](Self::allow_dangerously_skip_permissions).
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.options.permissions.mode = Some(mode);
        self
    }

    /// Makes the mode available in which next to nothing is asked for. It does not choose it.
    ///
    /// 2.1.62 lets a running session change to that mode even without this.
    pub fn allow_dangerously_skip_permissions(mut self) -> Self {
        self.options.permissions.allow_bypass = true;
        self
    }

    /// Who decides about calls that the CLI asks for. Default: this program.
    pub fn permission_prompts(mut self, prompts: PermissionPrompts) -> Self {
        self.options.permissions.prompts = prompts;
        self
    }
}

impl Permissions {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        let mode = match self.mode.as_ref().unwrap_or(&PermissionMode::Default) {
            PermissionMode::Manual => &PermissionMode::Default,
            mode => mode,
        };
        if *mode == PermissionMode::BypassPermissions && !self.allow_bypass {
            return Err(OptionsError::contradiction(
                "the mode `bypassPermissions` asks for next to nothing and has to be allowed",
                "call `allow_dangerously_skip_permissions` as well, or choose another mode",
            ));
        }
        reject_empty("permission_mode", mode.as_str())?;
        draft.value("--permission-mode", mode.as_str())?;
        if let Some(known) = Capability::permission_mode(mode) {
            draft.need(known);
        }
        draft.flag_if("--allow-dangerously-skip-permissions", self.allow_bypass);
        match &self.prompts {
            PermissionPrompts::Host => draft.value("--permission-prompt-tool", "stdio"),
            PermissionPrompts::McpTool(tool) => {
                if !tool.starts_with("mcp__") {
                    let problem = "it is the full name of an MCP tool, such as `mcp__gate__decide`";
                    return Err(OptionsError::value("permission_prompts", tool, problem));
                }
                draft.value("--permission-prompt-tool", tool)
            }
            // Without the flag every version refuses at once; a flag that says so is younger.
            PermissionPrompts::Nobody => Ok(()),
        }
    }
}
