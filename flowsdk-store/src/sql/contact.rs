//! Contacts.

use std::collections::HashSet;

use async_trait::async_trait;
use flowsdk_core::contact::{Contact, ContactRepository, search_text, search_words};
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

const INSERT: Sql = sql(
    "INSERT INTO contact (id, phone_number, name, name_locked, origin, contact_variables, created_at, search)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (phone_number) DO NOTHING",
);

const UPDATE: Sql =
    sql("UPDATE contact SET name = $2, name_locked = $3, contact_variables = $4 WHERE id = $1");

/// Changes a row when the words of the contact do, which is seldom.
const UPDATE_SEARCH: Sql = sql("UPDATE contact SET search = $2 WHERE id = $1 AND search <> $2");

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
    FIND_FOR_UPDATE, FIND_BY_PHONE, FIND_BY_ALIAS, INSERT, UPDATE, UPDATE_SEARCH, IDENTITIES, FORGET_WORDS, WITHOUT_WORDS;
    INSERT_WORDS
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

    async fn insert_or_get(&mut self, new: &Contact) -> Result<Contact, StorageError> {
        let identity = std::slice::from_ref(&new.phone_number);
        if let Some(known) = self.find_by_phone_numbers(identity).await?.pop() {
            return Ok(known);
        }
        let variables = if new.variables.is_empty() { None } else { Some(json(&new.variables)?) };
        let inserted = execute!(
            self.conn,
            INSERT,
            new.id.as_str(),
            text(&new.phone_number),
            text(&new.name),
            i64::from(new.name_locked),
            new.origin.map(Channel::name),
            variables.clone(),
            new.created_at.as_millis(),
            text(&search_text(new)),
        )?;
        if inserted == 1 {
            self.insert_words(&[new]).await?;
        }
        let found = self.find_by_phone_numbers(identity).await?;
        // Removed by another between the two statements: the same work may succeed at once.
        found.into_iter().next().ok_or(StorageError::Stale { entity: "contact" })
    }

    async fn save_many(&mut self, contacts: &[&Contact]) -> Result<(), StorageError> {
        // Contacts change in few turns; one statement each keeps the text plain.
        for contact in contacts {
            execute!(
                self.conn,
                UPDATE,
                contact.id.as_str(),
                text(&contact.name),
                i64::from(contact.name_locked),
                json(&contact.variables)?,
            )?;
            let search = search_text(contact);
            if execute!(self.conn, UPDATE_SEARCH, contact.id.as_str(), text(&search))? == 1 {
                self.renew_words(contact).await?;
            }
        }
        Ok(())
    }
}
