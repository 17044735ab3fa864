//! Blocks.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Map;

use super::action::{of_type, split};
use super::{Action, Condition, Input, Target};
use crate::id::{AgentId, BlockId, FlowId, QueueId, UserId};
use crate::message::ContentMessage;

/// A block: the fields that every block has, and the part of its `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Its id, unique in the flow.
    pub id: BlockId,
    /// The part that depends on the `type`.
    #[serde(flatten)]
    pub kind: BlockKind,
    /// The title that authors see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the editor draws it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Point>,
    /// Labels of the editor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tag_ids: Vec<String>,
    /// Run when the block is entered, before its own work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_enter: Vec<Action>,
    /// Run when the block is left by an output: after the answer was stored, after the session came back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_leave: Vec<Action>,
    /// The first whose conditions hold is taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_conditions: Vec<OutputCondition>,
    /// Taken when none of them holds.
    pub default_output: Target,
}

/// The work of a block, discriminated by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum BlockKind {
    /// Sends contents, may wait for input, goes on.
    Content {
        /// The messages of the block, sent in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        contents: Vec<ContentMessage>,
        /// With it the session waits here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Box<Input>>,
    },
    /// Hands the session to an AI agent (spec B 2.5); it goes on when the agent ends.
    Agent {
        /// The id of the agent.
        agent_id: AgentId,
        /// Turns after which its part ends by force.
        max_messages: u32,
        /// How long the contact may be silent, in milliseconds; without it the flow's `inputTimeoutMs`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_timeout: Option<u64>,
    },
    /// Hands the session to a human (spec B 3.3); it goes on when the ticket is closed.
    Human {
        /// The queue to use instead of the distribution rules.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_id: Option<QueueId>,
        /// The user who gets the ticket at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_id: Option<UserId>,
    },
    /// Runs another flow of the router.
    Flow {
        /// The id of the flow.
        flow_id: FlowId,
        /// Where it begins; without it at its start block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block_id: Option<BlockId>,
        /// Whether the session comes back when that flow ends; otherwise this block's outputs are never
        /// taken.
        #[serde(default = "crate::default::yes")]
        returns: bool,
    },
}

/// The `type`s of [`BlockKind`].
pub(crate) const BLOCK_TYPES: [&str; 4] = ["content", "agent", "human", "flow"];

impl BlockKind {
    /// Returns the `type` of the block.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Content { .. } => "content",
            Self::Agent { .. } => "agent",
            Self::Human { .. } => "human",
            Self::Flow { .. } => "flow",
        }
    }
}

impl Block {
    /// Returns its title, or its id.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(self.id.as_str())
    }

    /// The input it waits for.
    pub fn input(&self) -> Option<&Input> {
        match &self.kind {
            BlockKind::Content { input, .. } => input.as_deref(),
            _ => None,
        }
    }

    /// Returns whether a turn may enter it and leave it without a stop.
    pub fn is_passed(&self) -> bool {
        match &self.kind {
            BlockKind::Content { input, .. } => input.is_none(),
            BlockKind::Flow { .. } => true,
            BlockKind::Agent { .. } | BlockKind::Human { .. } => false,
        }
    }

    /// Returns every target in it, with its JSON pointer below the block.
    pub(crate) fn targets(&self) -> Vec<(&Target, String)> {
        let mut targets: Vec<(&Target, String)> = self
            .output_conditions
            .iter()
            .enumerate()
            .map(|(at, output)| (&output.target, format!("/outputConditions/{at}/target")))
            .collect();
        targets.push((&self.default_output, "/defaultOutput".into()));
        if let Some(input) = self.input() {
            let timeout_target = input.timeout_target.as_ref();
            targets.extend(timeout_target.map(|target| (target, "/input/timeoutTarget".into())));
            let fail_target = input.validation.as_ref().and_then(|v| v.fail_target.as_ref());
            targets.extend(fail_target.map(|target| (target, "/input/validation/failTarget".into())));
        }
        targets
    }
}

/// The fields that every block has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Common {
    id: BlockId,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    position: Option<Point>,
    #[serde(default)]
    tag_ids: Vec<String>,
    #[serde(default)]
    on_enter: Vec<Action>,
    #[serde(default)]
    on_leave: Vec<Action>,
    #[serde(default)]
    output_conditions: Vec<OutputCondition>,
    default_output: Target,
}

/// The fields of [`Common`].
const COMMON: [&str; 8] =
    ["id", "title", "position", "tagIds", "onEnter", "onLeave", "outputConditions", "defaultOutput"];

// By hand, because serde's `flatten` cannot refuse unknown fields.
impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        let (common, own) = split(fields, &COMMON);
        let common: Common = serde_json::from_value(common).map_err(D::Error::custom)?;
        Ok(Self {
            kind: of_type(&own, &COMMON)?,
            id: common.id,
            title: common.title,
            position: common.position,
            tag_ids: common.tag_ids,
            on_enter: common.on_enter,
            on_leave: common.on_leave,
            output_conditions: common.output_conditions,
            default_output: common.default_output,
        })
    }
}

/// Where the editor draws a block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// An output and when it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct OutputCondition {
    /// Its id, unique in the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The title that authors see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// All of them must hold.
    pub conditions: Vec<Condition>,
    pub target: Target,
}
