//! The scripts of a definition.

use super::{Action, ActionKind, FlowDefinition};
use crate::flow::PlacedScript;

impl FlowDefinition {
    /// Returns its scripts that are neither blank nor too long, in order.
    pub fn scripts(&self) -> Vec<PlacedScript> {
        let mut found = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            for (list, actions) in [("onEnter", &block.on_enter), ("onLeave", &block.on_leave)] {
                let scripts = actions.iter().enumerate().filter_map(|(index, action)| {
                    Some(PlacedScript {
                        script: script(action)?.to_owned(),
                        block_id: block.id.clone(),
                        pointer: format!("/blocks/{at}/{list}/{index}/script"),
                    })
                });
                found.extend(scripts);
            }
        }
        found
    }
}

fn script(action: &Action) -> Option<&str> {
    match &action.kind {
        ActionKind::ExecuteScript(action) if action.has_length() => Some(&action.script),
        _ => None,
    }
}
