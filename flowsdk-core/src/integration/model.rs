//! The integration.

use crate::page::{Cursor, Searched};
use std::borrow::Cow;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BaseUrl, IntegrationView};
use crate::cell::Named;
use crate::change::{Entity, EntityKind, Recorded, public_json};
use crate::crypto::{Encrypted, MasterKey};
use crate::id::{IntegrationId, RouterId};
use crate::name::Name;
use crate::patch::present;
use crate::router::{Reach, Reachable};
use crate::schema::SchemaAttributes;
use crate::time::Timestamp;

/// How long a server may take when nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that a server may take.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(30);

/// The kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum IntegrationKind {
    /// One that answers HTTP requests.
    Http,
}

/// How the credentials are shown to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(
    description = "`bearer` and `basic` in `Authorization`, `header` in the one that `headerName` names."
)]
pub enum IntegrationAuth {
    /// `Authorization: Bearer <credentials>`.
    #[default]
    Bearer,
    /// `Authorization: Basic <credentials in base64>`; they are `user:password`.
    Basic,
    /// In the header that `headerName` names.
    Header,
}

/// How the server is asked. Nothing in it may be secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = IntegrationSettingsInput)]
pub struct IntegrationSettings {
    /// How the credentials are shown to the server.
    #[serde(default)]
    pub auth: IntegrationAuth,
    /// The header that carries the credentials. Required with `auth: header`, refused otherwise.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 100, example = "x-api-key")]
    pub header_name: Option<String>,
    /// How long the server may take, in milliseconds.
    #[serde(default = "default_timeout")]
    #[schema(required = false, minimum = 100, maximum = 30_000, default = 10_000)]
    pub timeout_ms: u64,
}

fn default_timeout() -> u64 {
    u64::try_from(DEFAULT_TIMEOUT.as_millis()).unwrap_or(u64::MAX)
}

impl Default for IntegrationSettings {
    fn default() -> Self {
        Self { auth: IntegrationAuth::default(), header_name: None, timeout_ms: default_timeout() }
    }
}

impl IntegrationSettings {
    /// Returns whether a header is named exactly where one is needed, and none that belongs to HTTP itself.
    pub fn names_its_header(&self) -> bool {
        const OF_HTTP: [&str; 8] = [
            "host",
            "content-length",
            "content-type",
            "connection",
            "transfer-encoding",
            "upgrade",
            "te",
            "trailer",
        ];
        match (self.auth, &self.header_name) {
            (IntegrationAuth::Header, Some(name)) => {
                let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
                (1..=100).contains(&name.len())
                    && name.bytes().all(token)
                    && !OF_HTTP.iter().any(|known| name.eq_ignore_ascii_case(known))
            }
            (IntegrationAuth::Header, None) => false,
            (_, name) => name.is_none(),
        }
    }

    /// Returns whether these credentials fit the way they are sent: those of `basic` are a user and a password.
    pub(super) fn can_show(&self, credentials: &SecretString) -> bool {
        self.auth != IntegrationAuth::Basic || credentials.expose_secret().contains(':')
    }

    /// How long the server may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms).min(MAX_TIMEOUT)
    }
}

/// A server of somebody else that a router works with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integration {
    /// The id of the integration.
    pub id: IntegrationId,
    /// Its router; it never changes.
    pub router_id: RouterId,
    /// The name that authors use for it.
    pub name: String,
    /// The kind of server.
    pub kind: IntegrationKind,
    /// Where it answers.
    pub base_url: BaseUrl,
    /// The encrypted credentials that the server expects.
    pub credentials: Option<Encrypted>,
    /// How it is asked.
    pub settings: IntegrationSettings,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Searched for Integration {
    fn search_text(&self) -> Cow<'_, str> {
        (&self.name).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for Integration {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::IntegrationServer, id: self.id.as_str(), router_id: Some(&self.router_id) }
    }

    fn to_json(&self) -> Value {
        public_json(&IntegrationView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![("credentials", self.credentials.as_ref().map(Encrypted::as_stored))]
    }
}

/// A new integration.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateIntegration)]
pub struct NewIntegration {
    /// The router that works with the server. It cannot be changed later.
    pub router_id: RouterId,
    /// The name that authors use for the integration.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    pub name: Name,
    /// The kind of server.
    pub kind: IntegrationKind,
    /// Where the server answers.
    pub base_url: BaseUrl,
    /// The credentials that the server expects. Kept encrypted and never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 8, max_length = 4_096, pattern = "^[ -~]+$")]
    pub credentials: Option<SecretString>,
    /// How the server is asked.
    #[serde(default)]
    pub settings: IntegrationSettings,
}

impl Reachable for NewIntegration {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// The changes to make to an integration; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchIntegration)]
pub struct IntegrationChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    pub name: Option<Name>,
    /// Where the server answers. Another address without `credentials` forgets the credentials.
    #[schema(value_type = BaseUrl, required = false)]
    pub base_url: Option<BaseUrl>,
    /// The credentials that the server expects. Kept encrypted and never shown; null forgets them.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 8, max_length = 4_096, pattern = "^[ -~]+$")]
    pub credentials: Option<Option<SecretString>>,
    /// All settings: those that are left out get their defaults.
    #[schema(value_type = IntegrationSettings, required = false)]
    pub settings: Option<IntegrationSettings>,
}

impl IntegrationChange {
    /// Returns the integration after the change; `key` encrypts the credentials. A caller who may change the
    /// address but does not know the credentials must not send them to a server of their own. So another address
    /// without new credentials forgets the old ones.
    pub(super) fn apply(self, mut integration: Integration, key: &MasterKey) -> Integration {
        integration.name = self.name.map_or(integration.name, String::from);
        if let Some(url) = self.base_url
            && url != integration.base_url
        {
            integration.base_url = url;
            integration.credentials = None;
        }
        if let Some(credentials) = self.credentials {
            integration.credentials = credentials.map(|clear| key.encrypt(clear.expose_secret()));
        }
        integration.settings = self.settings.unwrap_or(integration.settings);
        integration
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_named_where_one_is_needed() {
        let settings = |auth, name: Option<&str>| IntegrationSettings {
            auth,
            header_name: name.map(str::to_owned),
            ..IntegrationSettings::default()
        };
        for (auth, name, fits) in [
            (IntegrationAuth::Bearer, None, true),
            (IntegrationAuth::Bearer, Some("x-api-key"), false),
            (IntegrationAuth::Basic, Some("x-api-key"), false),
            (IntegrationAuth::Header, None, false),
            (IntegrationAuth::Header, Some("X-Api-Key"), true),
            (IntegrationAuth::Header, Some(""), false),
            (IntegrationAuth::Header, Some("a b"), false),
            (IntegrationAuth::Header, Some("a\r\nb"), false),
            (IntegrationAuth::Header, Some("Host"), false),
            (IntegrationAuth::Header, Some("content-length"), false),
        ] {
            assert_eq!(settings(auth, name).names_its_header(), fits, "{auth:?} {name:?}");
        }
    }

    #[cfg(feature = "schema")]
    #[test]
    fn the_schema_has_the_bounds_of_the_timeout() {
        let schema =
            serde_json::to_value(<IntegrationSettings as utoipa::PartialSchema>::schema()).expect("JSON");
        let timeout = &schema["properties"]["timeoutMs"];
        let millis = |of: Duration| Value::from(u64::try_from(of.as_millis()).expect("milliseconds"));
        assert_eq!(timeout["maximum"], millis(MAX_TIMEOUT));
        assert_eq!(timeout["default"], millis(DEFAULT_TIMEOUT));
    }

    #[test]
    fn credentials_do_not_follow_to_another_server() {
        let key = MasterKey::new("0123456789abcdef0123456789abcdef").expect("key");
        let url = |text: &str| BaseUrl::parse(text).expect("an address");
        let integration = Integration {
            id: "i1".parse().expect("an id"),
            router_id: "r1".parse().expect("an id"),
            name: "CRM".to_owned(),
            kind: IntegrationKind::Http,
            base_url: url("https://a.example"),
            credentials: Some(key.encrypt("s3cret-token")),
            settings: IntegrationSettings::default(),
            created_at: Timestamp::from_millis(1),
            updated_at: Timestamp::from_millis(1),
        };
        let change = |base: &str, credentials: Option<Option<&str>>| IntegrationChange {
            base_url: Some(url(base)),
            credentials: credentials.map(|new| new.map(SecretString::from)),
            ..IntegrationChange::default()
        };
        let opened = |after: Integration| {
            after.credentials.map(|value| key.decrypt(&value).expect("opens").expose_secret().to_owned())
        };
        for (base, new, kept) in [
            ("https://a.example", None, Some("s3cret-token")),
            ("https://b.example", None, None),
            ("https://b.example", Some(Some("another-token")), Some("another-token")),
            ("https://a.example", Some(None), None),
        ] {
            let after = change(base, new).apply(integration.clone(), &key);
            assert!(!after.to_json().to_string().contains("token"));
            assert_eq!(opened(after).as_deref(), kept, "{base} {new:?}");
        }
        let same = IntegrationChange::default().apply(integration.clone(), &key);
        assert_eq!(same, integration);
    }
}
