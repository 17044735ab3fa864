//! A published version, made ready to run: blocks by index, texts as templates, regular
//! expressions compiled.

mod compile;
mod condition;
mod content;
mod input;
pub(crate) mod pattern;

use std::collections::HashMap;
use std::sync::Arc;

use crate::flow::interpolate::{Template, ValueTemplate};
use crate::flow::{FlowDefinition, FlowVersion, Problem};
use crate::id::{BlockId, FlowId, FlowVersionId, RouterId};

pub(crate) use condition::{CompiledCondition, Operand, Source};
pub(crate) use content::CompiledContent;
pub(crate) use input::{CompiledInput, CompiledValidation, Rule};

/// A flow version that can run. It never changes and is shared between turns.
#[derive(Debug)]
pub struct CompiledFlow {
    flow_id: FlowId,
    version_id: FlowVersionId,
    router_id: RouterId,
    name: String,
    uses_static_variables: bool,
    pub(crate) max_steps: u32,
    pub(crate) error_target: Option<CompiledTarget>,
    pub(crate) start: usize,
    pub(crate) blocks: Vec<CompiledBlock>,
    index: HashMap<BlockId, usize>,
}

impl CompiledFlow {
    /// Makes a version ready to run.
    ///
    /// # Errors
    /// Every problem of its definition (warnings too) when one of them is an error.
    pub fn compile(version: &FlowVersion) -> Result<Arc<Self>, Vec<Problem>> {
        let definition = FlowDefinition::parse(&version.definition)?;
        let problems = definition.validate();
        if problems.iter().any(Problem::is_error) {
            return Err(problems);
        }
        compile::flow(version, &definition)
            .map(Arc::new)
            .map_err(|problem| vec![problem])
    }

    /// Whether a turn needs the static variables: a text names `{{router.*}}` or `{{flow.*}}`.
    pub fn uses_static_variables(&self) -> bool {
        self.uses_static_variables
    }

    /// The flow.
    pub fn flow_id(&self) -> &FlowId {
        &self.flow_id
    }

    /// The version.
    pub fn version_id(&self) -> &FlowVersionId {
        &self.version_id
    }

    /// The router that the flow belongs to.
    pub fn router_id(&self) -> &RouterId {
        &self.router_id
    }

    /// Name of the flow.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Id of the start block.
    pub fn start_block_id(&self) -> &BlockId {
        &self.blocks[self.start].id
    }

    /// Whether it has the block.
    pub fn has_block(&self, block: &BlockId) -> bool {
        self.index.contains_key(block)
    }

    /// What people call the block, its title or id; `None` when the flow has no such block.
    pub fn block_name(&self, block: &BlockId) -> Option<&str> {
        self.find(block).map(|at| self.blocks[at].name())
    }

    /// Where the block stands in [`CompiledFlow::blocks`].
    pub(crate) fn find(&self, block: &BlockId) -> Option<usize> {
        self.index.get(block).copied()
    }
}

/// A content block.
#[derive(Debug)]
pub(crate) struct CompiledBlock {
    pub(crate) id: BlockId,
    title: Option<String>,
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
}

/// A target; blocks of the same flow are resolved to their index.
#[derive(Debug, Clone)]
pub(crate) enum CompiledTarget {
    Block(usize),
    Flow {
        flow_id: FlowId,
        block_id: Option<BlockId>,
    },
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
