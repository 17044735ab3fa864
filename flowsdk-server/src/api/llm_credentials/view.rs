//! A credential as clients see it.

use flowsdk_core::credential::{LlmCredential, LlmProvider};
use flowsdk_core::id::LlmCredentialId;
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::schema::SecureAddress;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

/// A credential of a model provider. Its key is never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LlmCredential)]
pub(super) struct LlmCredentialView {
    pub(super) id: LlmCredentialId,
    #[schema(example = "Produção")]
    name: String,
    provider: LlmProvider,
    /// Where the provider answers; null means his own address.
    #[schema(value_type = Option<SecureAddress>, required = true)]
    base_url: Option<BaseUrl>,
    has_api_key: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<LlmCredential> for LlmCredentialView {
    fn from(credential: LlmCredential) -> Self {
        Self {
            id: credential.id,
            name: credential.name,
            provider: credential.provider,
            base_url: credential.base_url,
            has_api_key: credential.api_key.is_some(),
            created_at: credential.created_at.into(),
            updated_at: credential.updated_at.into(),
        }
    }
}
