//! What happens to contacts is told to the webhooks of their routers, with the commit of the transaction.
//!
//! Every statement that writes contacts, or lets a router know one, notes it here: whoever calls it need not.

use std::collections::{BTreeSet, HashMap};

use flowsdk_core::contact::{ContactCatalog as _, ContactDetails};
use flowsdk_core::event::{WebhookEvent, WebhookEventType, of_contact};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::stream::announce::announce;

use super::SqlTx;

impl SqlTx {
    /// Notes that routers have come to know contacts.
    pub(super) fn note_known(&mut self, pairs: Vec<(ContactId, RouterId)>) {
        use WebhookEventType::{ContactCreated, ContactUpdated};
        let announced = &self.announced;
        let is_told = |(_, router): &(ContactId, RouterId)| {
            announced.contains(router, ContactCreated) || announced.contains(router, ContactUpdated)
        };
        self.contact_news.know(pairs.into_iter().filter(is_told));
    }

    /// Notes that contacts were changed.
    pub(super) fn note_changed<'a>(&mut self, contacts: impl IntoIterator<Item = &'a ContactId>) {
        if self.announced.contains_anywhere(WebhookEventType::ContactUpdated) {
            self.contact_news.change(contacts.into_iter().cloned());
        }
    }

    /// Notes that a contact is about to go.
    pub(super) async fn note_going(&mut self, contact: &ContactId) -> Result<(), StorageError> {
        if self.announced.contains_anywhere(WebhookEventType::ContactDeleted) {
            let routers = self.routers_of(std::slice::from_ref(contact)).await?;
            self.contact_news.go(contact.clone(), routers.into_iter().map(|(_, router)| router).collect());
        }
        Ok(())
    }

    /// Publishes what happened to contacts, as they are now.
    pub(super) async fn tell_of_contacts(&mut self) -> Result<(), StorageError> {
        let news = std::mem::take(&mut self.contact_news);
        if news.is_empty() {
            return Ok(());
        }
        let changed = news.changed();
        let routers = if changed.is_empty() { Vec::new() } else { self.routers_of(&changed).await? };
        let announced = &self.announced;
        let told: Vec<_> =
            news.told(routers).filter(|(kind, _, router)| announced.contains(router, *kind)).collect();
        let shown = told.iter().filter(|(kind, ..)| *kind != WebhookEventType::ContactDeleted);
        let shown: BTreeSet<&ContactId> = shown.map(|(_, contact, _)| contact).collect();
        let shown: Vec<ContactId> = shown.into_iter().cloned().collect();
        let found = if shown.is_empty() { Vec::new() } else { self.find(&shown, None).await? };
        let found: HashMap<&ContactId, &ContactDetails> =
            found.iter().map(|details| (&details.contact.id, details)).collect();
        let events: Vec<WebhookEvent> = told
            .iter()
            .map(|(kind, contact, router)| {
                of_contact(*kind, &self.cx, router, contact, found.get(contact).copied())
            })
            .collect();
        announce(self, events).await
    }
}
