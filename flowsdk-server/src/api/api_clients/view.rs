//! An API client as clients see it.

use std::fmt;

use flowsdk_auth::api_client::{ApiClient, ApiClientView};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use utoipa::ToSchema;

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
