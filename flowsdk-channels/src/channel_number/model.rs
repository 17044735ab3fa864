//! The number.

use flowsdk_core::change::{Entity, EntityKind, Recorded, public_json};
use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::id::{ChannelNumberId, RouterId};
use flowsdk_core::page::{Cursor, Searched};
use flowsdk_core::patch::present;
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::FormKeyPair;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

use super::{ChannelNumberView, E164, ProviderId};

/// The key pair of a number's interactive forms. The private half stands under its passphrase, and both once more
/// under the master key (spec A 4.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormKeys {
    /// SPKI PEM, for the provider.
    pub public_key: String,
    /// The private key as PKCS#8 PEM.
    pub private_key: Encrypted,
    /// The passphrase that opens the private key.
    pub passphrase: Encrypted,
}

impl FormKeys {
    /// A new pair as it is stored.
    pub fn seal(pair: &FormKeyPair, key: &MasterKey) -> Self {
        Self {
            public_key: pair.public_key.clone(),
            private_key: key.encrypt(pair.private_key.expose_secret()),
            passphrase: key.encrypt(pair.passphrase.expose_secret()),
        }
    }
}

/// A number of the phone channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelNumber {
    /// Names the number in paths and references.
    pub id: ChannelNumberId,
    /// Its router; it never changes.
    pub router_id: RouterId,
    /// The display name, for people.
    pub name: String,
    /// The provider's id of it, unique and never changed: sessions are named after it.
    pub phone_number_id: ProviderId,
    /// The phone number in E.164.
    pub phone_number: E164,
    /// The provider's business account that it belongs to.
    pub business_account_id: ProviderId,
    /// The access token that the provider expects with each request.
    pub access_token: Option<Encrypted>,
    /// The keys of its interactive forms, once they were made.
    pub keys: Option<FormKeys>,
    /// Whether anything may be sent from it.
    pub active: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Searched for ChannelNumber {
    fn search_text(&self) -> Cow<'_, str> {
        format!("{} {} {}", self.name, self.phone_number.as_str(), self.phone_number_id.as_str()).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for ChannelNumber {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::ChannelNumber, id: self.id.as_str(), router_id: Some(&self.router_id) }
    }

    fn to_json(&self) -> Value {
        public_json(&ChannelNumberView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![
            ("accessToken", self.access_token.as_ref().map(Encrypted::as_stored)),
            ("encryptionPrivateKey", self.keys.as_ref().map(|keys| keys.private_key.as_stored())),
        ]
    }
}

/// A new number.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateChannelNumber)]
pub struct NewChannelNumber {
    /// The router of the number. It cannot be changed later.
    pub router_id: RouterId,
    /// The display name, for people.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Shop")]
    pub name: String,
    /// The provider's id of the number. It cannot be changed later.
    pub phone_number_id: ProviderId,
    /// The phone number with country code.
    pub phone_number: E164,
    /// The provider's business account.
    pub business_account_id: ProviderId,
    /// The access token that the provider expects with each request. Kept encrypted and never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    pub access_token: Option<SecretString>,
    /// Whether anything may be sent from it.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false, default = true)]
    pub active: bool,
}

impl Reachable for NewChannelNumber {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// The changes to make to a number; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchChannelNumber)]
pub struct ChannelNumberChange {
    /// The display name, for people.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Shop")]
    pub name: Option<String>,
    /// The phone number with country code: the provider may move an id to another one.
    #[schema(value_type = E164, required = false)]
    pub phone_number: Option<E164>,
    /// The provider's business account.
    #[schema(value_type = ProviderId, required = false)]
    pub business_account_id: Option<ProviderId>,
    /// The access token that the provider expects with each request. Kept encrypted and never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    pub access_token: Option<Option<SecretString>>,
    /// Whether anything may be sent from it.
    #[schema(value_type = bool, required = false)]
    pub active: Option<bool>,
}

impl ChannelNumberChange {
    /// The number after the change; `key` encrypts the token.
    pub(super) fn apply(self, mut number: ChannelNumber, key: &MasterKey) -> ChannelNumber {
        number.name = self.name.unwrap_or(number.name);
        number.phone_number = self.phone_number.unwrap_or(number.phone_number);
        number.business_account_id = self.business_account_id.unwrap_or(number.business_account_id);
        if let Some(token) = self.access_token {
            number.access_token = token.map(|token| key.encrypt(token.expose_secret()));
        }
        number.active = self.active.unwrap_or(number.active);
        number
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_public_form_shows_which_secrets_there_are_and_none_of_them() {
        let key = MasterKey::new("0123456789abcdef0123456789abcdef").expect("a key");
        let id = |digits: &str| ProviderId::parse(digits).expect("digits");
        let number = ChannelNumber {
            id: "n1".parse().expect("an id"),
            router_id: "r1".parse().expect("an id"),
            name: "Loja".to_owned(),
            phone_number_id: id("111"),
            phone_number: E164::parse("5511987654321").expect("a number"),
            business_account_id: id("77"),
            access_token: Some(key.encrypt("s3cret-token")),
            keys: Some(FormKeys {
                public_key: "PUBLIC".to_owned(),
                private_key: key.encrypt("s3cret-key"),
                passphrase: key.encrypt("s3cret-passphrase"),
            }),
            active: true,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(1),
        };
        assert_eq!(
            number.to_json(),
            json!({ "id": "n1", "routerId": "r1", "name": "Loja", "phoneNumberId": "111",
                "phoneNumber": "5511987654321", "businessAccountId": "77", "hasAccessToken": true,
                "hasPrivateKey": true, "encryptionPublicKey": "PUBLIC", "active": true,
                "createdAt": "1970-01-01T00:00:00.000Z", "updatedAt": "1970-01-01T00:00:00.001Z" })
        );
    }
}
