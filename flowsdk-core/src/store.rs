//! The storage port: a database and its transactions.
//!
//! Each aggregate declares its accessor beside its repository, for instance
//! [`HasContacts`](crate::contact::HasContacts). A service names the accessors it needs as bounds of the store's
//! transaction; a store implements one accessor per repository.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::fault::StorageError;

/// The records that a [generation](Store::generation) covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// Users, groups and API clients: the permissions of principals.
    Access,
    /// The rows of routers.
    Routers,
}

/// A database that can begin transactions.
#[async_trait]
pub trait Store: Send + Sync + Debug + 'static {
    /// Its transaction. Dropped without a commit, it is rolled back.
    type Tx: Transaction;

    /// Begins a transaction that may write.
    async fn begin(&self) -> Result<Self::Tx, StorageError>;

    /// Begins a transaction that only reads; it neither waits for a writer nor holds one up. Only a
    /// database of one connection (SQLite in memory) lets transactions follow each other: never open a
    /// second one while the same task holds the first.
    async fn read(&self) -> Result<Self::Tx, StorageError>;

    /// The same for a look at a few rows by their keys, which a store may give on the spot. Whoever holds it waits
    /// for nothing else.
    async fn glance(&self) -> Result<Self::Tx, StorageError> {
        self.read().await
    }

    /// Returns a number that differs after every commit that changes such records: records read while it had its
    /// present value still hold. `None` when others may commit unseen, so that only reading tells.
    fn generation(&self, of: Records) -> Option<u64>;

    /// Returns whether whoever begins a transaction that writes waits until the one before has ended.
    fn has_one_writer(&self) -> bool {
        false
    }
}

/// A transaction; dropping it rolls it back, at some moment after that.
#[async_trait]
pub trait Transaction: Send + Sized {
    /// Makes everything of it durable, or nothing.
    async fn commit(self) -> Result<(), StorageError>;

    /// Takes everything of it back. Its locks are gone when this returns.
    async fn rollback(self) {}
}

/// Does work in a transaction: commits what it did, or takes it back before the error is returned. Whoever hears of a
/// failure may go on at once, and finds nothing locked.
///
/// # Errors
/// Those of the work, and [`StorageError`].
pub async fn transact<S, T, E>(store: &S, work: impl AsyncFnOnce(&mut S::Tx) -> Result<T, E>) -> Result<T, E>
where
    S: Store + ?Sized,
    E: From<StorageError>,
{
    let mut tx = store.begin().await?;
    match work(&mut tx).await {
        Ok(done) => {
            tx.commit().await?;
            Ok(done)
        }
        Err(error) => {
            tx.rollback().await;
            Err(error)
        }
    }
}

/// The retries of work that may lose a race with another writer: four, each at once.
#[derive(Debug)]
pub struct Retries {
    left: u32,
}

impl Default for Retries {
    fn default() -> Self {
        Self { left: 4 }
    }
}

impl Retries {
    /// Returns whether the work is to be tried again. Call it after an attempt that lost its race, which mostly
    /// [`StorageError::is_lost_race`] tells.
    pub fn again(&mut self) -> bool {
        let again = self.left > 0;
        self.left = self.left.saturating_sub(1);
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_four() {
        let mut retries = Retries::default();
        let again: Vec<bool> = (0..6).map(|_| retries.again()).collect();
        assert_eq!(again, [true, true, true, true, false, false]);
    }
}
