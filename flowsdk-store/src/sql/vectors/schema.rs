//! The tables of the copies, which are made where pgvector is.

use flowsdk_core::fault::StorageError;
use sqlx::{PgConnection, PgPool};

use super::super::executor::storage_error;
use super::{INDEXED_FROM, Vectors};

/// Processes that start at once make the tables one after the other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7814123920046130)";

const IS_AVAILABLE: &str = "SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')";

const CREATE_EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS vector";

/// Of versions before 0.5, or in a schema that is not searched, there is no use.
const IS_USABLE: &str =
    "SELECT to_regtype('vector') IS NOT NULL AND EXISTS (SELECT 1 FROM pg_am WHERE amname = 'hnsw')";

/// An extension that is dropped takes the column with it.
const HAS_TABLES: &str = "SELECT EXISTS (SELECT 1 FROM pg_attribute
     WHERE attrelid = to_regclass('knowledge_vector') AND attname = 'embedding' AND NOT attisdropped)";

/// A space is what vectors are compared in: a router and a model. Indexes are named after its number.
///
/// A vector stays in its row: beside it, reading all of them would look cheap to the planner, which then leaves the index.
pub(super) const TABLES: &str = r#"
DROP TABLE IF EXISTS knowledge_vector, knowledge_copy, knowledge_space;
CREATE TABLE knowledge_space (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    UNIQUE (router_id, model)
);
CREATE TABLE knowledge_copy (
    document_id TEXT COLLATE "C" PRIMARY KEY REFERENCES knowledge_document (id) ON DELETE CASCADE,
    space BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    copied BIGINT NOT NULL
);
CREATE TABLE knowledge_vector (
    document_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_document (id) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    space BIGINT NOT NULL,
    embedding vector(1536) NOT NULL,
    PRIMARY KEY (document_id, place)
);
ALTER TABLE knowledge_vector ALTER COLUMN embedding SET STORAGE PLAIN;
"#;

/// Makes what copies of vectors need, if pgvector is there. Returns `None` where it is not, or may not be used: every vector
/// is then read by each search.
///
/// # Errors
/// The database does not answer.
pub(in super::super) async fn prepare(pool: &PgPool) -> Result<Option<Vectors>, StorageError> {
    let is_available: bool = sqlx::query_scalar(IS_AVAILABLE).fetch_one(pool).await.map_err(storage_error)?;
    if !is_available {
        return Ok(None);
    }
    let mut tx = pool.begin().await.map_err(storage_error)?;
    let prepared = tables(&mut tx).await;
    match prepared {
        Ok(true) => {
            tx.commit().await.map_err(storage_error)?;
            Ok(Some(Vectors { indexed_from: INDEXED_FROM }))
        }
        Ok(false) => {
            tracing::warn!(
                "pgvector is not used, searches read all vectors: it is older than 0.5, or in a schema \
                 that is not in the search path"
            );
            Ok(None)
        }
        // Whatever the server says against it: nobody needs it to work.
        Err(error) if error.as_database_error().is_some() => {
            tracing::warn!(
                %error,
                "pgvector is there and not used, searches read all vectors: run CREATE EXTENSION vector in this \
                 database as a superuser, and start again"
            );
            Ok(None)
        }
        Err(error) => Err(storage_error(error)),
    }
}

/// Returns whether there are tables.
async fn tables(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query(LOCK).execute(&mut *connection).await?;
    sqlx::raw_sql(CREATE_EXTENSION).execute(&mut *connection).await?;
    let is_usable: bool = sqlx::query_scalar(IS_USABLE).fetch_one(&mut *connection).await?;
    if !is_usable {
        return Ok(false);
    }
    let has_tables: bool = sqlx::query_scalar(HAS_TABLES).fetch_one(&mut *connection).await?;
    if !has_tables {
        sqlx::raw_sql(TABLES).execute(connection).await?;
    }
    Ok(true)
}
