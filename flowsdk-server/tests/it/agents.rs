//! AI agents that have conversations (spec B 3.3, 4.9).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::executor::Models;
use flowsdk_agent::model::{ModelError, ModelProvider};
use flowsdk_agent::scripted::{Script, Scripted};
use flowsdk_core::credential::LlmCredential;
use serde_json::{Value, json};

use crate::api::building::{id, published, router, visitor};
use crate::api::desk::{desk_of, told as desk_told};
use crate::api::tickets::Tickets;
use crate::harness::{Api, Client, Server, Setup, eventually, everywhere};

everywhere!(whoever_no_model_answers_goes_on_with_the_flow);
everywhere!(in process: an_agent_has_a_conversation, desks_move_and_close_the_tickets_of_agents, what_is_over_gets_a_summary,
    an_agent_in_use_is_not_deleted);

/// A model that answers by rules.
#[derive(Debug)]
pub(crate) struct Rules(pub(crate) Arc<Scripted>);

#[async_trait]
impl Models for Rules {
    async fn open(&self, _: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError> {
        Ok(Arc::clone(&self.0) as Arc<dyn ModelProvider>)
    }
}

/// Asks, hands over to an agent, and says how that ended.
pub(crate) fn attended(agent: &str) -> Value {
    let says = |text: &str| json!([{ "type": "text", "text": { "body": text } }]);
    json!({ "schemaVersion": 1, "startBlockId": "ask", "blocks": [
        { "id": "ask", "type": "content", "contents": says("Sobre?"), "input": { "variable": "subject" },
            "defaultOutput": { "blockId": "ai" } },
        { "id": "ai", "type": "agent", "agentId": agent, "maxMessages": 20, "outputConditions": [],
            "defaultOutput": { "blockId": "bye" } },
        { "id": "bye", "type": "content", "contents": says("Fim: {{agentEndReason}}"), "input": { "variable": "x" },
            "defaultOutput": { "blockId": "ask" } },
    ] })
}

/// A shop whose flow hands over to an agent. Returns its channel and its router.
pub(crate) async fn shop(admin: &Api, settings: Value) -> (String, String) {
    let router = router(admin, "Atendida").await;
    let mut agent = json!({ "routerId": router, "type": "specialist", "name": "Vendas", "model": "m" });
    agent.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let agent = id(&admin.post("/ai-agents", &agent).await.ok(201));
    let prompt =
        json!({ "routerId": router, "agentId": agent, "name": "Tarefa", "text": "Sell tea.", "order": 1 });
    admin.post("/system-prompts", &prompt).await.ok(201);
    let flow = published(admin, &router, "Atendida", &attended(&agent)).await;
    admin.patch(&format!("/routers/{router}"), &json!({ "initialFlowId": flow })).await.ok(200);
    let channel = json!({ "routerId": router, "name": "Loja" });
    (id(&admin.post("/webchat/channels", &channel).await.ok(201)), router)
}

/// Waits for the next message of a server in this process, whose time passes meanwhile. It is the `count`th.
pub(crate) async fn told(server: &Server, visitor: &mut Client, count: usize) -> Value {
    eventually("an answer", || async {
        server.advance(Duration::from_millis(500)).await;
        (visitor.messages().len() >= count).then_some(())
    })
    .await;
    visitor.next_messages(1).await.remove(0)
}

async fn an_agent_has_a_conversation(setup: Setup) {
    let script = r#"{ "rules": [
        { "when": { "input": "human" }, "calls": [
            { "tool": "sendTextMessage", "arguments": { "text": "Um momento" } },
            { "tool": "transferToHuman", "arguments": { "reason": "asked" } }] },
        { "when": { "instructions": "Sell tea", "input": "(?s)^(.*)$" }, "calls": [
            { "tool": "sendButtonMessage", "arguments": { "body": "{{1}}?", "buttons": [{ "id": "y", "title": "Sim" }] } }] }
    ] }"#;
    let scripted = Arc::new(Scripted::new(Script::parse(script).unwrap()));
    let setup = setup.with_models(Arc::new(Rules(scripted)));
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let credential = json!({ "name": "Modelos", "provider": "openai", "apiKey": "sk-test" });
    let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
    let (channel, router) = shop(&admin, json!({ "llmCredentialId": credential })).await;
    let mut visitor = visitor(&server, &channel).await;
    visitor.say("oi").await;
    assert_eq!(visitor.texts(1).await, ["Sobre?"]);
    for text in ["chá", "verde"] {
        visitor.say(text).await;
    }
    let asked = told(&server, &mut visitor, 2).await;
    assert_eq!((&asked["sender"]["kind"], &asked["sender"]["name"]), (&json!("ai"), &json!("Vendas")));
    assert_eq!(asked["interactive"]["body"]["text"], "chá\nverde?", "a burst is one turn");
    assert_eq!(visitor.typing().await, json!({ "kind": "ai", "ms": 30_000 }));
    let queue = json!({ "routerId": router, "name": "Fila" });
    admin.post("/queues", &queue).await.ok(201);
    visitor.say("a human please").await;
    assert_eq!(told(&server, &mut visitor, 3).await["text"]["body"], "Um momento");
    let ticket = eventually("a ticket", || async {
        let tickets = admin.get(&format!("/tickets?routerId={router}&status=waiting")).await.ok(200);
        tickets["items"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!((&ticket["status"], &ticket["openReason"]), (&json!("waiting"), &json!("human_handoff")));
}

/// A shop whose agent answers by these rules, and whose router has these settings.
async fn attended_shop(setup: Setup, rules: Value, settings: Value) -> (Setup, Server, Tickets) {
    let script = Script::parse(&json!({ "rules": rules }).to_string()).unwrap();
    let setup = setup.with_models(Arc::new(Rules(Arc::new(Scripted::new(script)))));
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let credential = json!({ "name": "Modelos", "provider": "openai", "apiKey": "sk-test" });
    let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
    let (channel, router) = shop(&admin, json!({ "llmCredentialId": credential })).await;
    let mut change = settings;
    change["llmCredentialId"] = credential.into();
    admin.patch(&format!("/routers/{router}"), &change).await.ok(200);
    (setup, server, Tickets { flow: String::new(), router, channel, admin })
}

/// A visitor who speaks with the agent, and the ticket of that.
async fn speaks(server: &Server, tickets: &Tickets) -> (Client, Value) {
    let mut visitor = visitor(server, &tickets.channel).await;
    visitor.say("oi").await;
    assert_eq!(visitor.texts(1).await, ["Sobre?"]);
    visitor.say("chá").await;
    assert_eq!(told(server, &mut visitor, 2).await["text"]["body"], "chá?");
    let ticket = eventually("a ticket", || async {
        let open = tickets.list("&status=assigned").await;
        open.into_iter().find(|ticket| ticket["kind"] == "ai")
    })
    .await;
    (visitor, ticket)
}

/// The rows of spec B 3.2 and 4.7 about AI tickets, and `ticket:sentiment` of B 4.8.
async fn desks_move_and_close_the_tickets_of_agents(setup: Setup) {
    let rules = json!([{ "when": { "input": "(?s)^(.*)$" }, "calls": [
        { "tool": "updateSentiment", "arguments": { "sentiment": "angry", "score": 8, "signals": ["chá"],
            "escalationRisk": true } },
        { "tool": "sendTextMessage", "arguments": { "text": "{{1}}?" } }] }]);
    let each_turn = json!({ "sentimentConfig": { "enabled": true, "perRound": { "enabled": true } } });
    let (setup, server, tickets) = attended_shop(setup, rules, each_turn).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;

    let (visitor, ticket) = speaks(&server, &tickets).await;
    for (field, value) in
        [("openReason", json!("ai_session")), ("queueId", json!(null)), ("assignedUserId", json!(null))]
    {
        assert_eq!(ticket[field], value, "{field}");
    }
    assert_eq!(ticket["sentimentResult"]["sentiment"], "angry");
    let watched =
        tickets.admin.get(&format!("/helpdesk/monitoring?routerId={}", tickets.router)).await.ok(200);
    assert_eq!(watched["detailed"]["aiTickets"][0]["id"], ticket["id"]);
    // It is nobody's to answer.
    let path = |command: &str| format!("/tickets/{}{command}", id(&ticket));
    let refused = bia.post(&path("/messages"), &json!({ "text": "oi" })).await;
    refused.refused(409, "ticket_of_ai_agent", "O ticket está com um agente de IA");
    // It goes to a user: the same one comes back, and theirs is opened then.
    let same = bia.post(&path("/transfer"), &json!({ "toUserId": user })).await.ok(200);
    assert_eq!((&same["id"], &same["status"]), (&ticket["id"], &json!("assigned")));
    let sentiment = desk_told(&server, &desk, "ticket:sentiment").await;
    let closed = tickets.becomes(&id(&ticket), "status", &json!("closed")).await;
    assert_eq!(closed["closeKind"], "system");
    let next = tickets.list("&status=assigned").await.remove(0);
    assert_eq!((&next["previousTicketId"], &next["assignedUserId"]), (&ticket["id"], &json!(user)));
    assert_eq!((&next["openedByKind"], &next["kind"]), (&json!("agent"), &json!("human")));
    assert_eq!(next["openedByUserId"], json!(user));
    assert_eq!((&sentiment["ticketId"], &sentiment["sentiment"]), (&next["id"], &next["sentimentResult"]));
    assert_eq!(next["sentimentResult"], ticket["sentimentResult"]);
    drop(visitor);

    // By the socket, to a queue.
    let (_visitor, ticket) = speaks(&server, &tickets).await;
    let to_queue = json!({ "ticketId": ticket["id"], "toQueueId": queue });
    assert_eq!(desk.emit("agent:transfer", &to_queue).await["ok"], true);
    let waiting = eventually("a ticket", || async {
        server.advance(Duration::from_millis(100)).await;
        tickets.list("&status=waiting").await.pop()
    })
    .await;
    assert_eq!((&waiting["previousTicketId"], &waiting["queueId"]), (&ticket["id"], &json!(queue)));

    // Closed by HTTP, at a block; and by the socket.
    let (mut visitor, ticket) = speaks(&server, &tickets).await;
    let close = json!({ "reason": "basta" });
    let closed = bia.post(&format!("/tickets/{}/close", id(&ticket)), &close).await.ok(200);
    assert_eq!((&closed["closeKind"], &closed["closedByUserId"]), (&json!("resolved"), &json!(user)));
    assert_eq!(visitor.texts(1).await, ["Fim: basta"]);
    let (mut visitor, ticket) = speaks(&server, &tickets).await;
    assert_eq!(
        desk.emit("agent:close", &json!({ "ticketId": ticket["id"] })).await["ticket"]["status"],
        "closed"
    );
    assert_eq!(visitor.texts(1).await, ["Fim: resolved"]);
}

/// Conversations and published flows stand in the way of its deletion; by force the flow goes on.
async fn an_agent_in_use_is_not_deleted(setup: Setup) {
    let rules = json!([{ "when": { "input": "(?s)^(.*)$" }, "calls": [
        { "tool": "sendTextMessage", "arguments": { "text": "{{1}}?" } }] }]);
    let (_setup, server, tickets) = attended_shop(setup, rules, json!({})).await;
    let agents = tickets.admin.get(&format!("/ai-agents?routerId={}", tickets.router)).await.ok(200);
    let path = format!("/ai-agents/{}", id(&agents["items"][0]));
    let flows = tickets.admin.get(&format!("/flows?routerId={}", tickets.router)).await.ok(200);
    let flow = id(&flows["items"][0]);
    let (mut visitor, _) = speaks(&server, &tickets).await;
    let refused = tickets.admin.delete(&path).await;
    refused.refused(409, "in_use", "Registro em uso");
    let in_the_way = json!([{ "field": "sessions", "message": "1 sessão aberta" },
        { "field": "flow.published", "message": flow }]);
    assert_eq!(refused.json()["details"], in_the_way);
    tickets.admin.delete(&format!("{path}?force=true")).await.ok(204);
    visitor.say("chá").await;
    assert_eq!(told(&server, &mut visitor, 3).await["text"]["body"], "Fim: fallback_stuck");
}

/// What is over gets a summary, which the next agent is told (spec B 6).
async fn what_is_over_gets_a_summary(setup: Setup) {
    let rules = json!([
        { "when": { "instructions": "summarise" }, "text": "Quis chá." },
        { "when": { "input": "tchau" }, "calls": [{ "tool": "endAgentSession" }] },
        { "when": { "input": "(?s)^(.*)$" }, "calls": [
            { "tool": "sendTextMessage", "arguments": { "text": "{{1}}?" } }] }]);
    let summaries = json!({ "copilotConfig": { "summary": { "enabled": true, "model": "m" } } });
    let (_setup, server, tickets) = attended_shop(setup, rules, summaries).await;
    let (mut visitor, ticket) = speaks(&server, &tickets).await;
    visitor.say("tchau").await;
    assert_eq!(told(&server, &mut visitor, 3).await["text"]["body"], "Fim: resolved");
    tickets.becomes(&id(&ticket), "summary", &json!("Quis chá.")).await;
    let contact = tickets.admin.get(&format!("/contacts/{}", ticket["contactId"].as_str().unwrap())).await;
    assert_eq!(contact.ok(200)["lastSessionSummary"], "Quis chá.");
}

/// Without a credential there is nobody to ask. The conversation is handed on, never silent.
async fn whoever_no_model_answers_goes_on_with_the_flow(setup: Setup) {
    let setup = setup.with("AGENT_QUIET", "50ms");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (channel, _) = shop(&admin, json!({})).await;
    let mut visitor = visitor(&server, &channel).await;
    visitor.say("oi").await;
    assert_eq!(visitor.texts(1).await, ["Sobre?"]);
    visitor.say("chá").await;
    assert_eq!(visitor.texts(1).await, ["Fim: fallback_stuck"]);
}
