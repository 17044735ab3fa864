//! Channels, as far as they travel: their settings, never their secrets or visitors.

use async_trait::async_trait;

use crate::chat::{Attachments, StartOn};
use crate::crypto::Encrypted;
use crate::fault::StorageError;
use crate::id::{ChannelId, FlowId, RouterId};
use crate::router::FallbackTexts;
use crate::time::Timestamp;

/// A web chat channel without the fields that belong to its server.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct PortableChannel {
    /// Its id; a new one where it arrives.
    pub id: ChannelId,
    pub name: String,
    /// Colours, avatar and texts of the page.
    pub appearance: Option<serde_json::Value>,
    /// Origins that may open a socket; `None` means any.
    pub allowed_origins: Option<Vec<String>>,
    /// Overrides the router's initial flow.
    pub initial_flow_id: Option<FlowId>,
    /// What begins a session.
    pub start_on: StartOn,
    /// What contacts receive where nothing else answers them.
    pub fallback_texts: FallbackTexts,
    /// What visitors may send beside texts.
    pub attachments: Option<Attachments>,
    /// Whether only signed tokens got in. The secret does not travel.
    pub is_closed: bool,
}

/// Channels of one transaction. Test channels stay where they are: every router makes its own.
#[async_trait]
pub trait ChannelTransfer: Send {
    /// The web chat channels of a router, oldest first.
    async fn channels_of(&mut self, router: &RouterId) -> Result<Vec<PortableChannel>, StorageError>;

    /// Creates web chat channels; one with a secret is closed.
    async fn insert_channels_of(
        &mut self,
        router: &RouterId,
        channels: &[(PortableChannel, Option<Encrypted>)],
        now: Timestamp,
    ) -> Result<(), StorageError>;
}

/// A transaction with the channels that travel with a router.
pub trait HasChannelTransfer: Send {
    /// Returns the repository of this transaction.
    fn channel_transfer(&mut self) -> &mut dyn ChannelTransfer;
}
