//! `GET /flows/{id}/diff`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::flow::diff::{BlockDiff, DiffKind, FlowDiff, ValueDiff};
use flowsdk_core::id::FlowId;
use flowsdk_core::text::Text;
use serde::Serialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Flows;

/// Which two.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct DiffParams {
    /// The number of a version, or `draft`, which is also meant when it is absent.
    #[param(pattern = "^(draft|[1-9][0-9]{0,17})$")]
    from: Option<String>,
    /// The number of a version, or `draft`, which is also meant when it is absent.
    #[param(pattern = "^(draft|[1-9][0-9]{0,17})$")]
    to: Option<String>,
}

/// The two sides.
#[derive(Debug)]
pub(super) struct Sides {
    from: Option<i64>,
    to: Option<i64>,
}

impl FromQuery for Sides {
    fn read(query: &mut QueryReader) -> Self {
        let mut side = |name| {
            let must = Text::new(
                "Deve ser o número de uma versão ou draft",
                "Must be the number of a version or draft",
            );
            query.parsed(name, version_or_draft, must).flatten()
        };
        Self { from: side("from"), to: side("to") }
    }
}

/// The number of a version; `None` is the draft.
fn version_or_draft(text: &str) -> Option<Option<i64>> {
    if text == "draft" {
        return Some(None);
    }
    let is_number =
        text.len() <= 18 && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).map(Some)
}

/// How something changed.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DiffKind)]
enum KindView {
    Added,
    Removed,
    Changed,
}

impl From<DiffKind> for KindView {
    fn from(kind: DiffKind) -> Self {
        match kind {
            DiffKind::Added => Self::Added,
            DiffKind::Removed => Self::Removed,
            DiffKind::Changed => Self::Changed,
        }
    }
}

/// A value that differs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ValueDiff)]
struct ValueView {
    kind: KindView,
    /// JSON pointer below the block, or below the definition; in the later definition, or in the earlier one for what is
    /// removed.
    #[schema(example = "/contents/0/text/body")]
    pointer: String,
    /// The old value; absent when it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    from: Option<Value>,
    /// The new value; absent when it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    to: Option<Value>,
}

impl From<ValueDiff> for ValueView {
    fn from(diff: ValueDiff) -> Self {
        Self { kind: diff.kind.into(), pointer: diff.pointer, from: diff.from, to: diff.to }
    }
}

/// A block that differs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BlockDiff)]
struct BlockView {
    block_id: String,
    kind: KindView,
    /// Changed values of the block; empty when the block is new or gone.
    changes: Vec<ValueView>,
}

impl From<BlockDiff> for BlockView {
    fn from(diff: BlockDiff) -> Self {
        let changes = diff.changes.into_iter().map(ValueView::from).collect();
        Self { block_id: diff.block_id, kind: diff.kind.into(), changes }
    }
}

/// The differences of two definitions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FlowDiff)]
pub(super) struct DiffView {
    /// Blocks by their ids; their order says nothing.
    blocks: Vec<BlockView>,
    /// Changed values outside of blocks.
    definition: Vec<ValueView>,
    /// Whether there was more than can be listed.
    truncated: bool,
}

impl From<FlowDiff> for DiffView {
    fn from(diff: FlowDiff) -> Self {
        Self {
            blocks: diff.blocks.into_iter().map(BlockView::from).collect(),
            definition: diff.definition.into_iter().map(ValueView::from).collect(),
            truncated: diff.truncated,
        }
    }
}

/// Compare two versions of a flow
#[utoipa::path(
    get, path = "/flows/{id}/diff", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow"), DiffParams),
    responses((status = 200, description = "The differences of the two", body = DiffView))
)]
pub(super) async fn diff_flow(
    can: Can<marks::Flows, marks::Read>,
    _turn: HeavyTurn,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
    Query(Sides { from, to }): Query<Sides>,
) -> Result<Reply<DiffView>, ApiError> {
    Ok(Reply(flows.diff(can.reach(), &id, from, to).await?.into()))
}
