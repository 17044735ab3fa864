//! Password recoveries.

use async_trait::async_trait;
use flowsdk_auth::recovery::{PasswordRecovery, PasswordRecoveryRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::executor::{corrupt, execute, fetch_optional, id};
use super::statement::{Sql, sql, sql_locking};

const INSERT: Sql = sql(
    "INSERT INTO password_recovery (id, user_id, code_hash, expires_at, completed, wrong_tries, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)",
);

/// On Postgres who waited for the lock sees what its holder wrote: a recovery completed meanwhile is none.
const LATEST_FOR_UPDATE: Sql = sql_locking!(
    "SELECT id, user_id, code_hash, expires_at, completed, wrong_tries, created_at FROM password_recovery
     WHERE user_id = $1 AND completed = 0 AND expires_at > $2 ORDER BY created_at DESC, id DESC LIMIT 1"
);

const SAVE: Sql = sql("UPDATE password_recovery SET completed = $2, wrong_tries = $3 WHERE id = $1");

const COMPLETE_ALL: Sql =
    sql("UPDATE password_recovery SET completed = 1 WHERE user_id = $1 AND completed = 0");

const PURGE: Sql = sql("DELETE FROM password_recovery WHERE expires_at < $1");

super::statement::statements! { INSERT, LATEST_FOR_UPDATE, SAVE, COMPLETE_ALL, PURGE }

#[async_trait]
impl PasswordRecoveryRepository for SqlTx {
    async fn insert(&mut self, recovery: &PasswordRecovery) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT,
            recovery.id.as_str(),
            recovery.user_id.as_str(),
            recovery.code_hash.as_str(),
            recovery.expires_at.as_millis(),
            i64::from(recovery.completed),
            i64::from(recovery.wrong_tries),
            recovery.created_at.as_millis(),
        )
        .map(drop)
    }

    async fn latest_for_update(
        &mut self,
        user: &UserId,
        now: Timestamp,
    ) -> Result<Option<PasswordRecovery>, StorageError> {
        type Row = (String, String, String, i64, i64, i64, i64);
        let Some((recovery_id, user_id, code_hash, expires_at, completed, wrong_tries, created_at)) =
            fetch_optional!(self.conn, Row, LATEST_FOR_UPDATE, user.as_str(), now.as_millis())?
        else {
            return Ok(None);
        };
        Ok(Some(PasswordRecovery {
            id: id("password_recovery", recovery_id)?,
            user_id: id("password_recovery", user_id)?,
            code_hash,
            expires_at: Timestamp::from_millis(expires_at),
            completed: completed != 0,
            wrong_tries: u32::try_from(wrong_tries).map_err(|error| corrupt("password_recovery")(&error))?,
            created_at: Timestamp::from_millis(created_at),
        }))
    }

    async fn save(&mut self, recovery: &PasswordRecovery) -> Result<(), StorageError> {
        let (completed, wrong_tries) = (i64::from(recovery.completed), i64::from(recovery.wrong_tries));
        execute!(self.conn, SAVE, recovery.id.as_str(), completed, wrong_tries).map(drop)
    }

    async fn complete_all(&mut self, user: &UserId) -> Result<(), StorageError> {
        execute!(self.conn, COMPLETE_ALL, user.as_str()).map(drop)
    }

    async fn purge(&mut self, cutoff: Timestamp) -> Result<u64, StorageError> {
        execute!(self.conn, PURGE, cutoff.as_millis())
    }
}
