//! Reads the configuration of an agent.

use std::collections::HashMap;

use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::definition::{FlowDefinition, Parameter, ParameterKind};
use flowsdk_core::flow::{FlowVersion, HasFlows};
use flowsdk_core::id::FlowVersionId;
use flowsdk_core::router::{HasRouters, Router};
use serde_json::{Map, Value, json};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::repository::{AgentParts, HasAgentParts, ToolFlow};
use super::{AgentConfiguration, ConfigurationWarning, RouteOut, WarningKind};
use crate::agent::{AgentType, AiAgent};
use crate::guardrail::GuardrailRules;
use crate::tool::{FlowTool, NativeTool};

/// A transaction in which configurations are read. Every transaction with those accessors is one.
pub trait ConfigurationTx: HasAgentParts + HasRouters + HasFlows {}

impl<T: HasAgentParts + HasRouters + HasFlows> ConfigurationTx for T {}

/// Reads the configuration of an agent.
///
/// # Errors
/// [`StorageError`].
pub async fn read<T: ConfigurationTx>(
    tx: &mut T,
    agent: &AiAgent,
) -> Result<AgentConfiguration, StorageError> {
    let parts = tx.agent_parts().parts_of(agent).await?;
    let router = tx.routers().find(&agent.router_id).await?;
    let versions: Vec<FlowVersionId> = parts.tools.iter().map(|tool| tool.version_id.clone()).collect();
    let versions = if versions.is_empty() { Vec::new() } else { tx.flows().find_versions(&versions).await? };
    Ok(configuration(agent, router.as_ref(), parts, &versions))
}

fn configuration(
    agent: &AiAgent,
    router: Option<&Router>,
    parts: AgentParts,
    versions: &[FlowVersion],
) -> AgentConfiguration {
    let mut warnings = Vec::new();
    let mut warn =
        |code: WarningKind, subject: Option<String>| warnings.push(ConfigurationWarning { code, subject });
    let llm_credential_id = agent
        .llm_credential_id
        .clone()
        .or_else(|| router.and_then(|router| router.llm_credential_id.clone()));
    if !is_in_service(agent) {
        warn(WarningKind::NotInService, None);
    }
    if parts.prompts.is_empty() {
        warn(WarningKind::NoSystemPrompt, None);
    }
    if llm_credential_id.is_none() {
        warn(WarningKind::NoCredential, None);
    }
    if !has_way_out(agent) {
        warn(WarningKind::NoWayOut, None);
    }
    let targets: HashMap<_, _> = parts.targets.iter().map(|agent| (&agent.id, agent)).collect();
    let mut routes = Vec::with_capacity(parts.routes.len());
    for route in &parts.routes {
        let target = targets.get(&route.to_agent_id).filter(|agent| is_in_service(agent));
        let Some(target) = target else {
            warn(WarningKind::DeadEnd, Some(route.to_agent_id.to_string()));
            continue;
        };
        if !has_way_out(target) {
            warn(WarningKind::NoWayOut, Some(target.id.to_string()));
        }
        let own = Some(&route.description).filter(|text| !text.trim().is_empty());
        routes.push(RouteOut {
            agent_id: target.id.clone(),
            name: target.name.clone(),
            description: own.unwrap_or(&target.description).clone(),
        });
    }
    let mut tools: Vec<FlowTool> = Vec::with_capacity(parts.tools.len());
    for flow in parts.tools {
        let Some(version) = versions.iter().find(|version| version.id == flow.version_id) else { continue };
        let tool = tool_of(flow, version);
        if tools.iter().any(|known| known.name == tool.name) || NativeTool::parse(&tool.name).is_some() {
            warn(WarningKind::ToolNameTaken, Some(tool.name));
            continue;
        }
        tools.push(tool);
    }
    let prompts: Vec<&str> = parts.prompts.iter().map(|prompt| prompt.text.trim()).collect();
    let rules = parts.guardrails.iter().filter_map(|guardrail| guardrail.rules.as_ref());
    let mut guardrail_rules = GuardrailRules::merged(rules);
    let dropped = guardrail_rules.limit_patterns();
    if dropped > 0 {
        tracing::warn!(agent = %agent.id, dropped, "an AI agent has more forbidden patterns than hold");
    }
    let (of_router, of_agent): (Vec<_>, Vec<_>) =
        parts.guardrails.into_iter().partition(|guardrail| guardrail.agent_id.is_none());
    AgentConfiguration {
        agent_id: agent.id.clone(),
        router_id: agent.router_id.clone(),
        name: agent.name.clone(),
        system_prompt: prompts.join("\n\n"),
        guardrails: of_router
            .into_iter()
            .chain(of_agent)
            .map(|guardrail| guardrail.text)
            .filter(|text| !text.trim().is_empty())
            .collect(),
        guardrail_rules,
        routes,
        model: agent.model.clone(),
        fallback_llm_credential_id: match &agent.fallback_model {
            Some(_) => agent.fallback_llm_credential_id.clone().or_else(|| llm_credential_id.clone()),
            None => None,
        },
        llm_credential_id,
        fallback_model: agent.fallback_model.clone(),
        enabled_internal_tools: agent.enabled_internal_tools.clone(),
        native_tool_descriptions: agent.native_tool_descriptions.clone(),
        contact_variable_keys: agent.contact_variable_keys.clone(),
        has_rag_sources: parts.has_knowledge,
        rag_tags: agent.rag_tags.clone(),
        tools,
        sentiment_config: router.and_then(|router| router.sentiment_config.clone()),
        has_vision: agent.has_vision,
        max_output_tokens: agent.max_output_tokens,
        warnings,
    }
}

/// Returns whether an agent takes conversations.
pub(crate) fn is_in_service(agent: &AiAgent) -> bool {
    agent.is_active && agent.agent_type != AgentType::System
}

/// Returns whether an agent may end its part, or hand the conversation on.
fn has_way_out(agent: &AiAgent) -> bool {
    let out = [NativeTool::EndAgentSession, NativeTool::TransferToHuman, NativeTool::TransferToAgent];
    let enabled = &agent.enabled_internal_tools;
    enabled.is_empty() || out.iter().any(|tool| enabled.contains(tool))
}

/// Returns a published flow as models call it. One whose definition this version does not read takes no arguments.
fn tool_of(flow: ToolFlow, version: &FlowVersion) -> FlowTool {
    let definition = FlowDefinition::parse(&version.definition);
    let parameters = definition.map(|definition| definition.parameters).unwrap_or_default();
    FlowTool {
        name: tool_name(&flow.name),
        description: flow.name,
        parameters: schema_of(&parameters),
        flow_id: flow.flow_id,
    }
}

/// Most characters of a name that models call.
const LONGEST_NAME: usize = 64;

/// Returns the name by which models call a flow: its letters without accents, its digits, and `_` between them.
fn tool_name(flow: &str) -> String {
    let mut name = String::new();
    for character in flow.nfd() {
        if character.is_ascii_alphanumeric() {
            name.push(character);
        } else if !is_combining_mark(character) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() { "tool".to_owned() } else { name.to_owned() }
}

/// Returns the JSON Schema of parameters.
fn schema_of(parameters: &[Parameter]) -> Value {
    let property = |parameter: &Parameter| {
        let mut schema = json!({ "type": type_of(parameter.kind) });
        if let Some(description) = &parameter.description {
            schema["description"] = description.as_str().into();
        }
        (parameter.name.clone(), schema)
    };
    let properties: Map<String, Value> = parameters.iter().map(property).collect();
    let required = parameters.iter().filter(|parameter| parameter.required).map(|parameter| &parameter.name);
    json!({ "type": "object", "properties": properties, "required": required.collect::<Vec<_>>(),
        "additionalProperties": false })
}

fn type_of(kind: ParameterKind) -> &'static str {
    match kind {
        ParameterKind::String => "string",
        ParameterKind::Number => "number",
        ParameterKind::Integer => "integer",
        ParameterKind::Boolean => "boolean",
        ParameterKind::Object => "object",
        ParameterKind::Array => "array",
    }
}

#[cfg(test)]
mod tests;
