//! The commands that set and change a router.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;

use crate::crypto::MasterKey;
use crate::id::{FlowId, LlmCredentialId, RouterId};
use crate::name::Name;
use crate::patch::present;
use crate::router::{FallbackTexts, PhoneOptions, Router, TimeZoneName};
use crate::schema::SchemaAttributes;
use crate::time::Timestamp;

/// A new router.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateRouter)]
pub struct NewRouter {
    /// The name of the router.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Support")]
    pub name: Name,
    /// A flow of the router. A new router has none, so only null is possible.
    pub initial_flow_id: Option<FlowId>,
    /// IANA time zone.
    #[schema(value_type = TimeZoneName, required = false)]
    pub tz: Option<TimeZoneName>,
    /// The secret with which the channel's provider signs webhooks. Kept encrypted and never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512, pattern = "^[!-~]+$")]
    pub channel_app_secret: Option<SecretString>,
    /// The token that the channel's provider presents when it verifies the webhook. Never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512, pattern = r"^\S(.*\S)?$")]
    pub channel_verify_token: Option<SecretString>,
    /// The credential of every AI agent of the router.
    pub llm_credential_id: Option<LlmCredentialId>,
    /// Where the logo is.
    #[schema(value_type = Option<crate::schema::WebAddress>)]
    pub logo_url: Option<String>,
    /// How the sentiment of a chat is found.
    #[schema(value_type = Option<Object>)]
    pub sentiment_config: Option<Value>,
    /// The settings of the copilot for the helpdesk's agents.
    #[schema(value_type = Option<Object>)]
    pub copilot_config: Option<Value>,
    /// Whether a helpdesk agent's name stands before their messages.
    #[schema(value_type = bool, required = false)]
    pub helpdesk_agent_prefix_enabled: Option<bool>,
    /// How the name stands there.
    #[schema(value_type = Option<String>, max_length = 500)]
    pub helpdesk_agent_prefix_template: Option<String>,
    /// What contacts receive where nothing else answers them.
    pub fallback_texts: Option<FallbackTexts>,
    /// How its phone channel behaves.
    pub phone: Option<PhoneOptions>,
}

impl NewRouter {
    /// Returns the router; `key` encrypts the app secret.
    pub(super) fn into_router(self, id: RouterId, key: &MasterKey, now: Timestamp) -> Router {
        let settings = RouterChange {
            name: None,
            initial_flow_id: Some(self.initial_flow_id),
            tz: self.tz,
            channel_verify_token: Some(self.channel_verify_token),
            channel_app_secret: Some(self.channel_app_secret),
            llm_credential_id: Some(self.llm_credential_id),
            logo_url: Some(self.logo_url),
            sentiment_config: Some(self.sentiment_config),
            copilot_config: Some(self.copilot_config),
            helpdesk_agent_prefix_enabled: self.helpdesk_agent_prefix_enabled,
            helpdesk_agent_prefix_template: Some(self.helpdesk_agent_prefix_template),
            fallback_texts: Some(self.fallback_texts),
            phone: Some(self.phone),
        };
        settings.apply(Router::new(id, self.name, now), key, now)
    }
}

/// The changes to make to a router; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchRouter)]
pub struct RouterChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Support")]
    pub name: Option<Name>,
    /// A flow of the router; null starts none.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<FlowId>)]
    pub initial_flow_id: Option<Option<FlowId>>,
    /// IANA time zone.
    #[schema(value_type = TimeZoneName, required = false)]
    pub tz: Option<TimeZoneName>,
    /// The secret with which the channel's provider signs webhooks. Kept encrypted and never
    /// shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512, pattern = "^[!-~]+$")]
    pub channel_app_secret: Option<Option<SecretString>>,
    /// The token that the channel's provider presents when it verifies the webhook. Never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512, pattern = r"^\S(.*\S)?$")]
    pub channel_verify_token: Option<Option<SecretString>>,
    /// The credential of every AI agent of the router.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<LlmCredentialId>)]
    pub llm_credential_id: Option<Option<LlmCredentialId>>,
    /// Where the logo is.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<crate::schema::WebAddress>)]
    pub logo_url: Option<Option<String>>,
    /// How the sentiment of a chat is found.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>)]
    pub sentiment_config: Option<Option<Value>>,
    /// The settings of the copilot for the helpdesk's agents.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>)]
    pub copilot_config: Option<Option<Value>>,
    /// Whether a helpdesk agent's name stands before their messages.
    #[schema(value_type = bool, required = false)]
    pub helpdesk_agent_prefix_enabled: Option<bool>,
    /// How the name stands there.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub helpdesk_agent_prefix_template: Option<Option<String>>,
    /// What contacts receive where nothing else answers them; null leaves it to the server.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<FallbackTexts>)]
    pub fallback_texts: Option<Option<FallbackTexts>>,
    /// How its phone channel behaves: all of its settings at once. Null switches everything off.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<PhoneOptions>)]
    pub phone: Option<Option<PhoneOptions>>,
}

impl RouterChange {
    /// Returns the router after the change; `key` encrypts the app secret.
    pub(super) fn apply(self, mut router: Router, key: &MasterKey, now: Timestamp) -> Router {
        router.name = self.name.map_or(router.name, String::from);
        router.initial_flow_id = self.initial_flow_id.unwrap_or(router.initial_flow_id);
        router.tz = self.tz.map_or(router.tz, String::from);
        if let Some(token) = self.channel_verify_token {
            router.channel_verify_token = token.map(|token| token.expose_secret().to_owned());
        }
        if let Some(secret) = self.channel_app_secret {
            router.channel_app_secret = secret.map(|secret| key.encrypt(secret.expose_secret()));
        }
        router.llm_credential_id = self.llm_credential_id.unwrap_or(router.llm_credential_id);
        router.logo_url = self.logo_url.unwrap_or(router.logo_url);
        router.sentiment_config = self.sentiment_config.unwrap_or(router.sentiment_config);
        router.copilot_config = self.copilot_config.unwrap_or(router.copilot_config);
        router.helpdesk_agent_prefix_enabled =
            self.helpdesk_agent_prefix_enabled.unwrap_or(router.helpdesk_agent_prefix_enabled);
        router.helpdesk_agent_prefix_template =
            self.helpdesk_agent_prefix_template.unwrap_or(router.helpdesk_agent_prefix_template);
        router.fallback_texts = self.fallback_texts.map_or(router.fallback_texts, Option::unwrap_or_default);
        router.phone = self.phone.map_or(router.phone, Option::unwrap_or_default);
        router.updated_at = now;
        router
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Recorded as _;

    #[test]
    fn absent_fields_stay_and_null_takes_away() {
        let key = MasterKey::new("0123456789abcdef0123456789abcdef").expect("key");
        let router = Router::new("r1".parse().expect("an id"), "Loja", Timestamp::from_millis(1));
        let secrets = RouterChange {
            channel_verify_token: Some(Some("verify".into())),
            channel_app_secret: Some(Some("app".into())),
            logo_url: Some(Some("https://a".to_owned())),
            ..RouterChange::default()
        };
        let router = secrets.apply(router, &key, Timestamp::from_millis(2));
        assert_eq!((router.name.as_str(), router.updated_at), ("Loja", Timestamp::from_millis(2)));
        let sealed = router.channel_app_secret.clone().expect("sealed");
        assert_eq!(key.decrypt(&sealed).expect("opens").expose_secret(), "app");
        let shown = router.to_json().to_string();
        assert!(!shown.contains("verify") && !shown.contains(sealed.as_stored()), "{shown}");
        let same = RouterChange::default().apply(router.clone(), &key, router.updated_at);
        assert_eq!(same, router);
        let none = RouterChange {
            channel_verify_token: Some(None),
            channel_app_secret: Some(None),
            logo_url: Some(None),
            ..RouterChange::default()
        };
        let bare = none.apply(router, &key, Timestamp::from_millis(3));
        assert!(bare.channel_verify_token.is_none() && bare.channel_app_secret.is_none());
        assert_eq!(bare.logo_url, None);
    }
}
