//! Close reasons of tickets. A ticket has the key of its reason in its row.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_helpdesk::close_reason::{
    CloseReason, CloseReasonFilter, CloseReasonKey, CloseReasonRepository, HasCloseReasons,
};

use super::SqlTx;
use super::list::{Filter, asked};
use super::record::record;
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql};

record! {
    CloseReason in "close_reason" {
        id, router_id, key, created_at;
        label, is_active, updated_at
    }
}

/// A router has a few dozen close reasons at most, so those that are not wanted are passed over, newest first.
pub(super) static TABLE: RecordSql<CloseReasonFilter> =
    RecordSql::of::<CloseReason>(&[Filter::of("is_active = {}", |filter| asked(&filter.is_active))]);

/// The active close reason of this key, or else any active one.
const NEAREST: Sql =
    sql("SELECT key FROM close_reason WHERE router_id = $1 AND is_active = 1 ORDER BY key <> $2 LIMIT 1");

super::statement::statements! { NEAREST; TABLE }

impl RouterTable for CloseReason {
    fn sql() -> &'static RecordSql<CloseReasonFilter> {
        &TABLE
    }
}

super::accessor::has!(HasCloseReasons::close_reasons -> CloseReasonRepository);

#[async_trait]
impl CloseReasonRepository for SqlTx {
    async fn takes(&mut self, router: &RouterId, reason: &str) -> Result<bool, StorageError> {
        let nearest: Vec<CloseReasonKey> = self.conn.fetch_column(NEAREST, (router, reason)).await?;
        Ok(nearest.iter().all(|key| key.as_str() == reason))
    }
}
