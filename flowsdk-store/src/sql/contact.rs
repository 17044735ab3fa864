//! Contacts.

use async_trait::async_trait;
use flowsdk_core::contact::{Contact, ContactRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ContactId;
use flowsdk_core::session::Channel;
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute, fetch_all, id, json, text};
use super::statement::{Sql, sql, sql_list};

type Row = (String, String, String, i64, Option<String>, Option<Json<Map<String, Value>>>, i64);

fn contact(row: Row) -> Result<Contact, StorageError> {
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

const INSERT: Sql =
    sql("INSERT INTO contact (id, phone_number, name, name_locked, origin, contact_variables, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (phone_number) DO NOTHING");

const UPDATE: Sql =
    sql("UPDATE contact SET name = $2, name_locked = $3, contact_variables = $4 WHERE id = $1");

super::statement::statements! { FIND_FOR_UPDATE, FIND_BY_PHONE, INSERT, UPDATE }

#[async_trait]
impl ContactRepository for SqlTx {
    async fn find_many_for_update(&mut self, ids: &[ContactId]) -> Result<Vec<Contact>, StorageError> {
        fetch_all!(self.conn, Row, FIND_FOR_UPDATE, Json(ids))?.into_iter().map(contact).collect()
    }

    async fn find_by_phone_numbers(
        &mut self,
        phone_numbers: &[String],
    ) -> Result<Vec<Contact>, StorageError> {
        fetch_all!(self.conn, Row, FIND_BY_PHONE, json(phone_numbers)?)?.into_iter().map(contact).collect()
    }

    async fn insert_or_get(&mut self, new: &Contact) -> Result<Contact, StorageError> {
        let variables = if new.variables.is_empty() { None } else { Some(json(&new.variables)?) };
        execute!(
            self.conn,
            INSERT,
            new.id.as_str(),
            text(&new.phone_number),
            text(&new.name),
            i64::from(new.name_locked),
            new.origin.map(Channel::name),
            variables.clone(),
            new.created_at.as_millis(),
        )?;
        let found = self.find_by_phone_numbers(std::slice::from_ref(&new.phone_number)).await?;
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
        }
        Ok(())
    }
}
