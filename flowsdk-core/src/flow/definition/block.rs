//! Blocks.

use serde::{Deserialize, Serialize};

use super::{Action, Condition, Input, Target};
use crate::id::BlockId;
use crate::message::ContentMessage;

/// A block, discriminated by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Block {
    /// Sends contents, may wait for input, goes on.
    Content(Box<ContentBlock>),
}

/// The `type`s of [`Block`].
pub(crate) const BLOCK_TYPES: [&str; 1] = ["content"];

impl Block {
    /// Its id.
    pub fn id(&self) -> &BlockId {
        match self {
            Self::Content(block) => &block.id,
        }
    }
}

/// A block of type `content`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContentBlock {
    /// Its id, unique in the flow.
    pub id: BlockId,
    /// What authors call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the editor draws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Point>,
    /// Labels of the editor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tag_ids: Vec<String>,
    /// Run when the block is entered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_enter: Vec<Action>,
    /// Sent in order after `onEnter`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<ContentMessage>,
    /// With it the session waits here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// Run when the block is left by an output, after the answer was stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_leave: Vec<Action>,
    /// The first whose conditions hold is taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_conditions: Vec<OutputCondition>,
    /// Taken when none of them holds.
    pub default_output: Target,
}

/// Where the editor draws a block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

/// An output and when it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputCondition {
    /// Its id, unique in the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What authors call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// All of them must hold.
    pub conditions: Vec<Condition>,
    /// Where it leads.
    pub target: Target,
}
