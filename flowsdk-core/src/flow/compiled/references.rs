//! Which other flows a flow leads to.

use super::{CompiledFlow, CompiledTarget};
use crate::id::FlowId;

impl CompiledFlow {
    /// The other flows that its targets name, each once.
    pub fn referenced_flows(&self) -> Vec<FlowId> {
        let inputs = self.blocks.iter().filter_map(|block| block.input.as_ref());
        let mut flows: Vec<FlowId> = self
            .blocks
            .iter()
            .flat_map(|block| {
                block.outputs.iter().map(|output| &output.target).chain([&block.default_output])
            })
            .chain(inputs.clone().filter_map(|input| input.timeout_target.as_ref()))
            .chain(inputs.filter_map(|input| input.validation.as_ref()?.fail_target.as_ref()))
            .chain(self.error_target.as_ref())
            .filter_map(|target| match target {
                CompiledTarget::Flow { flow_id, .. } => Some(flow_id.clone()),
                CompiledTarget::Block(_) | CompiledTarget::End => None,
            })
            .collect();
        flows.sort_unstable();
        flows.dedup();
        flows
    }
}
