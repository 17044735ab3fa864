//! Channels and identities of the web chat (spec B 2.1).

use flowsdk_core::cell::{Cell, Kind, Value as CellValue};
use flowsdk_core::chat::{Attachments, StartOn};
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::BoxError;
use flowsdk_core::id::{ChannelId, ContactId, FlowId, IdentityId, RouterId};
use flowsdk_core::router::FallbackTexts;
use flowsdk_core::time::Timestamp;
use serde_json::Value;

/// Whom a channel serves. It is given when the channel is made, and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The visitors of a business.
    Visitors,
    /// Authors: the router's own test channel, one a router, made on demand and never deleted (spec B 4.4).
    RouterTest,
    /// Authors: a further test channel, of one person or one CI job.
    Test,
}

impl Purpose {
    /// Returns whether sessions run test versions of flows.
    pub const fn is_test(self) -> bool {
        matches!(self, Self::RouterTest | Self::Test)
    }
}

/// 0, 1 and 2: the column says whether the channel is a test channel, and 1 is unique in a router.
impl Cell for Purpose {
    const KIND: Kind = Kind::Integer;

    fn to_value(&self) -> Result<CellValue<'_>, BoxError> {
        Ok(CellValue::Integer(match self {
            Self::Visitors => 0,
            Self::RouterTest => 1,
            Self::Test => 2,
        }))
    }

    fn from_value(value: CellValue<'_>) -> Result<Self, BoxError> {
        match value.into_integer()? {
            0 => Ok(Self::Visitors),
            1 => Ok(Self::RouterTest),
            2 => Ok(Self::Test),
            other => Err(format!("{other} is no purpose of a channel").into()),
        }
    }
}

/// A web chat channel.
#[derive(Debug, Clone, PartialEq)]
pub struct WebchatChannel {
    /// Names the channel in handshakes and references.
    pub id: ChannelId,
    /// The router whose flows it runs.
    pub router_id: RouterId,
    /// Its name, `channelName` in `auth_ok`.
    pub name: String,
    /// Whom it serves.
    pub purpose: Purpose,
    /// Colours, avatar, texts; passed to the page as it is.
    pub appearance: Option<Value>,
    /// Overrides the router's initial flow.
    pub initial_flow_id: Option<FlowId>,
    /// What begins a session.
    pub start_on: StartOn,
    /// What visitors receive where nothing else answers them, instead of the router's texts.
    pub fallback_texts: FallbackTexts,
    /// What visitors may send beside texts; `None` is nothing.
    pub attachments: Option<Attachments>,
    /// Present on a closed channel: only signed tokens get in (spec B 4.3).
    pub embed_secret: Option<Encrypted>,
    /// Origins that may open a socket; `None` means any.
    pub allowed_origins: Option<Vec<String>>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl WebchatChannel {
    /// Returns a channel that is open to anybody, and runs the router's initial flow from the first message on.
    pub fn new(id: ChannelId, router_id: RouterId, name: impl Into<String>, now: Timestamp) -> Self {
        Self {
            id,
            router_id,
            name: name.into(),
            purpose: Purpose::Visitors,
            appearance: None,
            initial_flow_id: None,
            start_on: StartOn::Message,
            fallback_texts: FallbackTexts::default(),
            attachments: None,
            embed_secret: None,
            allowed_origins: None,
            created_at: now,
        }
    }
}

/// A visitor of an open channel.
#[derive(Clone, PartialEq, Eq)]
pub struct WebchatIdentity {
    /// Identifies this record among identities.
    pub id: IdentityId,
    /// The channel that the visitor came through.
    pub channel_id: ChannelId,
    /// The contact; one identity a channel and contact.
    pub contact_id: ContactId,
    /// bcrypt hash (cost 10) of the session key; the key itself is nowhere.
    pub session_key_hash: String,
    /// The [digest](super::key_digest) of the session key, once it is known. A key is random and long, so that it can be
    /// checked without bcrypt.
    pub session_key_digest: Option<String>,
    /// When the visitor first came.
    pub created_at: Timestamp,
}

impl std::fmt::Debug for WebchatIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebchatIdentity")
            .field("id", &self.id)
            .field("channel_id", &self.channel_id)
            .field("contact_id", &self.contact_id)
            .finish_non_exhaustive()
    }
}
