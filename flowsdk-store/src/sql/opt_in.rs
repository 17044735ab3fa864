//! Opt-ins.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::contact::{ContactOptIn, HasOptIns, OptInRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};

use super::SqlTx;
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql};

record! {
    ContactOptIn in "contact_opt_in" { id, contact_id, router_id, status, chat_id, source, recorded_at }
}

static INSERT: RowsSql = RowsSql::insert::<ContactOptIn>("");

const CURRENT: Sql = sql(concat!(
    ContactOptIn::SELECT,
    " WHERE contact_id = $1 AND router_id = $2 ORDER BY recorded_at DESC, id DESC LIMIT 1"
));

super::statement::statements! { CURRENT; INSERT }

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
}
