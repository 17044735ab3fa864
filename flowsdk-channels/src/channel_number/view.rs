//! The public form of a number.

use flowsdk_core::change::View;
use flowsdk_core::id::{ChannelNumberId, RouterId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::{ChannelNumber, E164, ProviderId};

/// A number of the phone channel. Its secrets are never shown, only whether there are any.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = ChannelNumber)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ChannelNumber)]
pub struct ChannelNumberView {
    /// The id of the number.
    pub id: ChannelNumberId,
    router_id: RouterId,
    #[schema(example = "Shop")]
    name: String,
    /// The provider's id of the number.
    phone_number_id: ProviderId,
    /// E.164 without plus sign.
    #[schema(value_type = String, example = "5511987654321")]
    phone_number: E164,
    /// The provider's business account.
    business_account_id: ProviderId,
    #[view(some = access_token)]
    has_access_token: bool,
    /// Whether its interactive forms have keys.
    #[view(some = keys)]
    has_private_key: bool,
    /// SPKI PEM, for the provider; null before there are keys.
    #[schema(required = true)]
    #[view(with = public_key)]
    encryption_public_key: Option<String>,
    /// Whether anything may be sent from it.
    active: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}

fn public_key(number: &ChannelNumber) -> Option<String> {
    number.keys.as_ref().map(|keys| keys.public_key.clone())
}
