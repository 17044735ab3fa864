//! An integration as clients see it, and its settings as they send them.

use flowsdk_core::id::{IntegrationId, RouterId};
use flowsdk_core::integration::{
    BaseUrl, Integration, IntegrationAuth, IntegrationKind, IntegrationSettings,
};
use flowsdk_core::time::IsoTime;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the server is asked. Nothing in it may be secret.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = IntegrationSettingsInput)]
pub(super) struct SettingsBody {
    #[serde(default)]
    #[schema(required = false)]
    auth: IntegrationAuth,
    /// With `auth` `header`, and only then.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 100, example = "x-api-key")]
    header_name: Option<String>,
    /// How long the server may take.
    #[serde(default)]
    #[schema(value_type = u64, required = false, minimum = 100, maximum = 30_000, default = 10_000)]
    timeout_ms: Option<u64>,
}

impl From<SettingsBody> for IntegrationSettings {
    fn from(body: SettingsBody) -> Self {
        let default = Self::default();
        Self {
            auth: body.auth,
            header_name: body.header_name,
            timeout_ms: body.timeout_ms.unwrap_or(default.timeout_ms),
        }
    }
}

/// How the server is asked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IntegrationSettings)]
pub(super) struct SettingsView {
    auth: IntegrationAuth,
    #[schema(required = true, example = "x-api-key")]
    header_name: Option<String>,
    timeout_ms: u64,
}

/// A server of somebody else that a router works with. Its credentials are never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Integration)]
pub(super) struct IntegrationView {
    pub(super) id: IntegrationId,
    router_id: RouterId,
    #[schema(example = "CRM")]
    name: String,
    kind: IntegrationKind,
    base_url: BaseUrl,
    has_credentials: bool,
    #[schema(inline)]
    settings: SettingsView,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<Integration> for IntegrationView {
    fn from(integration: Integration) -> Self {
        let IntegrationSettings { auth, header_name, timeout_ms } = integration.settings;
        Self {
            id: integration.id,
            router_id: integration.router_id,
            name: integration.name,
            kind: integration.kind,
            base_url: integration.base_url,
            has_credentials: integration.credentials.is_some(),
            settings: SettingsView { auth, header_name, timeout_ms },
            created_at: integration.created_at.into(),
            updated_at: integration.updated_at.into(),
        }
    }
}
