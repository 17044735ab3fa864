//! Finds the nearest of the copies.

use std::collections::BTreeSet;

use constcat::concat;
use flowsdk_agent::knowledge::{DocumentId, Embedding, KnowledgeQuery, Nearest, Searched};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;

use super::super::SqlTx;
use super::super::statement::Sql;
use super::copies::text_of;
use super::indexes::{IS_BUILT, index_of};
use super::{Vectors, on_postgres};

/// Places beyond the limit of a search that are compared once more: the database adds in another order, so among nearly equal
/// ones it may find another the nearer.
const SPARE: usize = 16;

/// Places that the index is asked for. The documents of a search are picked from them. With half as many it finds fewer than
/// 0.95 of the nearest ten, where passages do not lie together.
pub(super) const FROM_INDEX: u32 = 400;

/// Documents whose copies are what they are now.
pub(super) const CURRENT: Sql = on_postgres(
    "SELECT knowledge_document.id, space.id FROM knowledge_space AS space
     JOIN knowledge_document ON knowledge_document.router_id = space.router_id
         AND status = 'ready' AND embedded_by = space.model
     JOIN knowledge_copy AS copy ON copy.document_id = knowledge_document.id AND copy.space = space.id
         AND copy.revision = knowledge_document.revision AND copied >= chunks
     WHERE space.router_id = $1 AND space.model = $2",
);

/// The vectors of the passages that were found.
const WITH_VECTORS: &str = " SELECT found.document_id, found.place, chunk.embedding
     FROM found JOIN knowledge_chunk AS chunk ON chunk.document_id = found.document_id AND chunk.place = found.place
     WHERE chunk.embedding IS NOT NULL";

/// All copies of the documents `$1`. Vectors are of length 1, so the inner product is the cosine. The sum is none that an
/// index is ordered by.
pub(super) const EXACT: Sql = on_postgres(concat!(
    "WITH found AS (SELECT document_id, place FROM knowledge_vector
         WHERE document_id = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))
         ORDER BY (embedding <#> CAST($2 AS vector)) + 0, document_id, place LIMIT $3)",
    WITH_VECTORS
));

/// The nearest `$5` of the space `$4` by its index, and of them those of the documents `$1`. The width of the search holds
/// for this statement alone; it is set first, as the row that the others are joined to.
pub(super) const BY_INDEX: Sql = on_postgres(concat!(
    "WITH near AS MATERIALIZED (
         SELECT near.document_id, near.place, near.distance
         FROM (SELECT set_config('hnsw.ef_search', CAST($5 AS text), true) AS width OFFSET 0) AS settings
         CROSS JOIN LATERAL (
             SELECT document_id, place, embedding <=> CAST($2 AS vector) AS distance FROM knowledge_vector
             WHERE space = $4 AND settings.width IS NOT NULL
             ORDER BY embedding <=> CAST($2 AS vector) LIMIT CAST($5 AS bigint)) AS near),
     found AS (SELECT document_id, place FROM near
         WHERE document_id = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))
         ORDER BY distance, document_id, place LIMIT $3)",
    WITH_VECTORS
));

type Found = Vec<(DocumentId, u32, Embedding)>;

impl SqlTx {
    /// Offers the passages of those documents that have copies. Returns these documents.
    pub(in super::super) async fn offer_copies(
        &mut self,
        query: &KnowledgeQuery<'_>,
        documents: &[Searched],
        nearest: &mut Nearest,
    ) -> Result<BTreeSet<DocumentId>, StorageError> {
        let Some(vectors) = self.vectors else { return Ok(BTreeSet::new()) };
        let current: Vec<(DocumentId, i64)> =
            self.conn.fetch_all(CURRENT, (query.router_id, query.model)).await?;
        let Some((_, space)) = current.first() else { return Ok(BTreeSet::new()) };
        let space = *space;
        let mut copied: BTreeSet<DocumentId> = current.into_iter().map(|(document, _)| document).collect();
        copied.retain(|document| documents.iter().any(|(searched, _)| searched == document));
        let chunks =
            documents.iter().filter(|(id, _)| copied.contains(id)).map(|(_, chunks)| u64::from(*chunks));
        let found = self.found(vectors, query, space, &copied, chunks.sum()).await?;
        for (document, place, embedding) in found {
            nearest.offer(query.vector.similarity(&embedding), (document, place));
        }
        Ok(copied)
    }

    /// Returns the nearest copies. The index does not know of documents: where too few of what it finds are of these, all of
    /// theirs are compared.
    async fn found(
        &mut self,
        vectors: Vectors,
        query: &KnowledgeQuery<'_>,
        space: i64,
        documents: &BTreeSet<DocumentId>,
        chunks: u64,
    ) -> Result<Found, StorageError> {
        if chunks == 0 {
            return Ok(Vec::new());
        }
        let vector = text_of(query.vector);
        let limit = i64::try_from(query.limit.saturating_add(SPARE)).unwrap_or(i64::MAX);
        if chunks >= u64::from(vectors.indexed_from) && self.has_index(space).await? {
            let binds = (Json(documents), vector.as_str(), limit, space, i64::from(FROM_INDEX));
            let found: Found = self.conn.fetch_all_replanned(BY_INDEX, binds).await?;
            if found.len() >= query.limit {
                return Ok(found);
            }
        }
        self.conn.fetch_all_replanned(EXACT, (Json(documents), vector.as_str(), limit)).await
    }

    async fn has_index(&mut self, space: i64) -> Result<bool, StorageError> {
        let index = index_of(space);
        let built: Option<(i64,)> = self.conn.fetch_optional(IS_BUILT, (index.as_str(),)).await?;
        Ok(built.is_some())
    }
}
