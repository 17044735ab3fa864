//! AI agents, and what stands beside them.

use serde_json::{Value, json};

use super::building::{act, details, id, router};
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice, lists, credentials, guardrails_live, guardrails_scope,
    guardrails_refused, prompts, routes, parts_of_others, deletion, configuration);

const AGENTS: Routes = Routes {
    path: "/ai-agents",
    body: |router| {
        json!({ "routerId": router, "type": "orchestrator", "task": null, "name": "Sales", "description": "Sells tea",
            "model": "gpt-5-mini", "llmCredentialId": null, "fallbackModel": "gpt-5-nano",
            "fallbackLlmCredentialId": null, "enabledInternalTools": ["transferToHuman", "endAgentSession"],
            "nativeToolDescriptions": { "ragSearch": "Search the menu." }, "contactVariableKeys": ["city"],
            "ragTags": ["menu"], "hasVision": true, "maxOutputTokens": 500, "isActive": true })
    },
    second: |router| json!({ "routerId": router, "type": "specialist", "name": "Care", "model": "gpt-5" }),
    change: || {
        json!({ "type": "system", "task": "flow", "name": "Builder", "description": "", "model": "gpt-5",
            "fallbackModel": null, "enabledInternalTools": [], "nativeToolDescriptions": {},
            "contactVariableKeys": null, "ragTags": [], "hasVision": false, "maxOutputTokens": null,
            "isActive": false })
    },
    fields: 19,
    unlisted: &[],
    commands: &[],
    resource: "flows",
    kind: "AI_AGENT",
    not_found: "Agente de IA não encontrado",
};

const GUARDRAILS: Routes = Routes {
    path: "/guardrails",
    body: |router| {
        json!({ "routerId": router, "agentId": null, "text": "No politics.",
            "rules": { "forbiddenPatterns": ["vote for"], "allowedLinkHosts": ["shop.example"], "maxLength": 900,
                "maskedData": ["cpf"] },
            "isActive": true })
    },
    second: |router| json!({ "routerId": router, "text": "No prices." }),
    change: || {
        json!({ "text": "", "isActive": false,
            "rules": { "forbiddenPatterns": [], "allowedLinkHosts": [], "maxLength": null,
                "maskedData": ["cardNumber", "email"] } })
    },
    fields: 8,
    unlisted: &[],
    commands: &[],
    resource: "flows",
    kind: "GUARDRAIL",
    not_found: "Guardrail não encontrado",
};

async fn life(setup: Setup) {
    AGENTS.live(setup).await;
}

async fn scope(setup: Setup) {
    AGENTS.keep_to_their_router(setup).await;
}

async fn twice(setup: Setup) {
    AGENTS.are_created_once(setup).await;
}

async fn guardrails_live(setup: Setup) {
    GUARDRAILS.live(setup).await;
}

async fn guardrails_scope(setup: Setup) {
    GUARDRAILS.keep_to_their_router(setup).await;
}

/// Creates an agent with only what it must have.
async fn agent(api: &Api, router: &str, name: &str) -> String {
    let body = json!({ "routerId": router, "type": "specialist", "name": name, "model": "gpt-5" });
    id(&api.post("/ai-agents", &body).await.ok(201))
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let wrong = [
        ("type", json!("robot")),
        ("name", json!(" ")),
        ("description", json!("d".repeat(1_001))),
        ("model", json!(" ")),
        ("model", json!("m".repeat(201))),
        ("fallbackModel", json!("")),
        ("llmCredentialId", json!(7)),
        ("enabledInternalTools[0]", json!(["dance"])),
        ("enabledInternalTools[1]", json!(["setVariable", "ragSearch"])),
        ("nativeToolDescriptions", json!({ "dance": "Dances." })),
        ("nativeToolDescriptions.ragSearch", json!({ "ragSearch": "d".repeat(2_001) })),
        ("nativeToolDescriptions.ragSearch", json!({ "ragSearch": " " })),
        ("nativeToolDescriptions.ragSearch", json!({ "ragSearch": 7 })),
        ("contactVariableKeys", json!("city")),
        ("contactVariableKeys[1]", json!(["city", ""])),
        ("contactVariableKeys[0]", json!(["k".repeat(101)])),
        ("ragTags", json!(vec!["t"; 21])),
        ("ragTags[0]", json!([" "])),
        ("hasVision", json!("yes")),
        ("maxOutputTokens", json!(15)),
        ("isActive", json!(1)),
        ("other", json!(1)),
    ];
    let path = AGENTS.refuse(&admin, &router, &json!({}), &wrong).await;
    for missing in ["type", "name", "model"] {
        let mut body = (AGENTS.body)(&router);
        body.as_object_mut().unwrap().remove(missing);
        assert_eq!(admin.post(AGENTS.path, &body).await.invalid_fields(), [missing]);
    }
    // Agents of type `system` have a task, and no others.
    for (kind, task) in [("system", json!(null)), ("specialist", json!("flow"))] {
        let mut body = (AGENTS.body)(&router);
        (body["type"], body["task"]) = (kind.into(), task.clone());
        assert_eq!(admin.post(AGENTS.path, &body).await.invalid_fields(), ["task"], "{kind}");
        assert_eq!(
            admin.patch(&path, &json!({ "type": kind, "task": task })).await.invalid_fields(),
            ["task"]
        );
    }
    admin.get(&AGENTS.at("cnothing")).await.refused(404, "not_found", AGENTS.not_found);
}

async fn lists(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    for (name, kind, is_active) in
        [("A", "orchestrator", true), ("B", "specialist", true), ("C", "specialist", false)]
    {
        let body =
            json!({ "routerId": router, "type": kind, "name": name, "model": "m", "isActive": is_active });
        admin.post(AGENTS.path, &body).await.ok(201);
    }
    for (query, expected) in [
        ("", &["C", "B", "A"][..]),
        ("&type=specialist", &["C", "B"]),
        ("&isActive=true", &["B", "A"]),
        ("&type=specialist&isActive=true", &["B"]),
        ("&q=a", &["A"]),
        ("&type=system", &[]),
    ] {
        let list = admin.get(&format!("/ai-agents?routerId={router}{query}")).await.ok(200);
        assert_eq!(of_all(&list, "name"), expected, "{query}");
    }
    assert_eq!(admin.get("/ai-agents?type=robot").await.invalid_fields(), ["type"]);
}

fn of_all<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list["items"].as_array().unwrap().iter().map(|one| one[field].as_str().unwrap()).collect()
}

async fn credentials(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let body = json!({ "name": "Production", "provider": "openai", "apiKey": "sk-1" });
    let credential = id(&admin.post("/llm-credentials", &body).await.ok(201));
    let mut body = (AGENTS.body)(&router);
    for field in ["llmCredentialId", "fallbackLlmCredentialId"] {
        body[field] = json!("cnothing");
        let refused = admin.post(AGENTS.path, &body).await;
        refused.refused(422, "credential_unknown", "Credencial não encontrada");
        assert_eq!(details(&refused)[0].0, field);
        body[field] = json!(credential);
    }
    let path = AGENTS.at(&id(&admin.post(AGENTS.path, &body).await.ok(201)));
    // Agents stand in the way of its deletion, and are left without it by force.
    let used = admin.delete(&format!("/llm-credentials/{credential}")).await;
    used.refused(409, "in_use", "Registro em uso");
    let fields: Vec<String> = details(&used).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["aiAgent.llmCredentialId", "aiAgent.fallbackLlmCredentialId"]);
    admin.delete(&format!("/llm-credentials/{credential}?force=true")).await.ok(204);
    let left = admin.get(&path).await.ok(200);
    assert_eq!((&left["llmCredentialId"], &left["fallbackLlmCredentialId"]), (&Value::Null, &Value::Null));
}

async fn guardrails_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let wrong = [
        ("text", json!("t".repeat(2_001))),
        ("rules", json!([])),
        ("rules.forbiddenPatterns", json!({ "forbiddenPatterns": vec!["p"; 21] })),
        ("rules.forbiddenPatterns[0]", json!({ "forbiddenPatterns": [1] })),
        ("rules.allowedLinkHosts", json!({ "allowedLinkHosts": "shop.example" })),
        ("rules.maxLength", json!({ "maxLength": 0 })),
        ("rules.maskedData[0]", json!({ "maskedData": ["name"] })),
        ("rules.other", json!({ "other": 1 })),
        ("isActive", json!("yes")),
        ("other", json!(1)),
    ];
    let path = GUARDRAILS.refuse(&admin, &router, &json!({}), &wrong).await;
    // Rules that cannot be enforced are refused, as is a guardrail that says nothing.
    let unfit = json!({ "forbiddenPatterns": ["fine", "("], "allowedLinkHosts": ["https://shop.example"] });
    let rules = json!({ "rules": unfit });
    let new = json!({ "routerId": router, "text": "T", "rules": unfit });
    for refused in [admin.patch(&path, &rules).await, admin.post(GUARDRAILS.path, &new).await] {
        refused.refused(422, "guardrail_rules_invalid", "As regras não podem ser aplicadas");
        let fields: Vec<String> = details(&refused).into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["rules.forbiddenPatterns[1]", "rules.allowedLinkHosts[0]"]);
    }
    for nothing in [json!(null), json!({}), json!({ "forbiddenPatterns": [], "allowedLinkHosts": null })] {
        let silent = json!({ "routerId": router, "text": " ", "rules": nothing });
        assert_eq!(admin.post(GUARDRAILS.path, &silent).await.invalid_fields(), ["text"]);
        let change = json!({ "text": "", "rules": nothing });
        assert_eq!(admin.patch(&path, &change).await.invalid_fields(), ["text"]);
    }
    let only_rules = json!({ "routerId": router, "rules": { "maxLength": 9 } });
    let path = GUARDRAILS.at(&id(&admin.post(GUARDRAILS.path, &only_rules).await.ok(201)));
    assert_eq!(admin.patch(&path, &json!({ "rules": null })).await.invalid_fields(), ["text"]);
    let text = admin.patch(&path, &json!({ "rules": null, "text": "No jokes." })).await.ok(200);
    assert_eq!((&text["rules"], &text["text"]), (&json!(null), &json!("No jokes.")));
    let sales = agent(&admin, &router, "Sales").await;
    assert_eq!(admin.patch(&path, &json!({ "agentId": sales })).await.invalid_fields(), ["agentId"]);
    let masking = json!({ "routerId": router, "agentId": sales, "rules": { "maskedData": ["email"] } });
    let refused = admin.post(GUARDRAILS.path, &masking).await;
    refused.refused(422, "guardrail_rules_invalid", "As regras não podem ser aplicadas");
    assert_eq!(details(&refused)[0].0, "rules.maskedData");
    let own = json!({ "routerId": router, "agentId": sales, "text": "No discounts." });
    admin.post(GUARDRAILS.path, &own).await.ok(201);
    let list = admin.get(&format!("/guardrails?agentId={sales}")).await.ok(200);
    assert_eq!(of_all(&list, "text"), ["No discounts."]);
}

async fn prompts(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let (sales, care) = (agent(&admin, &router, "Sales").await, agent(&admin, &router, "Care").await);
    let body = json!({ "routerId": router, "agentId": sales, "name": "Tone", "text": "Be kind.", "order": 2, "isActive": true });
    let made = admin.post("/system-prompts", &body).await.ok(201);
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!(made.as_object().unwrap().len(), 9, "{made}");
    let path = format!("/system-prompts/{}", id(&made));
    let change = json!({ "name": "Voice", "text": "Be brief.", "order": 0, "isActive": false });
    let changed = admin.patch(&path, &change).await.ok(200);
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&changed[field], value, "{field}");
    }
    let other = json!({ "routerId": router, "agentId": care, "name": "Care", "text": "Listen." });
    assert_eq!(admin.post("/system-prompts", &other).await.ok(201)["order"], 0);
    let list = admin.get(&format!("/system-prompts?agentId={sales}")).await.ok(200);
    assert_eq!(of_all(&list, "name"), ["Voice"]);
    for (field, value) in [
        ("name", json!(" ")),
        ("text", json!("")),
        ("text", json!("t".repeat(32_001))),
        ("order", json!(-1)),
        ("order", json!(10_001)),
        ("isActive", json!(1)),
        ("other", json!(1)),
    ] {
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [field]);
    }
    assert_eq!(admin.patch(&path, &json!({ "agentId": care })).await.invalid_fields(), ["agentId"]);
    assert_eq!(admin.get("/system-prompts?agentId=!").await.invalid_fields(), ["agentId"]);
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Prompt de sistema não encontrado");
}

async fn routes(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let (sales, care) = (agent(&admin, &router, "Sales").await, agent(&admin, &router, "Care").await);
    let body = |from: &str, to: &str| json!({ "routerId": router, "fromAgentId": from, "toAgentId": to });
    let made = admin.post("/ai-agent-routes", &body(&sales, &care)).await.ok(201);
    assert_eq!((&made["description"], &made["isActive"]), (&json!(""), &json!(true)));
    assert_eq!(made.as_object().unwrap().len(), 8, "{made}");
    let taken = admin.post("/ai-agent-routes", &body(&sales, &care)).await;
    taken.refused(409, "route_taken", "Já existe uma rota entre estes agentes");
    assert_eq!(admin.post("/ai-agent-routes", &body(&care, &care)).await.invalid_fields(), ["toAgentId"]);
    admin.post("/ai-agent-routes", &body(&care, &sales)).await.ok(201);
    let path = format!("/ai-agent-routes/{}", id(&made));
    let changed =
        admin.patch(&path, &json!({ "description": "Complaints", "isActive": false })).await.ok(200);
    assert_eq!((&changed["description"], &changed["isActive"]), (&json!("Complaints"), &json!(false)));
    assert_eq!(admin.patch(&path, &json!({ "description": 7 })).await.invalid_fields(), ["description"]);
    assert_eq!(admin.patch(&path, &json!({ "toAgentId": sales })).await.invalid_fields(), ["toAgentId"]);
    let list = admin.get(&format!("/ai-agent-routes?agentId={sales}")).await.ok(200);
    assert_eq!(of_all(&list, "toAgentId"), [care]);
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Rota entre agentes não encontrada");
}

/// Records name agents of their own router only, and are seen by whoever has their router in scope.
async fn parts_of_others(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let (own, foreign) = (agent(&admin, &mine, "Own").await, agent(&admin, &theirs, "Foreign").await);
    let all = json!([{ "resource": "flows", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let read = json!([{ "resource": "flows", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    let prompt =
        |router: &str, agent: &str| json!({ "routerId": router, "agentId": agent, "name": "N", "text": "T" });
    let guardrail = |router: &str, agent: &str| json!({ "routerId": router, "agentId": agent, "text": "T" });
    let away =
        |router: &str, agent: &str| json!({ "routerId": router, "fromAgentId": own, "toAgentId": agent });
    let home =
        |router: &str, agent: &str| json!({ "routerId": router, "fromAgentId": agent, "toAgentId": own });
    type Body<'a> = &'a dyn Fn(&str, &str) -> Value;
    let cases: [(&str, &str, Body<'_>); 4] = [
        ("/system-prompts", "agentId", &prompt),
        ("/guardrails", "agentId", &guardrail),
        ("/ai-agent-routes", "toAgentId", &away),
        ("/ai-agent-routes", "fromAgentId", &home),
    ];
    for (path, field, body) in cases {
        for agent in [foreign.as_str(), "cnothing"] {
            let refused = bia.post(path, &body(&mine, agent)).await;
            refused.refused(422, "ai_agent_unknown", "O agente de IA não existe neste roteador");
            assert_eq!(details(&refused)[0].0, field, "{path}");
        }
        bia.post(path, &body(&theirs, &foreign)).await.refused(
            403,
            "router_out_of_scope",
            "Roteador fora do escopo",
        );
        eva.post(path, &body(&mine, &own)).await.refused(403, "permission_denied", "Sem permissão");
        Api::anonymous(&server).get(path).await.assert_error(401);
    }
    let another = agent(&admin, &theirs, "Another").await;
    let route = json!({ "routerId": theirs, "fromAgentId": foreign, "toAgentId": another });
    for (path, body) in [
        ("/system-prompts", prompt(&theirs, &foreign)),
        ("/guardrails", guardrail(&theirs, &foreign)),
        ("/ai-agent-routes", route),
    ] {
        let one = format!("{path}/{}", id(&admin.post(path, &body).await.ok(201)));
        bia.get(&one).await.assert_error(404);
        bia.patch(&one, &json!({})).await.assert_error(404);
        bia.delete(&one).await.assert_error(404);
        assert_eq!(bia.get(path).await.ok(200)["items"], json!([]), "{path}");
        eva.get(&one).await.ok(200);
        eva.patch(&one, &json!({})).await.assert_error(403);
        eva.delete(&one).await.assert_error(403);
    }
}

/// Routes to an agent stand in the way of its deletion. What is its own goes with it.
async fn deletion(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let (sales, care) = (agent(&admin, &router, "Sales").await, agent(&admin, &router, "Care").await);
    let route = json!({ "routerId": router, "fromAgentId": sales, "toAgentId": care });
    let route = id(&admin.post("/ai-agent-routes", &route).await.ok(201));
    let prompt = json!({ "routerId": router, "agentId": care, "name": "N", "text": "T" });
    let prompt = id(&admin.post("/system-prompts", &prompt).await.ok(201));
    let refused = admin.delete(&AGENTS.at(&care)).await;
    refused.refused(409, "in_use", "Registro em uso");
    assert_eq!(details(&refused)[0].0, "aiAgentRoute.toAgentId");
    let all = json!([{ "resource": "flows", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&router]).await;
    bia.delete(&format!("{}?force=true", AGENTS.at(&care))).await.assert_error(403);
    admin.delete(&format!("{}?force=true", AGENTS.at(&care))).await.ok(204);
    admin.get(&format!("/system-prompts/{prompt}")).await.assert_error(404);
    admin.get(&format!("/ai-agent-routes/{route}")).await.assert_error(404);
    admin.delete(&AGENTS.at(&sales)).await.ok(204);
}

/// The configuration has what is active, in its order; it is shown to whoever may see the agent.
async fn configuration(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, elsewhere) = (router(&admin, "Loja").await, router(&admin, "B").await);
    let (sales, care) = (agent(&admin, &router, "Sales").await, agent(&admin, &router, "Care").await);
    let path = format!("{}/configuration", AGENTS.at(&sales));
    let codes = |shown: &Value| -> Vec<Value> {
        shown["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect()
    };
    let bare = admin.get(&path).await.ok(200);
    assert_eq!(codes(&bare), ["noSystemPrompt", "noCredential"]);
    let credential = json!({ "name": "Production", "provider": "openai", "apiKey": "sk-1" });
    let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
    let change = json!({ "llmCredentialId": credential });
    admin.patch(&format!("/routers/{router}"), &change).await.ok(200);
    for (text, order, is_active) in [("Last.", 2, true), ("First.", 1, true), ("Never.", 0, false)] {
        let body = json!({ "routerId": router, "agentId": sales, "name": "N", "text": text, "order": order,
            "isActive": is_active });
        admin.post("/system-prompts", &body).await.ok(201);
    }
    for (agent, text, most, is_active) in [
        (json!(sales), "No discounts.", 700, true),
        (json!(care), "No jokes.", 100, true),
        (json!(null), "No politics.", 800, true),
        (json!(null), "No religion.", 200, false),
    ] {
        let rules = json!({ "forbiddenPatterns": [text], "maxLength": most });
        let body = json!({ "routerId": router, "agentId": agent, "text": text, "rules": rules,
            "isActive": is_active });
        admin.post(GUARDRAILS.path, &body).await.ok(201);
    }
    let route =
        json!({ "routerId": router, "fromAgentId": sales, "toAgentId": care, "description": "Complaints" });
    admin.post("/ai-agent-routes", &route).await.ok(201);
    let tool = json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": "number", "type": "integer", "required": true }],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] });
    let mut tools = Vec::new();
    for name in ["Situação do pedido", "Draft"] {
        let body = json!({ "routerId": router, "name": name, "kind": "tool", "definition": tool });
        tools.push(id(&admin.post("/flows", &body).await.ok(201)));
    }
    act(&admin, &format!("/flows/{}/publish", tools[0])).await.ok(200);
    let shown = admin.get(&path).await.ok(200);
    assert_eq!(
        shown,
        json!({ "agentId": sales, "routerId": router, "name": "Sales", "systemPrompt": "First.\n\nLast.",
            "guardrails": ["No politics.", "No discounts."],
            "guardrailRules": { "forbiddenPatterns": ["No discounts.", "No politics."], "allowedLinkHosts": null,
                "maxLength": 700, "maskedData": [] },
            "routes": [{ "agentId": care, "name": "Care", "description": "Complaints" }],
            "model": "gpt-5", "llmCredentialId": credential, "fallbackModel": null,
            "fallbackLlmCredentialId": null, "enabledInternalTools": [], "nativeToolDescriptions": {},
            "contactVariableKeys": null, "hasRagSources": false, "ragTags": [],
            "tools": [{ "flowId": tools[0], "name": "Situacao_do_pedido", "description": "Situação do pedido",
                "parameters": { "type": "object", "properties": { "number": { "type": "integer" } },
                    "required": ["number"], "additionalProperties": false } }],
            "sentimentConfig": null, "hasVision": false, "maxOutputTokens": null, "warnings": [] })
    );
    admin.patch(&AGENTS.at(&care), &json!({ "isActive": false })).await.ok(200);
    let shown = admin.get(&path).await.ok(200);
    assert_eq!(shown["routes"], json!([]));
    assert_eq!(shown["warnings"], json!([{ "code": "deadEnd", "subject": care }]));

    let read = json!([{ "resource": "flows", "actions": ["read"] }]);
    admin.member(&setup, &read, &[&router]).await.get(&path).await.ok(200);
    let foreign = admin.member(&setup, &read, &[&elsewhere]).await.get(&path).await;
    foreign.refused(404, "not_found", AGENTS.not_found);
    let other = json!([{ "resource": "contacts", "actions": ["read"] }]);
    let refused = admin.member(&setup, &other, &[&router]).await.get(&path).await;
    refused.refused(403, "permission_denied", "Sem permissão");
    admin.get("/ai-agents/cnothing/configuration").await.refused(404, "not_found", AGENTS.not_found);
}
