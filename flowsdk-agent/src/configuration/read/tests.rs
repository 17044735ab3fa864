//! Tests of the reading of configurations.

use flowsdk_core::id::IdSource;
use flowsdk_core::record::NewRecord;
use flowsdk_core::time::Timestamp;
use serde::de::DeserializeOwned;

use super::*;

/// The same id for every record.
#[derive(Debug)]
struct OneId;

impl IdSource for OneId {
    fn next_id(&self) -> String {
        "n".to_owned()
    }

    fn secret(&self, words: usize) -> String {
        "s".repeat(words)
    }
}

/// Returns the record of a body as the API takes it.
fn made<N: NewRecord + DeserializeOwned>(mut body: Value) -> N::Record {
    body["routerId"] = json!("r");
    let new: N = serde_json::from_value(body).expect("a body");
    new.into_record(&OneId, Timestamp::from_millis(0))
}

/// Returns an agent of this id, with the fields of `body`.
fn agent(id: &str, body: Value) -> AiAgent {
    let mut whole =
        json!({ "type": "specialist", "name": id, "description": format!("Does {id}"), "model": "m" });
    for (field, value) in body.as_object().expect("fields") {
        whole[field] = value.clone();
    }
    let agent = made::<crate::agent::NewAiAgent>(whole);
    AiAgent { id: id.parse().expect("an id"), ..agent }
}

fn prompt(text: &str) -> crate::prompt::SystemPrompt {
    made::<crate::prompt::NewSystemPrompt>(json!({ "agentId": "a", "name": "N", "text": text }))
}

fn guardrail(agent: Option<&str>, text: &str) -> crate::guardrail::Guardrail {
    made::<crate::guardrail::NewGuardrail>(json!({ "agentId": agent, "text": text }))
}

fn enforced(agent: Option<&str>, rules: Value) -> crate::guardrail::Guardrail {
    made::<crate::guardrail::NewGuardrail>(json!({ "agentId": agent, "rules": rules }))
}

fn route(to: &str, description: &str) -> crate::route::AgentRoute {
    let body = json!({ "fromAgentId": "a", "toAgentId": to, "description": description });
    made::<crate::route::NewAgentRoute>(body)
}

fn tool(id: &str, name: &str) -> ToolFlow {
    ToolFlow {
        flow_id: id.parse().expect("an id"),
        name: name.to_owned(),
        version_id: format!("{id}-v1").parse().expect("an id"),
    }
}

/// Returns the version that a tool calls, with a parameter of this name.
fn version(tool: &ToolFlow, parameter: &str) -> FlowVersion {
    let definition = json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": parameter }],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] });
    FlowVersion {
        id: tool.version_id.clone(),
        flow_id: tool.flow_id.clone(),
        router_id: "r".parse().expect("an id"),
        flow_name: tool.name.clone(),
        number: 1,
        definition: definition.into(),
        created_at: Timestamp::from_millis(0),
    }
}

/// Returns a router whose agents ask by this credential.
fn router(credential: Option<&str>) -> Router {
    let mut router = Router::new("r".parse().expect("an id"), "R", Timestamp::from_millis(0));
    router.llm_credential_id = credential.map(|id| id.parse().expect("an id"));
    router.sentiment_config = Some(json!({ "scale": 5 }));
    router
}

/// Returns the codes of the warnings, each with what it is about.
fn warned(configuration: &AgentConfiguration) -> Vec<String> {
    let warning = |warning: &ConfigurationWarning| match &warning.subject {
        Some(subject) => format!("{} {subject}", warning.code.name()),
        None => warning.code.name().to_owned(),
    };
    configuration.warnings.iter().map(warning).collect()
}

#[test]
fn a_whole_configuration_has_nothing_to_warn_of() {
    let order = tool("f1", "Situação do pedido");
    let parts = AgentParts {
        prompts: vec![prompt(" Be kind.\n"), prompt("Be brief.")],
        guardrails: vec![
            guardrail(Some("a"), "No discounts."),
            guardrail(None, "No politics."),
            guardrail(Some("a"), "No refunds."),
            guardrail(None, "No religion."),
            enforced(Some("a"), json!({ "forbiddenPatterns": ["refund"], "maxLength": 300 })),
            enforced(None, json!({ "forbiddenPatterns": ["vote", "refund"], "maxLength": 500 })),
        ],
        routes: vec![route("care", "Complaints"), route("stock", " ")],
        targets: vec![agent("stock", json!({})), agent("care", json!({ "type": "orchestrator" }))],
        tools: vec![order.clone()],
        has_knowledge: true,
    };
    let body = json!({ "name": "Sales", "fallbackModel": "n", "contactVariableKeys": ["city"], "ragTags": ["menu"],
        "enabledInternalTools": ["transferToAgent"], "maxOutputTokens": 500 });
    let found =
        configuration(&agent("a", body), Some(&router(Some("c"))), parts, &[version(&order, "number")]);
    assert_eq!(
        serde_json::to_value(found).expect("JSON"),
        json!({ "agentId": "a", "routerId": "r", "name": "Sales", "systemPrompt": "Be kind.\n\nBe brief.",
            "guardrails": ["No politics.", "No religion.", "No discounts.", "No refunds."],
            "guardrailRules": { "forbiddenPatterns": ["refund", "vote"], "allowedLinkHosts": null, "maxLength": 300,
                "maskedData": [] },
            "routes": [{ "agentId": "care", "name": "care", "description": "Complaints" },
                { "agentId": "stock", "name": "stock", "description": "Does stock" }],
            "model": "m", "llmCredentialId": "c", "fallbackModel": "n", "fallbackLlmCredentialId": "c",
            "enabledInternalTools": ["transferToAgent"], "nativeToolDescriptions": {},
            "contactVariableKeys": ["city"], "hasRagSources": true, "ragTags": ["menu"],
            "tools": [{ "flowId": "f1", "name": "Situacao_do_pedido", "description": "Situação do pedido",
                "parameters": { "type": "object", "properties": { "number": { "type": "string" } },
                    "required": [], "additionalProperties": false } }],
            "sentimentConfig": { "scale": 5 }, "hasVision": false, "maxOutputTokens": 500, "warnings": [] })
    );
}

#[test]
fn the_patterns_of_the_oldest_guardrails_hold() {
    let of = |kind: &str| -> Vec<String> { (0..20).map(|at| format!("{kind}{at}")).collect() };
    let all: Vec<_> = ('a'..='k')
        .map(|kind| enforced(None, json!({ "forbiddenPatterns": of(&kind.to_string()) })))
        .collect();
    let parts = AgentParts {
        prompts: Vec::new(),
        guardrails: all,
        routes: Vec::new(),
        targets: Vec::new(),
        tools: Vec::new(),
        has_knowledge: false,
    };
    let found = configuration(&agent("a", json!({})), None, parts, &[]).guardrail_rules.forbidden_patterns;
    assert_eq!((found.len(), found.last().map(String::as_str)), (200, Some("j19")));
}

#[test]
fn an_agent_that_cannot_work_is_warned_of() {
    let trapped = json!({ "enabledInternalTools": ["setContactVariable"] });
    for (body, credential, prompts, expected) in [
        (json!({}), Some("c"), 1, &[][..]),
        (json!({ "llmCredentialId": "own" }), None, 1, &[]),
        (json!({}), None, 1, &["noCredential"]),
        (json!({}), Some("c"), 0, &["noSystemPrompt"]),
        (json!({ "isActive": false }), Some("c"), 1, &["notInService"]),
        (json!({ "type": "system", "task": "flow" }), Some("c"), 1, &["notInService"]),
        (trapped.clone(), Some("c"), 1, &["noWayOut"]),
        (json!({ "enabledInternalTools": ["endAgentSession"] }), Some("c"), 1, &[]),
        (
            json!({ "isActive": false, "enabledInternalTools": ["setContactVariable"] }),
            None,
            0,
            &["notInService", "noSystemPrompt", "noCredential", "noWayOut"],
        ),
    ] {
        let parts = AgentParts { prompts: vec![prompt("P"); prompts], ..AgentParts::default() };
        let found = configuration(&agent("a", body.clone()), Some(&router(credential)), parts, &[]);
        assert_eq!(warned(&found), expected, "{body}");
    }
}

#[test]
fn credentials_are_the_agents_own_or_the_routers() {
    let own = json!({ "llmCredentialId": "own" });
    let both = json!({ "llmCredentialId": "own", "fallbackModel": "n", "fallbackLlmCredentialId": "second" });
    let second = json!({ "fallbackModel": "n", "fallbackLlmCredentialId": "second" });
    // A credential without a second model is of no use.
    let unused = json!({ "fallbackLlmCredentialId": "second" });
    for (body, of_router, expected) in [
        (json!({}), None, (None, None)),
        (json!({}), Some("c"), (Some("c"), None)),
        (own, Some("c"), (Some("own"), None)),
        (json!({ "fallbackModel": "n" }), Some("c"), (Some("c"), Some("c"))),
        (both, None, (Some("own"), Some("second"))),
        (second, Some("c"), (Some("c"), Some("second"))),
        (unused, Some("c"), (Some("c"), None)),
    ] {
        let found =
            configuration(&agent("a", body.clone()), Some(&router(of_router)), AgentParts::default(), &[]);
        let (first, second) = (&found.llm_credential_id, &found.fallback_llm_credential_id);
        let found = (first.as_ref().map(|id| id.as_str()), second.as_ref().map(|id| id.as_str()));
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn routes_lead_to_agents_in_service_only() {
    let parts = AgentParts {
        prompts: vec![prompt("P")],
        routes: ["care", "away", "builder", "gone", "trap"].map(|to| route(to, "")).into(),
        targets: vec![
            agent("care", json!({})),
            agent("away", json!({ "isActive": false })),
            agent("builder", json!({ "type": "system", "task": "flow" })),
            agent("trap", json!({ "enabledInternalTools": ["setContactVariable"] })),
        ],
        ..AgentParts::default()
    };
    let found = configuration(&agent("a", json!({})), Some(&router(Some("c"))), parts, &[]);
    let routes: Vec<&str> = found.routes.iter().map(|route| route.agent_id.as_str()).collect();
    assert_eq!(routes, ["care", "trap"]);
    assert_eq!(warned(&found), ["deadEnd away", "deadEnd builder", "deadEnd gone", "noWayOut trap"]);
}

#[test]
fn a_tool_whose_name_is_taken_is_left_out() {
    let tools = [
        tool("f1", "Order status"),
        tool("f2", "order status"),
        tool("f3", "Order-status!"),
        tool("f4", "endAgentSession"),
        tool("f5", "Unread"),
    ];
    let versions: Vec<FlowVersion> = tools[..4].iter().map(|tool| version(tool, "p")).collect();
    let parts = AgentParts { prompts: vec![prompt("P")], tools: tools.into(), ..AgentParts::default() };
    let found = configuration(&agent("a", json!({})), Some(&router(Some("c"))), parts, &versions);
    let names: Vec<&str> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Order_status", "order_status"]);
    assert_eq!(warned(&found), ["toolNameTaken Order_status", "toolNameTaken endAgentSession"]);
    assert_eq!(found.flow_of("order_status").map(|id| id.as_str()), Some("f2"));
    assert_eq!(found.flow_of("endAgentSession"), None);
}

#[test]
fn flows_are_called_by_plain_names() {
    for (flow, expected) in [
        ("orderStatus", "orderStatus"),
        ("Situação do pedido", "Situacao_do_pedido"),
        (" 2ª via (boleto) ", "2_via_boleto"),
        ("注文", "tool"),
    ] {
        assert_eq!(tool_name(flow), expected);
    }
    assert_eq!(tool_name(&"ab ".repeat(40)).len(), 64);
}

#[test]
fn parameters_are_a_schema() {
    let parameters: Vec<Parameter> = serde_json::from_value(json!([
        { "name": "order", "type": "integer", "description": "Its number", "required": true },
        { "name": "detail" },
    ]))
    .expect("parameters");
    assert_eq!(
        schema_of(&parameters),
        json!({ "type": "object", "required": ["order"], "additionalProperties": false, "properties": {
            "order": { "type": "integer", "description": "Its number" }, "detail": { "type": "string" } } })
    );
}
