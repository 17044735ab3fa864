//! Contacts.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use flowsdk_core::contact::{Contact, ContactCatalog as _, ContactRepository, search_text, search_words};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ContactId;
use flowsdk_core::session::Channel;
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute, execute_rows, fetch_all, id, json, text};
use super::statement::{RowsSql, Sql, sql, sql_list};

pub(super) type ContactRow =
    (String, String, String, i64, Option<String>, Option<Json<Map<String, Value>>>, i64);

pub(super) fn contact(row: ContactRow) -> Result<Contact, StorageError> {
    let (contact_id, phone_number, name, name_locked, origin, variables, created_at) = row;
    Ok(Contact {
        id: id("contact", contact_id)?,
        phone_number,
        name,
        name_locked: name_locked != 0,
        origin: origin.and_then(|name| {
            [Channel::Phone, Channel::Webchat, Channel::Social].into_iter().find(|c| c.name() == name)
        }),
        variables: variables.map(|Json(map)| map).unwrap_or_default(),
        created_at: Timestamp::from_millis(created_at),
    })
}

/// Rows are locked in ascending id order, after those of the sessions.
const FIND_FOR_UPDATE: Sql = sql_list!(
    "SELECT id, phone_number, name, name_locked, origin, contact_variables, created_at FROM contact WHERE id IN ",
    "$1",
    " ORDER BY id",
    locking
);

const FIND_BY_PHONE: Sql = sql_list!(
    "SELECT id, phone_number, name, name_locked, origin, contact_variables, created_at FROM contact
     WHERE phone_number IN ",
    "$1",
    ""
);

/// Under the alias, not under the identity of its own.
const FIND_BY_ALIAS: Sql = sql_list!(
    "SELECT contact.id, alias, name, name_locked, origin, contact_variables, contact.created_at
     FROM contact_alias JOIN contact ON contact.id = contact_alias.contact_id WHERE alias IN ",
    "$1",
    ""
);

static UPDATE: RowsSql = RowsSql::typed(
    "WITH new (id, name, name_locked, variables) AS (VALUES ",
    &["text", "text", "bigint", "jsonb"],
    ") UPDATE contact SET name = new.name, name_locked = new.name_locked, contact_variables = new.variables
     FROM new WHERE contact.id = new.id",
)
.or_one_by_one("UPDATE contact SET name = ?2, name_locked = ?3, contact_variables = ?4 WHERE id = ?1");

const SEARCH: Sql = sql_list!("SELECT id, search FROM contact WHERE id IN ", "$1", "");

const UPDATE_SEARCH: Sql = sql("UPDATE contact SET search = $2 WHERE id = $1");

/// A contact that came by an alias has that for its identity (see `FIND_BY_ALIAS`), so its own is read here.
const IDENTITIES: Sql = sql("SELECT phone_number FROM contact WHERE id = $1
     UNION ALL SELECT alias FROM contact_alias WHERE contact_id = $1");

const FORGET_WORDS: Sql = sql("DELETE FROM contact_word WHERE contact_id = $1");

static INSERT_WORDS: RowsSql = RowsSql::new(
    "INSERT INTO contact_word (contact_id, word, created_at) VALUES ",
    3,
    " ON CONFLICT (contact_id, word) DO NOTHING",
);

/// From before there were words, up to a number.
const WITHOUT_WORDS: Sql =
    sql("SELECT id, phone_number, name, name_locked, origin, contact_variables, created_at FROM contact
     WHERE search = '' LIMIT $1");

super::statement::statements! {
    FIND_FOR_UPDATE, FIND_BY_PHONE, FIND_BY_ALIAS, SEARCH, UPDATE_SEARCH, IDENTITIES, FORGET_WORDS, WITHOUT_WORDS;
    UPDATE, INSERT_WORDS
}

impl SqlTx {
    /// Stores the words by which contacts without aliases are found.
    pub(super) async fn insert_words(&mut self, contacts: &[&Contact]) -> Result<(), StorageError> {
        let words: Vec<(&Contact, String)> = contacts
            .iter()
            .flat_map(|contact| search_words(contact, &[]).into_iter().map(|word| (*contact, word)))
            .collect();
        execute_rows!(self.conn, INSERT_WORDS, &words[..], |query, row| query
            .bind(row.0.id.as_str())
            .bind(text(&row.1))
            .bind(row.0.created_at.as_millis()))
        .await
        .map(drop)
    }

    /// Makes the words of a contact anew.
    pub(super) async fn renew_words(&mut self, contact: &Contact) -> Result<(), StorageError> {
        let identities = fetch_all!(self.conn, (String,), IDENTITIES, contact.id.as_str())?;
        let identities: Vec<String> = identities.into_iter().map(|(identity,)| identity).collect();
        let words = search_words(contact, &identities);
        execute!(self.conn, FORGET_WORDS, contact.id.as_str())?;
        execute_rows!(self.conn, INSERT_WORDS, &words[..], |query, word| query
            .bind(contact.id.as_str())
            .bind(text(word))
            .bind(contact.created_at.as_millis()))
        .await
        .map(drop)
    }

    /// Stores the words of up to `limit` contacts from before there were words; whether there were any.
    pub(super) async fn add_missing_words(&mut self, limit: i64) -> Result<bool, StorageError> {
        let rows = fetch_all!(self.conn, ContactRow, WITHOUT_WORDS, limit)?;
        let contacts = rows.into_iter().map(contact).collect::<Result<Vec<_>, _>>()?;
        self.insert_words(&contacts.iter().collect::<Vec<_>>()).await?;
        for contact in &contacts {
            execute!(self.conn, UPDATE_SEARCH, contact.id.as_str(), text(&search_text(contact)))?;
        }
        Ok(!contacts.is_empty())
    }
}

#[async_trait]
impl ContactRepository for SqlTx {
    async fn find_many_for_update(&mut self, ids: &[ContactId]) -> Result<Vec<Contact>, StorageError> {
        fetch_all!(self.conn, ContactRow, FIND_FOR_UPDATE, Json(ids))?.into_iter().map(contact).collect()
    }

    async fn find_by_phone_numbers(
        &mut self,
        phone_numbers: &[String],
    ) -> Result<Vec<Contact>, StorageError> {
        let rows = fetch_all!(self.conn, ContactRow, FIND_BY_PHONE, json(phone_numbers)?)?;
        let mut found = rows.into_iter().map(contact).collect::<Result<Vec<_>, _>>()?;
        if found.len() < phone_numbers.len() {
            let known: HashSet<_> = found.iter().map(|contact| contact.phone_number.as_str()).collect();
            let missing: Vec<&String> =
                phone_numbers.iter().filter(|identity| !known.contains(identity.as_str())).collect();
            let rows = fetch_all!(self.conn, ContactRow, FIND_BY_ALIAS, json(&missing)?)?;
            for row in rows {
                found.push(contact(row)?);
            }
        }
        Ok(found)
    }

    async fn insert_or_get_many(&mut self, contacts: &[Contact]) -> Result<Vec<Contact>, StorageError> {
        let identities: Vec<String> = contacts.iter().map(|contact| contact.phone_number.clone()).collect();
        let mut stored = by_identity(self.find_by_phone_numbers(&identities).await?);
        let is_new = |contact: &&Contact| !stored.contains_key(&*text(&contact.phone_number));
        let new: Vec<Contact> = contacts.iter().filter(is_new).cloned().collect();
        if !new.is_empty() {
            self.insert_new(&new).await?;
            let identities: Vec<String> = new.into_iter().map(|contact| contact.phone_number).collect();
            stored.extend(by_identity(self.find_by_phone_numbers(&identities).await?));
        }
        let found = identities.iter().map(|identity| stored.get(&*text(identity)).cloned());
        // Removed by another between the two statements: the same work may succeed at once.
        found.map(|contact| contact.ok_or(StorageError::Stale { entity: "contact" })).collect()
    }

    async fn save_many(&mut self, contacts: &[&Contact]) -> Result<(), StorageError> {
        execute_rows!(self.conn, UPDATE, contacts, |query, contact| query
            .bind(contact.id.as_str())
            .bind(text(&contact.name))
            .bind(i64::from(contact.name_locked))
            .bind(json(&contact.variables)?))
        .await?;
        let ids: Vec<&ContactId> = contacts.iter().map(|contact| &contact.id).collect();
        let rows = fetch_all!(self.conn, (String, String), SEARCH, Json(&ids))?;
        let before: HashMap<String, String> = rows.into_iter().collect();
        for contact in contacts {
            let search = search_text(contact);
            // Seldom: its words change with its name only.
            if before.get(contact.id.as_str()).is_some_and(|before| *before != text(&search)) {
                execute!(self.conn, UPDATE_SEARCH, contact.id.as_str(), text(&search))?;
                self.renew_words(contact).await?;
            }
        }
        Ok(())
    }
}

fn by_identity(contacts: Vec<Contact>) -> HashMap<String, Contact> {
    contacts.into_iter().map(|contact| (contact.phone_number.clone(), contact)).collect()
}
