//! Builds and drops the indexes of the copies: one of each space with many passages, which holds that space alone.

use flowsdk_core::fault::StorageError;
use flowsdk_core::store::Store as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::super::SqlStore;
use super::super::executor::storage_error;
use super::super::statement::Sql;
use super::{Vectors, on_postgres};

/// The spaces with at least `$1` copies of what is ready now.
pub(super) const SPACES: Sql = on_postgres(
    "SELECT space.id, CAST(SUM(chunks) AS bigint) FROM knowledge_space AS space
     JOIN knowledge_copy AS copy ON copy.space = space.id
     JOIN knowledge_document ON knowledge_document.id = copy.document_id AND status = 'ready' AND embedded_by = space.model
     GROUP BY space.id HAVING SUM(chunks) >= $1 ORDER BY space.id",
);

/// The indexes that there are, by their spaces, and whether each is whole.
pub(super) const INDEXES: Sql = on_postgres(
    "SELECT CAST(substring(relname FROM '[0-9]+$') AS bigint), CASE WHEN indisvalid THEN 1::bigint ELSE 0::bigint END
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = to_regclass('knowledge_vector') AND relname ~ '^knowledge_vector_near_[0-9]+$' ORDER BY 1",
);

pub(super) const IS_BUILT: Sql =
    on_postgres("SELECT 1::bigint FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid");

/// Held by the session that builds. Nobody waits for it: who builds waits for all statements that run.
const LOCK: &str = "SELECT pg_try_advisory_lock(7814123920046131)";

/// A build waits for statements that run, for longer than others wait for a lock. Parallel workers would ask the server for
/// shared memory, of which a container has little.
const PATIENT: &str =
    "SET lock_timeout = 0; SET statement_timeout = 0; SET max_parallel_maintenance_workers = 0";

/// What a build may take is raised to what it needs, or it takes many times as long.
const WORK_MEMORY: &str =
    "SELECT set_config('maintenance_work_mem', CAST($1 AS text), false) FROM pg_settings
     WHERE name = 'maintenance_work_mem' AND CAST(setting AS bigint) < $1";

/// The memory of a build: KiB for each passage, and the bounds.
const KIB_PER_PASSAGE: i64 = 9;
const LEAST_KIB: i64 = 64 << 10;
const MOST_KIB: i64 = 1 << 20;

/// How wide the index searches while it is built. The default of pgvector, as are its 16 neighbours of a vector.
const WIDTH: u32 = 64;

/// What is to be done with the index of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Drop(i64),
    Build { space: i64, passages: i64 },
}

/// Returns the name of the index of a space.
pub(super) fn index_of(space: i64) -> String {
    format!("knowledge_vector_near_{space}")
}

/// Returns what is to be done. An index that is not whole was left by a build that ended early; one is dropped only when half
/// of what it was built for is gone.
fn work(spaces: &[(i64, i64)], indexes: &[(i64, bool)], indexed_from: i64) -> Vec<Work> {
    let serves = |space: i64| spaces.iter().any(|(id, count)| *id == space && *count >= indexed_from / 2);
    let is_whole = |space: i64| indexes.iter().any(|(id, is_whole)| *id == space && *is_whole);
    let dropped = indexes.iter().filter(|(space, is_whole)| !is_whole || !serves(*space));
    let built = spaces.iter().filter(|(space, count)| *count >= indexed_from && !is_whole(*space));
    dropped
        .map(|(space, _)| Work::Drop(*space))
        .chain(built.map(|(space, passages)| Work::Build { space: *space, passages: *passages }))
        .collect()
}

impl SqlStore {
    async fn index_work(&self, vectors: Vectors) -> Result<Vec<Work>, StorageError> {
        let indexed_from = i64::from(vectors.indexed_from);
        let mut tx = self.read().await?;
        let spaces: Vec<(i64, i64)> = tx.conn.fetch_all(SPACES, (indexed_from / 2,)).await?;
        let indexes: Vec<(i64, bool)> = tx.conn.fetch_all(INDEXES, ()).await?;
        Ok(work(&spaces, &indexes, indexed_from))
    }

    /// Builds the indexes that are missing and drops those that nobody needs, unless another process does.
    pub(super) async fn tend_indexes(&self, vectors: Vectors) -> Result<(), StorageError> {
        if self.index_work(vectors).await?.is_empty() {
            return Ok(());
        }
        let Some((pool, pulse)) = self.server() else { return Ok(()) };
        let done = async {
            // Not one of the pool's: it has other settings now, and holds the lock until it is closed.
            let mut connection = pool.acquire().await.map_err(storage_error)?.detach();
            let is_alone: bool =
                sqlx::query_scalar(LOCK).fetch_one(&mut connection).await.map_err(storage_error)?;
            if is_alone {
                // What another process did meanwhile is not done again.
                for work in self.index_work(vectors).await? {
                    do_work(&mut connection, work).await.map_err(storage_error)?;
                }
            }
            connection.close().await.map_err(storage_error)
        };
        pulse.guard(done).await
    }
}

async fn do_work(connection: &mut PgConnection, work: Work) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(PATIENT).execute(&mut *connection).await?;
    let statement = match work {
        Work::Drop(space) => format!("DROP INDEX CONCURRENTLY IF EXISTS {}", index_of(space)),
        Work::Build { space, passages } => {
            let memory = passages.saturating_mul(KIB_PER_PASSAGE).clamp(LEAST_KIB, MOST_KIB);
            sqlx::query(WORK_MEMORY).bind(memory).execute(&mut *connection).await?;
            tracing::info!(space, passages, "an index of vectors is built");
            format!(
                "CREATE INDEX CONCURRENTLY {} ON knowledge_vector USING hnsw (embedding vector_cosine_ops)
                 WITH (ef_construction = {WIDTH}) WHERE space = {space}",
                index_of(space)
            )
        }
    };
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_passages_have_an_index_and_few_have_none() {
        let build = |space, passages| Work::Build { space, passages };
        for (spaces, indexes, expected) in [
            (&[][..], &[][..], vec![]),
            (&[(1, 100), (2, 99)], &[], vec![build(1, 100)]),
            (&[(1, 100)], &[(1, true)], vec![]),
            (&[(1, 100)], &[(1, false)], vec![Work::Drop(1), build(1, 100)]),
            (&[(1, 50)], &[(1, true)], vec![]),
            (&[(1, 50)], &[(1, false)], vec![Work::Drop(1)]),
            (&[(1, 49)], &[(1, true)], vec![Work::Drop(1)]),
            (&[(2, 100)], &[(1, true), (2, true)], vec![Work::Drop(1)]),
        ] {
            assert_eq!(work(spaces, indexes, 100), expected, "{spaces:?} {indexes:?}");
        }
    }
}
