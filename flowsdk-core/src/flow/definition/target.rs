//! Where an output leads.

use serde::{Deserialize, Serialize};

use crate::id::{BlockId, FlowId};

/// The message for a text that is not a target.
pub(super) const WHAT_IT_IS: &str = "a target is { blockId }, { flowId, blockId? } or { end: true }";

/// `{ "blockId" }`, `{ "flowId", "blockId"? }` of the same router, or `{ "end": true }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawTarget", into = "RawTarget")]
pub enum Target {
    /// A block of this flow.
    Block(BlockId),
    /// Another flow of the router: at its start block, or at the named one.
    Flow {
        /// The id of the flow.
        flow_id: FlowId,
        /// The block; `None` is the flow's start block.
        block_id: Option<BlockId>,
    },
    /// The end of the session.
    End,
}

/// The wire form of [`Target`]; an untagged enum would accept `{ "blockId", "end" }`.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawTarget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flow_id: Option<FlowId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    block_id: Option<BlockId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<bool>,
}

impl TryFrom<RawTarget> for Target {
    type Error = &'static str;

    fn try_from(raw: RawTarget) -> Result<Self, Self::Error> {
        match (raw.flow_id, raw.block_id, raw.end) {
            (None, Some(block), None | Some(false)) => Ok(Self::Block(block)),
            (Some(flow_id), block_id, None | Some(false)) => Ok(Self::Flow { flow_id, block_id }),
            (None, None, Some(true)) => Ok(Self::End),
            _ => Err(WHAT_IT_IS),
        }
    }
}

impl From<Target> for RawTarget {
    fn from(target: Target) -> Self {
        match target {
            Target::Block(block) => Self { block_id: Some(block), ..Self::default() },
            Target::Flow { flow_id, block_id } => Self { flow_id: Some(flow_id), block_id, end: None },
            Target::End => Self { end: Some(true), ..Self::default() },
        }
    }
}
