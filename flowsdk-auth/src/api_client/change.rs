//! The commands that create and change an API client.

use flowsdk_core::id::RouterId;
use flowsdk_core::patch::present;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::Deserialize;

use super::ApiClient;
use crate::permission::Permissions;

/// A new API client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateApiClient)]
pub struct NewApiClient {
    /// The name of the client.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    pub name: String,
    /// The permissions of the client.
    #[serde(default)]
    #[schema(value_type = Vec<crate::permission::Permission>, required = false, max_items = 100)]
    pub permissions: Permissions,
    /// The routers it is confined to; empty means no restriction.
    #[serde(default)]
    #[schema(required = false, max_items = 1000)]
    pub router_ids: Vec<RouterId>,
    /// An inactive one is not let in.
    #[serde(default = "active")]
    #[schema(required = false, default = true)]
    pub active: bool,
    /// From this moment on it is not let in.
    pub expires_at: Option<IsoTime>,
}

fn active() -> bool {
    true
}

/// The changes to make to an API client; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchApiClient)]
pub struct ApiClientChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    pub name: Option<String>,
    /// The permissions of the client; replaces the whole list.
    #[schema(value_type = Vec<crate::permission::Permission>, required = false, max_items = 100)]
    pub permissions: Option<Permissions>,
    /// The routers it is confined to; replaces the whole list, and an empty one lifts the restriction.
    #[schema(value_type = Vec<RouterId>, required = false, max_items = 1000)]
    pub router_ids: Option<Vec<RouterId>>,
    /// An inactive one is not let in.
    #[schema(value_type = bool, required = false)]
    pub active: Option<bool>,
    /// From this moment on it is not let in; null means never.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<IsoTime>)]
    pub expires_at: Option<Option<IsoTime>>,
}

impl ApiClientChange {
    /// Returns the client after the change.
    pub(super) fn apply(self, mut client: ApiClient, now: Timestamp) -> ApiClient {
        client.name = self.name.unwrap_or(client.name);
        client.permissions = self.permissions.unwrap_or(client.permissions);
        client.router_ids = self.router_ids.unwrap_or(client.router_ids);
        client.active = self.active.unwrap_or(client.active);
        if let Some(at) = self.expires_at {
            client.expires_at = at.map(|at| at.0);
        }
        client.updated_at = now;
        client
    }
}
