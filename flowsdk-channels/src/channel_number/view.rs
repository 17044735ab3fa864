//! The public form of a number.

use flowsdk_core::id::{ChannelNumberId, RouterId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::{ChannelNumber, E164, ProviderId};

/// A number of the phone channel. Its secrets are never shown, only whether there are any.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ChannelNumber)]
pub struct ChannelNumberView {
    /// The id of the number.
    pub id: ChannelNumberId,
    router_id: RouterId,
    #[schema(example = "Loja")]
    name: String,
    /// The provider's id of the number.
    phone_number_id: ProviderId,
    /// E.164 without plus sign.
    #[schema(value_type = String, example = "5511987654321")]
    phone_number: E164,
    /// The provider's business account.
    business_account_id: ProviderId,
    has_access_token: bool,
    /// Whether its interactive forms have keys.
    has_private_key: bool,
    /// SPKI PEM, for the provider; null before there are keys.
    #[schema(required = true)]
    encryption_public_key: Option<String>,
    /// Whether anything may be sent from it.
    active: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<ChannelNumber> for ChannelNumberView {
    fn from(number: ChannelNumber) -> Self {
        Self {
            id: number.id,
            router_id: number.router_id,
            name: number.name,
            phone_number_id: number.phone_number_id,
            phone_number: number.phone_number,
            business_account_id: number.business_account_id,
            has_access_token: number.access_token.is_some(),
            has_private_key: number.keys.is_some(),
            encryption_public_key: number.keys.map(|keys| keys.public_key),
            active: number.active,
            created_at: number.created_at.into(),
            updated_at: number.updated_at.into(),
        }
    }
}
