//! Opt-ins: whether a router may write to a contact first (spec A 2.4). The log is only appended to; the newest
//! record of a contact and router counts.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::cell::Named;
use crate::context::OpContext;
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
    /// The provider of the channel told it: the contact has stopped or resumed what businesses send them.
    Provider,
    /// The contact wrote an opt-out word of the router.
    Contact,
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

/// What the provider of a channel tells of a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldOptIn {
    /// The contact.
    pub contact_id: ContactId,
    /// The router of the number that was stopped or resumed.
    pub router_id: RouterId,
    /// The chat of the message that was refused.
    pub chat_id: Option<ChatId>,
    /// Stopped or resumed.
    pub status: OptInStatus,
    /// When, by the clock of the provider.
    pub at: Timestamp,
}

/// Appends what the provider of a channel tells. What came before the newest record says nothing, as does what it says
/// already. Resuming takes back what the provider told and nothing else: a contact who refused elsewhere has refused.
///
/// # Errors
/// The database fails.
pub async fn follow_provider<T: HasOptIns + ?Sized>(
    tx: &mut T,
    cx: &OpContext,
    told: &[ToldOptIn],
) -> Result<(), StorageError> {
    let mut records: Vec<ContactOptIn> = Vec::new();
    // Few contacts stop at once.
    for ToldOptIn { contact_id, router_id, chat_id, status, at } in told {
        let current = tx.opt_ins().current(contact_id, router_id).await?;
        let is_news = match (&current, status) {
            (None, OptInStatus::Revoked) => true,
            (None, OptInStatus::Accepted) => false,
            (Some(current), OptInStatus::Revoked) => {
                current.status == OptInStatus::Accepted && current.recorded_at <= *at
            }
            (Some(current), OptInStatus::Accepted) => {
                current.status == OptInStatus::Revoked
                    && current.source == OptInSource::Provider
                    && current.recorded_at <= *at
            }
        };
        let is_known = |one: &ContactOptIn| one.contact_id == *contact_id && one.router_id == *router_id;
        if is_news && !records.iter().any(is_known) {
            records.push(ContactOptIn {
                id: cx.ids().next_id(),
                contact_id: contact_id.clone(),
                router_id: router_id.clone(),
                status: *status,
                chat_id: chat_id.clone(),
                source: OptInSource::Provider,
                recorded_at: (*at).min(cx.now()),
            });
        }
    }
    if records.is_empty() { Ok(()) } else { tx.opt_ins().append_many(&records).await }
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
