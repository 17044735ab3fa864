//! An API client as clients see it.

use flowsdk_core::time::IsoTime;
use std::fmt;

use flowsdk_auth::api_client::ApiClient;
use flowsdk_auth::permission::{Permission, Permissions};
use flowsdk_core::id::{ApiClientId, RouterId};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use utoipa::ToSchema;

/// A machine that administers. Its token is shown only when it is made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiClient)]
pub(super) struct ApiClientView {
    pub(super) id: ApiClientId,
    #[schema(example = "CRM")]
    name: String,
    /// What it may do.
    #[schema(value_type = Vec<Permission>)]
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

/// An API client with its new token.
#[derive(Serialize, ToSchema)]
pub(super) struct ApiClientWithToken {
    #[serde(flatten)]
    pub(super) client: ApiClientView,
    /// Shown now and never again.
    #[schema(example = "fai_0000000000000000000000000000000000000000000000000000000000000000")]
    token: String,
}

impl fmt::Debug for ApiClientWithToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiClientWithToken").field("client", &self.client).finish_non_exhaustive()
    }
}

impl From<(ApiClient, SecretString)> for ApiClientWithToken {
    fn from((client, token): (ApiClient, SecretString)) -> Self {
        Self { client: client.into(), token: token.expose_secret().to_owned() }
    }
}
