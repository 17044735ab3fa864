//! `GET /channel-numbers/{id}/encryption/private-key`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelNumberId;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// The private half of a number's keys.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EncryptionPrivateKey)]
pub(super) struct PrivateKeyView {
    /// PKCS#8 PEM, protected by the passphrase (PBES2, AES-256-CBC).
    private_key: String,
    /// 64 hexadecimal digits.
    passphrase: String,
}

/// Export the private key of a number's interactive forms
///
/// For whoever answers the forms. Each export is logged and in the audit log.
#[utoipa::path(
    get, path = "/channel-numbers/{id}/encryption/private-key", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    responses(
        (status = 200, description = "The private key and the passphrase that opens it", body = PrivateKeyView),
        (status = 404, description = "`not_found`; `keys_missing`: the number has no keys yet"),
    )
)]
pub(super) async fn get_private_key(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
) -> Result<Reply<PrivateKeyView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    let key = numbers.export_private_key(&author, reach, &id).await?;
    let shown = |secret: &secrecy::SecretString| secret.expose_secret().to_owned();
    Ok(Reply(PrivateKeyView { private_key: shown(&key.private_key), passphrase: shown(&key.passphrase) }))
}
