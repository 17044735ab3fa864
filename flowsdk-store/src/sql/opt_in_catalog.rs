//! Opt-ins, as they are administered.

use std::collections::HashMap;

use async_trait::async_trait;
use flowsdk_core::contact::{Contact, ContactOptIn, OptInCatalog, OptInFilter, OptInStatus};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use sqlx::types::Json;

use super::contact::{ContactRow, contact};
use super::contact_search::ends;
use super::executor::{fetch_all, fetch_all_replanned, text};
use super::list::{Filter, ListSql};
use super::opt_in::{OptInRow, opt_in};
use super::statement::{Sql, sql_list, sql_per};
use super::{SqlTx, page};

const COLUMNS: &str =
    "SELECT id, contact_id, router_id, status, chat_id, source, recorded_at FROM contact_opt_in";

/// All records of a contact.
static HISTORY: ListSql = ListSql::new(
    COLUMNS,
    "contact_opt_in",
    ("recorded_at", "id"),
    ("contact_opt_in", "recorded_at", "id", "router_id"),
    &[Filter::of("contact_id = {}")],
);

/// The record that counts of each contact.
static CURRENT: ListSql = ListSql::new(
    COLUMNS,
    "contact_opt_in",
    ("recorded_at", "id"),
    ("contact_opt_in", "recorded_at", "id", "router_id"),
    &[
        Filter::of(
            "NOT EXISTS (SELECT 1 FROM contact_opt_in AS later WHERE later.contact_id = contact_opt_in.contact_id
                AND later.router_id = contact_opt_in.router_id
                AND (later.recorded_at, later.id) > (contact_opt_in.recorded_at, contact_opt_in.id))
             AND CAST({} AS TEXT) IS NOT NULL",
        ),
        Filter::of("status = {}"),
    ],
);

/// The same of contacts that are found by their words. `$1`, `$2` the place, `$3` how many, `$4` the router, `$5`, `$6`
/// the first term, `$7` the others, `$8` the status.
const SEARCH: Sql = sql_per(
    "SELECT id, contact_id, router_id, status, chat_id, source, recorded_at FROM contact_opt_in AS this WHERE id IN (
        SELECT o.id FROM (SELECT DISTINCT w.contact_id FROM contact_word AS w WHERE w.word >= $5 AND w.word < $6
            AND NOT EXISTS (SELECT 1 FROM json_each($7) AS term WHERE NOT EXISTS (
                SELECT 1 FROM contact_word AS o
                WHERE o.contact_id = w.contact_id AND o.word >= term.value ->> 0 AND o.word < term.value ->> 1))) AS f
        CROSS JOIN contact_opt_in AS o
        WHERE o.contact_id = f.contact_id AND o.router_id = $4
          AND NOT EXISTS (SELECT 1 FROM contact_opt_in AS later
            WHERE later.contact_id = o.contact_id AND later.router_id = o.router_id
              AND (later.recorded_at, later.id) > (o.recorded_at, o.id)))
     AND (this.recorded_at, this.id) < ($1, $2) AND (CAST($8 AS TEXT) IS NULL OR this.status = $8)
     ORDER BY recorded_at DESC, id DESC LIMIT $3",
    "SELECT id, contact_id, router_id, status, chat_id, source, recorded_at FROM contact_opt_in AS this WHERE id IN (
        SELECT o.id FROM (SELECT DISTINCT w.contact_id FROM contact_word AS w WHERE w.word >= $5 AND w.word < $6
            AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements($7) AS term (value) WHERE NOT EXISTS (
                SELECT 1 FROM contact_word AS o
                WHERE o.contact_id = w.contact_id AND o.word >= term.value ->> 0 AND o.word < term.value ->> 1))) AS f
        CROSS JOIN contact_opt_in AS o
        WHERE o.contact_id = f.contact_id AND o.router_id = $4
          AND NOT EXISTS (SELECT 1 FROM contact_opt_in AS later
            WHERE later.contact_id = o.contact_id AND later.router_id = o.router_id
              AND (later.recorded_at, later.id) > (o.recorded_at, o.id)))
     AND (this.recorded_at, this.id) < ($1, $2) AND (CAST($8 AS TEXT) IS NULL OR this.status = $8)
     ORDER BY recorded_at DESC, id DESC LIMIT $3",
);

const CONTACTS: Sql = sql_list!(
    "SELECT id, phone_number, name, name_locked, origin, contact_variables, created_at FROM contact WHERE id IN ",
    "$1",
    ""
);

super::statement::statements! { SEARCH, CONTACTS; HISTORY, CURRENT }

#[cfg(test)]
pub(super) fn lists() -> [(&'static str, &'static ListSql); 2] {
    [("contact_opt_in", &HISTORY), ("contact_opt_in", &CURRENT)]
}

fn page_of(rows: Vec<OptInRow>, page: &PageRequest) -> Result<Page<ContactOptIn>, StorageError> {
    page::of(rows, page, opt_in, |record| (record.recorded_at, record.id.clone()))
}

#[async_trait]
impl OptInCatalog for SqlTx {
    async fn history(
        &mut self,
        contact: &ContactId,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ContactOptIn>, StorageError> {
        let (at, before) = page::before(page);
        let rows = fetch_all_replanned!(
            self.conn,
            OptInRow,
            HISTORY.of(only.is_some(), &[true]),
            at,
            before,
            page::rows(page),
            only.map(Json),
            contact.as_str(),
        )?;
        page_of(rows, page)
    }

    async fn of_router(
        &mut self,
        router: &RouterId,
        filter: &OptInFilter,
        page: &PageRequest,
    ) -> Result<Page<(ContactOptIn, Contact)>, StorageError> {
        let status = filter.status.map(OptInStatus::name);
        let (at, before) = page::before(page);
        let rows = match filter.terms.as_deref() {
            Some([]) => Vec::new(),
            Some(terms) => {
                let (terms, _) = self.by_frequency(terms).await?;
                fetch_all_replanned!(
                    self.conn,
                    OptInRow,
                    SEARCH,
                    at,
                    before,
                    page::rows(page),
                    router.as_str(),
                    text(&terms[0].from),
                    text(&terms[0].to),
                    Json(ends(&terms[1..])),
                    status,
                )?
            }
            None => fetch_all_replanned!(
                self.conn,
                OptInRow,
                CURRENT.of(true, &[true, status.is_some()]),
                at,
                before,
                page::rows(page),
                Json([router]),
                "current",
                status,
            )?,
        };
        let records = page_of(rows, page)?;
        let ids: Vec<_> = records.items.iter().map(|record| &record.contact_id).collect();
        let rows = fetch_all!(self.conn, ContactRow, CONTACTS, Json(&ids))?;
        let contacts = rows.into_iter().map(contact).collect::<Result<Vec<_>, _>>()?;
        let contacts: HashMap<_, _> =
            contacts.into_iter().map(|contact| (contact.id.clone(), contact)).collect();
        let next = records.next;
        let items = records.items.into_iter();
        // A record goes with its contact, so every record has one.
        let items = items.filter_map(|record| Some((contacts.get(&record.contact_id)?.clone(), record)));
        Ok(Page { items: items.map(|(contact, record)| (record, contact)).collect(), next })
    }
}
