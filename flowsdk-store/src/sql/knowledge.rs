//! Documents of AI agents, and their passages.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::knowledge::{
    Document, DocumentFilter, DocumentId, DueDocument, Embedding, HasKnowledge, KnowledgeQuery,
    KnowledgeRepository, Nearest, Passage, Place, SearchPage, Searched, pages_of,
};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::list::{Filter, asked};
use super::record::{Record as _, record};
use super::router_record::{RecordSql, RouterTable};
use super::row::With;
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

record! {
    Document in "knowledge_document" {
        id, router_id, created_at;
        name, tags: json, address, fetched_at, media_type, size, revision, status, error, chunks, embedded, embedded_by, updated_at
    }
}

/// A router has a thousand documents at most, so those that are not wanted are passed over, newest first.
pub(super) static TABLE: RecordSql<DocumentFilter> =
    RecordSql::of::<Document>(&[Filter::of("status = {}", |filter| asked(&filter.status))]);

impl RouterTable for Document {
    fn sql() -> &'static RecordSql<DocumentFilter> {
        &TABLE
    }
}

/// Documents with one of the tags `$2`, or all if that is empty.
const TAGGED_SQLITE: &str = " AND ($2 = '[]' OR EXISTS (
        SELECT 1 FROM json_each(tags) AS tag JOIN json_each($2) AS wanted ON wanted.value = tag.value))";
const TAGGED_POSTGRES: &str =
    " AND ($2 = '[]'::jsonb OR tags ?| ARRAY(SELECT jsonb_array_elements_text($2)))";

const IS_KNOWN: &str = "SELECT 1 FROM knowledge_document WHERE router_id = $1 AND status = 'ready'";

/// Whether a router has knowledge with one of these tags.
pub(super) const KNOWN: Sql =
    sql_per(concat!(IS_KNOWN, TAGGED_SQLITE, " LIMIT 1"), concat!(IS_KNOWN, TAGGED_POSTGRES, " LIMIT 1"));

const COUNT: Sql = sql("SELECT COUNT(*) FROM knowledge_document WHERE router_id = $1");

const PUT_CONTENT: Sql = sql("INSERT INTO knowledge_content (document_id, content) VALUES ($1, $2)
     ON CONFLICT (document_id) DO UPDATE SET content = excluded.content");

const CONTENT: Sql = sql("SELECT content FROM knowledge_content WHERE document_id = $1");

const SET_DUE: Sql = sql("INSERT INTO knowledge_work (document_id, due_at, attempts) VALUES ($1, $2, $3)
     ON CONFLICT (document_id) DO UPDATE SET due_at = excluded.due_at, attempts = excluded.attempts");

const NOT_DUE: Sql = sql("DELETE FROM knowledge_work WHERE document_id = $1");

pub(super) const DUE: Sql = sql_list!(
    concat!(
        "SELECT ",
        Document::COLUMNS,
        ", attempts FROM knowledge_work JOIN knowledge_document ON id = document_id
         WHERE due_at <= $1 AND NOT router_id "
    ),
    "$3",
    " ORDER BY due_at, document_id LIMIT $2"
);

const FORGET_CHUNKS: Sql = sql("DELETE FROM knowledge_chunk WHERE document_id = $1");

static PUT_CHUNKS: RowsSql =
    RowsSql::new("INSERT INTO knowledge_chunk (document_id, place, text) VALUES ", 3, "");

pub(super) const TEXTS: Sql = sql("SELECT place, text FROM knowledge_chunk
     WHERE document_id = $1 AND place >= $2 ORDER BY place LIMIT $3");

static PUT_EMBEDDINGS: RowsSql = RowsSql::typed(
    "WITH new (document_id, place, embedding) AS (VALUES ",
    &["text", "bigint", "bytea"],
    ") UPDATE knowledge_chunk SET embedding = new.embedding FROM new
     WHERE knowledge_chunk.document_id = new.document_id AND knowledge_chunk.place = new.place",
)
.or_one_by_one("UPDATE knowledge_chunk SET embedding = ?3 WHERE document_id = ?1 AND place = ?2");

pub(super) const MODELS: Sql = sql("SELECT DISTINCT router_id, embedded_by FROM knowledge_document
     WHERE status = 'ready' AND embedded_by IS NOT NULL");

const WORK_ANEW: Sql = sql_list!(
    "INSERT INTO knowledge_work (document_id, due_at, attempts) SELECT id, $2, 0 FROM knowledge_document WHERE id ",
    "$1",
    " ON CONFLICT (document_id) DO UPDATE SET due_at = excluded.due_at, attempts = excluded.attempts"
);

const EMBED_ANEW: Sql =
    sql("UPDATE knowledge_document SET status = 'embedding', embedded = 0, embedded_by = NULL
     WHERE router_id = $1 AND status = 'ready' AND embedded_by = $2 RETURNING id");

const SEARCHED: &str = "SELECT id, name, chunks FROM knowledge_document WHERE router_id = $1 AND status = 'ready' AND embedded_by = $3";

/// The documents of a search.
pub(super) const DOCUMENTS: Sql =
    sql_per(concat!(SEARCHED, TAGGED_SQLITE), concat!(SEARCHED, TAGGED_POSTGRES));

pub(super) const VECTORS: Sql = sql_list!(
    "SELECT document_id, place, embedding FROM knowledge_chunk WHERE document_id ",
    "$1",
    " AND place >= $2 AND place < $3 AND embedding IS NOT NULL"
);

/// `$1` lists `[document, place]`.
pub(super) const WINNERS: Sql = sql_per(
    "SELECT document_id, place, text FROM json_each($1) AS won CROSS JOIN knowledge_chunk
     WHERE document_id = won.value ->> 0 AND place = won.value ->> 1",
    "SELECT document_id, place, text FROM jsonb_array_elements($1) AS won (value) JOIN knowledge_chunk
     ON document_id = won.value ->> 0 AND place = CAST(won.value ->> 1 AS bigint)",
);

super::statement::statements! {
    KNOWN, COUNT, PUT_CONTENT, CONTENT, SET_DUE, NOT_DUE, DUE, FORGET_CHUNKS, TEXTS, MODELS, WORK_ANEW, EMBED_ANEW, DOCUMENTS,
    VECTORS, WINNERS; TABLE, PUT_CHUNKS, PUT_EMBEDDINGS
}

super::accessor::has!(HasKnowledge::knowledge -> KnowledgeRepository);

impl SqlTx {
    /// Offers the passages of a part of a search.
    async fn offer(
        &mut self,
        page: &SearchPage,
        vector: &Embedding,
        nearest: &mut Nearest,
    ) -> Result<(), StorageError> {
        let binds = (Json(&page.documents), i64::from(page.positions.start), i64::from(page.positions.end));
        let rows: Vec<(DocumentId, u32, Embedding)> = self.conn.fetch_all(VECTORS, binds).await?;
        for (document, position, embedding) in rows {
            nearest.offer(vector.similarity(&embedding), (document, position));
        }
        Ok(())
    }
}

#[async_trait]
impl KnowledgeRepository for SqlTx {
    async fn count(&mut self, router: &RouterId) -> Result<u64, StorageError> {
        let count: Option<(u64,)> = self.conn.fetch_optional(COUNT, (router,)).await?;
        Ok(count.map_or(0, |(count,)| count))
    }

    async fn put_content(&mut self, document: &DocumentId, content: &[u8]) -> Result<(), StorageError> {
        self.conn.execute(PUT_CONTENT, (document, content)).await.map(drop)
    }

    async fn content(&mut self, document: &DocumentId) -> Result<Option<Vec<u8>>, StorageError> {
        let found: Option<(Vec<u8>,)> = self.conn.fetch_optional(CONTENT, (document,)).await?;
        Ok(found.map(|(content,)| content))
    }

    async fn set_due(
        &mut self,
        document: &DocumentId,
        due: Option<Timestamp>,
        attempts: u32,
    ) -> Result<(), StorageError> {
        match due {
            Some(due) => self.conn.execute(SET_DUE, (document, due, i64::from(attempts))).await.map(drop),
            None => self.conn.execute(NOT_DUE, (document,)).await.map(drop),
        }
    }

    async fn due(
        &mut self,
        now: Timestamp,
        limit: u32,
        but_of: &[RouterId],
    ) -> Result<Vec<DueDocument>, StorageError> {
        let binds = (now, i64::from(limit), Json(but_of));
        let rows: Vec<With<Document, (u32,)>> = self.conn.fetch_all(DUE, binds).await?;
        Ok(rows.into_iter().map(|With(document, (attempts,))| DueDocument { document, attempts }).collect())
    }

    async fn put_chunks(&mut self, document: &DocumentId, texts: &[String]) -> Result<(), StorageError> {
        self.conn.execute(FORGET_CHUNKS, (document,)).await?;
        let rows: Vec<(i64, &String)> = (0..).zip(texts).collect();
        let bind = |to: &mut super::bind::Binder<'_>, (place, text): &(i64, &String)| {
            to.bind(document).bind(*place).bind(*text);
        };
        self.conn.execute_rows(&PUT_CHUNKS, &rows, bind).await.map(drop)
    }

    async fn texts(
        &mut self,
        document: &DocumentId,
        from: u32,
        limit: u32,
    ) -> Result<Vec<(u32, String)>, StorageError> {
        self.conn.fetch_all(TEXTS, (document, i64::from(from), i64::from(limit))).await
    }

    async fn put_embeddings(
        &mut self,
        document: &DocumentId,
        embeddings: &[(u32, Embedding)],
    ) -> Result<(), StorageError> {
        let bind = |to: &mut super::bind::Binder<'_>, (place, embedding): &(u32, Embedding)| {
            to.bind(document).bind(i64::from(*place)).bind(embedding);
        };
        self.conn.execute_rows(&PUT_EMBEDDINGS, embeddings, bind).await.map(drop)
    }

    async fn models_in_use(&mut self) -> Result<Vec<(RouterId, String)>, StorageError> {
        self.conn.fetch_all(MODELS, ()).await
    }

    async fn embed_anew(
        &mut self,
        router: &RouterId,
        model: &str,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        // The documents are locked before their work, as everywhere.
        let documents: Vec<DocumentId> = self.conn.fetch_column(EMBED_ANEW, (router, model)).await?;
        if documents.is_empty() {
            return Ok(());
        }
        self.conn.execute(WORK_ANEW, (Json(&documents), now)).await.map(drop)
    }

    /// Compares the query with every vector that has no copy, part after part; texts are read of the nearest only.
    async fn nearest(&mut self, query: &KnowledgeQuery<'_>) -> Result<Vec<Passage>, StorageError> {
        let binds = (query.router_id, Json(query.tags), query.model);
        let documents: Vec<(DocumentId, String, u32)> = self.conn.fetch_all(DOCUMENTS, binds).await?;
        let mut searched: Vec<Searched> =
            documents.iter().map(|(id, _, chunks)| (id.clone(), *chunks)).collect();
        let mut nearest = Nearest::new(query.limit);
        let copied = self.offer_copies(query, &searched, &mut nearest).await?;
        searched.retain(|(id, _)| !copied.contains(id));
        for page in pages_of(&searched) {
            self.offer(&page, query.vector, &mut nearest).await?;
        }
        let places = nearest.into_places();
        let won: Vec<&Place> = places.iter().map(|(_, place)| place).collect();
        let mut texts: Vec<(DocumentId, u32, String)> = self.conn.fetch_all(WINNERS, (Json(&won),)).await?;
        let passages = places.into_iter().filter_map(|(score, (document_id, position))| {
            let at = texts.iter().position(|(id, place, _)| (id, place) == (&document_id, &position))?;
            let (.., text) = texts.swap_remove(at);
            let (_, name, _) = documents.iter().find(|(id, ..)| *id == document_id)?;
            Some(Passage { document_id, name: name.clone(), position, text, score })
        });
        Ok(passages.collect())
    }
}
