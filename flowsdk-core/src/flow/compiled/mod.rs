//! A published version, made ready to run: blocks by index, texts as templates, regular
//! expressions compiled.

mod action;
mod block;
mod compile;
mod condition;
mod content;
mod input;
pub(crate) mod pattern;
mod references;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::flow::definition::{FlowKind, Parameter};
use crate::flow::{FlowDefinition, FlowVersion, Problem};
use crate::id::{BlockId, FlowId, FlowVersionId, RouterId};

pub(crate) use action::{CompiledAction, CompiledActionKind, CompiledBody, CompiledHttpRequest};
pub(crate) use block::{CompiledBlock, CompiledBlockKind, CompiledOutput, CompiledTarget};
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
    number: i64,
    uses_static_variables: bool,
    kind: FlowKind,
    parameters: Vec<Parameter>,
    returns: Vec<String>,
    traced: bool,
    /// How long a block without a time of its own waits.
    pub(crate) input_timeout: Duration,
    pub(crate) max_steps: u32,
    size: usize,
    pub(crate) error_target: Option<CompiledTarget>,
    pub(crate) start: usize,
    pub(crate) blocks: Vec<CompiledBlock>,
    index: HashMap<BlockId, usize>,
}

impl CompiledFlow {
    /// Makes a version ready to run.
    ///
    /// # Errors
    /// Every problem of its definition (warnings too) when one of them is an error. Regular expressions that are too
    /// many or too large together are none here: the version may have been published before that was refused, and
    /// only a turn that needs one of those beyond the limit fails, with `turn_too_long`.
    pub fn compile(version: &FlowVersion) -> Result<Arc<Self>, Vec<Problem>> {
        let definition = FlowDefinition::parse(&version.definition)?;
        let (problems, patterns) = definition.validated();
        if problems.iter().any(|problem| problem.is_error() && !problem.is_of_a_late_limit()) {
            return Err(problems);
        }
        compile::flow(version, &definition, &patterns).map(Arc::new).map_err(|problem| vec![problem])
    }

    /// Returns whether a turn may need the static variables: a text names `{{router.*}}` or `{{flow.*}}`, or a
    /// target leads to another flow, whose texts may.
    pub fn uses_static_variables(&self) -> bool {
        self.uses_static_variables
    }

    /// Returns the id of the flow.
    pub fn flow_id(&self) -> &FlowId {
        &self.flow_id
    }

    /// Returns the id of the version.
    pub fn version_id(&self) -> &FlowVersionId {
        &self.version_id
    }

    /// Returns the router that the flow belongs to.
    pub fn router_id(&self) -> &RouterId {
        &self.router_id
    }

    /// Returns about how many bytes of memory it takes, its regular expressions included.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Name of the flow.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the version; that of a test version is negative.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// Returns the purpose of the flow.
    pub fn kind(&self) -> FlowKind {
        self.kind
    }

    /// Returns the parameters that a caller of a tool must or may pass.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the session variables that a tool returns.
    pub fn returns(&self) -> &[String] {
        &self.returns
    }

    /// Returns whether the traces of its turns are stored.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// Id of the start block.
    pub fn start_block_id(&self) -> &BlockId {
        &self.blocks[self.start].id
    }

    /// Returns whether it has the block.
    pub fn has_block(&self, block: &BlockId) -> bool {
        self.index.contains_key(block)
    }

    /// Returns the title or id of the block; `None` when the flow has no such block.
    pub fn block_name(&self, block: &BlockId) -> Option<&str> {
        self.find(block).map(|at| self.blocks[at].name())
    }

    /// Where the block stands in [`CompiledFlow::blocks`].
    pub(crate) fn find(&self, block: &BlockId) -> Option<usize> {
        self.index.get(block).copied()
    }
}
