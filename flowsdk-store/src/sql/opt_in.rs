//! Opt-ins.

use async_trait::async_trait;
use flowsdk_core::contact::{ContactOptIn, OptInRepository, OptInSource, OptInStatus};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::executor::{corrupt, execute_rows, fetch_optional, id, optional_id};
use super::statement::{RowsSql, Sql, sql};

pub(super) type OptInRow = (String, String, String, String, Option<String>, String, i64);

pub(super) fn opt_in(row: OptInRow) -> Result<ContactOptIn, StorageError> {
    let (opt_in_id, contact_id, router_id, status, chat_id, source, recorded_at) = row;
    let known =
        [OptInStatus::Accepted, OptInStatus::Revoked].into_iter().find(|known| known.name() == status);
    let from = [OptInSource::Flow, OptInSource::Import].into_iter().find(|known| known.name() == source);
    Ok(ContactOptIn {
        id: opt_in_id,
        contact_id: id("contact_opt_in", contact_id)?,
        router_id: id("contact_opt_in", router_id)?,
        status: known.ok_or_else(|| corrupt("contact_opt_in")(&status))?,
        chat_id: optional_id("contact_opt_in", chat_id)?,
        source: from.ok_or_else(|| corrupt("contact_opt_in")(&source))?,
        recorded_at: Timestamp::from_millis(recorded_at),
    })
}

static INSERT: RowsSql = RowsSql::new(
    "INSERT INTO contact_opt_in (id, contact_id, router_id, status, chat_id, source, recorded_at) VALUES ",
    7,
    "",
);

const CURRENT: Sql =
    sql("SELECT id, contact_id, router_id, status, chat_id, source, recorded_at FROM contact_opt_in
     WHERE contact_id = $1 AND router_id = $2 ORDER BY recorded_at DESC, id DESC LIMIT 1");

super::statement::statements! { CURRENT; INSERT }

#[async_trait]
impl OptInRepository for SqlTx {
    async fn append_many(&mut self, records: &[ContactOptIn]) -> Result<(), StorageError> {
        execute_rows!(self.conn, INSERT, records, |query, record| query
            .bind(record.id.as_str())
            .bind(record.contact_id.as_str())
            .bind(record.router_id.as_str())
            .bind(record.status.name())
            .bind(record.chat_id.as_ref().map(|id| id.as_str()))
            .bind(record.source.name())
            .bind(record.recorded_at.as_millis()))
        .await
        .map(drop)
    }

    async fn current(
        &mut self,
        contact: &ContactId,
        router: &RouterId,
    ) -> Result<Option<ContactOptIn>, StorageError> {
        fetch_optional!(self.conn, OptInRow, CURRENT, contact.as_str(), router.as_str())?
            .map(opt_in)
            .transpose()
    }
}
