//! The commands that set and change a router.

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::crypto::MasterKey;
use crate::id::{FlowId, LlmCredentialId};
use crate::router::Router;
use crate::time::Timestamp;

/// The changes to make; an absent field stays, and `Some(None)` removes a value.
#[derive(Debug, Clone, Default)]
pub struct RouterChange {
    /// Its name.
    pub name: Option<String>,
    /// A flow of the router.
    pub initial_flow_id: Option<Option<FlowId>>,
    /// IANA time zone, checked by the caller.
    pub tz: Option<String>,
    /// The token that the channel's provider presents when it verifies the webhook.
    pub channel_verify_token: Option<Option<SecretString>>,
    /// The secret with which the channel's provider signs webhooks.
    pub channel_app_secret: Option<Option<SecretString>>,
    /// The credential of every AI agent of the router.
    pub llm_credential_id: Option<Option<LlmCredentialId>>,
    /// Where the logo is.
    pub logo_url: Option<Option<String>>,
    /// How the sentiment of a chat is told.
    pub sentiment_config: Option<Option<Value>>,
    /// The settings of the copilot for the helpdesk's agents.
    pub copilot_config: Option<Option<Value>>,
    /// Whether a helpdesk agent's name stands before their messages.
    pub helpdesk_agent_prefix_enabled: Option<bool>,
    /// How it stands there.
    pub helpdesk_agent_prefix_template: Option<Option<String>>,
}

impl RouterChange {
    /// Returns the router after the change; `key` encrypts the app secret.
    pub(super) fn apply(self, mut router: Router, key: &MasterKey, now: Timestamp) -> Router {
        router.name = self.name.unwrap_or(router.name);
        router.initial_flow_id = self.initial_flow_id.unwrap_or(router.initial_flow_id);
        router.tz = self.tz.unwrap_or(router.tz);
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
