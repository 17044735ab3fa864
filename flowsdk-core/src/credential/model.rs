//! The credential.

use crate::page::{Cursor, Searched};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

use super::LlmCredentialView;
use crate::cell::Named;
use crate::change::{Entity, EntityKind, Recorded, public_json};
use crate::crypto::{Encrypted, MasterKey};
use crate::id::LlmCredentialId;
use crate::integration::BaseUrl;
use crate::name::Name;
use crate::patch::present;
use crate::schema::SchemaAttributes;
use crate::time::Timestamp;

/// Whose models they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum LlmProvider {
    /// OpenAI itself, or a proxy of it at `baseUrl`.
    Openai,
    /// A server that speaks like it, at `baseUrl`.
    OpenaiCompatible,
}

/// A credential of a model provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmCredential {
    /// The id of the LLM credential.
    pub id: LlmCredentialId,
    /// Its name.
    pub name: String,
    /// Whose models it opens.
    pub provider: LlmProvider,
    /// The https address of the provider; `None` means its usual one.
    pub base_url: Option<BaseUrl>,
    /// The encrypted key that the provider expects.
    pub api_key: Option<Encrypted>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl LlmCredential {
    /// Returns one for a model of the program itself. It has neither a key nor an address, so no other model is asked by it.
    pub fn of_own_model(id: LlmCredentialId, name: &str, now: Timestamp) -> Self {
        Self {
            id,
            name: name.to_owned(),
            provider: LlmProvider::OpenaiCompatible,
            base_url: None,
            api_key: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns whether it has an address, by https only: nobody may read the key on the way.
    pub fn has_its_address(&self) -> bool {
        match &self.base_url {
            Some(url) => url.is_encrypted(),
            None => self.provider == LlmProvider::Openai,
        }
    }
}

impl Searched for LlmCredential {
    fn search_text(&self) -> Cow<'_, str> {
        (&self.name).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for LlmCredential {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::LlmCredential, id: self.id.as_str(), router_id: None }
    }

    fn to_json(&self) -> Value {
        public_json(&LlmCredentialView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![("apiKey", self.api_key.as_ref().map(Encrypted::as_stored))]
    }
}

/// A new credential.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateLlmCredential)]
pub struct NewLlmCredential {
    /// The name of the credential.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Production")]
    pub name: Name,
    /// The provider whose models it opens.
    pub provider: LlmProvider,
    /// Where the provider answers; `openai_compatible` needs it.
    #[schema(value_type = Option<crate::schema::SecureAddress>)]
    pub base_url: Option<BaseUrl>,
    /// The key that the provider expects. Kept encrypted and never shown.
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    pub api_key: SecretString,
}

/// The changes to make to a credential; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchLlmCredential)]
pub struct LlmCredentialChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Production")]
    pub name: Option<Name>,
    /// The provider whose models it opens.
    #[schema(value_type = LlmProvider, required = false)]
    pub provider: Option<LlmProvider>,
    /// Where the provider answers; null means its usual address. Another address without `apiKey` forgets the key.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<crate::schema::SecureAddress>)]
    pub base_url: Option<Option<BaseUrl>>,
    /// The key that the provider expects. Kept encrypted and never shown.
    #[schema(value_type = String, required = false, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    pub api_key: Option<SecretString>,
}

impl LlmCredentialChange {
    /// Returns the credential after the change; `key` encrypts the API key. The API key does not follow to another
    /// address: a caller who changes that without a new key might send it to themselves.
    pub(super) fn apply(self, mut credential: LlmCredential, key: &MasterKey) -> LlmCredential {
        credential.name = self.name.map_or(credential.name, String::from);
        credential.provider = self.provider.unwrap_or(credential.provider);
        if let Some(url) = self.base_url
            && url != credential.base_url
        {
            credential.base_url = url;
            credential.api_key = None;
        }
        if let Some(api_key) = self.api_key {
            credential.api_key = Some(key.encrypt(api_key.expose_secret()));
        }
        credential
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_and_there_where_it_is_needed() {
        let credential = |provider, url: Option<&str>| LlmCredential {
            id: "l1".parse().expect("an id"),
            name: "a".to_owned(),
            provider,
            base_url: url.map(|url| BaseUrl::parse(url).expect("an address")),
            api_key: None,
            created_at: Timestamp::from_millis(1),
            updated_at: Timestamp::from_millis(1),
        };
        for (provider, url, fits) in [
            (LlmProvider::Openai, None, true),
            (LlmProvider::Openai, Some("https://a.example/v1"), true),
            (LlmProvider::Openai, Some("http://a.example/v1"), false),
            (LlmProvider::OpenaiCompatible, None, false),
            (LlmProvider::OpenaiCompatible, Some("https://a.example/v1"), true),
            (LlmProvider::OpenaiCompatible, Some("http://a.example/v1"), false),
        ] {
            assert_eq!(credential(provider, url).has_its_address(), fits, "{provider:?} {url:?}");
        }
        let key = MasterKey::new("0123456789abcdef0123456789abcdef").expect("key");
        let url = |url: &str| Some(BaseUrl::parse(url).expect("an address"));
        let sealed = LlmCredential {
            api_key: Some(key.encrypt("sk-secret")),
            ..credential(LlmProvider::Openai, Some("https://a.example"))
        };
        for (base_url, api_key, kept) in [
            (None, None, true),
            (Some(url("https://a.example")), None, true),
            (Some(url("https://b.example")), None, false),
            (Some(None), None, false),
            (Some(url("https://b.example")), Some("sk-other".into()), true),
        ] {
            let change = LlmCredentialChange { base_url, api_key, ..LlmCredentialChange::default() };
            let after = change.apply(sealed.clone(), &key);
            assert_eq!(after.api_key.is_some(), kept, "{after:?}");
            assert!(!after.to_json().to_string().contains("sk-"));
        }
    }
}
