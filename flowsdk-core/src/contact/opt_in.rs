//! Opt-ins: whether a router may write to a contact first (spec A 2.4). The log is only appended to; the newest
//! record of a contact and router counts.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::cell::Named;
use crate::fault::StorageError;
use crate::id::{ChatId, ContactId, RouterId};
use crate::time::Timestamp;

/// The answer of a contact to being written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum OptInStatus {
    /// Yes.
    Accepted,
    /// No, or no longer.
    Revoked,
}

/// How it came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum OptInSource {
    /// A flow asked.
    Flow,
    /// It was imported.
    Import,
}

/// One record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactOptIn {
    /// Its id.
    pub id: String,
    /// The id of the contact.
    pub contact_id: ContactId,
    /// The id of the router.
    pub router_id: RouterId,
    /// The answer of the contact.
    pub status: OptInStatus,
    /// The chat in which it was said.
    pub chat_id: Option<ChatId>,
    /// How it came to be known.
    pub source: OptInSource,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

/// Opt-ins of one transaction.
#[async_trait]
pub trait OptInRepository: Send {
    /// Appends records.
    async fn append_many(&mut self, records: &[ContactOptIn]) -> Result<(), StorageError>;

    /// Returns the record that counts.
    async fn current(
        &mut self,
        contact: &ContactId,
        router: &RouterId,
    ) -> Result<Option<ContactOptIn>, StorageError>;
}

/// A transaction with opt-ins.
pub trait HasOptIns: Send {
    /// Returns the repository of this transaction.
    fn opt_ins(&mut self) -> &mut dyn OptInRepository;
}
