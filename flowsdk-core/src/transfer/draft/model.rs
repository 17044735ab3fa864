//! The draft, and the result of its check.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cell::Named;
use crate::change::{Entity, EntityKind, Recorded};
use crate::id::{Id, RouterId};
use crate::router::{Reach, Reachable};
use crate::schema::SchemaAttributes;
use crate::text::Text;
use crate::time::Timestamp;
use crate::transfer::{OnConflict, TransferFile};

/// Identifier of an import draft.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ImportDraftId(Arc<str>);

/// Whether a draft was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "ImportDraftStatus")]
pub enum DraftStatus {
    /// Nothing of it is in the router.
    Pending,
    /// Its file was imported; it is not imported again.
    Applied,
}

/// An upload for a router, without its file and its plan, which may be large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportDraft {
    /// The id of the draft.
    pub id: ImportDraftId,
    /// The router that its file is for. It never changes.
    pub router_id: RouterId,
    /// The rule for names that the router has already.
    pub on_conflict: OnConflict,
    /// Whether it was applied.
    pub status: DraftStatus,
    /// The size of its file as JSON, in bytes.
    pub size: i64,
    /// Whether the check found no error when the draft was created.
    pub is_valid: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it is deleted, applied or not.
    pub expires_at: Timestamp,
    /// When it was applied.
    pub applied_at: Option<Timestamp>,
}

impl Recorded for ImportDraft {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::ImportDraft, id: self.id.as_str(), router_id: Some(&self.router_id) }
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "routerId": self.router_id,
            "onConflict": self.on_conflict,
            "status": self.status,
            "size": self.size,
            "isValid": self.is_valid,
            "expiresAt": self.expires_at.to_iso(),
        })
    }
}

/// A draft with the result of its check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CheckedDraft {
    pub draft: ImportDraft,
    pub check: DraftCheck,
}

/// The result of a check of a file against a router, when the draft was created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftCheck {
    /// The reasons why it cannot be imported, at most 100.
    pub errors: Vec<DraftFinding>,
    /// The parts of the file that will be left out, or lead nowhere, at most 100.
    pub warnings: Vec<DraftFinding>,
    /// The effect of the import on each entity; empty where there are errors.
    pub changes: Vec<PlannedChange>,
}

impl DraftCheck {
    /// Returns whether the file can be imported.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

/// A finding at its place in the file, in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct DraftFinding {
    pub place: String,
    pub portuguese: String,
    pub english: String,
}

impl DraftFinding {
    /// Returns the finding of a text.
    pub(super) fn new((place, text): (String, Text)) -> Self {
        Self { place, portuguese: text.portuguese().to_owned(), english: text.english().to_owned() }
    }

    /// Returns the reason.
    pub fn text(&self) -> Text {
        Text::of(self.portuguese.clone(), self.english.clone())
    }
}

/// The kind of an entity that an import touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "PlannedKind")]
pub enum PlannedKind {
    /// A flow, with its variables.
    Flow,
    /// A variable of the router.
    Variable,
}

/// The effect of an import on an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
#[named(schema = "PlannedOutcome")]
pub enum PlannedOutcome {
    /// It is new.
    Created,
    /// It is new, under another name than in the file.
    Renamed,
    /// It replaces the one of the router, and differs from it.
    Updated,
    /// It replaces the one of the router, and is equal to it.
    Unchanged,
    /// The one of the router stays as it is.
    Kept,
    /// The router has it and the file does not: it stays.
    NotInFile,
}

/// The entity of the router that is replaced or stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PlannedTarget {
    /// Its id.
    pub id: String,
    /// When it was last changed, in milliseconds since 1970; a flow also changes with its variables.
    pub changed_at: i64,
}

/// The effect of an import on an entity, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PlannedChange {
    /// Its kind.
    pub kind: PlannedKind,
    /// Its name after the import; of a variable its key.
    #[schema(example = "Welcome")]
    pub name: String,
    /// The effect.
    pub outcome: PlannedOutcome,
    /// The entity that the router has; null of a new one, and of one that is not in the file.
    #[schema(required = true)]
    pub target: Option<PlannedTarget>,
}

/// A new draft.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateImportDraft)]
pub struct NewImportDraft {
    /// The router that the file is for.
    pub router_id: RouterId,
    /// What happens if the router has a flow or a variable of the name, as in the import of flows.
    #[serde(default)]
    #[schema(required = false)]
    pub on_conflict: OnConflict,
    /// The file.
    pub file: TransferFile,
}

impl Reachable for NewImportDraft {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}
