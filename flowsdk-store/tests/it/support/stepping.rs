//! A store whose transactions begin in a step of their own: whoever polls its user may stop between any two of them.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::{Records, Store};
use flowsdk_store::sql::SqlStore;

/// A database that is left for a moment before each transaction, also where it answers at once.
#[derive(Debug)]
pub(crate) struct Stepping(pub(crate) SqlStore);

#[async_trait]
impl Store for Stepping {
    type Tx = <SqlStore as Store>::Tx;

    async fn begin(&self) -> Result<Self::Tx, StorageError> {
        tokio::task::yield_now().await;
        self.0.begin().await
    }

    async fn read(&self) -> Result<Self::Tx, StorageError> {
        tokio::task::yield_now().await;
        self.0.read().await
    }

    fn generation(&self, of: Records) -> Option<u64> {
        self.0.generation(of)
    }
}
