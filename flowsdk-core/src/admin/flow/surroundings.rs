//! The surroundings of a stored definition: the flows, files and agents of its router, and the variables that it may read.
//! Only agents prevent publishing: a flow may come later, and a secret may be meant to be said.

mod agents;
mod channels;
mod files;
mod handoffs;

use std::collections::{HashMap, HashSet};

pub use handoffs::DeskAround;

use super::{FlowsTx, circle};
use crate::fault::StorageError;
use crate::flow::definition::{ActionKind, Block, BlockKind, FlowDefinition, StaticReads, Target};
use crate::flow::interpolate::{Template, Token};
use crate::flow::{AiAgentAround, Flow, FlowKind, Problem};
use crate::id::FlowId;
use crate::media::MediaId;
use crate::page::{MAX_PAGE, PageRequest};
use crate::router::VariableOwner;
use crate::session::Channel;
use crate::text::Text;

/// Most other flows that are read to find a circle.
const MAX_REACHED: usize = 20;

/// Most variables that the warning of a place names.
const MAX_NAMED: usize = 10;

/// The keys of the variables of a router or flow, and whether each is secret.
pub(super) type StaticVariables = HashMap<String, bool>;

/// The surroundings of a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The variables of its router.
    pub router_variables: StaticVariables,
    /// Its own variables.
    pub flow_variables: StaticVariables,
    /// Those of the flows that it leads to which are of its router.
    pub flows: HashSet<FlowId>,
    /// Those of them into which it cannot lead, because they are tools and it is none.
    pub tools: HashSet<FlowId>,
    /// Pointers at which it leads to another flow that leads back without waiting for input.
    pub circles: HashSet<String>,
    /// The channels that lead to its router.
    pub channels: Vec<Channel>,
    /// The files that it names by id and which its router does not have.
    pub missing_files: HashSet<MediaId>,
    /// Who takes what it hands over; not read for a definition that hands nobody over.
    pub desk: DeskAround,
    /// Those of the AI agents that it names which are of its router.
    pub ai_agents: Vec<AiAgentAround>,
}

impl Surroundings {
    /// Reads the surroundings of `definition`, of `flow`.
    pub(super) async fn of<X: FlowsTx>(
        tx: &mut X,
        flow: &Flow,
        definition: &FlowDefinition,
    ) -> Result<Self, StorageError> {
        let mut ids: Vec<FlowId> = places(definition).into_iter().map(|(_, _, id)| id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        let found = tx.flows().find_many(&ids).await?;
        let flows: Vec<Flow> = found.into_iter().filter(|other| other.router_id == flow.router_id).collect();
        let tools = flows.iter().filter(|other| flow.kind != FlowKind::Tool && other.kind == FlowKind::Tool);
        let circles = circle::circles(&flow.id, definition, &reached(tx, flow, &flows).await?);
        Ok(Self {
            circles,
            tools: tools.map(|other| other.id.clone()).collect(),
            router_variables: variables(tx, VariableOwner::Router(flow.router_id.clone())).await?,
            flow_variables: variables(tx, VariableOwner::Flow(flow.id.clone())).await?,
            flows: flows.into_iter().map(|other| other.id).collect(),
            channels: tx.flow_catalog().channels_around(&flow.router_id).await?,
            missing_files: files::missing(tx, flow, definition).await?,
            desk: handoffs::desk_around(tx, flow, definition).await?,
            ai_agents: agents::around(tx, flow, definition).await?,
        })
    }

    /// Returns what the author should know: warnings, and errors where an AI agent takes no conversations.
    pub fn problems(&self, definition: &FlowDefinition) -> Vec<Problem> {
        let mut found = Vec::new();
        for (at, block) in definition.blocks.iter().enumerate() {
            for (pointer, text) in said(block) {
                let template = Template::parse(&text);
                let secrets: Vec<_> = template.tokens().filter_map(|token| self.secret(token)).collect();
                if !secrets.is_empty() {
                    let names = secrets.join(", ");
                    let text = Text::of(
                        format!("{names}: um segredo fica legível onde este texto é enviado ou armazenado"),
                        format!("{names}: a secret can be read where this text is sent or stored"),
                    );
                    let problem = Problem::warning("secret_in_text", format!("/blocks/{at}{pointer}"), text);
                    found.push(problem.in_block(&block.id));
                }
            }
        }
        found.extend(self.channels.iter().flat_map(|channel| channels::not_carried(definition, *channel)));
        found.extend(files::warnings(definition, &self.missing_files));
        found.extend(handoffs::warnings(definition, &self.desk));
        found.extend(agents::problems(definition, &self.ai_agents));
        for StaticReads { block, pointer, router, flow } in definition.static_reads() {
            let router = router.iter().filter(|key| !self.router_variables.contains_key(&***key));
            let flow = flow.iter().filter(|key| !self.flow_variables.contains_key(&***key));
            let unset: Vec<_> = router
                .map(|key| format!("`router.{key}`"))
                .chain(flow.map(|key| format!("`flow.{key}`")))
                .take(MAX_NAMED)
                .collect();
            if !unset.is_empty() {
                let names = unset.join(", ");
                let text = Text::of(
                    format!("{names}: não existe esta variável; fica vazio"),
                    format!("{names}: there is no such variable; it stays empty"),
                );
                found.push(Problem::warning("unknown_variable", pointer, text).in_block(&block.id));
            }
        }
        for (block, pointer, id) in places(definition) {
            let (code, text) = if !self.flows.contains(id) {
                let (ours, twin) = ("o roteador não tem o flow", "the router has no flow");
                ("target_flow_not_found", Text::of(format!("{ours} `{id}`"), format!("{twin} `{id}`")))
            } else if self.tools.contains(id) {
                let (ours, twin) =
                    ("é uma ferramenta: a sessão pararia aqui", "is a tool: the session would stop here");
                ("target_flow_is_tool", Text::of(format!("`{id}` {ours}"), format!("`{id}` {twin}")))
            } else if self.circles.contains(&pointer) {
                let (ours, twin) =
                    ("volta a este bloco sem esperar entrada", "leads back here without waiting for input");
                ("cycle_between_flows", Text::of(format!("`{id}` {ours}"), format!("`{id}` {twin}")))
            } else {
                continue;
            };
            let problem = Problem::warning(code, pointer, text);
            found.push(match block {
                Some(block) => problem.in_block(&block.id),
                None => problem,
            });
        }
        // One text may be said in several places of a message; a place is named once.
        let mut seen = HashSet::new();
        found.retain(|problem| seen.insert((problem.code, problem.pointer.clone())));
        found
    }

    fn secret(&self, token: &Token) -> Option<String> {
        match token {
            Token::Router(key) => is_secret(&self.router_variables, key).then(|| format!("`router.{key}`")),
            Token::Flow(key) => is_secret(&self.flow_variables, key).then(|| format!("`flow.{key}`")),
            _ => None,
        }
    }
}

fn is_secret(variables: &StaticVariables, key: &str) -> bool {
    variables.get(key).is_some_and(|is_secret| *is_secret)
}

/// Returns the texts of a block that somebody reads, with their pointers below it. The validation reports the
/// values that `setVariable` and its like store, and needs no surroundings.
fn said(block: &Block) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    if let BlockKind::Content { contents, input } = &block.kind {
        for (at, message) in contents.iter().enumerate() {
            texts.extend(message.texts().into_iter().map(|text| (format!("/contents/{at}"), text)));
        }
        let validation = input.as_ref().and_then(|input| input.validation.as_ref());
        if let Some(text) = validation.and_then(|validation| validation.retry_text.clone()) {
            texts.push(("/input/validation/retryText".to_owned(), text));
        }
    }
    for (list, actions) in [("onEnter", &block.on_enter), ("onLeave", &block.on_leave)] {
        for (at, action) in actions.iter().enumerate() {
            match &action.kind {
                ActionKind::SetContactName { value } => {
                    texts.push((format!("/{list}/{at}/value"), value.clone()));
                }
                ActionKind::AddTags { tags } => {
                    let tags = tags.iter().enumerate();
                    texts.extend(tags.map(|(tag, text)| (format!("/{list}/{at}/tags/{tag}"), text.clone())));
                }
                _ => {}
            }
        }
    }
    texts
}

/// Returns every flow that a definition leads to, with the block and the pointer.
fn places(definition: &FlowDefinition) -> Vec<(Option<&Block>, String, &FlowId)> {
    let mut found = Vec::new();
    if let Some(Target::Flow { flow_id, .. }) = &definition.settings.error_target {
        found.push((None, "/settings/errorTarget/flowId".to_owned(), flow_id));
    }
    for (at, block) in definition.blocks.iter().enumerate() {
        if let BlockKind::Flow { flow_id, .. } = &block.kind {
            found.push((Some(block), format!("/blocks/{at}/flowId"), flow_id));
        }
        for (target, pointer) in block.targets() {
            if let Target::Flow { flow_id, .. } = target {
                found.push((Some(block), format!("/blocks/{at}{pointer}/flowId"), flow_id));
            }
        }
    }
    found
}

/// Returns the published definitions of `flows` and of the flows of the same router that those lead to, of at most
/// [`MAX_REACHED`] flows.
async fn reached<X: FlowsTx>(
    tx: &mut X,
    flow: &Flow,
    flows: &[Flow],
) -> Result<HashMap<FlowId, FlowDefinition>, StorageError> {
    let mut found = HashMap::new();
    let mut next = flows.to_vec();
    while !next.is_empty() {
        let mut versions: Vec<_> = next.iter().filter_map(|flow| flow.published_version_id.clone()).collect();
        versions.truncate(MAX_REACHED.saturating_sub(found.len()));
        let mut ids = Vec::new();
        for version in tx.flows().find_versions(&versions).await? {
            if let Ok(definition) = FlowDefinition::parse(&version.definition) {
                ids.extend(places(&definition).into_iter().map(|(_, _, id)| id.clone()));
                found.insert(version.flow_id, definition);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| *id != flow.id && !found.contains_key(id));
        if versions.is_empty() || ids.is_empty() {
            break;
        }
        next = tx.flows().find_many(&ids).await?;
        next.retain(|other| other.router_id == flow.router_id);
    }
    Ok(found)
}

async fn variables<X: FlowsTx>(tx: &mut X, owner: VariableOwner) -> Result<StaticVariables, StorageError> {
    let mut request = PageRequest { limit: MAX_PAGE, after: None };
    let mut found = StaticVariables::new();
    loop {
        let page = tx.variables().list(&owner, &request).await?;
        found.extend(
            page.items.into_iter().map(|variable| (variable.key.to_string(), variable.value.is_secret())),
        );
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_that_are_said_and_flows_that_are_not_there() {
        let definition = json!({ "schemaVersion": 1, "startBlockId": "a",
            "settings": { "errorTarget": { "flowId": "gone" } },
            "blocks": [
                { "id": "a", "type": "content",
                  "onEnter": [{ "type": "addTags", "tags": ["vip", "{{flow.pin}}"] },
                              { "type": "setContactName", "value": "{{router.name}}" }],
                  "contents": [
                    { "type": "text", "text": { "body": "{{router.name}} {{ router.token }} {{flow.pin}}" } },
                    { "type": "text", "text": { "body": "{{flow.token}}" } },
                    { "type": "interactive", "interactive": { "type": "button", "body": { "text": "?" },
                      "action": { "buttons": [
                        { "type": "reply", "reply": { "id": "1", "title": "{{router.token}}" } } ] } } }],
                  "input": { "validation": { "kind": "email", "retryText": "{{router.token}}" } },
                  "outputConditions": [{ "conditions": [], "target": { "flowId": "there" } },
                    { "conditions": [], "target": { "flowId": "tool" } }],
                  "defaultOutput": { "blockId": "b" } },
                { "id": "b", "type": "flow", "flowId": "gone", "defaultOutput": { "flowId": "gone" } }] });
        let definition = FlowDefinition::parse(&definition).expect("parses");
        let set = |key: &str| HashSet::from([key.to_owned()]);
        let around = Surroundings {
            router_variables: HashMap::from([("token".to_owned(), true), ("name".to_owned(), false)]),
            flow_variables: HashMap::from([("pin".to_owned(), true)]),
            flows: ["there", "tool"].map(|id| FlowId::parse(id).expect("an id")).into(),
            tools: [FlowId::parse("tool").expect("an id")].into(),
            circles: set("/blocks/0/outputConditions/0/target/flowId"),
            channels: Channel::ALL.to_vec(),
            missing_files: HashSet::new(),
            desk: DeskAround::default(),
            ai_agents: Vec::new(),
        };
        let first = around.problems(&definition).remove(0);
        assert!(first.message.english().starts_with("`router.token`, `flow.pin`: "), "{first:?}");
        let found: Vec<_> = around
            .problems(&definition)
            .into_iter()
            .map(|problem| {
                assert!(!problem.is_error());
                let block = problem.block_id.map(|id| id.to_string()).unwrap_or_default();
                format!("{} {block} {}", problem.code, problem.pointer)
            })
            .collect();
        assert_eq!(
            found,
            [
                "secret_in_text a /blocks/0/contents/0",
                "secret_in_text a /blocks/0/contents/2",
                "secret_in_text a /blocks/0/input/validation/retryText",
                "secret_in_text a /blocks/0/onEnter/0/tags/1",
                "unknown_variable a /blocks/0/contents/1/text/body",
                "target_flow_not_found  /settings/errorTarget/flowId",
                "cycle_between_flows a /blocks/0/outputConditions/0/target/flowId",
                "target_flow_is_tool a /blocks/0/outputConditions/1/target/flowId",
                "target_flow_not_found b /blocks/1/flowId",
                "target_flow_not_found b /blocks/1/defaultOutput/flowId",
            ]
        );
    }

    #[test]
    fn what_a_channel_cannot_carry_is_told_for_each_channel() {
        let row = |id: &str| json!({ "id": id, "title": "A" });
        let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "defaultOutput": { "end": true }, "contents": [
                { "type": "text", "text": { "body": "x".repeat(1_001) } },
                { "type": "reaction", "reaction": { "message_id": "{{id}}", "emoji": "👍" } },
                { "type": "igQuickReply", "igQuickReply": { "body": "?", "quickReplies": [
                    { "title": "A", "payload": "a" }] } },
                { "type": "interactive", "interactive": { "type": "list", "body": { "text": "?" },
                    "action": { "button": "Ver", "sections": [
                        { "rows": [row(&"r".repeat(201)), row("b"), row(&"s".repeat(257))] }] } } },
            ] }] });
        let definition = FlowDefinition::parse(&definition).expect("parses");
        let told = |channel| -> Vec<String> {
            let around = Surroundings { channels: vec![channel], ..Surroundings::default() };
            let warnings = around.problems(&definition).into_iter();
            warnings
                .map(|one| format!("{} {}", one.code, one.pointer.replace("/blocks/0/contents", "")))
                .collect()
        };
        assert_eq!(
            told(Channel::Phone),
            ["channel_cannot_carry /2", "too_long_for_channel /3/interactive/action/sections/0/rows/0/id"]
        );
        assert_eq!(told(Channel::Webchat), ["channel_cannot_carry /1", "channel_cannot_carry /2"]);
        assert_eq!(
            told(Channel::Social),
            ["too_long_for_channel /0/text/body", "channel_cannot_carry /1", "channel_cannot_carry /3"]
        );
        let nobody = Surroundings::default();
        assert_eq!(nobody.problems(&definition), []);
    }
}
