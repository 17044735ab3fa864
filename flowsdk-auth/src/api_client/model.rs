//! The API client.

use flowsdk_core::page::{Cursor, Searched};
use std::borrow::Cow;
use std::fmt;

use flowsdk_core::change::{Entity, EntityKind, Recorded, public_json};
use flowsdk_core::id::{ApiClientId, RouterId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;

use super::ApiClientView;
use crate::permission::Permissions;

/// SHA-256 of an API token in hex. The token itself is stored nowhere.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TokenHash(String);

impl TokenHash {
    /// Returns a hash read from storage.
    pub fn from_stored(hex: String) -> Self {
        Self(hex)
    }

    /// Returns the hash as 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl flowsdk_core::cell::TextCell for TokenHash {
    fn as_text(&self) -> &str {
        &self.0
    }

    fn from_text(text: &str) -> Result<Self, flowsdk_core::fault::BoxError> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// A machine that administers, with a token of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ApiClient {
    /// The id of the API client.
    pub id: ApiClientId,
    pub name: String,
    /// Hash of its token.
    pub token_hash: TokenHash,
    /// The permissions of the client.
    pub permissions: Permissions,
    /// Empty means no restriction.
    pub router_ids: Vec<RouterId>,
    /// An inactive one is not let in.
    pub active: bool,
    /// From this moment on it is not let in.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Searched for ApiClient {
    fn search_text(&self) -> Cow<'_, str> {
        (&self.name).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for ApiClient {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::ApiClient, id: self.id.as_str(), router_id: None }
    }

    fn to_json(&self) -> Value {
        public_json(&ApiClientView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![("token", Some(self.token_hash.as_str()))]
    }
}
