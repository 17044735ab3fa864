//! How the contact of a ticket feels, judged when somebody asks.

use std::sync::Arc;

use flowsdk_agent::scripted::{Script, Scripted};
use serde_json::{Value, json};

use super::building::id;
use super::desk::{desk_of, told};
use super::tickets::Tickets;
use crate::agents::Rules;
use crate::harness::{Api, Server, Setup, eventually, everywhere};

everywhere!(in process: somebody_asks_how_a_contact_feels, sentiments_that_nobody_judges);

const HELPDESK: &str = "helpdesk";

/// A shop whose router has sentiments judged by a model of these rules.
async fn judged_shop(setup: Setup, rules: Value) -> (Setup, Server, Tickets) {
    let script = Script::parse(&json!({ "rules": rules }).to_string()).unwrap();
    let setup = setup.with_models(Arc::new(Rules(Arc::new(Scripted::new(script)))));
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let credential = json!({ "name": "Modelos", "provider": "openai", "apiKey": "sk-test" });
    let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
    let asked = json!({ "enabled": true, "onDemand": { "enabled": true, "model": "m" } });
    let settings = json!({ "llmCredentialId": credential, "sentimentConfig": asked });
    admin.patch(&format!("/routers/{}", tickets.router), &settings).await.ok(200);
    (setup, server, tickets)
}

/// The model is told the conversation, and judges it.
fn judge() -> Value {
    json!([{ "when": { "instructions": "You judge", "input": "Customer: (fatura)" }, "calls": [
        { "tool": "updateSentiment", "arguments": { "sentiment": "angry", "score": 8.5, "signals": ["{{1}}"],
            "escalationRisk": true } }] }])
}

async fn somebody_asks_how_a_contact_feels(setup: Setup) {
    let (setup, server, tickets) = judged_shop(setup, judge()).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let path = format!("/tickets/{}/sentiment", id(&ticket));
    let judged = bia.post(&path, &json!({})).await.ok(200);
    let sentiment = &judged["sentimentResult"];
    assert_eq!(
        (&sentiment["sentiment"], &sentiment["score"], &sentiment["signals"], &sentiment["turn"]),
        (&json!("angry"), &json!(8.5), &json!(["fatura"]), &json!(1))
    );
    assert_eq!(judged["sentimentHistory"].as_array().unwrap().len(), 1);
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let again = bia.post(&path, &json!({})).await.ok(200);
    let turns: Vec<&Value> =
        again["sentimentHistory"].as_array().unwrap().iter().map(|item| &item["turn"]).collect();
    assert_eq!(turns, [&json!(1), &json!(2)]);
    let news = told(&server, &desk, "ticket:sentiment").await;
    assert_eq!((&news["ticketId"], &news["sentiment"]), (&ticket["id"], &again["sentimentResult"]));
    eventually("it is on record", || async {
        let records = tickets.admin.get("/audit-logs?entityType=TICKET&limit=100").await.ok(200);
        let of_ticket = records["items"].as_array()?.iter().filter(|one| one["entityId"] == ticket["id"]);
        let of_sentiment = of_ticket.filter(|one| one.to_string().contains("sentimentHistory"));
        (of_sentiment.count() >= 2).then_some(())
    })
    .await;

    // Each judgement is paid for by the router, and by no agent.
    let path_of_usage = format!("/ai/usage?routerId={}&by=work,agent,model", tickets.router);
    let used = tickets.admin.get(&path_of_usage).await.ok(200);
    let [group] = &used["groups"].as_array().unwrap()[..] else { panic!("{used}") };
    assert_eq!((&group["work"], &group["agentId"]), (&json!("sentiment"), &Value::Null));
    assert!(group.as_object().unwrap().contains_key("agentId"), "{group}");
    assert_eq!((&group["model"], &group["calls"]), (&json!("m"), &json!(2)));

    // It stays when the ticket is closed, and nobody is asked any more.
    let closed = bia.post(&format!("/tickets/{}/close", id(&ticket)), &json!({})).await.ok(200);
    assert_eq!(closed["sentimentHistory"], again["sentimentHistory"]);
    bia.post(&path, &json!({})).await.refused(409, "ticket_closed", "O ticket já está fechado");
}

async fn sentiments_that_nobody_judges(setup: Setup) {
    let rules = json!([{ "when": { "instructions": "You judge" }, "text": "They are angry." }]);
    let (setup, server, tickets) = judged_shop(setup, rules).await;
    let (admin, router) = (&tickets.admin, format!("/routers/{}", tickets.router));
    tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let path = format!("/tickets/{}/sentiment", id(&ticket));
    let ask = async || admin.post(&path, &json!({})).await;
    ask().await.refused(502, "model_failed", "O modelo não deu uma resposta utilizável");
    let used = admin.get(&format!("/ai/usage?routerId={}&work=sentiment", tickets.router)).await.ok(200);
    assert_eq!(used["total"]["calls"], 1, "an answer of no use is paid for");

    let all = json!([{ "resource": HELPDESK, "actions": ["read", "write"] }]);
    let stranger = admin.member(&setup, &all, &[&setup.seeded.router]).await;
    stranger.post(&path, &json!({})).await.refused(404, "not_found", "Ticket não encontrado");
    let reads = json!([{ "resource": HELPDESK, "actions": ["read"] }]);
    let reader = admin.member(&setup, &reads, &[&tickets.router]).await;
    assert_eq!(reader.post(&path, &json!({})).await.status, 403);

    let budget = json!({ "routerId": tickets.router, "monthlyAmount": 0 });
    let budget = id(&admin.post("/ai/budgets", &budget).await.ok(201));
    ask().await.refused(409, "budget_used_up", "O orçamento de IA do mês está esgotado");
    admin.delete(&format!("/ai/budgets/{budget}")).await.ok(204);
    admin.patch(&router, &json!({ "llmCredentialId": null })).await.ok(200);
    ask().await.refused(409, "llm_credential_missing", "O roteador não tem credencial de modelo");
    admin.patch(&router, &json!({ "sentimentConfig": { "enabled": true } })).await.ok(200);
    ask().await.refused(409, "sentiment_disabled", "O roteador não avalia sentimentos sob demanda");
    let untouched = admin.get(&format!("/tickets/{}", id(&ticket))).await.ok(200);
    assert_eq!((&untouched["sentimentResult"], &untouched["sentimentHistory"]), (&Value::Null, &json!([])));
}
