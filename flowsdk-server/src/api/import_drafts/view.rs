//! Import drafts as clients see them.

use flowsdk_core::id::RouterId;
use flowsdk_core::time::IsoTime;
use flowsdk_core::transfer::OnConflict;
use flowsdk_core::transfer::draft::{
    CheckedDraft, DraftFinding, DraftStatus, ImportDraft, ImportDraftId, PlannedChange,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::request;

/// Most planned changes that an answer shows.
const MOST_CHANGES: usize = 1_000;

/// An import draft, without its plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedImportDraft)]
pub(super) struct ListedView {
    id: ImportDraftId,
    /// The router that its file is for. It never changes.
    router_id: RouterId,
    on_conflict: OnConflict,
    status: DraftStatus,
    /// The size of its file as JSON, in bytes.
    size: i64,
    /// Whether the check found no error when the draft was created.
    is_valid: bool,
    created_at: IsoTime,
    /// When it is deleted, applied or not.
    expires_at: IsoTime,
    #[schema(required = true)]
    applied_at: Option<IsoTime>,
}

impl From<ImportDraft> for ListedView {
    fn from(draft: ImportDraft) -> Self {
        Self {
            id: draft.id,
            router_id: draft.router_id,
            on_conflict: draft.on_conflict,
            status: draft.status,
            size: draft.size,
            is_valid: draft.is_valid,
            created_at: draft.created_at.into(),
            expires_at: draft.expires_at.into(),
            applied_at: draft.applied_at.map(IsoTime),
        }
    }
}

/// Something that the check found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportDraftFinding)]
struct FindingView {
    /// Where in the file.
    #[schema(example = "flows[0].name")]
    place: String,
    /// For people, in the language of `Accept-Language`.
    message: String,
}

/// An import draft with the result of its check.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportDraft)]
pub(super) struct DraftView {
    pub(super) id: ImportDraftId,
    /// The router that its file is for. It never changes.
    router_id: RouterId,
    on_conflict: OnConflict,
    status: DraftStatus,
    /// The size of its file as JSON, in bytes.
    size: i64,
    /// Whether the check found no error when the draft was created.
    is_valid: bool,
    /// The reasons why it cannot be applied, at most 100.
    errors: Vec<FindingView>,
    /// The parts of the file that will be left out, or lead nowhere, at most 100.
    warnings: Vec<FindingView>,
    /// The effect of the import on each entity, by its name: at most 1,000. Empty where there are errors.
    changes: Vec<PlannedChange>,
    /// How many changes there are besides.
    #[schema(minimum = 0)]
    changes_left_out: usize,
    created_at: IsoTime,
    /// When it is deleted, applied or not.
    expires_at: IsoTime,
    #[schema(required = true)]
    applied_at: Option<IsoTime>,
}

impl From<CheckedDraft> for DraftView {
    fn from(CheckedDraft { draft, check }: CheckedDraft) -> Self {
        let (_, language) = request::facts();
        let said = |finding: DraftFinding| FindingView {
            message: finding.text().into_language(language).into_owned(),
            place: finding.place,
        };
        let mut changes = check.changes;
        let changes_left_out = changes.len().saturating_sub(MOST_CHANGES);
        changes.truncate(MOST_CHANGES);
        Self {
            id: draft.id,
            router_id: draft.router_id,
            on_conflict: draft.on_conflict,
            status: draft.status,
            size: draft.size,
            is_valid: draft.is_valid,
            errors: check.errors.into_iter().map(said).collect(),
            warnings: check.warnings.into_iter().map(said).collect(),
            changes,
            changes_left_out,
            created_at: draft.created_at.into(),
            expires_at: draft.expires_at.into(),
            applied_at: draft.applied_at.map(IsoTime),
        }
    }
}
