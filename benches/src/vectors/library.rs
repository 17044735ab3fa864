//! A router with many passages.

use std::sync::Arc;

use anyhow::Result;
use flowsdk_agent::knowledge::{
    Document, DocumentId, DocumentStatus, Embedding, HasKnowledge as _, KnowledgeQuery, MediaType, Passage,
};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::RouterId;
use flowsdk_core::prelude::*;
use flowsdk_core::router::Router;
use flowsdk_store::sql::SqlStore;

/// Passages of a document.
pub(super) const PER_DOCUMENT: u32 = 1_000;
/// The model of the vectors.
const MODEL: &str = "race";
/// Vectors that are written by one statement.
const BATCH: usize = 200;

/// A store with the passages of a router.
pub(super) struct Library {
    pub(super) store: Arc<SqlStore>,
    router: RouterId,
}

impl Library {
    /// Writes documents with these vectors.
    pub(super) async fn write(store: SqlStore, vectors: &[Embedding]) -> Result<Self> {
        let cx = OpContext::system();
        let store = Arc::new(store);
        let router = Router::new(RouterId::generate(cx.ids()), "Race", cx.now());
        let mut tx = store.begin().await?;
        tx.routers().insert(&router).await?;
        tx.commit().await?;
        for part in vectors.chunks(PER_DOCUMENT as usize) {
            let document = document(&cx, &router.id, part.len());
            let texts: Vec<String> = (0..part.len()).map(|at| format!("Passage {at}")).collect();
            let placed: Vec<(u32, Embedding)> = (0..).zip(part.iter().cloned()).collect();
            let mut tx = store.begin().await?;
            tx.records().insert(&document).await?;
            tx.knowledge().put_chunks(&document.id, &texts).await?;
            for batch in placed.chunks(BATCH) {
                tx.knowledge().put_embeddings(&document.id, batch).await?;
            }
            tx.commit().await?;
        }
        Ok(Self { store, router: router.id })
    }

    /// Returns the nearest passages.
    pub(super) async fn search(
        &self,
        store: &SqlStore,
        vector: &Embedding,
        limit: usize,
    ) -> Result<Vec<Passage>> {
        let query = KnowledgeQuery { router_id: &self.router, tags: &[], model: MODEL, vector, limit };
        Ok(store.read().await?.knowledge().nearest(&query).await?)
    }
}

fn document(cx: &OpContext, router: &RouterId, passages: usize) -> Document {
    let count = u32::try_from(passages).unwrap_or(u32::MAX);
    let now = cx.now();
    Document {
        id: DocumentId::generate(cx.ids()),
        router_id: router.clone(),
        name: "Book".to_owned(),
        tags: Vec::new(),
        address: None,
        fetched_at: None,
        media_type: MediaType::Text,
        size: 0,
        revision: 1,
        status: DocumentStatus::Ready,
        error: None,
        chunks: count,
        embedded: count,
        embedded_by: Some(MODEL.to_owned()),
        created_at: now,
        updated_at: now,
    }
}
