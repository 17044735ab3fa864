//! Whether somebody takes the conversations that a definition hands over (rulings S20).

use std::collections::HashSet;

use super::FlowsTx;
use crate::fault::StorageError;
use crate::flow::definition::{Block, BlockKind, FlowDefinition};
use crate::flow::{Flow, Problem};
use crate::id::{QueueId, UserId};
use crate::text::Text;

const NO_QUEUE: Text = Text::new(
    "o roteador não tem fila ativa: quem é transferido espera até haver uma",
    "the router has no active queue: whoever is handed over waits until there is one",
);

/// Who takes the conversations that a router hands over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeskAround {
    /// Its active queues.
    pub queues: HashSet<QueueId>,
    /// Those of the users whom the definition names who are agents of the router.
    pub agents: HashSet<UserId>,
}

/// A block that hands over to people: its place, and the queue and the user that it names.
type Handoff<'a> = (usize, &'a Block, Option<&'a QueueId>, Option<&'a UserId>);

/// Returns who takes what a flow hands over, if its definition hands anybody over.
pub(super) async fn desk_around<X: FlowsTx>(
    tx: &mut X,
    flow: &Flow,
    definition: &FlowDefinition,
) -> Result<DeskAround, StorageError> {
    if handoffs(definition).next().is_none() {
        return Ok(DeskAround::default());
    }
    let queues = tx.flow_catalog().queues_around(&flow.router_id).await?;
    let named: HashSet<&UserId> = handoffs(definition).filter_map(|(.., user)| user).collect();
    let named: Vec<UserId> = named.into_iter().cloned().collect();
    let agents = match named.as_slice() {
        [] => Vec::new(),
        named => tx.flow_catalog().agents_around(&flow.router_id, named).await?,
    };
    Ok(DeskAround { queues: queues.into_iter().collect(), agents: agents.into_iter().collect() })
}

/// Returns the warnings for blocks that hand over to nobody, to a queue that takes nothing, or to a user who is no agent.
pub(super) fn warnings(definition: &FlowDefinition, desk: &DeskAround) -> Vec<Problem> {
    let of_block = |(at, block, queue, user): Handoff<'_>| {
        if desk.queues.is_empty() {
            let problem = Problem::warning("no_queue", format!("/blocks/{at}"), NO_QUEUE);
            return vec![problem.in_block(&block.id)];
        }
        let queue = queue.filter(|queue| !desk.queues.contains(*queue)).map(|queue| {
            let text = Text::of(
                format!("`{queue}` não é uma fila ativa do roteador: valem as regras"),
                format!("`{queue}` is no active queue of the router: the rules decide"),
            );
            Problem::warning("queue_not_active", format!("/blocks/{at}/queueId"), text)
        });
        let user = user.filter(|user| !desk.agents.contains(*user)).map(|user| {
            let text = Text::of(
                format!("`{user}` não é agente do roteador: o ticket espera na fila"),
                format!("`{user}` is no agent of the router: the ticket waits in its queue"),
            );
            Problem::warning("user_not_agent", format!("/blocks/{at}/userId"), text)
        });
        queue.into_iter().chain(user).map(|problem| problem.in_block(&block.id)).collect()
    };
    handoffs(definition).flat_map(of_block).collect()
}

/// Returns the blocks that hand over to people.
fn handoffs(definition: &FlowDefinition) -> impl Iterator<Item = Handoff<'_>> {
    definition.blocks.iter().enumerate().filter_map(|(at, block)| match &block.kind {
        BlockKind::Human { queue_id, user_id } => Some((at, block, queue_id.as_ref(), user_id.as_ref())),
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
        let queues = |ids: &[&str]| ids.iter().map(|id| id.parse().expect("an id")).collect();
        let eva: HashSet<UserId> = ["eva".parse().expect("an id")].into();
        for (queues, agents, expected) in [
            (
                queues(&[]),
                HashSet::new(),
                vec!["no_queue /blocks/1", "no_queue /blocks/2", "no_queue /blocks/3"],
            ),
            (queues(&["q1"]), eva.clone(), vec!["queue_not_active /blocks/3/queueId"]),
            (queues(&["q1", "q2"]), eva, vec![]),
            (queues(&["q1", "q2"]), HashSet::new(), vec!["user_not_agent /blocks/3/userId"]),
        ] {
            let found = warnings(&definition, &DeskAround { queues, agents });
            let found: Vec<String> =
                found.iter().map(|problem| format!("{} {}", problem.code, problem.pointer)).collect();
            assert_eq!(found, expected);
        }
    }
}
