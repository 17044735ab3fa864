//! Storage of contacts.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{Contact, ContactAlias, forms_of};
use crate::fault::StorageError;
use crate::id::ContactId;
use crate::time::Timestamp;

/// Contacts of one transaction.
#[async_trait]
pub trait ContactRepository: Send {
    /// Returns the contacts among `ids` that exist.
    async fn find_many(&mut self, ids: &[ContactId]) -> Result<Vec<Contact>, StorageError>;

    /// The same, locked until the end of the transaction.
    async fn find_many_for_update(&mut self, ids: &[ContactId]) -> Result<Vec<Contact>, StorageError>;

    /// Returns the contacts with one of these identities: their own (`phoneNumber`), or an alias (rulings C5). Each
    /// comes under the identity that was asked for: of one found by an alias that is its `phone_number` here.
    async fn find_by_phone_numbers(&mut self, phone_numbers: &[String])
    -> Result<Vec<Contact>, StorageError>;

    /// Creates contacts, unless one with the same identity exists, be it as an alias or as the other of both
    /// [forms of its number](forms_of), also in the same list. Returns the stored ones, in the same order, each under its
    /// identity here.
    async fn insert_or_get_many(&mut self, contacts: &[Contact]) -> Result<Vec<Contact>, StorageError>;

    /// The same for one.
    async fn insert_or_get(&mut self, contact: &Contact) -> Result<Contact, StorageError> {
        let stored = self.insert_or_get_many(std::slice::from_ref(contact)).await?.pop();
        stored.ok_or(StorageError::Stale { entity: "contact" })
    }

    /// Gives contacts other identities. One that a contact has already, as its own or as an alias, stays with it.
    async fn add_aliases(&mut self, aliases: &[ContactAlias]) -> Result<(), StorageError>;

    /// Gives the contact with the identity `from` the identity `to`; its former one becomes an alias. Returns whether it
    /// has `to` by then: not where nobody has `from`, or another contact has `to`.
    async fn renumber(&mut self, from: &str, to: &str, at: Timestamp) -> Result<bool, StorageError>;

    /// Rewrites name, lock and variables of contacts, each of which is given once.
    async fn save_many(&mut self, contacts: &[&Contact]) -> Result<(), StorageError>;
}

/// A transaction with contacts.
pub trait HasContacts: Send {
    /// Returns the repository of this transaction.
    fn contacts(&mut self) -> &mut dyn ContactRepository;
}

/// Finds contacts by these numbers in either of the [forms](forms_of) of each; by the number as it is given. Where both
/// forms are known, the contact of the form that is given counts.
pub async fn find_by_either_form<T: HasContacts + ?Sized>(
    tx: &mut T,
    numbers: &[String],
) -> Result<HashMap<String, Contact>, StorageError> {
    let asked: Vec<String> = numbers.iter().flat_map(|number| forms_of(number)).collect();
    let found = tx.contacts().find_by_phone_numbers(&asked).await?;
    let found: HashMap<String, Contact> =
        found.into_iter().map(|contact| (contact.phone_number.clone(), contact)).collect();
    let known = |number: &String| {
        let contact = forms_of(number).find_map(|form| found.get(&form))?;
        Some((number.clone(), contact.clone()))
    };
    Ok(numbers.iter().filter_map(known).collect())
}
