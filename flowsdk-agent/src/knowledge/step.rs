//! What a step makes of a document, and how the document goes on.

use std::time::Duration;

use flowsdk_core::time::Timestamp;

use super::{Content, Document, DocumentStatus, Embedding, WebError};
use crate::model::{ModelError, Patience, jitter};
use crate::usage::ModelCall;

/// How often a batch or an address is tried again: for some minutes. Its server may ask for half an hour at most.
const PATIENCE: Patience = Patience { retries: 30, turn: Duration::from_mins(30) };

/// When it is looked again whether the budget of a router has something left. A retry by an administrator looks at once.
const BUDGET_PAUSE: Duration = Duration::from_mins(10);
/// What is said of a document that waits for a budget.
const NO_BUDGET: &str = "it waits: the budget of its router is used up";

/// What a step makes of a document.
pub(super) enum Change {
    /// Its address is asked now.
    Fetching,
    /// Its address had this content.
    Fetched(Content),
    /// Its address could not be read; it was tried so often before.
    NotFetched(WebError, u32),
    /// Its content is read now, not for the first time perhaps.
    Reading(u32),
    /// It has these passages.
    Passages(Vec<String>),
    /// It cannot be read.
    Unreadable(String),
    /// Some of its passages were to be embedded; it was tried so often before.
    Batch(Batch, u32),
    /// There is nothing to do.
    Nothing,
}

/// What became of a batch of passages.
pub(super) enum Batch {
    /// Their vectors, made by this model, from the first passage that had none; and the call, if somebody is paid for it.
    Embedded(String, Vec<(u32, Embedding)>, Option<ModelCall>),
    /// Those that were there are of another model: all are made anew by this one.
    Restart(String),
    /// There is nothing left.
    Nothing,
    /// No model is asked: the budget of the router is used up.
    NoBudget,
    /// The model did not answer as it should.
    Failed(ModelError),
}

/// A document after a step, when it goes on, and how often that was tried.
pub(super) struct Next {
    pub(super) document: Document,
    pub(super) due: Option<Timestamp>,
    pub(super) attempts: u32,
}

/// Returns how a document goes on after a step.
pub(super) fn next(document: Document, change: &Change, now: Timestamp) -> Next {
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let goes_on = |document: Document| Next { document, due: Some(now), attempts: 0 };
    let ends = |document: Document| Next { document, due: None, attempts: 0 };
    let ready = |document: Document| ends(Document { status: DocumentStatus::Ready, ..document });
    let again = |document: Document, attempts: u32, error: &ModelError, why: String| {
        let attempts = attempts.saturating_add(1);
        match PATIENCE.pause(error, attempts, Duration::ZERO, jitter()) {
            // What it waited for before is over.
            Some(pause) => {
                Next { document: Document { error: None, ..document }, due: Some(now + pause), attempts }
            }
            None => ends(document.failed(why)),
        }
    };
    match change {
        Change::Fetching => goes_on(Document { status: DocumentStatus::Fetching, ..document }),
        Change::Fetched(content) => goes_on(document.fetched(content, now)),
        Change::NotFetched(error, attempts) => match error {
            WebError::Lasting { .. } => ends(document.failed(error.to_string())),
            WebError::Passing { reason, retry_after } => {
                let busy = ModelError::Unavailable { reason: reason.clone(), retry_after: *retry_after };
                again(document, *attempts, &busy, error.to_string())
            }
        },
        Change::Reading(attempts) => {
            let document = Document { status: DocumentStatus::Reading, ..document };
            Next { document, due: Some(now), attempts: attempts.saturating_add(1) }
        }
        Change::Passages(texts) => {
            let status = DocumentStatus::Embedding;
            goes_on(Document {
                status,
                chunks: count(texts.len()),
                embedded: 0,
                embedded_by: None,
                ..document
            })
        }
        Change::Unreadable(why) => ends(document.failed(why.as_str())),
        Change::Batch(Batch::Embedded(model, vectors, _), _) => {
            let embedded = document.embedded.saturating_add(count(vectors.len()));
            let document = Document { embedded, embedded_by: Some(model.clone()), error: None, ..document };
            if embedded < document.chunks { goes_on(document) } else { ready(document) }
        }
        Change::Batch(Batch::Restart(model), _) => {
            goes_on(Document { embedded: 0, embedded_by: Some(model.clone()), ..document })
        }
        Change::Batch(Batch::Nothing, _) => ready(document),
        Change::Batch(Batch::NoBudget, attempts) => {
            let document = Document { error: Some(NO_BUDGET.to_owned()), ..document };
            Next { document, due: Some(now + BUDGET_PAUSE), attempts: *attempts }
        }
        Change::Batch(Batch::Failed(error), attempts) => again(document, *attempts, error, error.to_string()),
        Change::Nothing => ends(document),
    }
}

/// Returns whether a step that began with `seen` still fits.
pub(super) fn is_same(seen: &Document, now: &Document) -> bool {
    let stand = |document: &Document| {
        (document.revision, document.status, document.chunks, document.embedded, document.embedded_by.clone())
    };
    stand(seen) == stand(now)
}
