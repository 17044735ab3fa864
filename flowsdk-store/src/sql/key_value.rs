//! Key-value in the database.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::kv::{Keep, KeyValue, KeyValueError, sum};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::{Clock, Timestamp};

use super::SqlStore;
use super::statement::{Sql, sql};

/// A value, if it still counts at `$2`.
const GET: Sql =
    sql("SELECT value FROM key_value WHERE key = $1 AND (expires_at IS NULL OR expires_at > $2)");

const SET: Sql = sql("INSERT INTO key_value (key, value, expires_at) VALUES ($1, $2, $3)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at");

const SET_IF_ABSENT: Sql = sql("INSERT INTO key_value (key, value, expires_at) VALUES ($1, $2, $3)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
     WHERE key_value.expires_at <= $4");

const TAKE: Sql = sql("DELETE FROM key_value WHERE key = $1 RETURNING value, expires_at");

const EXTEND_IF: Sql = sql("UPDATE key_value SET expires_at = $3
     WHERE key = $1 AND value = $2 AND (expires_at IS NULL OR expires_at > $4)");

const DELETE_IF: Sql =
    sql("DELETE FROM key_value WHERE key = $1 AND value = $2 AND (expires_at IS NULL OR expires_at > $3)");

const UPDATE: Sql = sql("UPDATE key_value SET value = $2 WHERE key = $1");

const PURGE: Sql = sql("DELETE FROM key_value WHERE expires_at <= $1");

super::statement::statements! { GET, SET, SET_IF_ABSENT, TAKE, EXTEND_IF, DELETE_IF, UPDATE, PURGE }

/// The database as a key-value store. Times to live follow the injected clock.
#[derive(Debug, Clone)]
pub struct SqlKeyValue {
    store: SqlStore,
    clock: Arc<dyn Clock>,
}

fn unavailable(error: StorageError) -> KeyValueError {
    KeyValueError::Unavailable(Box::new(error))
}

fn expiry(now: Timestamp, ttl: Option<Duration>) -> Option<i64> {
    ttl.map(|ttl| (now + ttl).as_millis())
}

impl SqlKeyValue {
    /// A key-value store over `store`.
    pub fn new(store: SqlStore, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Deletes expired values; an idempotent tick.
    pub async fn purge(&self) -> Result<(), KeyValueError> {
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        tx.conn.execute(PURGE, (self.clock.now().as_millis(),)).await.map_err(unavailable)?;
        tx.commit().await.map_err(unavailable)
    }
}

#[async_trait]
impl KeyValue for SqlKeyValue {
    async fn get(&self, key: &str) -> Result<Option<String>, KeyValueError> {
        let mut tx = self.store.read().await.map_err(unavailable)?;
        let row = tx.conn.fetch_optional::<(String,)>(GET, (key, self.clock.now().as_millis())).await;
        Ok(row.map_err(unavailable)?.map(|(value,)| value))
    }

    async fn set(&self, key: &str, value: &str, ttl: Option<Duration>) -> Result<(), KeyValueError> {
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        tx.conn.execute(SET, (key, value, expiry(self.clock.now(), ttl))).await.map_err(unavailable)?;
        tx.commit().await.map_err(unavailable)
    }

    async fn set_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Option<Duration>,
    ) -> Result<Option<String>, KeyValueError> {
        let now = self.clock.now();
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        let set = tx.conn.execute(SET_IF_ABSENT, (key, value, expiry(now, ttl), now.as_millis())).await;
        let existing = if set.map_err(unavailable)? == 1 {
            None
        } else {
            let row = tx.conn.fetch_optional::<(String,)>(GET, (key, now.as_millis())).await;
            row.map_err(unavailable)?.map(|(value,)| value)
        };
        tx.commit().await.map_err(unavailable)?;
        Ok(existing)
    }

    async fn take(&self, key: &str) -> Result<Option<String>, KeyValueError> {
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        let row = tx.conn.fetch_optional::<(String, Option<i64>)>(TAKE, (key,)).await.map_err(unavailable)?;
        tx.commit().await.map_err(unavailable)?;
        let now = self.clock.now().as_millis();
        Ok(row.filter(|(_, expires_at)| expires_at.is_none_or(|at| at > now)).map(|(value, _)| value))
    }

    async fn delete(&self, key: &str) -> Result<bool, KeyValueError> {
        self.take(key).await.map(|value| value.is_some())
    }

    async fn keep(&self, keys: &[Keep<'_>], value: &str, ttl: Duration) -> Result<Vec<bool>, KeyValueError> {
        let now = self.clock.now();
        let (end, now) = (expiry(now, Some(ttl)), now.as_millis());
        // Row locks in one order, whoever asks.
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|&index| keys[index].key);
        let mut held = vec![false; keys.len()];
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        for index in order {
            let Keep { key, take } = keys[index];
            let extended = tx.conn.execute(EXTEND_IF, (key, value, end, now)).await;
            held[index] = extended.map_err(unavailable)? == 1;
            if take && !held[index] {
                let set = tx.conn.execute(SET_IF_ABSENT, (key, value, end, now)).await;
                held[index] = set.map_err(unavailable)? == 1;
            }
        }
        tx.commit().await.map_err(unavailable)?;
        Ok(held)
    }

    async fn add(&self, key: &str, by: i64, ttl: Duration) -> Result<i64, KeyValueError> {
        let now = self.clock.now();
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        let end = expiry(now, Some(ttl));
        let first = tx.conn.execute(SET_IF_ABSENT, (key, &by.to_string(), end, now.as_millis())).await;
        let sum = if first.map_err(unavailable)? == 1 {
            by
        } else {
            // The attempt has locked the row, so nobody writes between reading and writing.
            let row = tx
                .conn
                .fetch_optional::<(String,)>(GET, (key, now.as_millis()))
                .await
                .map_err(unavailable)?;
            let sum = sum(key, &row.map(|(value,)| value).unwrap_or_default(), by)?;
            tx.conn.execute(UPDATE, (key, &sum.to_string())).await.map_err(unavailable)?;
            sum
        };
        tx.commit().await.map_err(unavailable)?;
        Ok(sum)
    }

    async fn delete_if(&self, key: &str, value: &str) -> Result<bool, KeyValueError> {
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        let changed = tx.conn.execute(DELETE_IF, (key, value, self.clock.now().as_millis())).await;
        let changed = changed.map_err(unavailable)?;
        tx.commit().await.map_err(unavailable)?;
        Ok(changed == 1)
    }
}
