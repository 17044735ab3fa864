//! A flow, its draft and its published versions.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Written;
use crate::cell::Named;
use crate::change::{Entity, EntityKind, Recorded};
use crate::id::{BlockId, FlowId, FlowVersionId, IdSource, RouterId};
use crate::time::Timestamp;

/// The purpose of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(description = "Conversations run a `flow`; AI agents and interactive forms call a `tool`.")]
pub enum FlowKind {
    /// Conversations run it.
    #[default]
    Flow,
    /// AI agents and interactive forms call it: it runs without stops and returns variables.
    Tool,
}

impl FlowKind {
    pub(super) fn is_flow(&self) -> bool {
        *self == Self::Flow
    }
}

/// A flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The id of the flow.
    pub id: FlowId,
    /// The router it belongs to.
    pub router_id: RouterId,
    /// Its name.
    pub name: String,
    /// The purpose of the flow.
    pub kind: FlowKind,
    /// The version that new sessions run; `None` when it is not published.
    pub published_version_id: Option<FlowVersionId>,
    /// The version that new sessions of the test channel run; `None` when that is the published one.
    pub test_version_id: Option<FlowVersionId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed, its draft not counted.
    pub updated_at: Timestamp,
}

impl Flow {
    /// Creates a flow for conversations that is not published.
    pub fn new(id: FlowId, router_id: RouterId, name: impl Into<String>, now: Timestamp) -> Self {
        Self {
            id,
            router_id,
            name: name.into(),
            kind: FlowKind::Flow,
            published_version_id: None,
            test_version_id: None,
            created_at: now,
            updated_at: now,
        }
    }
}

impl From<FlowKind> for EntityKind {
    fn from(kind: FlowKind) -> Self {
        match kind {
            FlowKind::Flow => Self::Flow,
            FlowKind::Tool => Self::Tool,
        }
    }
}

impl Recorded for Flow {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: self.kind.into(), id: self.id.as_str(), router_id: Some(&self.router_id) }
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "routerId": self.router_id, "name": self.name, "kind": self.kind.name(),
            "publishedVersionId": self.published_version_id, "testVersionId": self.test_version_id,
            "createdAt": self.created_at.to_iso(), "updatedAt": self.updated_at.to_iso(),
        })
    }
}

/// The definition that authors edit. It may have any error; only a published one runs.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowDraft {
    /// Raised at every change of the definition; a writer names the one they have read.
    pub revision: i64,
    /// The definition.
    pub definition: Written,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// One published version of a flow; it never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowVersion {
    /// The id of the flow version.
    pub id: FlowVersionId,
    /// The id of the flow.
    pub flow_id: FlowId,
    /// The router of the flow.
    pub router_id: RouterId,
    /// Name of the flow when it was published.
    pub flow_name: String,
    /// 1, 2, 3 ...; of test versions 0, -1, -2 ...
    pub number: i64,
    /// The definition.
    pub definition: Written,
    /// When it was published.
    pub created_at: Timestamp,
}

impl FlowVersion {
    /// Returns a version of a flow, under the name that the flow has now.
    pub fn of(
        flow: &Flow,
        number: i64,
        definition: Written,
        ids: &dyn IdSource,
        created_at: Timestamp,
    ) -> Self {
        Self {
            id: FlowVersionId::generate(ids),
            flow_id: flow.id.clone(),
            router_id: flow.router_id.clone(),
            flow_name: flow.name.clone(),
            number,
            definition,
            created_at,
        }
    }

    /// Returns whether its definition has the block.
    pub fn has_block(&self, block: &BlockId) -> bool {
        let blocks = self.definition["blocks"].as_array();
        blocks.is_some_and(|blocks| blocks.iter().any(|one| one["id"] == block.as_str()))
    }
}

/// A version without its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowVersionHead {
    /// The id of the flow version.
    pub id: FlowVersionId,
    /// 1, 2, 3 ...
    pub number: i64,
    /// Name of the flow when it was published.
    pub flow_name: String,
    /// When it was published.
    pub created_at: Timestamp,
}
