//! The public form of an integration.

use serde::Serialize;

use super::{BaseUrl, Integration, IntegrationAuth, IntegrationKind, IntegrationSettings};
use crate::change::View;
use crate::id::{IntegrationId, RouterId};
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// A server of somebody else that a router works with. Its credentials are never shown.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = Integration)]
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
    #[view(some = credentials)]
    has_credentials: bool,
    #[schema(inline)]
    settings: SettingsView,
    created_at: IsoTime,
    updated_at: IsoTime,
}

// A request may leave out each field; in an answer all of them are there.
/// How the server is asked.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = IntegrationSettings)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = IntegrationSettings)]
struct SettingsView {
    auth: IntegrationAuth,
    #[schema(required = true, example = "x-api-key")]
    header_name: Option<String>,
    timeout_ms: u64,
}
