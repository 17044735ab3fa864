//! Which other flows a flow leads to.

use super::{CompiledBlock, CompiledFlow, CompiledTarget};
use crate::id::FlowId;

impl CompiledFlow {
    /// Returns the other flows that its targets and sub-flow blocks name, each once.
    pub fn referenced_flows(&self) -> Vec<FlowId> {
        let after_errors = self.error_target.as_ref().and_then(CompiledTarget::other_flow);
        let blocks = self.blocks.iter().flat_map(CompiledBlock::other_flows);
        let mut flows: Vec<FlowId> = blocks.chain(after_errors).cloned().collect();
        flows.sort_unstable();
        flows.dedup();
        flows
    }
}
