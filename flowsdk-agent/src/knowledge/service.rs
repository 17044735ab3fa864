//! The use cases of documents.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach, Reachable, RouterUnknown};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::store::{Store, transact};
use flowsdk_core::words::NameQuery;
use serde::{Deserialize, Serialize};

use super::model::{Draft, Source};
use super::{
    Content, Document, DocumentChange, DocumentFilter, DocumentId, Embedders, HasKnowledge,
    KnowledgeError as Error, KnowledgeSearch, MAX_DOCUMENTS, NewContent, NewDocument, NewFile, Passage,
};
use crate::usage::{HasModelUsage, ModelCall, ModelWork, note_alone};

/// Creates, shows, changes, deletes and searches documents. One whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct Knowledge<S> {
    records: RouterRecords<S, Document>,
    search: KnowledgeSearch<S>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Knowledge<S>
where
    S::Tx:
        HasRecords<Document> + HasKnowledge + HasRouters + HasLlmCredentials + HasIdempotency + HasModelUsage,
{
    /// Creates a service over `store` that notes its changes in `changes`, and has queries embedded by `embedders`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        embedders: Arc<dyn Embedders>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        let search = KnowledgeSearch::new(Arc::clone(&store), embedders);
        Self { records, search, store, cx, changes }
    }

    /// Returns a page of the documents within reach that pass the filter and whose names fit `query`, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<DocumentFilter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Document>, StorageError> {
        self.records.list(reach, filter, query, page).await
    }

    /// Returns a document.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &DocumentId) -> Result<Document, Error> {
        self.records.get(reach, id).await
    }

    /// Creates a document, once for each idempotency key. It is found when it has been read and embedded.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RouterUnknown`], [`Error::Full`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewDocument>,
        once: Option<Once<Document>>,
    ) -> Result<Outcome<Document>, Error> {
        self.make(author, new.into_inner().checked()?, once).await
    }

    /// Creates a document of a file, once for each idempotency key. It is found when it has been read and embedded.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub async fn upload(
        &self,
        author: &Author,
        new: Admitted<NewFile>,
        once: Option<Once<Document>>,
    ) -> Result<Outcome<Document>, Error> {
        self.make(author, new.into_inner().checked()?, once).await
    }

    async fn make(
        &self,
        author: &Author,
        draft: Draft,
        once: Option<Once<Document>>,
    ) -> Result<Outcome<Document>, Error> {
        let now = self.cx.now();
        let (document, source) = draft.into_document(self.cx.ids(), now);
        let create = async |tx: &mut S::Tx| -> Result<Document, Error> {
            steps::check_router(tx, &document).await?;
            if tx.knowledge().count(&document.router_id).await? >= MAX_DOCUMENTS {
                return Err(Error::Full);
            }
            steps::insert(tx, &document).await?;
            if let Source::Content(content) = &source {
                tx.knowledge().put_content(&document.id, &content.bytes).await?;
            }
            tx.knowledge().set_due(&document.id, Some(now), 0).await?;
            Ok(document)
        };
        let outcome = perform_once(&*self.store, once, now, create).await?;
        Ok(outcome.inspect(|document| self.changes.created(author, document)))
    }

    /// Changes the name and the tags of a document.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Invalid`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &DocumentId,
        change: DocumentChange,
    ) -> Result<Document, Error> {
        self.records.change(author, reach, id, change).await
    }

    /// Replaces the content of a document. It is not found until the new one has been read and embedded.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Invalid`], [`Error::Storage`].
    pub async fn replace(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &DocumentId,
        content: NewContent,
    ) -> Result<Document, Error> {
        let source = match content.checked() {
            Ok(source) => source,
            Err(invalid) => {
                // Whoever cannot see the document is told so, whatever they send.
                self.get(reach, id).await?;
                return Err(invalid);
            }
        };
        self.begin_anew(author, reach, id, Some(source)).await
    }

    /// Replaces the content of a document by that of a file, as [`replace`](Self::replace) does.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn replace_by_file(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &DocumentId,
        content: Content,
    ) -> Result<Document, Error> {
        self.begin_anew(author, reach, id, Some(Source::Content(content))).await
    }

    /// Has a document read and embedded once more, such as one that failed. What has an address is fetched again.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn retry(&self, author: &Author, reach: Reach<'_>, id: &DocumentId) -> Result<Document, Error> {
        self.begin_anew(author, reach, id, None).await
    }

    /// Takes back what was made of a document, and has it made anew: of something else, if that is given.
    async fn begin_anew(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &DocumentId,
        source: Option<Source>,
    ) -> Result<Document, Error> {
        let now = self.cx.now();
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let before: Document = steps::find_for_update(tx, reach, id).await?;
            let after = match &source {
                Some(source) => {
                    let bytes = if let Source::Content(content) = source { &content.bytes[..] } else { &[] };
                    tx.knowledge().put_content(id, bytes).await?;
                    before.clone().replaced(source)
                }
                None => before.clone().begun_anew(),
            };
            tx.knowledge().put_chunks(id, &[]).await?;
            tx.knowledge().set_due(id, Some(now), 0).await?;
            Ok((before, steps::save(tx, after, now).await?))
        })
        .await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a document with all that it holds.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &DocumentId) -> Result<(), Error> {
        self.records.delete(author, reach, id).await
    }

    /// Returns the passages that are nearest to a query, the nearest first.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::Embedder`], [`Error::Storage`].
    pub async fn search(&self, search: Admitted<SearchKnowledge>) -> Result<Vec<FoundPassage>, Error> {
        let SearchKnowledge { router_id, query, tags, limit } = search.into_inner();
        let router = self.store.read().await?.routers().find(&router_id).await?;
        router.ok_or(RouterUnknown)?;
        let found = self.search.search(&router_id, &tags, &query, limit as usize).await?;
        if let Some(used) = found.used {
            let call = ModelCall::of_work(ModelWork::Embedding, router_id, None, used, &self.cx);
            note_alone(&*self.store, call).await;
        }
        Ok(found.passages.into_iter().map(FoundPassage::from).collect())
    }
}

/// Passages that agents get.
pub const PASSAGES: u32 = 5;

fn passages() -> u32 {
    PASSAGES
}

/// A search in the knowledge of a router, as its agents make it.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchKnowledge {
    /// The router whose documents are searched.
    pub router_id: RouterId,
    /// What is looked for.
    #[schema(min_length = 1, max_length = 500, pattern = r"\S", example = "How much is the tea?")]
    pub query: String,
    /// Only documents with one of these tags; none named means all.
    #[serde(default)]
    #[schema(required = false, max_items = 20)]
    pub tags: Vec<String>,
    /// Most passages. Agents get five.
    #[serde(default = "passages")]
    #[schema(required = false, minimum = 1, maximum = 50)]
    pub limit: u32,
}

impl Reachable for SearchKnowledge {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// A passage that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FoundPassage {
    /// The document that it is from.
    pub document_id: DocumentId,
    /// The name of that document.
    #[schema(example = "Menu")]
    pub name: String,
    /// Its place in the document, from 0.
    pub position: u32,
    /// Its text.
    pub text: String,
    /// How near it is to the query: 1 is the same, 0 has nothing in common with it.
    #[schema(example = 0.72)]
    pub score: f32,
}

impl From<Passage> for FoundPassage {
    fn from(passage: Passage) -> Self {
        let Passage { document_id, name, position, text, score } = passage;
        Self { document_id, name, position, text, score }
    }
}
