//! The public form of an API client.

use flowsdk_core::id::{ApiClientId, RouterId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::ApiClient;
use crate::permission::Permissions;

/// A machine that administers. Its token is shown only when it is made.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ApiClient)]
pub struct ApiClientView {
    /// The id of the client.
    pub id: ApiClientId,
    #[schema(example = "CRM")]
    name: String,
    /// The permissions of the client.
    #[schema(value_type = Vec<crate::permission::Permission>)]
    permissions: Permissions,
    /// The routers it is confined to; empty means no restriction.
    router_ids: Vec<RouterId>,
    /// An inactive one is not let in.
    active: bool,
    /// From this moment on it is not let in.
    #[schema(required = true)]
    expires_at: Option<IsoTime>,
    /// To the minute.
    #[schema(required = true)]
    last_used_at: Option<IsoTime>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<ApiClient> for ApiClientView {
    fn from(client: ApiClient) -> Self {
        Self {
            id: client.id,
            name: client.name,
            permissions: client.permissions,
            router_ids: client.router_ids,
            active: client.active,
            expires_at: client.expires_at.map(IsoTime),
            last_used_at: client.last_used_at.map(IsoTime),
            created_at: client.created_at.into(),
            updated_at: client.updated_at.into(),
        }
    }
}
