//! Copies of vectors for pgvector, where PostgreSQL has it: the nearest are then found in the database, those of many
//! passages by an index.
//!
//! The vectors of the passages stay what they are on every database. A copy is made after a document is ready, and counts
//! only while the document has the revision and the model that were copied: whoever writes passages need not know of
//! copies, nor need a process of an earlier version. A document without a copy is compared as on every database.

mod copies;
mod indexes;
mod nearest;
mod schema;

use async_trait::async_trait;
use flowsdk_agent::knowledge::VectorIndex;
use flowsdk_core::fault::StorageError;

use super::SqlStore;
use super::statement::{Sql, sql_per};

pub(super) use schema::prepare;

/// Passages of a router and a model from which on they have an index. Fewer are compared one by one, in some 50 ms.
pub(super) const INDEXED_FROM: u32 = 10_000;

/// How the copies of a database are used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vectors {
    /// Passages from which on there is an index.
    pub(super) indexed_from: u32,
}

/// A statement for Postgres alone. Those of this folder need pgvector, so a test of their own prepares them.
const fn on_postgres(text: &'static str) -> Sql {
    sql_per("", text)
}

#[async_trait]
impl VectorIndex for SqlStore {
    async fn tend(&self) -> Result<bool, StorageError> {
        let Some(vectors) = self.vectors() else { return Ok(false) };
        if self.copy_vectors().await? {
            return Ok(true);
        }
        self.tend_indexes(vectors).await?;
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
