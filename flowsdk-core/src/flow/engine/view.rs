//! The values that tokens and conditions read during a turn.

use std::sync::Arc;

use super::turn::Turn;
use crate::flow::CompiledFlow;
use crate::flow::interpolate::{Here, Names, View};
use crate::id::{BlockId, FlowId};

impl Turn<'_> {
    /// Returns the values that tokens and conditions read at this point of the turn.
    pub(super) fn view(&self) -> View<'_> {
        View {
            here: Here {
                flow_id: self.flow.flow_id(),
                flow_name: self.flow.name(),
                block_id: Some(&self.flow.blocks[self.block].id),
            },
            session: &self.session,
            contact: &self.contact,
            input: self.message(),
            router_variables: &self.scene.statics.router,
            flow_variables: self.scene.statics.flows.get(self.flow.flow_id()).map(|map| &**map),
            now: self.scene.now,
            names: self,
            work: &self.work,
        }
    }
}

impl Names for Turn<'_> {
    fn flow(&self, flow: &FlowId) -> String {
        match self.known(flow) {
            Some(known) => known.name().to_owned(),
            None => flow.to_string(),
        }
    }

    fn block(&self, flow: &FlowId, block: &BlockId) -> String {
        let known = self.known(flow);
        let name = known.as_ref().and_then(|known| known.block_name(block));
        name.unwrap_or(block.as_str()).to_owned()
    }
}

impl Turn<'_> {
    /// Returns a flow of which the turn knows the names.
    fn known(&self, flow: &FlowId) -> Option<Arc<CompiledFlow>> {
        [&self.flow, &self.scene.flow]
            .into_iter()
            .find(|known| known.flow_id() == flow)
            .cloned()
            .or_else(|| self.scene.flows.published(flow))
    }
}
