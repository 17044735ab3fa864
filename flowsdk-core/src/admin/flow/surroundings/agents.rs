//! Whether the AI agents that a definition names take conversations. Unlike everything else around a definition, an
//! agent that cannot prevents publishing: every conversation that reached its block would stand still there.

use std::collections::HashSet;

use super::FlowsTx;
use crate::fault::StorageError;
use crate::flow::definition::{Block, BlockKind, FlowDefinition};
use crate::flow::{AiAgentAround, Flow, Problem};
use crate::id::AgentId;
use crate::text::Text;

/// A block that hands over to an AI agent: its place, and the agent.
type Handoff<'a> = (usize, &'a Block, &'a AgentId);

/// Returns those of the agents that a definition names which are of its router.
pub(super) async fn around<X: FlowsTx>(
    tx: &mut X,
    flow: &Flow,
    definition: &FlowDefinition,
) -> Result<Vec<AiAgentAround>, StorageError> {
    let named: HashSet<&AgentId> = handoffs(definition).map(|(.., agent)| agent).collect();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let named: Vec<AgentId> = named.into_iter().cloned().collect();
    tx.flow_catalog().ai_agents_around(&flow.router_id, &named).await
}

/// Returns the errors of blocks whose agent takes no conversations, and the warnings of those whose agent lacks what
/// it needs to answer.
pub(super) fn problems(definition: &FlowDefinition, around: &[AiAgentAround]) -> Vec<Problem> {
    let of_block = |(at, block, id): Handoff<'_>| {
        let pointer = format!("/blocks/{at}/agentId");
        let problem = match around.iter().find(|agent| agent.id == *id) {
            None => {
                let (ours, twin) = ("o roteador não tem o agente de IA", "the router has no AI agent");
                let text = Text::of(format!("{ours} `{id}`"), format!("{twin} `{id}`"));
                Problem::error("agent_unknown", pointer, text)
            }
            Some(agent) if !agent.is_in_service => {
                let (ours, twin) = (
                    "não atende conversas: está inativo ou é do tipo system",
                    "takes no conversations: it is inactive, or of type system",
                );
                let text = Text::of(format!("`{id}` {ours}"), format!("`{id}` {twin}"));
                Problem::error("agent_not_in_service", pointer, text)
            }
            Some(agent) => {
                let lacks = [
                    (
                        agent.has_system_prompt,
                        "agent_without_prompt",
                        "não tem prompt de sistema ativo: seu modelo não conhece a tarefa",
                        "has no active system prompt: its model does not know its task",
                    ),
                    (
                        agent.has_credential,
                        "agent_without_credential",
                        "não tem credencial, nem seu roteador: não pode responder",
                        "has no credential, nor has its router: it cannot answer",
                    ),
                ];
                let warning = |(_, code, ours, twin)| {
                    let text = Text::of(format!("`{id}` {ours}"), format!("`{id}` {twin}"));
                    Problem::warning(code, pointer.clone(), text).in_block(&block.id)
                };
                return lacks.into_iter().filter(|(has, ..)| !has).map(warning).collect();
            }
        };
        vec![problem.in_block(&block.id)]
    };
    handoffs(definition).flat_map(of_block).collect()
}

/// Returns the blocks that hand over to AI agents.
fn handoffs(definition: &FlowDefinition) -> impl Iterator<Item = Handoff<'_>> {
    definition.blocks.iter().enumerate().filter_map(|(at, block)| match &block.kind {
        BlockKind::Agent { agent_id, .. } => Some((at, block, agent_id)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_block_whose_agent_takes_no_conversations_is_an_error() {
        let block = |id: &str, agent: &str, next: &str| json!({ "id": id, "type": "agent", "agentId": agent, "maxMessages": 5, "defaultOutput": { "blockId": next } });
        let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            block("a", "gone", "b"), block("b", "away", "c"), block("c", "bare", "d"), block("d", "ready", "a"),
            block("e", "gone", "a") ] });
        let definition = FlowDefinition::parse(&definition).expect("parses");
        let agent = |id: &str, is_in_service: bool, is_whole: bool| AiAgentAround {
            id: id.parse().expect("an id"),
            is_in_service,
            has_system_prompt: is_whole,
            has_credential: is_whole,
        };
        let around = [agent("away", false, false), agent("bare", true, false), agent("ready", true, true)];
        let told = |problem: &Problem| {
            let (kind, block) =
                (if problem.is_error() { "error" } else { "warning" }, problem.block_id.as_ref());
            format!("{kind} {} {} {}", problem.code, block.expect("a block"), problem.pointer)
        };
        let found: Vec<String> = problems(&definition, &around).iter().map(told).collect();
        assert_eq!(
            found,
            [
                "error agent_unknown a /blocks/0/agentId",
                "error agent_not_in_service b /blocks/1/agentId",
                "warning agent_without_prompt c /blocks/2/agentId",
                "warning agent_without_credential c /blocks/2/agentId",
                "error agent_unknown e /blocks/4/agentId",
            ]
        );
    }
}
