//! Opt-ins: whether a router may write to a contact first (spec A 2.4). The log is only appended to; the newest
//! record of a contact and router counts.

use std::collections::HashMap;

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

/// Appends what the provider of a channel tells, in the order of `told`. What came before the newest record says nothing,
/// as does what it says already. Resuming takes back what the provider told and nothing else: a contact who refused
/// elsewhere has refused.
///
/// # Errors
/// The database fails.
pub async fn follow_provider<T: HasOptIns + ?Sized>(
    tx: &mut T,
    cx: &OpContext,
    told: &[ToldOptIn],
) -> Result<(), StorageError> {
    if told.is_empty() {
        return Ok(());
    }
    let mut contacts: Vec<ContactId> = told.iter().map(|one| one.contact_id.clone()).collect();
    contacts.sort_unstable();
    contacts.dedup();
    let current = tx.opt_ins().current_among(&contacts).await?;
    let records = news_among(current, told, cx);
    if records.is_empty() { Ok(()) } else { tx.opt_ins().append_many(&records).await }
}

/// Returns the records that `told` adds to the `current` ones.
fn news_among(current: Vec<ContactOptIn>, told: &[ToldOptIn], cx: &OpContext) -> Vec<ContactOptIn> {
    let key = |record: &ContactOptIn| (record.contact_id.clone(), record.router_id.clone());
    let mut current: HashMap<_, _> = current.into_iter().map(|record| (key(&record), record)).collect();
    let mut news = Vec::new();
    for one in told {
        let place = (one.contact_id.clone(), one.router_id.clone());
        if is_news(current.get(&place), one) {
            let record = ContactOptIn {
                id: cx.ids().next_id(),
                contact_id: one.contact_id.clone(),
                router_id: one.router_id.clone(),
                status: one.status,
                chat_id: one.chat_id.clone(),
                source: OptInSource::Provider,
                recorded_at: one.at.min(cx.now()),
            };
            news.push(record.clone());
            current.insert(place, record);
        }
    }
    news
}

fn is_news(current: Option<&ContactOptIn>, told: &ToldOptIn) -> bool {
    match (current, told.status) {
        (None, status) => status == OptInStatus::Revoked,
        (Some(current), _) if current.recorded_at > told.at => false,
        (Some(current), OptInStatus::Revoked) => current.status == OptInStatus::Accepted,
        (Some(current), OptInStatus::Accepted) => {
            current.status == OptInStatus::Revoked && current.source == OptInSource::Provider
        }
    }
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

    /// Returns the records that count of these contacts: one for each router that has one.
    async fn current_among(&mut self, contacts: &[ContactId]) -> Result<Vec<ContactOptIn>, StorageError>;
}

/// A transaction with opt-ins.
pub trait HasOptIns: Send {
    /// Returns the repository of this transaction.
    fn opt_ins(&mut self) -> &mut dyn OptInRepository;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(seconds: i64, status: OptInStatus) -> ToldOptIn {
        ToldOptIn {
            contact_id: "c1".parse().expect("an id"),
            router_id: "r1".parse().expect("an id"),
            chat_id: None,
            status,
            at: Timestamp::from_millis(seconds * 1_000),
        }
    }

    fn known(seconds: i64, status: OptInStatus, source: OptInSource) -> ContactOptIn {
        let ToldOptIn { contact_id, router_id, chat_id, at, .. } = told(seconds, status);
        ContactOptIn { id: "o1".to_owned(), contact_id, router_id, status, chat_id, source, recorded_at: at }
    }

    #[test]
    fn the_provider_adds_what_is_new_in_its_order() {
        use OptInSource::{Contact, Flow, Provider};
        use OptInStatus::{Accepted, Revoked};
        for (current, news, added) in [
            (None, vec![told(1, Revoked)], vec![Revoked]),
            (None, vec![told(1, Accepted)], vec![]),
            (None, vec![told(1, Revoked), told(2, Accepted)], vec![Revoked, Accepted]),
            (
                None,
                vec![told(1, Revoked), told(1, Accepted), told(2, Revoked)],
                vec![Revoked, Accepted, Revoked],
            ),
            (None, vec![told(2, Revoked), told(1, Accepted)], vec![Revoked]),
            (Some(known(1, Accepted, Flow)), vec![told(1, Revoked)], vec![Revoked]),
            (Some(known(2, Accepted, Flow)), vec![told(1, Revoked)], vec![]),
            (Some(known(1, Revoked, Provider)), vec![told(2, Revoked), told(3, Accepted)], vec![Accepted]),
            (Some(known(1, Revoked, Contact)), vec![told(2, Accepted)], vec![]),
            (Some(known(1, Revoked, Flow)), vec![told(2, Accepted), told(3, Revoked)], vec![]),
        ] {
            let records = news_among(current.clone().into_iter().collect(), &news, &OpContext::system());
            let statuses: Vec<OptInStatus> = records.iter().map(|record| record.status).collect();
            assert_eq!(statuses, added, "{current:?} {news:?}");
        }
    }

    #[test]
    fn contacts_and_routers_are_kept_apart() {
        let stop = told(1, OptInStatus::Revoked);
        let other = ToldOptIn { router_id: "r2".parse().expect("an id"), ..stop.clone() };
        let somebody = ToldOptIn { contact_id: "c2".parse().expect("an id"), ..stop.clone() };
        let records = news_among(Vec::new(), &[stop.clone(), other, somebody, stop], &OpContext::system());
        assert_eq!(records.len(), 3);
    }
}
