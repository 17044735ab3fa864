//! Contacts as they are administered.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::Contact;
use super::search::SearchTerm;
use crate::change::Recorded as _;
use crate::fault::StorageError;
use crate::id::{ChatId, ContactId, RouterId};
use crate::page::{Page, PageRequest};
use crate::session::{Channel, SessionId};
use crate::time::Timestamp;

/// The contacts that a page shows; an absent field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContactFilter {
    /// Those that have words with all these beginnings.
    pub terms: Option<Vec<SearchTerm>>,
    /// Those of this channel.
    pub origin: Option<Channel>,
}

/// Another identity of a contact (rulings C5).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ContactAlias {
    pub contact_id: ContactId,
    /// The identity, of one contact only. It is no [`Alias`](super::Alias): a merge keeps the identity of the contact
    /// that goes, which came as its channel wrote it.
    pub alias: String,
    /// When it was added.
    pub created_at: Timestamp,
}

/// A contact with everything that is shown of it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ContactDetails {
    pub contact: Contact,
    /// Summary of its history, for AI agents.
    pub context: Option<String>,
    /// Summary of its latest session.
    pub last_session_summary: Option<String>,
    /// Its other identities, oldest first.
    pub aliases: Vec<ContactAlias>,
}

impl ContactDetails {
    /// Of a contact of which nothing else is known yet.
    pub fn of(contact: Contact) -> Self {
        Self { contact, context: None, last_session_summary: None, aliases: Vec::new() }
    }

    /// Returns the public form, which answers show too.
    pub fn to_json(&self) -> Value {
        let mut shown = self.contact.to_json();
        shown["contactVariables"] = Value::Object(self.contact.variables.clone());
        (shown["context"], shown["lastSessionSummary"]) =
            (json!(self.context), json!(self.last_session_summary));
        let alias = |one: &ContactAlias| json!({ "alias": one.alias, "createdAt": one.created_at.to_iso() });
        shown["aliases"] = self.aliases.iter().map(alias).collect();
        shown
    }
}

/// An open chat of a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct OpenChat {
    pub id: ChatId,
    pub contact_id: ContactId,
    pub router_id: RouterId,
    pub created_at: Timestamp,
}

/// A live session of a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct LiveSession {
    pub id: SessionId,
    pub contact_id: ContactId,
    pub router_id: RouterId,
}

/// Contacts of one transaction, for those who administer them.
#[async_trait]
pub trait ContactCatalog: Send {
    /// Returns the contacts among `ids` that the routers in `only` know, or all, if it is not given.
    async fn find(
        &mut self,
        ids: &[ContactId],
        only: Option<&[RouterId]>,
    ) -> Result<Vec<ContactDetails>, StorageError>;

    /// Returns a page of contacts, newest first; of those that the routers in `only` know, if it is given.
    async fn list(
        &mut self,
        filter: &ContactFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Contact>, StorageError>;

    /// Creates contacts, except those with an identity that is known already, also in the other of both
    /// [forms of a number](super::forms_of). Returns which were created. Existing contacts are locked before, if at all:
    /// whoever creates a contact of the same number waits for the end of this transaction.
    async fn insert_new(&mut self, contacts: &[Contact]) -> Result<Vec<ContactId>, StorageError>;

    /// Lets routers know contacts.
    async fn link(&mut self, contacts: &[ContactId], routers: &[RouterId]) -> Result<(), StorageError>;

    /// Which routers know these contacts.
    async fn routers_of(
        &mut self,
        contacts: &[ContactId],
    ) -> Result<Vec<(ContactId, RouterId)>, StorageError>;

    /// Adds an alias; whether it was free.
    async fn add_alias(&mut self, alias: &ContactAlias) -> Result<bool, StorageError>;

    /// Removes an alias of a contact; whether it was there.
    async fn remove_alias(&mut self, contact: &ContactId, alias: &str) -> Result<bool, StorageError>;

    /// Returns the open chats of contacts, oldest first.
    async fn open_chats(&mut self, contacts: &[ContactId]) -> Result<Vec<OpenChat>, StorageError>;

    /// Returns the live sessions of contacts, by id.
    async fn live_sessions(&mut self, contacts: &[ContactId]) -> Result<Vec<LiveSession>, StorageError>;

    /// Returns how many chats a contact has.
    async fn count_chats(&mut self, contact: &ContactId) -> Result<i64, StorageError>;

    /// Moves everything of `from` to `into` and removes `from`; its identity becomes an alias of `into`.
    async fn absorb(&mut self, into: &Contact, from: &Contact) -> Result<(), StorageError>;

    /// Removes a contact with everything of it.
    async fn delete(&mut self, contact: &ContactId) -> Result<(), StorageError>;
}

/// A transaction with the administration of contacts.
pub trait HasContactCatalog: Send {
    /// Returns the repository of this transaction.
    fn contact_catalog(&mut self) -> &mut dyn ContactCatalog;
}
