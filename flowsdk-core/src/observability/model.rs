//! The settings; there is one set of them.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;

use super::ObservabilityView;
use crate::change::{Entity, EntityKind, Recorded, public_json};
use crate::crypto::{Encrypted, MasterKey};
use crate::integration::BaseUrl;
use crate::patch::present;
use crate::schema::SchemaAttributes;
use crate::time::Timestamp;

/// The name of the server in its telemetry, unless another one is set.
pub const DEFAULT_SERVICE_NAME: &str = "flowsdk";

/// The settings of observability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservabilitySettings {
    /// Whether telemetry is to be sent.
    pub enabled: bool,
    /// The name of the server in the telemetry.
    pub service_name: String,
    /// Where it is to go, by https; `None` means the service's own address.
    pub endpoint: Option<BaseUrl>,
    /// The encrypted token that Logfire expects.
    pub logfire_token: Option<Encrypted>,
    /// When they were last changed; `None` means never.
    pub updated_at: Option<Timestamp>,
}

impl Default for ObservabilitySettings {
    fn default() -> Self {
        Self {
            enabled: false,
            service_name: DEFAULT_SERVICE_NAME.to_owned(),
            endpoint: None,
            logfire_token: None,
            updated_at: None,
        }
    }
}

impl Recorded for ObservabilitySettings {
    // There is one set of them.
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::Observability, id: "observability", router_id: None }
    }

    fn to_json(&self) -> Value {
        public_json(&ObservabilityView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![("logfireToken", self.logfire_token.as_ref().map(Encrypted::as_stored))]
    }
}

/// The changes to make to the settings; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchObservability)]
pub struct ObservabilityChange {
    /// Whether telemetry is to be sent.
    #[schema(value_type = bool, required = false)]
    pub enabled: Option<bool>,
    /// The name of the server in the telemetry.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 100, example = "flowsdk")]
    pub service_name: Option<String>,
    /// The address that telemetry is sent to; null means the service's own address. Another address without `logfireToken` forgets the token.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<crate::schema::SecureAddress>)]
    pub endpoint: Option<Option<BaseUrl>>,
    /// The token that Logfire expects. Kept encrypted and never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    pub logfire_token: Option<Option<SecretString>>,
}

impl ObservabilityChange {
    /// Returns the settings after the change; `key` encrypts the token, which does not follow to another address.
    pub(super) fn apply(
        self,
        mut settings: ObservabilitySettings,
        key: &MasterKey,
        now: Timestamp,
    ) -> ObservabilitySettings {
        settings.enabled = self.enabled.unwrap_or(settings.enabled);
        settings.service_name = self.service_name.unwrap_or(settings.service_name);
        if let Some(endpoint) = self.endpoint
            && endpoint != settings.endpoint
        {
            settings.endpoint = endpoint;
            settings.logfire_token = None;
        }
        if let Some(token) = self.logfire_token {
            settings.logfire_token = token.map(|token| key.encrypt(token.expose_secret()));
        }
        settings.updated_at = Some(now);
        settings
    }
}
