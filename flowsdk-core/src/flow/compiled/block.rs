//! Blocks with their parts compiled.

use super::{CompiledCondition, CompiledContent, CompiledInput};
use crate::flow::interpolate::{Template, ValueTemplate};
use crate::id::{BlockId, FlowId};

/// A content block.
#[derive(Debug)]
pub(crate) struct CompiledBlock {
    pub(crate) id: BlockId,
    pub(super) title: Option<String>,
    pub(crate) on_enter: Vec<CompiledAction>,
    pub(crate) contents: Vec<CompiledContent>,
    pub(crate) input: Option<CompiledInput>,
    pub(crate) on_leave: Vec<CompiledAction>,
    pub(crate) outputs: Vec<CompiledOutput>,
    pub(crate) default_output: CompiledTarget,
}

impl CompiledBlock {
    /// Its title, or its id.
    pub(crate) fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(self.id.as_str())
    }

    /// Every target in it.
    pub(super) fn targets(&self) -> impl Iterator<Item = &CompiledTarget> {
        let input = self.input.as_ref();
        let fail_target = input.and_then(|input| input.validation.as_ref()?.fail_target.as_ref());
        let timeout_target = input.and_then(|input| input.timeout_target.as_ref());
        let outputs = self.outputs.iter().map(|output| &output.target);
        outputs.chain([&self.default_output]).chain(timeout_target).chain(fail_target)
    }

    /// Every template in it.
    pub(super) fn templates(&self) -> Vec<&Template> {
        let mut templates: Vec<&Template> =
            self.contents.iter().flat_map(CompiledContent::templates).collect();
        for action in self.on_enter.iter().chain(&self.on_leave) {
            templates.extend(action.conditions.iter().flat_map(CompiledCondition::templates));
            templates.extend(action.kind.templates());
        }
        for output in &self.outputs {
            templates.extend(output.conditions.iter().flat_map(CompiledCondition::templates));
        }
        let validation = self.input.as_ref().and_then(|input| input.validation.as_ref());
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

/// An output and when it is taken.
#[derive(Debug)]
pub(crate) struct CompiledOutput {
    pub(crate) conditions: Vec<CompiledCondition>,
    pub(crate) target: CompiledTarget,
}

/// An action and when it runs.
#[derive(Debug)]
pub(crate) struct CompiledAction {
    pub(crate) kind: CompiledActionKind,
    pub(crate) conditions: Vec<CompiledCondition>,
    pub(crate) continue_on_error: bool,
}

#[derive(Debug)]
pub(crate) enum CompiledActionKind {
    SetVariable { key: String, value: ValueTemplate },
    DeleteVariable { key: String },
    SetContactName { value: Template },
    SetContactVariable { key: String, value: ValueTemplate },
    CloseChat,
    Delay { millis: u64 },
}

impl CompiledActionKind {
    /// The `type`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::SetVariable { .. } => "setVariable",
            Self::DeleteVariable { .. } => "deleteVariable",
            Self::SetContactName { .. } => "setContactName",
            Self::SetContactVariable { .. } => "setContactVariable",
            Self::CloseChat => "closeChat",
            Self::Delay { .. } => "delay",
        }
    }

    fn templates(&self) -> Vec<&Template> {
        match self {
            Self::SetVariable { value, .. } | Self::SetContactVariable { value, .. } => value.templates(),
            Self::SetContactName { value } => vec![value],
            Self::DeleteVariable { .. } | Self::CloseChat | Self::Delay { .. } => Vec::new(),
        }
    }
}
