//! Opt-ins.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::contact::{ContactOptIn, HasOptIns, OptInRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};

use super::SqlTx;
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql, sql_list};

record! {
    ContactOptIn in "contact_opt_in" { id, contact_id, router_id, status, chat_id, source, recorded_at }
}

static INSERT: RowsSql = RowsSql::insert::<ContactOptIn>("");

const CURRENT: Sql = sql(concat!(
    ContactOptIn::SELECT,
    " WHERE contact_id = $1 AND router_id = $2 ORDER BY recorded_at DESC, id DESC LIMIT 1"
));

const CURRENT_AMONG: Sql = sql_list!(
    concat!(ContactOptIn::SELECT, " WHERE contact_id "),
    "$1",
    " AND NOT EXISTS (SELECT 1 FROM contact_opt_in AS later
        WHERE later.contact_id = contact_opt_in.contact_id AND later.router_id = contact_opt_in.router_id
          AND (later.recorded_at, later.id) > (contact_opt_in.recorded_at, contact_opt_in.id))"
);

super::statement::statements! { CURRENT, CURRENT_AMONG; INSERT }

super::accessor::has!(HasOptIns::opt_ins -> OptInRepository);

#[async_trait]
impl OptInRepository for SqlTx {
    async fn append_many(&mut self, records: &[ContactOptIn]) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, records).await.map(drop)
    }

    async fn current(
        &mut self,
        contact: &ContactId,
        router: &RouterId,
    ) -> Result<Option<ContactOptIn>, StorageError> {
        self.conn.fetch_optional(CURRENT, (contact, router)).await
    }

    async fn current_among(&mut self, contacts: &[ContactId]) -> Result<Vec<ContactOptIn>, StorageError> {
        self.conn.fetch_all(CURRENT_AMONG, (Json(contacts),)).await
    }
}
