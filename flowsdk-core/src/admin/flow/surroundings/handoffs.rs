//! Whether somebody takes the conversations that a definition hands over (rulings S20).

use std::collections::HashSet;

use super::FlowsTx;
use crate::fault::StorageError;
use crate::flow::definition::{Block, BlockKind, FlowDefinition};
use crate::flow::{Flow, Problem};
use crate::id::QueueId;
use crate::text::Text;

const NO_QUEUE: Text = Text::new(
    "o roteador não tem fila ativa: quem é transferido espera até haver uma",
    "the router has no active queue: whoever is handed over waits until there is one",
);

/// Returns the active queues of the flow's router, if its definition hands anybody over.
pub(super) async fn queues<X: FlowsTx>(
    tx: &mut X,
    flow: &Flow,
    definition: &FlowDefinition,
) -> Result<HashSet<QueueId>, StorageError> {
    if handoffs(definition).next().is_none() {
        return Ok(HashSet::new());
    }
    Ok(tx.flow_catalog().queues_around(&flow.router_id).await?.into_iter().collect())
}

/// Returns a warning for each block that hands over to nobody, or to a queue that takes nothing.
pub(super) fn warnings(definition: &FlowDefinition, queues: &HashSet<QueueId>) -> Vec<Problem> {
    let warning = |(at, block, named): (usize, &Block, Option<&QueueId>)| {
        let problem = match named {
            _ if queues.is_empty() => Problem::warning("no_queue", format!("/blocks/{at}"), NO_QUEUE),
            Some(named) if !queues.contains(named) => {
                let text = Text::of(
                    format!("`{named}` não é uma fila ativa do roteador: valem as regras"),
                    format!("`{named}` is no active queue of the router: the rules decide"),
                );
                Problem::warning("queue_not_active", format!("/blocks/{at}/queueId"), text)
            }
            _ => return None,
        };
        Some(problem.in_block(&block.id))
    };
    handoffs(definition).filter_map(warning).collect()
}

/// Returns the blocks that hand over to people, each with its place and the queue that it names.
fn handoffs(definition: &FlowDefinition) -> impl Iterator<Item = (usize, &Block, Option<&QueueId>)> {
    definition.blocks.iter().enumerate().filter_map(|(at, block)| match &block.kind {
        BlockKind::Human { queue_id, .. } => Some((at, block, queue_id.as_ref())),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_block_that_hands_over_to_nobody_is_named() {
        let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "defaultOutput": { "blockId": "b" } },
            { "id": "b", "type": "human", "defaultOutput": { "blockId": "c" } },
            { "id": "c", "type": "human", "queueId": "q1", "defaultOutput": { "blockId": "d" } },
            { "id": "d", "type": "human", "queueId": "q2", "userId": "eva", "defaultOutput": { "end": true } }] });
        let definition = FlowDefinition::parse(&definition).expect("parses");
        let queue = |id: &str| id.parse::<QueueId>().expect("an id");
        for (queues, expected) in [
            (vec![], vec!["no_queue /blocks/1", "no_queue /blocks/2", "no_queue /blocks/3"]),
            (vec![queue("q1")], vec!["queue_not_active /blocks/3/queueId"]),
            (vec![queue("q1"), queue("q2")], vec![]),
        ] {
            let found = warnings(&definition, &queues.into_iter().collect());
            let found: Vec<String> =
                found.iter().map(|problem| format!("{} {}", problem.code, problem.pointer)).collect();
            assert_eq!(found, expected);
        }
    }
}
