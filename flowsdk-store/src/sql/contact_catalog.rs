//! Contacts, as they are administered.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::contact::{
    Contact, ContactAlias, ContactCatalog, ContactDetails, ContactFilter, HasContactCatalog, LiveSession,
    OpenChat, search_text,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::page::{Cursor, Page, PageRequest};

use super::SqlTx;
use super::bind::Binder;
use super::list::{Filter, ListSql, asked};
use super::record::{Record as _, record};
use super::row::With;
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

/// `$2` are the routers, or null for all.
const FIND: Sql = sql_per(
    concat!(
        "SELECT ",
        Contact::COLUMNS,
        ", context, last_session_summary FROM contact
         WHERE id IN (SELECT value FROM json_each($1)) AND (CAST($2 AS TEXT) IS NULL OR EXISTS (
            SELECT 1 FROM contact_router
            WHERE contact_id = contact.id AND router_id IN (SELECT value FROM json_each($2))))"
    ),
    concat!(
        "SELECT ",
        Contact::COLUMNS,
        ", context, last_session_summary FROM contact
         WHERE id = ANY(ARRAY(SELECT jsonb_array_elements_text($1))) AND (CAST($2::jsonb AS TEXT) IS NULL OR EXISTS (
            SELECT 1 FROM contact_router
            WHERE contact_id = contact.id AND router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($2::jsonb)))))"
    ),
);

record! {
    ContactAlias in "contact_alias" { contact_id, alias, created_at }
}

const ALIASES: Sql =
    sql_list!(concat!(ContactAlias::SELECT, " WHERE contact_id "), "$1", " ORDER BY created_at, alias");

pub(super) static LIST: ListSql<ContactFilter> = ListSql::of::<Contact>()
    .within_joined("contact_router", "contact_created_at", "contact_id", "router_id")
    .replanned()
    .filters(&[Filter::of("origin = {}", |filter: &ContactFilter| asked(&filter.origin))
        .or_scoped("(SELECT origin FROM contact WHERE contact.id = contact_router.contact_id) = {}")]);

static INSERT_NEW: RowsSql = RowsSql::new(
    concat!("INSERT INTO contact (", Contact::COLUMNS, ", search) VALUES "),
    Contact::COUNT + 1,
    " ON CONFLICT (phone_number) DO NOTHING",
);

const AMONG: Sql = sql_list!("SELECT id FROM contact WHERE id ", "$1", "");

const LINK: Sql = sql_per(
    "INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT router.id, contact.created_at, contact.id FROM contact CROSS JOIN router
     WHERE contact.id IN (SELECT value FROM json_each($1)) AND router.id IN (SELECT value FROM json_each($2))
     ON CONFLICT (contact_id, router_id) DO NOTHING RETURNING contact_id, router_id",
    "INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT router.id, contact.created_at, contact.id FROM contact CROSS JOIN router
     WHERE contact.id = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))
        AND router.id = ANY(ARRAY(SELECT jsonb_array_elements_text($2)))
     ON CONFLICT (contact_id, router_id) DO NOTHING RETURNING contact_id, router_id",
);

const ROUTERS_OF: Sql = sql_list!(
    "SELECT contact_id, router_id FROM contact_router WHERE contact_id ",
    "$1",
    " ORDER BY router_id"
);

/// Changes no row when another contact has the identity, as its own or as an alias.
const ADD_ALIAS: Sql = sql_per(
    "INSERT INTO contact_alias (alias, contact_id, created_at) SELECT $1, $2, $3
     WHERE NOT EXISTS (SELECT 1 FROM contact WHERE phone_number = $1) ON CONFLICT (alias) DO NOTHING",
    "INSERT INTO contact_alias (alias, contact_id, created_at) SELECT $1::text, $2::text, $3::bigint
     WHERE NOT EXISTS (SELECT 1 FROM contact WHERE phone_number = $1) ON CONFLICT (alias) DO NOTHING",
);

const REMOVE_ALIAS: Sql = sql("DELETE FROM contact_alias WHERE contact_id = $1 AND alias = $2");

record! {
    OpenChat in "chat" { id, contact_id, router_id, created_at }
}

const OPEN_CHATS: Sql = sql_list!(
    concat!(OpenChat::SELECT, " WHERE status = 'open' AND router_id IS NOT NULL AND contact_id "),
    "$1",
    " ORDER BY created_at, id"
);

record! {
    LiveSession in "session" { id, contact_id, router_id }
}

const LIVE_SESSIONS: Sql =
    sql_list!(concat!(LiveSession::SELECT, " WHERE contact_id "), "$1", " ORDER BY id");

const COUNT_CHATS: Sql = sql("SELECT COUNT(*) FROM chat WHERE contact_id = $1");

super::statement::statements! {
    FIND, ALIASES, AMONG, LINK, ROUTERS_OF, ADD_ALIAS, REMOVE_ALIAS, OPEN_CHATS, LIVE_SESSIONS, COUNT_CHATS;
    LIST, INSERT_NEW
}

super::accessor::has!(HasContactCatalog::contact_catalog -> ContactCatalog);

#[async_trait]
impl ContactCatalog for SqlTx {
    async fn find(
        &mut self,
        ids: &[ContactId],
        only: Option<&[RouterId]>,
    ) -> Result<Vec<ContactDetails>, StorageError> {
        type Row = With<Contact, (Option<String>, Option<String>)>;
        let rows = self.conn.fetch_all::<Row>(FIND, (Json(ids), only.map(Json))).await?;
        let mut aliases: HashMap<ContactId, Vec<ContactAlias>> = HashMap::new();
        for alias in self.conn.fetch_all::<ContactAlias>(ALIASES, (Json(ids),)).await? {
            aliases.entry(alias.contact_id.clone()).or_default().push(alias);
        }
        let details = |With(contact, (context, last_session_summary)): Row| {
            let aliases = aliases.remove(&contact.id).unwrap_or_default();
            ContactDetails { contact, context, last_session_summary, aliases }
        };
        Ok(rows.into_iter().map(details).collect())
    }

    async fn list(
        &mut self,
        filter: &ContactFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Contact>, StorageError> {
        let place = |contact: &Contact| Cursor::of(contact.created_at, &contact.id);
        match filter.terms.as_deref() {
            Some([]) => Ok(Page::from_rows(Vec::new(), page.limit, place)),
            Some(terms) => {
                let found = self.search(terms, filter.origin, only, page).await?;
                Ok(Page::from_rows(found, page.limit, place))
            }
            None => self.conn.page(&LIST, filter, only, page, place).await,
        }
    }

    async fn insert_new(&mut self, contacts: &[Contact]) -> Result<Vec<ContactId>, StorageError> {
        let contacts = self.of_new_numbers(contacts).await?;
        let bind = |to: &mut Binder<'_>, contact: &Contact| {
            contact.bind(to);
            to.bind(&search_text(contact));
        };
        let inserted = self.conn.execute_rows(&INSERT_NEW, &contacts, bind).await?;
        let mut new: Vec<&Contact> = contacts.iter().collect();
        if inserted < contacts.len() as u64 {
            let ids: Vec<_> = contacts.iter().map(|contact| &contact.id).collect();
            let created: Vec<ContactId> = self.conn.fetch_column(AMONG, (Json(&ids),)).await?;
            let created: HashSet<ContactId> = created.into_iter().collect();
            new.retain(|contact| created.contains(&contact.id));
        }
        self.insert_words(&new).await?;
        Ok(new.into_iter().map(|contact| contact.id.clone()).collect())
    }

    async fn link(&mut self, contacts: &[ContactId], routers: &[RouterId]) -> Result<(), StorageError> {
        let known = self.conn.fetch_all(LINK, (Json(contacts), Json(routers))).await?;
        self.note_known(known);
        Ok(())
    }

    async fn routers_of(
        &mut self,
        contacts: &[ContactId],
    ) -> Result<Vec<(ContactId, RouterId)>, StorageError> {
        self.conn.fetch_all(ROUTERS_OF, (Json(contacts),)).await
    }

    async fn add_alias(&mut self, alias: &ContactAlias) -> Result<bool, StorageError> {
        let ContactAlias { contact_id, alias, created_at } = alias;
        let added = self.conn.execute(ADD_ALIAS, (alias, contact_id, created_at)).await?;
        self.renew_words_of(contact_id).await?;
        if added == 1 {
            self.note_changed([contact_id]);
        }
        Ok(added == 1)
    }

    async fn remove_alias(&mut self, contact: &ContactId, alias: &str) -> Result<bool, StorageError> {
        let removed = self.conn.execute(REMOVE_ALIAS, (contact, alias)).await?;
        self.renew_words_of(contact).await?;
        if removed == 1 {
            self.note_changed([contact]);
        }
        Ok(removed == 1)
    }

    async fn open_chats(&mut self, contacts: &[ContactId]) -> Result<Vec<OpenChat>, StorageError> {
        self.conn.fetch_all(OPEN_CHATS, (Json(contacts),)).await
    }

    async fn live_sessions(&mut self, contacts: &[ContactId]) -> Result<Vec<LiveSession>, StorageError> {
        self.conn.fetch_all(LIVE_SESSIONS, (Json(contacts),)).await
    }

    async fn count_chats(&mut self, contact: &ContactId) -> Result<i64, StorageError> {
        let rows = self.conn.fetch_column::<i64>(COUNT_CHATS, (contact,)).await?;
        Ok(rows.first().copied().unwrap_or_default())
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
    pub(super) async fn renew_words_of(&mut self, id: &ContactId) -> Result<(), StorageError> {
        let found = ContactCatalog::find(self, std::slice::from_ref(id), None).await?;
        match found.first() {
            Some(details) => self.renew_words(&details.contact).await,
            None => Ok(()),
        }
    }
}
