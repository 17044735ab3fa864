//! The definition of a flow: data, portable between servers, validated before it is published.

mod action;
mod block;
mod condition;
mod input;
mod parse;
mod problem;
mod target;
mod validate;

use serde::{Deserialize, Serialize};

use crate::id::BlockId;

pub use action::{Action, ActionKind};
pub use block::{Block, ContentBlock, OutputCondition, Point};
pub use condition::{Comparator, Condition, ConditionSource, ConditionValue, SystemKey};
pub use input::{Input, Validation, ValidationKind};
pub use problem::{Problem, Severity};
pub use target::Target;

/// The `schemaVersion` that this version reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A flow as authors write it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlowDefinition {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The block at which a session begins.
    pub start_block_id: BlockId,
    /// What holds for the whole flow.
    #[serde(default)]
    pub settings: Settings,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// What holds for the whole flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// How long a block without a time of its own waits for input, in milliseconds.
    pub input_timeout_ms: u64,
    /// Most blocks that a turn enters; one more freezes the session with `flow_loop`.
    pub max_steps_per_turn: u32,
    /// Where a runtime error leads; without it the session freezes (rulings S5).
    pub error_target: Option<Target>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { input_timeout_ms: 30 * 60 * 1000, max_steps_per_turn: 100, error_target: None }
    }
}
