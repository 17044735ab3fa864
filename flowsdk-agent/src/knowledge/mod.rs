//! What agents know: documents, cut into passages that are found by what they say (spec B 4.9).
//!
//! A [`Document`] is stored with its content, or with the address that it is fetched from. The [`Ingest`] reads it, cuts it into passages, and has an embedder turn each
//! into a vector. [`KnowledgeSearch`] finds the passages nearest to a question; agents do so by the tool `ragSearch`.

mod chunks;
mod content;
mod depth;
mod embedders;
mod embedding;
mod error;
mod extraction;
mod hashing;
mod ingest;
mod model;
mod pdf;
mod places;
mod repository;
mod search;
mod searcher;
mod service;
mod step;
mod web;

pub use chunks::{LONGEST_CHUNK, MAX_CHUNKS, TooLong, chunks_of};
pub use content::{Content, MAX_CONTENT, MAX_PAGE, MAX_PDF, MediaType, Unfit};
pub use embedders::{Embedders, OfflineEmbedders, OpenEmbedder};
pub use embedding::{DIMENSIONS, Embedding};
pub use error::KnowledgeError;
pub use extraction::{NoText, text_of};
pub use hashing::{HASHING, HashingEmbedder};
pub use ingest::{Ingest, IngestTx};
pub use model::{
    Document, DocumentChange, DocumentFilter, DocumentId, DocumentStatus, MAX_DOCUMENTS, NewContent,
    NewDocument, NewFile,
};
pub use pdf::{NoPdfs, PdfError, PdfReader};
pub use repository::{DueDocument, HasKnowledge, KnowledgeRepository, NoVectorIndex, VectorIndex};
pub use search::{KnowledgeQuery, Nearest, Passage, Place, SearchPage, Searched, pages_of, told};
pub use searcher::{Found, KnowledgeSearch};
pub use service::{FoundPassage, Knowledge, PASSAGES, SearchKnowledge};
pub use web::{InvalidWebAddress, NoWeb, Web, WebAddress, WebError, WebPage};
