//! Circles through other flows: a turn that leaves a flow and comes back to it without waiting.

use std::collections::{HashMap, HashSet};

use crate::flow::definition::{Block, BlockKind, FlowDefinition, Target};
use crate::id::{BlockId, FlowId};

/// Most places that are followed: each costs a walk through the other flows.
const MAX_PLACES: usize = 50;

/// Returns the pointers at which `definition`, of the flow `id`, leads to one of `others` from which a turn may come
/// back to the same block without waiting for anybody. One flow alone is checked when it is validated.
pub(super) fn circles(
    id: &FlowId,
    definition: &FlowDefinition,
    others: &HashMap<FlowId, FlowDefinition>,
) -> HashSet<String> {
    let flows = Flows::new(id, definition, others);
    let mut found = HashSet::new();
    let mut places = 0;
    for (at, block) in definition.blocks.iter().enumerate().filter(|(_, block)| block.is_passed()) {
        for (pointer, flow, entry) in ways_out(block) {
            places += 1;
            if places <= MAX_PLACES && flows.comes_back(flow, entry, &block.id) {
                found.insert(format!("/blocks/{at}{pointer}/flowId"));
            }
        }
    }
    found
}

/// Returns where a turn may leave `block` for another flow, with the pointer below the block.
fn ways_out(block: &Block) -> impl Iterator<Item = (String, &FlowId, Option<&BlockId>)> {
    let called = match &block.kind {
        BlockKind::Flow { flow_id, block_id, .. } => Some((String::new(), flow_id, block_id.as_ref())),
        _ => None,
    };
    let targets = block.targets().into_iter().filter_map(|(target, pointer)| match target {
        Target::Flow { flow_id, block_id } => Some((pointer, flow_id, block_id.as_ref())),
        Target::Block(_) | Target::End => None,
    });
    called.into_iter().chain(targets)
}

/// The flows through which a turn may pass, their blocks by id.
struct Flows<'a> {
    id: &'a FlowId,
    flows: HashMap<&'a FlowId, (&'a FlowDefinition, HashMap<&'a BlockId, &'a Block>)>,
}

impl<'a> Flows<'a> {
    fn new(
        id: &'a FlowId,
        definition: &'a FlowDefinition,
        others: &'a HashMap<FlowId, FlowDefinition>,
    ) -> Self {
        let with_blocks = |(id, definition): (&'a FlowId, &'a FlowDefinition)| {
            let blocks = definition.blocks.iter().map(|block| (&block.id, block)).collect();
            (id, (definition, blocks))
        };
        // The definition that is checked counts, not the one of this flow that is published.
        let flows = others.iter().filter(|(other, _)| *other != id).chain([(id, definition)]);
        Self { id, flows: flows.map(with_blocks).collect() }
    }

    fn block(&self, flow: &'a FlowId, block: Option<&'a BlockId>) -> Option<(&'a FlowId, &'a Block)> {
        let (definition, blocks) = self.flows.get(flow)?;
        let block = blocks.get(block.unwrap_or(&definition.start_block_id))?;
        Some((flow, block))
    }

    /// Returns whether a turn that enters `flow` may come to `home`, a block of the flow that is checked.
    fn comes_back(&self, flow: &'a FlowId, entry: Option<&'a BlockId>, home: &BlockId) -> bool {
        let mut seen = HashSet::new();
        let mut open: Vec<_> = self.block(flow, entry).into_iter().collect();
        while let Some((flow, block)) = open.pop() {
            if flow == self.id && block.id == *home {
                return true;
            }
            if !block.is_passed() || !seen.insert((flow, &block.id)) {
                continue;
            }
            open.extend(ways_out(block).filter_map(|(_, flow, entry)| self.block(flow, entry)));
            open.extend(block.targets().into_iter().filter_map(|(target, _)| match target {
                Target::Block(next) => self.block(flow, Some(next)),
                Target::Flow { .. } | Target::End => None,
            }));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn flow(id: &str, blocks: &[Value]) -> (FlowId, FlowDefinition) {
        let definition = json!({ "schemaVersion": 1, "startBlockId": blocks[0]["id"], "blocks": blocks });
        (id.parse().expect("an id"), FlowDefinition::parse(&definition).expect("parses"))
    }

    fn jump(id: &str, target: &Value) -> Value {
        json!({ "id": id, "type": "content", "defaultOutput": target })
    }

    #[test]
    fn a_circle_is_a_way_back_without_waiting() {
        let to = |flow: &str| json!({ "flowId": flow });
        let asks =
            |target: Value| json!({ "id": "ask", "type": "content", "input": {}, "defaultOutput": target });
        let call = |flow: &str| json!({ "id": "a", "type": "flow", "flowId": flow, "defaultOutput": { "end": true } });
        let end = json!({ "end": true });
        for (what, own, others, expected) in [
            (
                "two that jump",
                vec![jump("a", &to("two"))],
                vec![vec![jump("b", &to("one"))]],
                "/blocks/0/defaultOutput/flowId",
            ),
            ("two that call", vec![call("two")], vec![vec![jump("b", &to("one"))]], "/blocks/0/flowId"),
            (
                "three",
                vec![jump("a", &to("two"))],
                vec![vec![jump("b", &to("three"))], vec![jump("c", &to("one"))]],
                "/blocks/0/defaultOutput/flowId",
            ),
            ("one that waits", vec![jump("a", &to("two"))], vec![vec![asks(to("one"))]], ""),
            (
                "one that waits here",
                vec![jump("a", &to("two")), asks(to("two"))],
                vec![vec![jump("b", &json!({ "flowId": "one", "blockId": "ask" }))]],
                "",
            ),
            ("one that ends", vec![jump("a", &to("two"))], vec![vec![jump("b", &end)]], ""),
            ("itself", vec![jump("a", &to("one"))], vec![], "/blocks/0/defaultOutput/flowId"),
            ("one that is not there", vec![jump("a", &to("gone"))], vec![], ""),
            (
                "a circle of others",
                vec![jump("a", &to("two"))],
                vec![vec![jump("b", &to("three"))], vec![jump("c", &to("two"))]],
                "",
            ),
        ] {
            let (id, definition) = flow("one", &own);
            let others = others.iter().zip(["two", "three"]).map(|(blocks, id)| flow(id, blocks)).collect();
            let found: Vec<_> = circles(&id, &definition, &others).into_iter().collect();
            assert_eq!(found.join(" "), expected, "{what}");
        }
    }
}
