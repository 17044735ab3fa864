//! The public form of a credential.

use serde::Serialize;

use super::{LlmCredential, LlmProvider};
use crate::change::View;
use crate::id::LlmCredentialId;
use crate::integration::BaseUrl;
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// A credential of a model provider. Its key is never shown.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = LlmCredential)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = LlmCredential)]
pub struct LlmCredentialView {
    /// The id of the credential.
    pub id: LlmCredentialId,
    #[schema(example = "Production")]
    name: String,
    provider: LlmProvider,
    /// Where the provider answers; null means its usual address.
    #[schema(value_type = Option<crate::schema::SecureAddress>, required = true)]
    base_url: Option<BaseUrl>,
    #[view(some = api_key)]
    has_api_key: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}
