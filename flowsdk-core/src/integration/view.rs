//! The public form of an integration.

use serde::Serialize;

use super::{BaseUrl, Integration, IntegrationAuth, IntegrationKind, IntegrationSettings};
use crate::id::{IntegrationId, RouterId};
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// A server of somebody else that a router works with. Its credentials are never shown.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Integration)]
pub struct IntegrationView {
    /// The id of the integration.
    pub id: IntegrationId,
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

// A request may leave out each field; in an answer all of them are there.
/// How the server is asked.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = IntegrationSettings)]
struct SettingsView {
    auth: IntegrationAuth,
    #[schema(required = true, example = "x-api-key")]
    header_name: Option<String>,
    timeout_ms: u64,
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
