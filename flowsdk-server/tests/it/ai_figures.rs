//! What AI agents did and cost.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_agent::scripted::{Script, Scripted};
use serde_json::{Value, json};

use crate::agents::{Rules, shop, told};
use crate::api::building::{id, router, visitor};
use crate::harness::{Api, Client, Server, Setup, eventually, everywhere};

everywhere!(in process: turns_are_read, usage_is_reported, a_budget_ends_what_it_does_not_pay);

/// Answers everything with what was said.
const ECHO: &str = r#"{ "rules": [{ "when": { "input": "(?s)^(.*)$" }, "calls": [
    { "tool": "sendTextMessage", "arguments": { "text": "{{1}}!" } }] }] }"#;

/// A shop whose agent is asked by the model `m`.
struct Shop {
    server: Server,
    admin: Api,
    router: String,
    visitor: Client,
    answers: usize,
}

impl Shop {
    async fn open(setup: &Setup) -> Self {
        let server = setup.start().await;
        let admin = Api::admin(setup, &server).await;
        let credential = json!({ "name": "Modelos", "provider": "openai", "apiKey": "sk-test" });
        let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
        let (channel, router) = shop(&admin, json!({ "llmCredentialId": credential })).await;
        let mut visitor = visitor(&server, &channel).await;
        visitor.say("oi").await;
        assert_eq!(visitor.texts(1).await, ["Sobre?"]);
        Self { server, admin, router, visitor, answers: 1 }
    }

    /// The visitor says something. Returns the answer.
    async fn ask(&mut self, text: &str) -> Value {
        self.visitor.say(text).await;
        self.answers += 1;
        told(&self.server, &mut self.visitor, self.answers).await["text"]["body"].clone()
    }
}

/// Answers by these rules.
fn answered_by(setup: Setup, script: &str) -> Setup {
    setup.with_models(Arc::new(Rules(Arc::new(Scripted::new(Script::parse(script).unwrap())))))
}

/// Whoever may read sessions within reach reads the turns of their agents.
async fn turns_are_read(setup: Setup) {
    let setup = answered_by(setup, ECHO);
    let mut shop = Shop::open(&setup).await;
    assert_eq!(shop.ask("chá").await, "chá!");
    assert_eq!(shop.ask("café").await, "café!");
    let (admin, here) = (&shop.admin, &shop.router);
    // The last answer, which says nothing more, may still be on its way.
    let list = eventually("the end of both turns", || async {
        shop.server.advance(Duration::from_millis(500)).await;
        let list = admin.get(&format!("/ai/turns?routerId={here}&isRunning=false")).await.ok(200);
        (list["items"].as_array().unwrap().len() == 2).then_some(list)
    })
    .await;
    let turns = list["items"].as_array().unwrap();
    assert_eq!(turns.iter().map(|turn| &turn["number"]).collect::<Vec<_>>(), [2, 1]);
    let turn = &turns[1];
    assert_eq!(turn.as_object().unwrap().len(), 16, "{turn}");
    assert_eq!((&turn["answerCount"], &turn["callCount"]), (&json!(2), &json!(1)));
    assert!(turn["inputTokens"].as_u64().unwrap() > 0, "{turn}");
    assert_eq!((&turn["error"], &turn["endReason"]), (&Value::Null, &Value::Null));
    for query in ["failed=false", &format!("agentId={}", turn["agentId"].as_str().unwrap())] {
        let list = admin.get(&format!("/ai/turns?{query}&limit=1")).await.ok(200);
        assert_eq!(list["items"][0]["number"], 2, "{query}");
        assert!(list["nextCursor"].is_string(), "{query}");
    }
    for query in ["failed=true", "sessionId=wc-nobody-x", "chatId=cnothing", "agentId=cnothing"] {
        assert_eq!(admin.get(&format!("/ai/turns?{query}")).await.ok(200)["items"], json!([]), "{query}");
    }
    assert_eq!(admin.get("/ai/turns?failed=x&sessionId=x").await.invalid_fields(), ["failed", "sessionId"]);

    let path = format!("/ai/turns/{}", id(turn));
    let shown = admin.get(&path).await.ok(200);
    for (field, value) in turn.as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}");
    }
    let items = shown["items"].as_array().unwrap();
    let kinds: Vec<_> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "toolCall", "toolResult"]);
    assert_eq!(items[1]["id"], items[2]["callId"]);
    assert_eq!((&shown["answers"][0]["model"], &shown["answers"][0]["error"]), (&json!("m"), &Value::Null));
    admin.get("/ai/turns/cnothing").await.refused(404, "not_found", "Turno de agente de IA não encontrado");

    let elsewhere = router(admin, "B").await;
    let may = json!([{ "resource": "sessions", "actions": ["read"] }]);
    let ana = admin.member(&setup, &may, &[here]).await;
    assert_eq!(ana.get("/ai/turns").await.ok(200)["items"], list["items"]);
    ana.get(&path).await.ok(200);
    let bia = admin.member(&setup, &may, &[&elsewhere]).await;
    bia.get(&path).await.refused(404, "not_found", "Turno de agente de IA não encontrado");
    assert_eq!(bia.get("/ai/turns").await.ok(200)["items"], json!([]));
    bia.get(&format!("/ai/turns?routerId={here}")).await.assert_error(403);
    let may_not = json!([{ "resource": "flows", "actions": ["read"] }]);
    let eva = admin.member(&setup, &may_not, &[here]).await;
    for path in [&path, "/ai/turns"] {
        eva.get(path).await.refused(403, "permission_denied", "Sem permissão");
        Api::anonymous(&shop.server).get(path).await.assert_error(401);
    }
}

/// Whoever may read reports sees what the models of the routers within reach used.
async fn usage_is_reported(setup: Setup) {
    let setup = answered_by(setup, ECHO);
    let mut shop = Shop::open(&setup).await;
    let here = shop.router.clone();
    let price = json!({ "routerId": here, "model": "m", "inputPerMillion": 1, "outputPerMillion": 2 });
    shop.admin.post("/ai/prices", &price).await.ok(201);
    assert_eq!(shop.ask("chá").await, "chá!");
    let admin = &shop.admin;
    let path = format!("/ai/usage?routerId={here}");
    // The last answer, which says nothing more, may still be on its way.
    let report = eventually("both answers", || async {
        shop.server.advance(Duration::from_secs(6)).await;
        let report = admin.get(&path).await.ok(200);
        (report["total"]["calls"] == 2).then_some(report)
    })
    .await;
    let total = &report["total"];
    let tokens = |field: &str| total[field].as_f64().unwrap();
    let cost = (tokens("inputTokens") + 2.0 * tokens("outputTokens")) / 1_000_000.0;
    assert!((total["cost"].as_f64().unwrap() - cost).abs() < 1e-9, "{total}");
    assert_eq!(total["unpricedTokens"], 0);
    assert_eq!(report["groups"].as_array().unwrap().len(), 1);
    assert_eq!(report["groups"][0]["day"], report["to"]);
    let by = admin.get(&format!("{path}&by=agent,model,router")).await.ok(200);
    let group = by["groups"][0].as_object().unwrap();
    assert_eq!((&group["model"], &group["routerId"]), (&json!("m"), &json!(here)));
    assert!(group["agentId"].is_string() && !group.contains_key("day"), "{group:?}");
    assert_eq!(by["total"], report["total"]);
    let by = admin.get(&format!("{path}&by=work&work=turn")).await.ok(200);
    assert_eq!((&by["groups"][0]["work"], &by["total"]), (&json!("turn"), &report["total"]));
    assert_eq!(admin.get(&format!("{path}&work=summary")).await.ok(200)["groups"], json!([]));
    for (query, fields) in [
        ("by=hour", &["by"][..]),
        ("by=", &["by"]),
        ("work=tea", &["work"]),
        ("from=yesterday&to=2026-13-01", &["from", "to"]),
        ("from=2026-11-02&to=2026-11-01", &["from"]),
        ("from=2025-01-01&to=2026-11-01", &["from"]),
    ] {
        assert_eq!(admin.get(&format!("/ai/usage?{query}")).await.invalid_fields(), fields, "{query}");
    }

    let elsewhere = router(admin, "B").await;
    let may = json!([{ "resource": "reports", "actions": ["read"] }]);
    let ana = admin.member(&setup, &may, &[&here]).await;
    assert_eq!(ana.get("/ai/usage").await.ok(200)["total"], report["total"]);
    let bia = admin.member(&setup, &may, &[&elsewhere]).await;
    assert_eq!(bia.get("/ai/usage").await.ok(200)["groups"], json!([]));
    bia.get(&path).await.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let may_not = json!([{ "resource": "sessions", "actions": ["read"] }]);
    let eva = admin.member(&setup, &may_not, &[&here]).await;
    eva.get(&path).await.refused(403, "permission_denied", "Sem permissão");
    Api::anonymous(&shop.server).get(&path).await.assert_error(401);
}

/// When the budget of a router is used up, no model is asked: the flow goes on.
async fn a_budget_ends_what_it_does_not_pay(setup: Setup) {
    let setup = answered_by(setup, ECHO);
    let mut shop = Shop::open(&setup).await;
    let here = shop.router.clone();
    let price =
        json!({ "routerId": here, "model": "m", "inputPerMillion": 1_000, "outputPerMillion": 1_000 });
    shop.admin.post("/ai/prices", &price).await.ok(201);
    let budget = json!({ "routerId": here, "monthlyAmount": 0.000001 });
    let budget = format!("/ai/budgets/{}", id(&shop.admin.post("/ai/budgets", &budget).await.ok(201)));
    assert_eq!(shop.ask("chá").await, "chá!");
    let spent = eventually("the cost of both answers", || async {
        shop.server.advance(Duration::from_secs(6)).await;
        let total = shop.admin.get(&format!("/ai/usage?routerId={here}")).await.ok(200)["total"].clone();
        let spent = shop.admin.get(&budget).await.ok(200)["spent"].clone();
        (total["calls"] == 2 && total["cost"] == spent).then_some(spent)
    })
    .await;
    assert_eq!(shop.ask("café").await, "Fim: fallback_stuck");
    let turns = shop.admin.get("/ai/turns?failed=true").await.ok(200);
    let turn = &turns["items"][0];
    assert_eq!((&turn["error"], &turn["endReason"]), (&json!("budget"), &json!("fallback_stuck")));
    assert_eq!((&turn["answerCount"], &turn["isRunning"]), (&json!(0), &json!(false)));
    assert_eq!(shop.admin.get(&budget).await.ok(200)["spent"], spent);
}
