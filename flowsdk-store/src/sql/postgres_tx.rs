//! A transaction on Postgres that survives callers who go away.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgTransactionManager;
use sqlx::{PgConnection, PgPool, Postgres};
use sqlx_core::transaction::TransactionManager as _;

/// A transaction that is rolled back when it is dropped, at whatever moment.
///
/// sqlx 0.9.0 forgets a transaction whose `BEGIN` is under way when its caller gives up (its issue 4393). The connection then
/// goes back to the pool in the middle of it, and what others write there is lost, or comes in a wrong order.
#[derive(Debug)]
pub(crate) struct PostgresTx {
    connection: PoolConnection<Postgres>,
    has_begun: bool,
}

impl PostgresTx {
    /// Begins a transaction on a connection of `pool`.
    ///
    /// # Errors
    /// No connection is free, or it is lost.
    pub(super) async fn begin(pool: &PgPool) -> Result<Self, sqlx::Error> {
        let mut tx = Self { connection: pool.acquire().await?, has_begun: false };
        PgTransactionManager::begin(&mut tx.connection, None).await?;
        tx.has_begun = true;
        Ok(tx)
    }

    /// # Errors
    /// The server refuses, or the connection is lost.
    pub(super) async fn commit(mut self) -> Result<(), sqlx::Error> {
        PgTransactionManager::commit(&mut self.connection).await
    }

    /// # Errors
    /// The connection is lost, and with it the transaction.
    pub(super) async fn rollback(mut self) -> Result<(), sqlx::Error> {
        PgTransactionManager::rollback(&mut self.connection).await
    }
}

impl Drop for PostgresTx {
    fn drop(&mut self) {
        if self.has_begun {
            // Does nothing after a commit.
            PgTransactionManager::start_rollback(&mut self.connection);
        } else {
            self.connection.close_on_drop();
        }
    }
}

impl Deref for PostgresTx {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for PostgresTx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
