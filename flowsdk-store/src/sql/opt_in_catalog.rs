//! Opt-ins, as they are administered.

use std::collections::HashMap;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::contact::{Contact, ContactOptIn, HasOptInCatalog, OptInCatalog, OptInFilter};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::page::{Cursor, Page, PageRequest};

use super::SqlTx;
use super::contact_search::ends;
use super::list::{Asked, Filter, ListSql, Place, asked, given};
use super::record::Record as _;
use super::statement::{Sql, sql_list, sql_per};

/// All records of a contact.
pub(super) static HISTORY: ListSql<ContactId> = ListSql::of::<ContactOptIn>()
    .by("recorded_at", "id")
    .within("router_id")
    .replanned()
    .filters(&[Filter::of("contact_id = {}", given).always()]);

/// The record that counts of each contact.
pub(super) static CURRENT: ListSql<OptInFilter> =
    ListSql::of::<ContactOptIn>().by("recorded_at", "id").within("router_id").replanned().filters(&[
        Filter::of(
            "NOT EXISTS (SELECT 1 FROM contact_opt_in AS later WHERE later.contact_id = contact_opt_in.contact_id
                AND later.router_id = contact_opt_in.router_id
                AND (later.recorded_at, later.id) > (contact_opt_in.recorded_at, contact_opt_in.id))",
            |_| Asked::Yes,
        )
        .always(),
        Filter::of("status = {}", |filter| asked(&filter.status)),
    ]);

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

const CONTACTS: Sql = sql_list!(concat!(Contact::SELECT, " WHERE id "), "$1", "");

super::statement::statements! { SEARCH, CONTACTS; HISTORY, CURRENT }

fn place(record: &ContactOptIn) -> Cursor {
    Cursor::of(record.recorded_at, &record.id)
}

super::accessor::has!(HasOptInCatalog::opt_in_catalog -> OptInCatalog);

#[async_trait]
impl OptInCatalog for SqlTx {
    async fn history(
        &mut self,
        contact: &ContactId,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ContactOptIn>, StorageError> {
        self.conn.page(&HISTORY, contact, only, page, place).await
    }

    async fn of_router(
        &mut self,
        router: &RouterId,
        filter: &OptInFilter,
        page: &PageRequest,
    ) -> Result<Page<(ContactOptIn, Contact)>, StorageError> {
        let records = match filter.terms.as_deref() {
            Some([]) => Page::from_rows(Vec::new(), page.limit, place),
            Some(terms) => {
                let (terms, _) = self.by_frequency(terms).await?;
                let Place { at, id, limit } = Place::of(page);
                let others = Json(ends(&terms[1..]));
                let binds = (at, id, limit, router, &terms[0].from, &terms[0].to, others, &filter.status);
                let found = self.conn.fetch_all_replanned(SEARCH, binds).await?;
                Page::from_rows(found, page.limit, place)
            }
            None => {
                let routers = Some(std::slice::from_ref(router));
                self.conn.page(&CURRENT, filter, routers, page, place).await?
            }
        };
        let ids: Vec<_> = records.items.iter().map(|record| &record.contact_id).collect();
        let contacts = self.conn.fetch_all::<Contact>(CONTACTS, (Json(&ids),)).await?;
        let contacts: HashMap<_, _> =
            contacts.into_iter().map(|contact| (contact.id.clone(), contact)).collect();
        let next = records.next;
        let items = records.items.into_iter();
        // A record goes with its contact, so every record has one.
        let items = items.filter_map(|record| Some((contacts.get(&record.contact_id)?.clone(), record)));
        Ok(Page { items: items.map(|(contact, record)| (record, contact)).collect(), next })
    }
}
