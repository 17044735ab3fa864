//! Import drafts: an upload that is checked, shown as a plan, and applied once.

mod error;
mod expiry;
mod model;
mod plan;
mod repository;
mod service;

pub use error::ImportDraftError;
pub use expiry::DraftExpiry;
pub use model::{
    CheckedDraft, DraftCheck, DraftFinding, DraftStatus, ImportDraft, ImportDraftId, NewImportDraft,
    PlannedChange, PlannedKind, PlannedOutcome, PlannedTarget,
};
pub use repository::{DraftFilter, HasImportDrafts, ImportDraftRepository};
pub use service::{ImportDrafts, MAX_DRAFTS};
