//! Password recoveries.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_auth::recovery::{HasPasswordRecoveries, PasswordRecovery, PasswordRecoveryRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    PasswordRecovery in "password_recovery" {
        id, user_id, code_hash, expires_at, created_at;
        completed, wrong_tries
    }
}

const INSERT: Sql = sql(PasswordRecovery::INSERT);

/// On Postgres a waiter for the lock sees the writes of its holder: a recovery completed meanwhile is none.
const LATEST_FOR_UPDATE: Sql = sql_locking!(concat!(
    PasswordRecovery::SELECT,
    " WHERE user_id = $1 AND completed = 0 AND expires_at > $2 ORDER BY created_at DESC, id DESC LIMIT 1"
));

const SAVE: Sql = sql(PasswordRecovery::UPDATE);

const COMPLETE_ALL: Sql =
    sql("UPDATE password_recovery SET completed = 1 WHERE user_id = $1 AND completed = 0");

const PURGE: Sql = sql("DELETE FROM password_recovery WHERE expires_at < $1");

super::statement::statements! { INSERT, LATEST_FOR_UPDATE, SAVE, COMPLETE_ALL, PURGE }

super::accessor::has!(HasPasswordRecoveries::password_recoveries -> PasswordRecoveryRepository);

#[async_trait]
impl PasswordRecoveryRepository for SqlTx {
    async fn insert(&mut self, recovery: &PasswordRecovery) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(recovery)).await.map(drop)
    }

    async fn latest_for_update(
        &mut self,
        user: &UserId,
        now: Timestamp,
    ) -> Result<Option<PasswordRecovery>, StorageError> {
        self.conn.fetch_optional(LATEST_FOR_UPDATE, (user, now)).await
    }

    async fn save(&mut self, recovery: &PasswordRecovery) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(recovery)).await.map(drop)
    }

    async fn complete_all(&mut self, user: &UserId) -> Result<(), StorageError> {
        self.conn.execute(COMPLETE_ALL, (user,)).await.map(drop)
    }

    async fn purge(&mut self, cutoff: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (cutoff,)).await
    }
}
