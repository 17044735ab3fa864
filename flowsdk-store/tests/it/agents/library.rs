//! The documents of routers, with a model that turns texts into vectors when it may.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use flowsdk_agent::knowledge::{
    Document, DocumentId, DocumentStatus, Embedders, HashingEmbedder, Ingest, Knowledge, NewContent,
    NewDocument, OpenEmbedder, SearchKnowledge,
};
use flowsdk_agent::model::{Embedded, Embedder, ModelError, Used};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::LlmCredential;
use flowsdk_core::event::TokenUsage;
use flowsdk_core::router::Reach;
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::site::{Site, Visited};
use crate::support::stepping::Stepping;

/// The name by which its vectors are paid.
pub(crate) const BILLED: &str = "vectors";

/// A model of vectors, ten tokens a text. It remembers how many texts it was given at once, and fails as often as it is told.
#[derive(Debug)]
pub(crate) struct Teacher {
    /// The name of its vectors.
    pub(crate) name: Mutex<String>,
    pub(crate) faults: Mutex<VecDeque<ModelError>>,
    pub(crate) asked: Mutex<Vec<usize>>,
    /// Each request takes a permit.
    pub(crate) gate: Semaphore,
}

impl Teacher {
    pub(crate) fn rename(&self, name: &str) {
        name.clone_into(&mut self.name.lock().expect("a lock"));
    }

    pub(crate) fn fail(&self, fault: ModelError) {
        self.faults.lock().expect("a lock").push_back(fault);
    }

    /// How many texts each request had since the last look.
    pub(crate) fn asked(&self) -> Vec<usize> {
        std::mem::take(&mut *self.asked.lock().expect("a lock"))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Taught(pub(crate) Arc<Teacher>);

#[async_trait]
impl Embedders for Taught {
    async fn open(&self, _: Option<&LlmCredential>) -> Result<OpenEmbedder, ModelError> {
        let model = self.0.name.lock().expect("a lock").clone();
        Ok(OpenEmbedder { model, embedder: Arc::new(self.clone()) })
    }
}

#[async_trait]
impl Embedder for Taught {
    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        self.0.asked.lock().expect("a lock").push(texts.len());
        self.0.gate.acquire().await.expect("it is never closed").forget();
        let fault = self.0.faults.lock().expect("a lock").pop_front();
        match fault {
            Some(fault) => Err(fault),
            None => {
                let Embedded { vectors, .. } = HashingEmbedder.embed(texts).await?;
                let tokens = TokenUsage { input_tokens: 10 * texts.len() as u64, ..TokenUsage::default() };
                Ok(Embedded { vectors, used: Some(Used { model: BILLED.to_owned(), tokens }) })
            }
        }
    }
}

pub(crate) struct Library {
    pub(crate) knowledge: Knowledge<SqlStore>,
    pub(crate) ingest: Ingest<Stepping>,
    pub(crate) teacher: Arc<Teacher>,
    pub(crate) site: Arc<Site>,
    store: SqlStore,
    cx: OpContext,
}

impl Library {
    pub(crate) fn new(store: &SqlStore, cx: &OpContext) -> Self {
        let teacher = Arc::new(Teacher {
            name: Mutex::new("teacher".to_owned()),
            faults: Mutex::default(),
            asked: Mutex::default(),
            gate: Semaphore::new(1_000),
        });
        let taught = Taught(Arc::clone(&teacher));
        let shared = Arc::new(store.clone());
        let site = Arc::new(Site::default());
        let ingest = Ingest::new(Arc::new(Stepping(store.clone())), cx.clone(), Arc::new(taught.clone()));
        Self {
            knowledge: Knowledge::new(shared, cx.clone(), Arc::new(taught), Arc::new(NoChangeLog)),
            ingest: ingest.with_web(Arc::new(Visited(Arc::clone(&site)))).with_index(Arc::new(store.clone())),
            teacher,
            site,
            store: store.clone(),
            cx: cx.clone(),
        }
    }

    pub(crate) fn store(&self) -> &SqlStore {
        &self.store
    }

    pub(crate) fn cx(&self) -> &OpContext {
        &self.cx
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.cx.now()
    }

    /// Another worker over the same database, as another process has it.
    pub(crate) fn another_ingest(&self) -> Ingest<Stepping> {
        let taught = Arc::new(Taught(Arc::clone(&self.teacher)));
        let ingest = Ingest::new(Arc::new(Stepping(self.store.clone())), self.cx.clone(), taught);
        ingest.with_web(Arc::new(Visited(Arc::clone(&self.site))))
    }

    /// Adds a document, of which nothing is read yet.
    pub(crate) async fn add(&self, router: &str, name: &str, tags: &[&str], text: &str) -> DocumentId {
        let new = json!({ "routerId": router, "name": name, "tags": tags, "mediaType": "text/markdown", "text": text });
        self.make(new).await
    }

    /// Adds a document of which nothing is fetched yet.
    pub(crate) async fn add_address(&self, router: &str, address: &str) -> DocumentId {
        self.make(json!({ "routerId": router, "name": address, "address": address })).await
    }

    async fn make(&self, new: Value) -> DocumentId {
        let new: NewDocument = serde_json::from_value(new).expect("a document");
        let new = Reach::ALL.admit(new).expect("within reach");
        let made = self.knowledge.create(&Author::default(), new, None).await.expect("a document");
        match made {
            flowsdk_core::idempotency::Outcome::Done(document) => document.id,
            flowsdk_core::idempotency::Outcome::Replayed(_) => unreachable!("it has no key"),
        }
    }

    /// Adds documents, and has them read and embedded.
    pub(crate) async fn stock(&self, documents: &[(&str, &str, &[&str], &str)]) {
        for (router, name, tags, text) in documents {
            let id = self.add(router, name, tags, text).await;
            self.work().await;
            assert_eq!(self.get(&id).await.status, DocumentStatus::Ready);
        }
    }

    /// Works until there is nothing to do now.
    pub(crate) async fn work(&self) {
        while self.ingest.round().await.expect("a round") > 0 {}
        while self.ingest.tend().await.expect("a part") {}
    }

    pub(crate) async fn get(&self, id: &DocumentId) -> Document {
        self.knowledge.get(Reach::ALL, id).await.expect("a document")
    }

    pub(crate) async fn replace(&self, id: &DocumentId, text: &str) {
        self.replace_by(id, json!({ "text": text })).await;
    }

    pub(crate) async fn replace_by(&self, id: &DocumentId, content: Value) {
        let content: NewContent = serde_json::from_value(content).expect("a content");
        self.knowledge.replace(&Author::default(), Reach::ALL, id, content).await.expect("replaced");
    }

    /// Returns the texts of the passages that a search finds, the nearest first.
    pub(crate) async fn find(&self, search: Value) -> Vec<String> {
        let search: SearchKnowledge = serde_json::from_value(search).expect("a search");
        let search = Reach::ALL.admit(search).expect("within reach");
        let found = self.knowledge.search(search).await.expect("passages");
        found.into_iter().map(|passage| passage.text).collect()
    }
}
