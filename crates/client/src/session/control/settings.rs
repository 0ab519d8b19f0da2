//! Settings, and what is loaded because of them.

use countersign_protocol::RawJson;
use countersign_protocol::request::{
    ApplyFlagSettings, GetHooksListing, GetHooksListingResponse, GetSettings, GetSettingsResponse,
    ListPermissionRules, PermissionRulesState, ReloadOutputStyles, ReloadPlugins,
    ReloadPluginsResponse, ReloadSkills, SettingsSource, SlashCommand, UpdateSettings,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// Settings.
impl SessionHandle {
    /// Changes settings for this session, as if the builder had been given them. Each key at the top
    /// takes the place of what was there, and `null` removes it. One value that is invalid refuses
    /// them all; a key that the CLI does not know is accepted.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn apply_flag_settings(
        &self,
        settings: impl Into<RawJson>,
    ) -> Result<(), ControlError> {
        self.call(ApplyFlagSettings::new(settings)).await.map(drop)
    }

    /// The settings in force, and where they come from. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn settings(&self) -> Result<GetSettingsResponse, ControlError> {
        self.call(GetSettings::new()).await
    }

    /// Writes to a settings file: `outputStyle` to [`SettingsSource::Local`], or `effortLevel` to
    /// [`SettingsSource::User`]. Nothing else can be written. From 2.1.325 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn update_settings(
        &self,
        source: SettingsSource,
        settings: impl Into<RawJson>,
    ) -> Result<(), ControlError> {
        self.call(UpdateSettings::new(source, settings)).await.map(drop)
    }

    /// The hooks of the settings files. Those of this program are not listed. From 2.1.325 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn hooks_listing(&self) -> Result<GetHooksListingResponse, ControlError> {
        self.call(GetHooksListing::new()).await
    }

    /// The permission rules that hold. From 2.1.325 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn permission_rules(&self) -> Result<PermissionRulesState, ControlError> {
        Ok(self.call(ListPermissionRules::new()).await?.state)
    }

    /// Loads the plugins again, and gives what there is then. To add some, or to hold back while the
    /// session is at work, see [`ReloadPlugins`]. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn reload_plugins(&self) -> Result<ReloadPluginsResponse, ControlError> {
        self.call(ReloadPlugins::new()).await
    }

    /// Loads the skills again, and gives them. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn reload_skills(&self) -> Result<Vec<SlashCommand>, ControlError> {
        Ok(self.call(ReloadSkills::new()).await?.skills)
    }

    /// Loads the output styles again, and gives their names. From 2.1.325 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn reload_output_styles(&self) -> Result<Vec<String>, ControlError> {
        Ok(self.call(ReloadOutputStyles::new()).await?.available_output_styles)
    }
}
