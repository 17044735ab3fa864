//! The commands that create and change an API client.

use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

use super::ApiClient;
use crate::permission::Permissions;

/// An API client to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApiClient {
    /// Its name.
    pub name: String,
    /// The permissions of the client.
    pub permissions: Permissions,
    /// Empty means no restriction.
    pub router_ids: Vec<RouterId>,
    /// An inactive one is not let in.
    pub active: bool,
    /// From this moment on it is not let in.
    pub expires_at: Option<Timestamp>,
}

/// The changes to make; an absent field stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiClientChange {
    /// Its name.
    pub name: Option<String>,
    /// The permissions of the client.
    pub permissions: Option<Permissions>,
    /// Empty means no restriction.
    pub router_ids: Option<Vec<RouterId>>,
    /// An inactive one is not let in.
    pub active: Option<bool>,
    /// From this moment on it is not let in, or never.
    pub expires_at: Option<Option<Timestamp>>,
}

impl ApiClientChange {
    /// Returns the client after the change.
    pub(super) fn apply(self, mut client: ApiClient, now: Timestamp) -> ApiClient {
        client.name = self.name.unwrap_or(client.name);
        client.permissions = self.permissions.unwrap_or(client.permissions);
        client.router_ids = self.router_ids.unwrap_or(client.router_ids);
        client.active = self.active.unwrap_or(client.active);
        client.expires_at = self.expires_at.unwrap_or(client.expires_at);
        client.updated_at = now;
        client
    }
}
