//! Makes the copies.

use flowsdk_agent::knowledge::{DocumentId, Embedding};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::store::{Store as _, Transaction as _};

use super::super::bind::Binder;
use super::super::statement::{RowsSql, Sql};
use super::super::{SqlStore, SqlTx};
use super::on_postgres;

/// Vectors that are copied in one transaction: some 2 MB.
const BATCH: i64 = 256;

/// Ready documents without a copy of what they are now.
pub(super) const UNCOPIED: Sql = on_postgres(
    "SELECT id FROM knowledge_document
     WHERE status = 'ready' AND embedded_by IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM knowledge_copy AS copy JOIN knowledge_space AS space ON space.id = copy.space
         WHERE copy.document_id = knowledge_document.id AND copy.revision = knowledge_document.revision
             AND space.model = knowledge_document.embedded_by AND copied >= chunks)
     ORDER BY id LIMIT 1",
);

/// The document is not replaced while a batch of it is copied.
pub(super) const LOCKED: Sql = on_postgres(
    "SELECT router_id, embedded_by, revision, chunks FROM knowledge_document
     WHERE id = $1 AND status = 'ready' AND embedded_by IS NOT NULL FOR UPDATE",
);

pub(super) const ADD_SPACE: Sql =
    on_postgres("INSERT INTO knowledge_space (router_id, model) VALUES ($1, $2) ON CONFLICT DO NOTHING");

pub(super) const SPACE: Sql =
    on_postgres("SELECT id FROM knowledge_space WHERE router_id = $1 AND model = $2");

pub(super) const COPIED: Sql =
    on_postgres("SELECT copied FROM knowledge_copy WHERE document_id = $1 AND space = $2 AND revision = $3");

pub(super) const FORGET: Sql = on_postgres("DELETE FROM knowledge_vector WHERE document_id = $1");

pub(super) const SET_COPIED: Sql = on_postgres(
    "INSERT INTO knowledge_copy (document_id, space, revision, copied) VALUES ($1, $2, $3, $4)
     ON CONFLICT (document_id) DO UPDATE SET space = excluded.space, revision = excluded.revision, copied = excluded.copied",
);

pub(super) const BATCH_OF: Sql = on_postgres(
    "SELECT place, embedding FROM knowledge_chunk
     WHERE document_id = $1 AND place >= $2 AND embedding IS NOT NULL ORDER BY place LIMIT $3",
);

pub(super) static PUT: RowsSql = RowsSql::typed(
    "WITH new (document_id, place, space, embedding) AS (VALUES ",
    &["text", "bigint", "bigint", "text"],
    ") INSERT INTO knowledge_vector (document_id, place, space, embedding)
     SELECT document_id, place, space, CAST(embedding AS vector) FROM new",
);

/// Returns a vector as pgvector reads it.
pub(super) fn text_of(embedding: &Embedding) -> String {
    let numbers: Vec<String> = embedding.numbers().iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}

impl SqlStore {
    /// Copies the vectors of a document that has no copy. Returns whether there was one.
    pub(super) async fn copy_vectors(&self) -> Result<bool, StorageError> {
        let uncopied: Option<(DocumentId,)> = self.read().await?.conn.fetch_optional(UNCOPIED, ()).await?;
        let Some((document,)) = uncopied else { return Ok(false) };
        loop {
            let mut tx = self.begin().await?;
            let has_more = tx.copy_batch(&document).await?;
            tx.commit().await?;
            if !has_more {
                return Ok(true);
            }
        }
    }
}

impl SqlTx {
    /// Copies the next vectors of a document. Returns whether there are more.
    async fn copy_batch(&mut self, document: &DocumentId) -> Result<bool, StorageError> {
        let locked: Option<(RouterId, String, i64, i64)> =
            self.conn.fetch_optional(LOCKED, (document,)).await?;
        let Some((router, model, revision, chunks)) = locked else { return Ok(false) };
        self.conn.execute(ADD_SPACE, (&router, model.as_str())).await?;
        let space: Option<(i64,)> = self.conn.fetch_optional(SPACE, (&router, model.as_str())).await?;
        let Some((space,)) = space else { return Ok(false) };
        let copied: Option<(i64,)> = self.conn.fetch_optional(COPIED, (document, space, revision)).await?;
        let from = match copied {
            Some((copied,)) => copied,
            None => {
                self.conn.execute(FORGET, (document,)).await?;
                0
            }
        };
        let batch: Vec<(i64, Embedding)> = self.conn.fetch_all(BATCH_OF, (document, from, BATCH)).await?;
        let bind = |to: &mut Binder<'_>, (place, embedding): &(i64, Embedding)| {
            to.bind(document).bind(*place).bind(space).bind(text_of(embedding).as_str());
        };
        self.conn.execute_rows(&PUT, &batch, bind).await?;
        let next = batch.last().map_or(chunks, |(place, _)| place.saturating_add(1));
        self.conn.execute(SET_COPIED, (document, space, revision, next)).await?;
        Ok(next < chunks)
    }
}
