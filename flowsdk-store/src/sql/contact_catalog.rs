//! Contacts, as they are administered.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use flowsdk_core::contact::{
    Contact, ContactAlias, ContactCatalog, ContactDetails, ContactFilter, LiveSession, OpenChat, search_text,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::session::Channel;
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};
use sqlx::types::Json;

use super::contact::{ContactRow, contact};
use super::executor::{execute, execute_rows, fetch_all, fetch_all_replanned, id, json, text};
use super::list::{Filter, ListSql};
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};
use super::{SqlTx, page};

/// `$2` are the routers, or null for all.
const FIND: Sql = sql_per(
    "SELECT id, phone_number, name, name_locked, origin, contact_variables, created_at, context, last_session_summary
     FROM contact WHERE id IN (SELECT value FROM json_each($1)) AND (CAST($2 AS TEXT) IS NULL OR EXISTS (
        SELECT 1 FROM contact_router WHERE contact_id = contact.id AND router_id IN (SELECT value FROM json_each($2))))",
    "SELECT id, phone_number, name, name_locked, origin, contact_variables, created_at, context, last_session_summary
     FROM contact WHERE id IN (SELECT jsonb_array_elements_text($1)) AND (CAST($2::jsonb AS TEXT) IS NULL OR EXISTS (
        SELECT 1 FROM contact_router
        WHERE contact_id = contact.id AND router_id IN (SELECT jsonb_array_elements_text($2::jsonb))))",
);

const ALIASES: Sql = sql_list!(
    "SELECT contact_id, alias, created_at FROM contact_alias WHERE contact_id IN ",
    "$1",
    " ORDER BY created_at, alias"
);

static LIST: ListSql = ListSql::new(
    "SELECT id, phone_number, name, name_locked, origin, contact_variables, created_at FROM contact",
    "contact",
    ("created_at", "id"),
    ("contact_router", "contact_created_at", "contact_id", "router_id"),
    &[Filter::of("origin = {}")
        .or_scoped("(SELECT origin FROM contact WHERE contact.id = contact_router.contact_id) = {}")],
);

static INSERT_NEW: RowsSql = RowsSql::new(
    "INSERT INTO contact (id, phone_number, name, name_locked, origin, contact_variables, created_at, search) VALUES ",
    8,
    " ON CONFLICT (phone_number) DO NOTHING",
);

const AMONG: Sql = sql_list!("SELECT id FROM contact WHERE id IN ", "$1", "");

const LINK: Sql = sql_per(
    "INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT router.id, contact.created_at, contact.id FROM contact CROSS JOIN router
     WHERE contact.id IN (SELECT value FROM json_each($1)) AND router.id IN (SELECT value FROM json_each($2))
     ON CONFLICT (contact_id, router_id) DO NOTHING",
    "INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT router.id, contact.created_at, contact.id FROM contact CROSS JOIN router
     WHERE contact.id IN (SELECT jsonb_array_elements_text($1)) AND router.id IN (SELECT jsonb_array_elements_text($2))
     ON CONFLICT (contact_id, router_id) DO NOTHING",
);

const ROUTERS_OF: Sql = sql_list!(
    "SELECT contact_id, router_id FROM contact_router WHERE contact_id IN ",
    "$1",
    " ORDER BY router_id"
);

/// Changes no row when somebody has the identity, as his own or as an alias.
const ADD_ALIAS: Sql = sql_per(
    "INSERT INTO contact_alias (alias, contact_id, created_at) SELECT $1, $2, $3
     WHERE NOT EXISTS (SELECT 1 FROM contact WHERE phone_number = $1) ON CONFLICT (alias) DO NOTHING",
    "INSERT INTO contact_alias (alias, contact_id, created_at) SELECT $1::text, $2::text, $3::bigint
     WHERE NOT EXISTS (SELECT 1 FROM contact WHERE phone_number = $1) ON CONFLICT (alias) DO NOTHING",
);

const REMOVE_ALIAS: Sql = sql("DELETE FROM contact_alias WHERE contact_id = $1 AND alias = $2");

const OPEN_CHATS: Sql = sql_list!(
    "SELECT id, contact_id, router_id, created_at FROM chat
     WHERE status = 'open' AND router_id IS NOT NULL AND contact_id IN ",
    "$1",
    " ORDER BY created_at, id"
);

const LIVE_SESSIONS: Sql =
    sql_list!("SELECT id, contact_id, router_id FROM session WHERE contact_id IN ", "$1", " ORDER BY id");

const COUNT_CHATS: Sql = sql("SELECT COUNT(*) FROM chat WHERE contact_id = $1");

super::statement::statements! {
    FIND, ALIASES, AMONG, LINK, ROUTERS_OF, ADD_ALIAS, REMOVE_ALIAS, OPEN_CHATS, LIVE_SESSIONS, COUNT_CHATS;
    LIST, INSERT_NEW
}

#[cfg(test)]
pub(super) fn lists() -> [(&'static str, &'static ListSql); 1] {
    [("contact", &LIST)]
}

fn alias(row: (String, String, i64)) -> Result<ContactAlias, StorageError> {
    Ok(ContactAlias {
        contact_id: id("contact_alias", row.0)?,
        alias: row.1,
        created_at: Timestamp::from_millis(row.2),
    })
}

type DetailsRow = (
    String,
    String,
    String,
    i64,
    Option<String>,
    Option<Json<Map<String, Value>>>,
    i64,
    Option<String>,
    Option<String>,
);

#[async_trait]
impl ContactCatalog for SqlTx {
    async fn find(
        &mut self,
        ids: &[ContactId],
        only: Option<&[RouterId]>,
    ) -> Result<Vec<ContactDetails>, StorageError> {
        let rows = fetch_all!(self.conn, DetailsRow, FIND, Json(ids), only.map(Json))?;
        let mut aliases: HashMap<ContactId, Vec<ContactAlias>> = HashMap::new();
        for row in fetch_all!(self.conn, (String, String, i64), ALIASES, Json(ids))? {
            let alias = alias(row)?;
            aliases.entry(alias.contact_id.clone()).or_default().push(alias);
        }
        rows.into_iter()
            .map(|(a, b, c, d, e, f, g, context, last_session_summary)| {
                let contact = contact((a, b, c, d, e, f, g))?;
                let aliases = aliases.remove(&contact.id).unwrap_or_default();
                Ok(ContactDetails { contact, context, last_session_summary, aliases })
            })
            .collect()
    }

    async fn list(
        &mut self,
        filter: &ContactFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Contact>, StorageError> {
        let origin = filter.origin.map(Channel::name);
        let (at, before) = page::before(page);
        let rows = match filter.terms.as_deref() {
            Some([]) => Vec::new(),
            Some(terms) => self.search(terms, origin, only, page).await?,
            None => fetch_all_replanned!(
                self.conn,
                ContactRow,
                LIST.of(only.is_some(), &[origin.is_some()]),
                at,
                before,
                page::rows(page),
                only.map(Json),
                origin,
            )?,
        };
        page::of(rows, page, contact, |contact| (contact.created_at, contact.id.to_string()))
    }

    async fn insert_new(&mut self, contacts: &[Contact]) -> Result<Vec<ContactId>, StorageError> {
        let inserted = execute_rows!(self.conn, INSERT_NEW, contacts, |query, contact| query
            .bind(contact.id.as_str())
            .bind(text(&contact.phone_number))
            .bind(text(&contact.name))
            .bind(i64::from(contact.name_locked))
            .bind(contact.origin.map(Channel::name))
            .bind(if contact.variables.is_empty() { None } else { Some(json(&contact.variables)?) })
            .bind(contact.created_at.as_millis())
            .bind(text(&search_text(contact)).into_owned()))
        .await?;
        let mut new: Vec<&Contact> = contacts.iter().collect();
        if inserted < contacts.len() as u64 {
            let ids: Vec<_> = contacts.iter().map(|contact| &contact.id).collect();
            let rows = fetch_all!(self.conn, (String,), AMONG, Json(&ids))?;
            let created: HashSet<String> = rows.into_iter().map(|(row,)| row).collect();
            new.retain(|contact| created.contains(contact.id.as_str()));
        }
        self.insert_words(&new).await?;
        Ok(new.into_iter().map(|contact| contact.id.clone()).collect())
    }

    async fn link(&mut self, contacts: &[ContactId], routers: &[RouterId]) -> Result<(), StorageError> {
        execute!(self.conn, LINK, Json(contacts), Json(routers)).map(drop)
    }

    async fn routers_of(
        &mut self,
        contacts: &[ContactId],
    ) -> Result<Vec<(ContactId, RouterId)>, StorageError> {
        let rows = fetch_all!(self.conn, (String, String), ROUTERS_OF, Json(contacts))?;
        rows.into_iter()
            .map(|(contact, router)| Ok((id("contact_router", contact)?, id("contact_router", router)?)))
            .collect()
    }

    async fn add_alias(&mut self, alias: &ContactAlias) -> Result<bool, StorageError> {
        let added = execute!(
            self.conn,
            ADD_ALIAS,
            text(&alias.alias),
            alias.contact_id.as_str(),
            alias.created_at.as_millis()
        )?;
        self.renew_words_of(&alias.contact_id).await?;
        Ok(added == 1)
    }

    async fn remove_alias(&mut self, contact: &ContactId, alias: &str) -> Result<bool, StorageError> {
        let removed = execute!(self.conn, REMOVE_ALIAS, contact.as_str(), text(alias))?;
        self.renew_words_of(contact).await?;
        Ok(removed == 1)
    }

    async fn open_chats(&mut self, contacts: &[ContactId]) -> Result<Vec<OpenChat>, StorageError> {
        type Row = (String, String, String, i64);
        let rows = fetch_all!(self.conn, Row, OPEN_CHATS, Json(contacts))?;
        rows.into_iter()
            .map(|(chat, contact, router, created_at)| {
                Ok(OpenChat {
                    id: id("chat", chat)?,
                    contact_id: id("chat", contact)?,
                    router_id: id("chat", router)?,
                    created_at: Timestamp::from_millis(created_at),
                })
            })
            .collect()
    }

    async fn live_sessions(&mut self, contacts: &[ContactId]) -> Result<Vec<LiveSession>, StorageError> {
        let rows = fetch_all!(self.conn, (String, String, String), LIVE_SESSIONS, Json(contacts))?;
        rows.into_iter()
            .map(|(session, contact, router)| {
                Ok(LiveSession {
                    id: id("session", session)?,
                    contact_id: id("session", contact)?,
                    router_id: id("session", router)?,
                })
            })
            .collect()
    }

    async fn count_chats(&mut self, contact: &ContactId) -> Result<i64, StorageError> {
        let rows = fetch_all!(self.conn, (i64,), COUNT_CHATS, contact.as_str())?;
        Ok(rows.first().map_or(0, |(count,)| *count))
    }

    async fn absorb(&mut self, into: &Contact, from: &Contact) -> Result<(), StorageError> {
        self.move_everything(&into.id, &from.id).await?;
        let alias = ContactAlias {
            contact_id: into.id.clone(),
            alias: from.phone_number.clone(),
            created_at: from.created_at,
        };
        if self.add_alias(&alias).await? { Ok(()) } else { Err(StorageError::Stale { entity: "contact" }) }
    }

    async fn delete(&mut self, contact: &ContactId) -> Result<(), StorageError> {
        self.delete_everything(contact).await
    }
}

impl SqlTx {
    async fn renew_words_of(&mut self, id: &ContactId) -> Result<(), StorageError> {
        let found = ContactCatalog::find(self, std::slice::from_ref(id), None).await?;
        match found.first() {
            Some(details) => self.renew_words(&details.contact).await,
            None => Ok(()),
        }
    }
}
