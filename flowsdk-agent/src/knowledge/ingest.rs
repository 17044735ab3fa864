//! Makes passages with vectors of the contents of documents.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::aside::aside;
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::RouterId;
use flowsdk_core::record::HasRecords;
use flowsdk_core::router::HasRouters;
use flowsdk_core::store::{Retries, Store, transact};
use flowsdk_core::time::Timestamp;
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::chunks::chunks_unless;
use super::embedders::credential_of;
use super::extraction::text_unless;
use super::places::{AT_ONCE, Places};
use super::step::{Batch, Change, Next, is_same, next};
use super::web::content_of;
use super::{
    Content, Document, DocumentId, DocumentStatus, DueDocument, Embedders, Embedding, HasKnowledge,
    MAX_CONTENT, MAX_PDF, MediaType, NoPdfs, NoVectorIndex, NoWeb, OpenEmbedder, PdfError, PdfReader,
    VectorIndex, Web, WebAddress, WebError,
};
use crate::budget::{HasBudgets, is_used_up};
use crate::model::{Embedded, ModelError};
use crate::usage::{HasModelUsage, ModelCall, ModelWork};

/// Documents that are looked at for a place. Those that are worked on are among them.
const LOOKED_AT: u32 = 2 * AT_ONCE as u32;
/// Passages that are embedded by one request.
const BATCH: u32 = 64;
/// How long the vectors of a batch are waited for.
const BATCH_TIME: Duration = Duration::from_secs(60);
/// How often it is looked for documents when there was nothing to do.
const POLL: Duration = Duration::from_secs(1);
/// How long an address may take, with its redirects.
const FETCHING: Duration = Duration::from_secs(30);
/// How long reading a content may take. Its thread ends at the next part of the content then.
const READING: Duration = Duration::from_secs(60);
/// How long a PDF may take, with the time in which its reader reads others. A reader has limits of its own.
const PDF_READING: Duration = Duration::from_mins(5);
/// How often a content is read that brings the process down.
const MOST_READS: u32 = 3;
/// How often it is looked for routers whose embedder is another one now.
const REVIEW: Duration = Duration::from_secs(60);
/// How often it is looked for vectors that the index of the store lacks.
const TEND: Duration = Duration::from_secs(5);

/// A transaction with every repository that this touches. Every transaction with those accessors is one.
pub trait IngestTx:
    HasRecords<Document> + HasKnowledge + HasRouters + HasLlmCredentials + HasBudgets + HasModelUsage
{
}

impl<T: HasRecords<Document> + HasKnowledge + HasRouters + HasLlmCredentials + HasBudgets + HasModelUsage>
    IngestTx for T
{
}

/// Fetches and reads documents, cuts them into passages, and has these embedded. One runs at a time, under a lease. Each step is a
/// commit, so another process goes on where the last one stood; no transaction is open while a model is asked.
pub struct Ingest<S> {
    store: Arc<S>,
    cx: OpContext,
    embedders: Arc<dyn Embedders>,
    pdfs: Arc<dyn PdfReader>,
    web: Arc<dyn Web>,
    index: Arc<dyn VectorIndex>,
}

impl<S> std::fmt::Debug for Ingest<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ingest").field("embedders", &self.embedders).finish_non_exhaustive()
    }
}

impl<S: Store> Ingest<S>
where
    S::Tx: IngestTx,
{
    /// Creates one over `store`, which has passages embedded by `embedders`, and reads neither PDFs nor addresses.
    pub fn new(store: Arc<S>, cx: OpContext, embedders: Arc<dyn Embedders>) -> Self {
        let (pdfs, web, index) = (Arc::new(NoPdfs), Arc::new(NoWeb), Arc::new(NoVectorIndex));
        Self { store, cx, embedders, pdfs, web, index }
    }

    /// Has PDFs read by `pdfs`.
    pub fn with_pdfs(self, pdfs: Arc<dyn PdfReader>) -> Self {
        Self { pdfs, ..self }
    }

    /// Has addresses read by `web`.
    pub fn with_web(self, web: Arc<dyn Web>) -> Self {
        Self { web, ..self }
    }

    /// Keeps the index of the store up to date.
    pub fn with_index(self, index: Arc<dyn VectorIndex>) -> Self {
        Self { index, ..self }
    }

    /// Works until it is told to stop. A request that is under way then is given up, and made again by the next run.
    pub async fn run(&self, stop: &CancellationToken) {
        tokio::join!(self.run_rounds(stop), self.run_index(stop));
    }

    /// An index takes minutes, so it is not built between two rounds.
    async fn run_index(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let pause = match stop.run_until_cancelled(self.tend()).await {
                None => return,
                Some(Ok(true)) => continue,
                Some(Ok(false)) => TEND,
                Some(Err(error)) => {
                    tracing::warn!(error = %Chain(&error), "vectors are searched without an index");
                    REVIEW
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Does the next part of what the index of the store needs. Returns whether there is more.
    ///
    /// # Errors
    /// [`StorageError`]: what is done stays.
    pub async fn tend(&self) -> Result<bool, StorageError> {
        self.index.tend().await
    }

    async fn run_rounds(&self, stop: &CancellationToken) {
        let (mut places, mut steps, mut ended) = (Places::default(), FuturesUnordered::new(), Vec::new());
        let (mut reviewed_at, mut rests_until) = (None, Instant::now());
        while !stop.is_cancelled() {
            if Instant::now() >= rests_until {
                let next = async {
                    self.review(&mut reviewed_at).await?;
                    self.next_due(&mut places).await
                };
                match stop.run_until_cancelled(beside(&mut steps, &mut ended, next)).await {
                    None => return,
                    Some(Ok(next)) => steps.extend(next.into_iter().map(|due| self.work_on(due))),
                    Some(Err(error)) => {
                        tracing::warn!(error = %Chain(&error), "documents are not read now");
                        rests_until = Instant::now() + POLL;
                    }
                }
            }
            if ended.is_empty() {
                tokio::select! {
                    () = stop.cancelled() => {}
                    Some(end) = steps.next() => ended.push(end),
                    () = tokio::time::sleep(POLL) => {}
                }
            }
            for (document, went_on) in ended.drain(..) {
                places.leave(&document);
                // What cannot be written now is not tried again at once.
                if !went_on {
                    rests_until = Instant::now() + POLL;
                }
            }
        }
    }

    /// Does the next step of some documents. Returns how many went on.
    ///
    /// # Errors
    /// [`StorageError`]: what is written stays, and the rest can be done again.
    pub async fn round(&self) -> Result<usize, StorageError> {
        let next = self.next_due(&mut Places::default()).await?;
        let done = join_all(next.into_iter().map(|due| self.work_on(due))).await;
        Ok(done.into_iter().filter(|(_, went_on)| *went_on).count())
    }

    /// Does the next step of a document. Returns whether it went on.
    async fn work_on(&self, due: DueDocument) -> (DocumentId, bool) {
        let id = due.document.id.clone();
        let done = self.step(due).await.inspect_err(|error| {
            tracing::warn!(document = %id, error = %Chain(error), "a document is tried again");
        });
        (id, done.is_ok())
    }

    /// Gives the free places to documents that are to be worked on. Routers take turns.
    ///
    /// # Errors
    /// [`StorageError`]: no place is given.
    async fn next_due(&self, places: &mut Places) -> Result<Vec<DueDocument>, StorageError> {
        let mut next: Vec<DueDocument> = Vec::new();
        while !places.are_taken() {
            let due = match self.due(&places.waiting()).await {
                Ok(due) => due,
                Err(error) => {
                    next.iter().for_each(|due| places.leave(&due.document.id));
                    return Err(error);
                }
            };
            let before = next.len();
            next.extend(due.into_iter().filter(|due| places.take(&due.document)));
            // Each query but the last ones gives a place away.
            if next.len() == before && !places.begin_round() {
                break;
            }
        }
        Ok(next)
    }

    async fn due(&self, but_of: &[RouterId]) -> Result<Vec<DueDocument>, StorageError> {
        self.store.read().await?.knowledge().due(self.cx.now(), LOOKED_AT, but_of).await
    }

    /// Has the documents embedded anew whose router has another embedder now.
    async fn review(&self, reviewed_at: &mut Option<Timestamp>) -> Result<(), StorageError> {
        let now = self.cx.now();
        if reviewed_at.is_some_and(|at| now < at + REVIEW && now >= at) {
            return Ok(());
        }
        self.embed_anew().await?;
        *reviewed_at = Some(now);
        Ok(())
    }

    /// Has the documents embedded anew whose router has another embedder now. One that cannot be opened changes nothing.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn embed_anew(&self) -> Result<(), StorageError> {
        let in_use = self.store.read().await?.knowledge().models_in_use().await?;
        for (router, model) in in_use {
            let credential = credential_of(&mut self.store.read().await?, &router).await?;
            let Ok(opened) = self.embedders.open(credential.as_ref()).await else { continue };
            if opened.model != model {
                tracing::info!(%router, from = model, to = opened.model, "documents are embedded anew");
                let now = self.cx.now();
                transact(&*self.store, async |tx: &mut S::Tx| -> Result<(), StorageError> {
                    tx.knowledge().embed_anew(&router, &model, now).await
                })
                .await?;
            }
        }
        Ok(())
    }

    async fn step(&self, due: DueDocument) -> Result<(), StorageError> {
        let DueDocument { document, attempts } = due;
        match document.status {
            DocumentStatus::Waiting | DocumentStatus::Fetching if document.address.is_some() => {
                self.fetch(document, attempts).await
            }
            DocumentStatus::Waiting | DocumentStatus::Fetching | DocumentStatus::Reading => {
                self.read(document, attempts).await
            }
            DocumentStatus::Embedding => {
                let batch = self.batch(&document).await?;
                self.write(&document, &Change::Batch(batch, attempts)).await
            }
            DocumentStatus::Ready | DocumentStatus::Failed => self.write(&document, &Change::Nothing).await,
        }
    }

    /// Has the address of a document read.
    async fn fetch(&self, document: Document, attempts: u32) -> Result<(), StorageError> {
        if document.status == DocumentStatus::Waiting {
            self.write(&document, &Change::Fetching).await?;
        }
        let document = Document { status: DocumentStatus::Fetching, ..document };
        let Some(address) = document.address.clone() else { return Ok(()) };
        let change = match self.content_at(address).await {
            Ok(content) => Change::Fetched(content),
            Err(error) => {
                tracing::info!(document = %document.id, %error, "an address is not read");
                Change::NotFetched(error, attempts)
            }
        };
        self.write(&document, &change).await
    }

    async fn content_at(&self, address: WebAddress) -> Result<Content, WebError> {
        let passing = |reason: &str| WebError::Passing { reason: reason.to_owned(), retry_after: None };
        let reading = tokio::time::timeout(FETCHING, self.web.read(&address, MAX_PDF)).await;
        let page = reading.map_err(|_| passing("no whole answer in time"))??;
        let read = aside(move || content_of(&address, page)).await;
        Ok(read.map_err(|_| passing("the server is busy"))??)
    }

    /// Reads a document, and cuts it into passages.
    async fn read(&self, document: Document, attempts: u32) -> Result<(), StorageError> {
        if attempts >= MOST_READS {
            let why = "the document cannot be read: every try was interrupted";
            return self.write(&document, &Change::Unreadable(why.to_owned())).await;
        }
        // Before it begins: a content that brings the process down is not read for ever.
        self.write(&document, &Change::Reading(attempts)).await?;
        let content = self.store.read().await?.knowledge().content(&document.id).await?;
        let change = match self.passages(document.media_type, content.unwrap_or_default()).await {
            Ok(texts) => Change::Passages(texts),
            Err(why) => Change::Unreadable(why),
        };
        let document = Document { status: DocumentStatus::Reading, ..document };
        self.write(&document, &change).await
    }

    /// Returns the passages of a content, or why it has none.
    async fn passages(&self, media_type: MediaType, content: Vec<u8>) -> Result<Vec<String>, String> {
        let content = match media_type {
            MediaType::Pdf => {
                self.text_of_pdf(&content).await.map_err(|error| error.to_string())?.into_bytes()
            }
            MediaType::Text | MediaType::Markdown | MediaType::Html => content,
        };
        let left = CancellationToken::new();
        let _leaves = left.clone().drop_guard();
        let reading = aside(move || -> Result<Vec<String>, String> {
            let text = text_unless(media_type, &content, &left).map_err(|error| error.to_string())?;
            chunks_unless(media_type, &text, &left).map_err(|error| error.to_string())
        });
        match tokio::time::timeout(READING, reading).await {
            Ok(Ok(read)) => read,
            Ok(Err(_)) => Err("the document cannot be read".to_owned()),
            Err(_) => Err("the document takes too long to read".to_owned()),
        }
    }

    async fn text_of_pdf(&self, pdf: &[u8]) -> Result<String, PdfError> {
        let text =
            tokio::time::timeout(PDF_READING, self.pdfs.read(pdf)).await.map_err(|_| PdfError::Time)??;
        if text.len() > MAX_CONTENT { Err(PdfError::TooLong) } else { Ok(text) }
    }

    /// Has the passages embedded that come next.
    async fn batch(&self, document: &Document) -> Result<Batch, StorageError> {
        let mut tx = self.store.read().await?;
        let texts = tx.knowledge().texts(&document.id, document.embedded, BATCH).await?;
        let credential = credential_of(&mut tx, &document.router_id).await?;
        let has_no_budget = is_used_up(&mut tx, &document.router_id, self.cx.now()).await?;
        drop(tx);
        if texts.is_empty() {
            return Ok(Batch::Nothing);
        }
        let opened = match self.embedders.open(credential.as_ref()).await {
            Ok(opened) => opened,
            Err(error) => return Ok(Batch::Failed(error)),
        };
        let is_free = opened.is_hashing();
        let OpenEmbedder { model, embedder } = opened;
        if document.embedded > 0 && document.embedded_by.as_ref() != Some(&model) {
            return Ok(Batch::Restart(model));
        }
        if has_no_budget && !is_free {
            return Ok(Batch::NoBudget);
        }
        let (places, texts): (Vec<u32>, Vec<String>) = texts.into_iter().unzip();
        let embedded = tokio::time::timeout(BATCH_TIME, embedder.embed(&texts)).await;
        let no_answer = || Err(ModelError::unavailable("no answer in time"));
        Ok(match embedded.unwrap_or_else(|_| no_answer()) {
            Ok(Embedded { vectors, used }) if vectors.len() == texts.len() => {
                let vectors = vectors.into_iter().map(Embedding::normalised);
                let router = document.router_id.clone();
                let call =
                    used.map(|used| ModelCall::of_work(ModelWork::Embedding, router, None, used, &self.cx));
                Batch::Embedded(model, places.into_iter().zip(vectors).collect(), call)
            }
            Ok(_) => Batch::Failed(ModelError::Unreadable { reason: "a text without a vector".to_owned() }),
            Err(error) => {
                tracing::warn!(document = %document.id, %error, "passages are not embedded");
                Batch::Failed(error)
            }
        })
    }

    /// Writes a step of a document. Does nothing if it was deleted, replaced or begun anew since it was read as `seen`.
    async fn write(&self, seen: &Document, change: &Change) -> Result<(), StorageError> {
        let mut retries = Retries::default();
        loop {
            let written = transact(&*self.store, async |tx: &mut S::Tx| -> Result<(), StorageError> {
                let found: Option<Document> = tx.records().find_for_update(&seen.id).await?;
                let Some(document) = found else { return Ok(()) };
                // Vectors of what was replaced meanwhile are paid for, too.
                if let Change::Batch(Batch::Embedded(.., Some(call)), _) = change {
                    tx.model_usage().note(std::slice::from_ref(call)).await?;
                }
                if !is_same(seen, &document) {
                    return Ok(());
                }
                match change {
                    Change::Fetched(content) => tx.knowledge().put_content(&seen.id, &content.bytes).await?,
                    Change::Passages(texts) => tx.knowledge().put_chunks(&seen.id, texts).await?,
                    Change::Batch(Batch::Embedded(_, vectors, _), _) => {
                        tx.knowledge().put_embeddings(&seen.id, vectors).await?;
                    }
                    _ => {}
                }
                let Next { document, due, attempts } = next(document, change, self.cx.now());
                tx.records().save(&document).await?;
                tx.knowledge().set_due(&document.id, due, attempts).await
            });
            match written.await {
                Err(error) if error.is_lost_race() && retries.again() => {}
                outcome => return outcome,
            }
        }
    }
}

/// Waits for some work while steps go on, because it may wait for a connection that one of them has. Returns what the work
/// does, and adds the steps that end meanwhile to `ended`.
async fn beside<T, F: Future>(
    steps: &mut FuturesUnordered<F>,
    ended: &mut Vec<F::Output>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            Some(end) = steps.next() => ended.push(end),
        }
    }
}
