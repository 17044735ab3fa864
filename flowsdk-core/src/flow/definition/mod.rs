//! The definition of a flow: data, portable between servers, validated before it is published.

mod action;
mod block;
mod condition;
mod input;
mod malformed;
mod outside;
mod parse;
mod place;
mod pointer;
mod problem;
mod schema;
mod scripts;
mod static_reads;
mod target;
mod unread;
mod validate;

use serde::{Deserialize, Serialize};

use crate::id::BlockId;

pub use super::model::FlowKind;
pub use action::{Action, ActionKind};
pub use block::{Block, BlockKind, OutputCondition, Point};
pub use condition::{Comparator, Condition, ConditionSource, ConditionValue, SystemKey};
pub use input::{Input, Validation, ValidationKind};
pub use malformed::malformed;
pub(in crate::flow) use outside::MAX_SCRIPT;
pub use outside::{ExecuteScriptAction, HttpMethod, HttpRequestAction, ResponseField};
pub(in crate::flow) use pointer::{field as field_pointer, push_field};
pub(in crate::flow) use problem::{PATTERNS_TOO_LARGE, no_block};
pub use problem::{Problem, Severity};
pub use schema::json_schema;
pub(crate) use static_reads::StaticReads;
pub use target::Target;

/// The `schemaVersion` that this version reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A flow as authors write it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlowDefinition {
    /// The version of the format: [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The block at which a session begins.
    pub start_block_id: BlockId,
    /// The purpose of the flow.
    #[serde(default, skip_serializing_if = "FlowKind::is_flow")]
    pub kind: FlowKind,
    /// The parameters that a caller of a tool must or may pass; each becomes a session variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// The session variables that a tool returns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<String>,
    /// The settings of the whole flow.
    #[serde(default)]
    pub settings: Settings,
    /// All blocks, each with an id of its own.
    pub blocks: Vec<Block>,
}

/// A parameter of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name, and that of the session variable.
    pub name: String,
    /// The type that a value must have.
    #[serde(rename = "type", default)]
    pub kind: ParameterKind,
    /// The description that a model reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether a call without it is refused.
    #[serde(default)]
    pub required: bool,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterKind {
    /// A text.
    #[default]
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// A truth value.
    Boolean,
    /// An object.
    Object,
    /// A list.
    Array,
}

/// The settings of a whole flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// How long a block without a time of its own waits for input, in milliseconds.
    pub input_timeout_ms: u64,
    /// Most blocks that a turn enters; one more freezes the session with `flow_loop`.
    pub max_steps_per_turn: u32,
    /// Where a runtime error leads; without it the session freezes (rulings S5).
    pub error_target: Option<Target>,
    /// Whether every turn's trace is stored; that of a turn that froze the session always is.
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { input_timeout_ms: 30 * 60 * 1000, max_steps_per_turn: 100, error_target: None, trace: false }
    }
}
