//! Blocks with their parts compiled.

use std::time::Duration;

use super::{CompiledAction, CompiledCondition, CompiledContent, CompiledInput};
use crate::flow::interpolate::Template;
use crate::id::{AgentId, BlockId, FlowId, QueueId, UserId};
use crate::session::Phase;

/// A block whose targets are indices and whose texts are parsed.
#[derive(Debug)]
pub(crate) struct CompiledBlock {
    pub(crate) id: BlockId,
    pub(crate) title: Option<String>,
    pub(crate) on_enter: Vec<CompiledAction>,
    pub(crate) kind: CompiledBlockKind,
    pub(crate) on_leave: Vec<CompiledAction>,
    pub(crate) outputs: Vec<CompiledOutput>,
    pub(crate) default_output: CompiledTarget,
}

/// The work of a block.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly every block is the large one")]
pub(crate) enum CompiledBlockKind {
    Content { contents: Vec<CompiledContent>, input: Option<CompiledInput> },
    Agent { agent_id: AgentId, max_messages: u32, timeout: Duration },
    Human { queue_id: Option<QueueId>, user_id: Option<UserId> },
    Flow { flow_id: FlowId, block_id: Option<BlockId>, returns: bool },
}

impl CompiledBlock {
    /// Returns its title, or its id.
    pub(crate) fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(self.id.as_str())
    }

    /// The input it waits for.
    pub(crate) fn input(&self) -> Option<&CompiledInput> {
        match &self.kind {
            CompiledBlockKind::Content { input, .. } => input.as_ref(),
            _ => None,
        }
    }

    /// Returns the actions of a phase.
    pub(crate) fn actions(&self, phase: Phase) -> &[CompiledAction] {
        match phase {
            Phase::OnEnter => &self.on_enter,
            Phase::OnLeave => &self.on_leave,
        }
    }

    /// Returns the other flows that it leads to, with repetitions.
    pub(super) fn other_flows(&self) -> impl Iterator<Item = &FlowId> {
        let input = self.input();
        let fail_target = input.and_then(|input| input.validation.as_ref()?.fail_target.as_ref());
        let timeout_target = input.and_then(|input| input.timeout_target.as_ref());
        let outputs = self.outputs.iter().map(|output| &output.target);
        let targets = outputs.chain([&self.default_output]).chain(timeout_target).chain(fail_target);
        let called = match &self.kind {
            CompiledBlockKind::Flow { flow_id, .. } => Some(flow_id),
            _ => None,
        };
        targets.filter_map(CompiledTarget::other_flow).chain(called)
    }

    /// Returns every template in it.
    pub(super) fn templates(&self) -> Vec<&Template> {
        let mut templates: Vec<&Template> = Vec::new();
        if let CompiledBlockKind::Content { contents, .. } = &self.kind {
            templates.extend(contents.iter().flat_map(CompiledContent::templates));
        }
        for action in self.on_enter.iter().chain(&self.on_leave) {
            templates.extend(action.conditions.iter().flat_map(CompiledCondition::templates));
            templates.extend(action.kind.templates());
        }
        for output in &self.outputs {
            templates.extend(output.conditions.iter().flat_map(CompiledCondition::templates));
        }
        let validation = self.input().and_then(|input| input.validation.as_ref());
        templates.extend(validation.and_then(|validation| validation.retry_text.as_ref()));
        templates
    }
}

/// A target; blocks of the same flow are resolved to their index.
#[derive(Debug, Clone)]
pub(crate) enum CompiledTarget {
    Block(usize),
    Flow { flow_id: FlowId, block_id: Option<BlockId> },
    End,
}

impl CompiledTarget {
    /// Returns the other flow that it leads to.
    pub(super) fn other_flow(&self) -> Option<&FlowId> {
        match self {
            Self::Flow { flow_id, .. } => Some(flow_id),
            Self::Block(_) | Self::End => None,
        }
    }
}

/// An output and when it is taken.
#[derive(Debug)]
pub(crate) struct CompiledOutput {
    /// Its title, or its conditions in short words.
    pub(crate) when: String,
    pub(crate) conditions: Vec<CompiledCondition>,
    pub(crate) target: CompiledTarget,
}
