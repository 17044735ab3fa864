//! Every route that changes something leaves a record (spec A 2.7, rulings A11).

use std::collections::BTreeSet;

use flowsdk_core::id::DeadLetterId;
use flowsdk_core::session::{FrozenError, FrozenSession, HasSessions as _, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::dead_letter::{FailedEntry, HasDeadLetters as _};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Timestamp;
use serde_json::{Value, json};

use super::building::{id, says};
use super::tickets::Tickets;
use crate::harness::{Api, Server, Setup, eventually, everywhere};

everywhere!(in process:
    every_change_is_on_record,
    a_change_of_nothing_is_not,
    a_new_secret_shows_without_its_value,
    attempts_on_records_of_others_are_on_record,
);

/// The routes that change nothing an administrator is answerable for, or whose record has an action of its own.
const EXEMPT: [(&str, &str); 27] = [
    ("POST /auth/login", "LOGIN"),
    ("POST /auth/desk-login", "LOGIN"),
    ("POST /auth/logout", "LOGOUT"),
    ("POST /auth/password-recovery", "it sends a code; nothing changes before the code is used"),
    ("POST /auth/password-recovery/validate", "PASSWORD_CHANGE"),
    ("POST /flows/{id}/validate", "it only looks"),
    ("POST /knowledge/search", "it only looks"),
    ("POST /integrations/{id}/fetch-content", "it reads from a server of others; nothing changes here"),
    ("POST /knowledge-documents/files", "its body is a file; its test holds that it is on record"),
    ("PUT /knowledge-documents/{id}/file", "its body is a file; its test holds that it is on record"),
    ("POST /media", "its body is a file; its test holds that it is on record"),
    ("DELETE /media/{id}", "its test holds that it is on record"),
    ("POST /webchat/test/messages", "what a visitor does; nobody administers"),
    (
        "POST /routers/{id}/dispatch/template",
        "the message stands in its chat; its tests hold that a consent passed over is on record",
    ),
    (
        "POST /channel-numbers/{id}/encryption/register",
        "it needs a provider; its test holds that it is on record",
    ),
    ("POST /templates/sync", "it needs a provider, and its records are those of templates"),
    ("POST /templates/{id}/submit", "it needs a provider, and its record is that of the template"),
    ("PUT /agents/me/presence", "a fact of a minute about the caller"),
    ("POST /agents/me/heartbeat", "a fact of a minute about the caller"),
    ("POST /webhooks/{id}/test", "the event stands among the deliveries"),
    ("POST /webhooks/{id}/replay", "what was sent is sent again; nothing changes here"),
    (
        "POST /webhooks/{id}/deliveries/{deliveryId}/replay",
        "what was sent is sent again; nothing changes here",
    ),
    ("POST /tickets/{id}/messages", "the message stands in its chat, with whoever wrote it"),
    ("POST /tickets/{id}/notes", "the note stands at its conversation, with whoever wrote it"),
    ("POST /tickets/{id}/sentiment", "it needs a model; its test holds that it is on record"),
    ("POST /routers/{id}/import", "the walk does it, and its records are those of the parts"),
    ("POST /routers/import", "the walk does it, and its records are those of the parts"),
];

/// Does what a route does, and holds that the records follow.
struct Walk {
    admin: Api,
    walked: BTreeSet<String>,
}

impl Walk {
    async fn count(&self, action: &str, kind: &str) -> usize {
        let path = format!("/audit-logs?limit=200&action={action}&entityType={kind}&status=success");
        self.admin.get(&path).await.ok(200)["items"].as_array().unwrap().len()
    }

    /// Sends a request to `route`, whose ids are filled in from `ids`, and waits for one record more.
    async fn does(&mut self, route: &str, ids: &[&str], body: Option<Value>, record: &str) -> Value {
        let (method, template) = route.split_once(' ').unwrap();
        let mut ids = ids.iter();
        let segments = template.split('/').map(|segment| {
            if segment.starts_with('{') { (*ids.next().unwrap()).to_owned() } else { segment.to_owned() }
        });
        let path = segments.collect::<Vec<_>>().join("/");
        let (action, kind) = record.split_once(' ').unwrap();
        let before = self.count(action, kind).await;
        let answer = match &body {
            Some(body) => self.admin.json(method, &path, &[], body).await,
            None => self.admin.send(method, &path, &[], None).await,
        };
        assert!((200..300).contains(&answer.status), "{route}: {answer:?}");
        eventually(&format!("{route} leaves {record}"), || async {
            (self.count(action, kind).await > before).then_some(())
        })
        .await;
        self.walked.insert(route.to_owned());
        if answer.body.is_empty() { Value::Null } else { answer.json() }
    }
}

impl Walk {
    /// A queue with the administrator as its agent, and the tickets of a visitor.
    async fn helpdesk(&mut self, server: &Server) {
        let desk = Tickets::new(&self.admin).await;
        let router = desk.router.as_str();
        let me = self.admin.get("/auth/me").await.ok(200)["id"].as_str().unwrap().to_owned();
        let queue = json!({ "routerId": router, "name": "Q", "distributionStrategy": "manual_pickup" });
        let queue = id(&self.does("POST /queues", &[], Some(queue), "CREATE QUEUE").await);
        let ids = [queue.as_str()];
        self.does("PATCH /queues/{id}", &ids, Some(json!({ "name": "R" })), "UPDATE QUEUE").await;
        let other =
            id(&self.admin.post("/queues", &json!({ "routerId": router, "name": "S" })).await.ok(201));
        self.does("DELETE /queues/{id}", &[&other], None, "DELETE QUEUE").await;
        let agent = json!({ "routerId": router, "userId": me });
        let agent = id(&self.does("POST /agents", &[], Some(agent), "CREATE AGENT").await);
        let group = json!({ "routerId": router, "name": "G" });
        let group = id(&self.does("POST /agent-groups", &[], Some(group), "CREATE AGENT_GROUP").await);
        let named = json!({ "name": "H" });
        self.does("PATCH /agent-groups/{id}", &[&group], Some(named), "UPDATE AGENT_GROUP").await;
        self.does("DELETE /agent-groups/{id}", &[&group], None, "DELETE AGENT_GROUP").await;
        let may = json!({ "canActiveDispatch": true });
        self.does("PATCH /agents/{id}", &[&agent], Some(may), "UPDATE AGENT").await;
        let busy = json!({ "status": "busy" });
        self.does("PUT /agents/{id}/presence", &[&agent], Some(busy), "UPDATE AGENT").await;
        let both = [queue.as_str(), agent.as_str()];
        self.does("PUT /queues/{id}/agents/{agentId}", &both, None, "UPDATE QUEUE").await;
        let rule = json!({ "routerId": router, "name": "R", "priority": 1, "targetQueueId": queue });
        let (create, update) = ("CREATE QUEUE_DISTRIBUTION_RULE", "UPDATE QUEUE_DISTRIBUTION_RULE");
        let rule = id(&self.does("POST /queue-distribution-rules", &[], Some(rule), create).await);
        let first = json!({ "priority": 0 });
        self.does("PATCH /queue-distribution-rules/{id}", &[&rule], Some(first), update).await;
        let delete = "DELETE QUEUE_DISTRIBUTION_RULE";
        self.does("DELETE /queue-distribution-rules/{id}", &[&rule], None, delete).await;

        let tag = json!({ "routerId": router, "name": "T" });
        let tag = id(&self.does("POST /tags", &[], Some(tag), "CREATE TAG").await);
        self.does("PATCH /tags/{id}", &[&tag], Some(json!({ "name": "U" })), "UPDATE TAG").await;
        let reason = json!({ "routerId": router, "key": "k", "label": "K" });
        let reason = id(&self.does("POST /close-reasons", &[], Some(reason), "CREATE CLOSE_REASON").await);
        let off = json!({ "isActive": false });
        self.does("PATCH /close-reasons/{id}", &[&reason], Some(off), "UPDATE CLOSE_REASON").await;
        self.does("DELETE /close-reasons/{id}", &[&reason], None, "DELETE CLOSE_REASON").await;
        let reply = json!({ "routerId": router, "name": "R", "text": "Oi" });
        let reply = id(&self.does("POST /quick-replies", &[], Some(reply), "CREATE QUICK_REPLY").await);
        let named = json!({ "name": "S" });
        self.does("PATCH /quick-replies/{id}", &[&reply], Some(named), "UPDATE QUICK_REPLY").await;
        self.does("DELETE /quick-replies/{id}", &[&reply], None, "DELETE QUICK_REPLY").await;
        let ai_agent =
            |name: &str| json!({ "routerId": router, "type": "specialist", "name": name, "model": "m" });
        let sales = id(&self.does("POST /ai-agents", &[], Some(ai_agent("Sales")), "CREATE AI_AGENT").await);
        let care = id(&self.does("POST /ai-agents", &[], Some(ai_agent("Care")), "CREATE AI_AGENT").await);
        self.does("PATCH /ai-agents/{id}", &[&care], Some(json!({ "name": "Help" })), "UPDATE AI_AGENT")
            .await;
        let prompt = json!({ "routerId": router, "agentId": sales, "name": "Tone", "text": "Be kind." });
        let rail = json!({ "routerId": router, "text": "No politics." });
        let route = json!({ "routerId": router, "fromAgentId": sales, "toAgentId": care });
        let off = json!({ "isActive": false });
        let prompt = id(&self.does("POST /system-prompts", &[], Some(prompt), "CREATE SYSTEM_PROMPT").await);
        let update = "UPDATE SYSTEM_PROMPT";
        self.does("PATCH /system-prompts/{id}", &[&prompt], Some(off.clone()), update).await;
        self.does("DELETE /system-prompts/{id}", &[&prompt], None, "DELETE SYSTEM_PROMPT").await;
        let rail = id(&self.does("POST /guardrails", &[], Some(rail), "CREATE GUARDRAIL").await);
        self.does("PATCH /guardrails/{id}", &[&rail], Some(off.clone()), "UPDATE GUARDRAIL").await;
        self.does("DELETE /guardrails/{id}", &[&rail], None, "DELETE GUARDRAIL").await;
        let route = id(&self.does("POST /ai-agent-routes", &[], Some(route), "CREATE AI_AGENT_ROUTE").await);
        self.does("PATCH /ai-agent-routes/{id}", &[&route], Some(off), "UPDATE AI_AGENT_ROUTE").await;
        self.does("DELETE /ai-agent-routes/{id}", &[&route], None, "DELETE AI_AGENT_ROUTE").await;
        self.does("DELETE /ai-agents/{id}", &[&care], None, "DELETE AI_AGENT").await;
        let price = json!({ "routerId": router, "model": "m", "inputPerMillion": 1, "outputPerMillion": 2 });
        let price = id(&self.does("POST /ai/prices", &[], Some(price), "CREATE AI_MODEL_PRICE").await);
        let dearer = json!({ "inputPerMillion": 1.5 });
        self.does("PATCH /ai/prices/{id}", &[&price], Some(dearer), "UPDATE AI_MODEL_PRICE").await;
        self.does("DELETE /ai/prices/{id}", &[&price], None, "DELETE AI_MODEL_PRICE").await;
        let budget = json!({ "routerId": router, "monthlyAmount": 10 });
        let budget = id(&self.does("POST /ai/budgets", &[], Some(budget), "CREATE AI_BUDGET").await);
        let more = json!({ "monthlyAmount": 20 });
        self.does("PATCH /ai/budgets/{id}", &[&budget], Some(more), "UPDATE AI_BUDGET").await;
        self.does("DELETE /ai/budgets/{id}", &[&budget], None, "DELETE AI_BUDGET").await;
        let menu = json!({ "routerId": router, "name": "Menu", "text": "Tea is 12 reais." });
        let (create, update) = ("CREATE KNOWLEDGE_DOCUMENT", "UPDATE KNOWLEDGE_DOCUMENT");
        let menu = id(&self.does("POST /knowledge-documents", &[], Some(menu), create).await);
        let named = json!({ "name": "Prices" });
        self.does("PATCH /knowledge-documents/{id}", &[&menu], Some(named), update).await;
        let content = json!({ "text": "Tea is 13 reais." });
        self.does("PUT /knowledge-documents/{id}/content", &[&menu], Some(content), update).await;
        self.does("POST /knowledge-documents/{id}/retry", &[&menu], None, update).await;
        let delete = "DELETE KNOWLEDGE_DOCUMENT";
        self.does("DELETE /knowledge-documents/{id}", &[&menu], None, delete).await;
        let hook = json!({ "routerId": router, "name": "CRM", "url": "https://crm.example", "eventTypes": ["ticket.opened"] });
        let hook = id(&self.does("POST /webhooks", &[], Some(hook), "CREATE WEBHOOK").await);
        let paused = json!({ "isPaused": true });
        self.does("PATCH /webhooks/{id}", &[&hook], Some(paused), "UPDATE WEBHOOK").await;
        self.does("POST /webhooks/{id}/rotate-secret", &[&hook], None, "UPDATE WEBHOOK").await;
        self.does("DELETE /webhooks/{id}", &[&hook], None, "DELETE WEBHOOK").await;

        let update = "UPDATE TICKET";
        let (_visitor, ticket) = desk.hand_over(server).await;
        let ticket = id(&ticket);
        let tags = json!({ "tagIds": [tag] });
        self.does("PUT /tickets/{id}/tags", &[&ticket], Some(tags), update).await;
        self.does("DELETE /tags/{id}", &[&tag], None, "DELETE TAG").await;
        let to_me = json!({ "userId": me });
        self.does("POST /tickets/{id}/assign", &[&ticket], Some(to_me), update).await;
        let ticket = self.offers(router, &agent, &ticket).await;
        let to_queue = json!({ "toQueueId": queue });
        let next = self.does("POST /tickets/{id}/transfer", &[&ticket], Some(to_queue), update).await;
        self.does("POST /tickets/pickup", &[], None, update).await;
        let to_me = json!({ "ticketIds": [id(&next)], "toUserId": me });
        let moved = self.does("POST /tickets/bulk/transfer", &[], Some(to_me), update).await;
        let last = id(&moved["items"][0]["ticket"]);
        self.does("POST /tickets/{id}/close", &[&last], Some(json!({})), update).await;
        let (_visitor, ticket) = desk.hand_over(server).await;
        self.does("POST /tickets/pickup", &[], None, update).await;
        let all = json!({ "ticketIds": [id(&ticket)] });
        self.does("POST /tickets/bulk/close", &[], Some(all), update).await;
        self.does("DELETE /queues/{id}/agents/{agentId}", &both, None, "UPDATE QUEUE").await;
        self.does("DELETE /agents/{id}", &[&agent], None, "DELETE AGENT").await;
    }

    /// Declines a ticket in a queue that offers its tickets, and accepts another one. Returns the last.
    async fn offers(&mut self, router: &str, agent: &str, ticket: &str) -> String {
        let update = "UPDATE TICKET";
        let queue = json!({ "routerId": router, "name": "O", "acceptWithinSeconds": 600 });
        let queue = id(&self.admin.post("/queues", &queue).await.ok(201));
        let place = format!("/queues/{queue}/agents/{agent}");
        self.admin.send("PUT", &place, &[], None).await.ok(204);
        self.admin.put("/agents/me/presence", &json!({ "status": "online" })).await.ok(200);
        let to_queue = json!({ "toQueueId": queue });
        let transfer = "POST /tickets/{id}/transfer";
        let next = id(&self.does(transfer, &[ticket], Some(to_queue.clone()), update).await);
        self.does("POST /tickets/{id}/decline", &[&next], None, update).await;
        let next = id(&self.does(transfer, &[&next], Some(to_queue), update).await);
        self.does("POST /tickets/{id}/accept", &[&next], None, update).await;
        next
    }
}

async fn every_change_is_on_record(setup: Setup) {
    let setup = setup.with("API_REQUESTS_PER_SECOND", "0");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut walk = Walk { admin: admin.clone(), walked: BTreeSet::new() };

    // Who may do what.
    let group = json!({ "name": "G", "permissions": [], "routerIds": [] });
    let group = id(&walk.does("POST /groups", &[], Some(group), "CREATE GROUP").await);
    walk.does("PATCH /groups/{id}", &[&group], Some(json!({ "name": "H" })), "UPDATE GROUP").await;
    walk.does("DELETE /groups/{id}", &[&group], None, "DELETE GROUP").await;
    let mut user = json!({ "name": "Bia", "email": "bia@example.com", "phone": "5511999990000",
        "password": "senha-segura" });
    let made = id(&walk.does("POST /users", &[], Some(user.clone()), "CREATE USER").await);
    walk.does("PATCH /users/{id}", &[&made], Some(json!({ "name": "B" })), "UPDATE USER").await;
    user.as_object_mut().unwrap().remove("password");
    (user["userRole"], user["groupId"]) = (json!("member"), json!(null));
    walk.does("PUT /users/{id}", &[&made], Some(user), "UPDATE USER").await;
    walk.does("DELETE /users/{id}", &[&made], None, "DELETE USER").await;
    let client = walk.does("POST /api-clients", &[], Some(json!({ "name": "C" })), "CREATE API_CLIENT").await;
    setup.plant(client["token"].as_str().unwrap());
    let client = id(&client);
    let off = json!({ "active": false });
    walk.does("PATCH /api-clients/{id}", &[&client], Some(off), "UPDATE API_CLIENT").await;
    let rotated = walk.does("POST /api-clients/{id}/rotate", &[&client], None, "UPDATE API_CLIENT").await;
    setup.plant(rotated["token"].as_str().unwrap());
    walk.does("DELETE /api-clients/{id}", &[&client], None, "DELETE API_CLIENT").await;
    let device = json!({ "token": "aparelho", "platform": "ios" });
    let device = id(&walk.does("POST /user-devices", &[], Some(device), "CREATE USER_DEVICE").await);
    let android = json!({ "platform": "android" });
    walk.does("PATCH /user-devices/{id}", &[&device], Some(android), "UPDATE USER_DEVICE").await;
    walk.does("DELETE /user-devices/{id}", &[&device], None, "DELETE USER_DEVICE").await;

    // Routers, flows and channels.
    let router = id(&walk.does("POST /routers", &[], Some(json!({ "name": "R" })), "CREATE ROUTER").await);
    walk.does("PATCH /routers/{id}", &[&router], Some(json!({ "name": "S" })), "UPDATE ROUTER").await;
    let flow = json!({ "routerId": router, "name": "F", "definition": says("oi") });
    let flow = id(&walk.does("POST /flows", &[], Some(flow), "CREATE FLOW").await);
    for (parent, of, kind) in [("routers", &router, "ROUTER_VARIABLE"), ("flows", &flow, "FLOW_VARIABLE")] {
        let new = json!({ "key": "a", "value": "1" });
        let (made, put, gone) = (
            format!("POST /{parent}/{{id}}/variables"),
            format!("PUT /{parent}/{{id}}/variables/{{varId}}"),
            format!("DELETE /{parent}/{{id}}/variables/{{varId}}"),
        );
        let variable = id(&walk.does(&made, &[of], Some(new), &format!("CREATE {kind}")).await);
        let ids = [of.as_str(), variable.as_str()];
        walk.does(&put, &ids, Some(json!({ "value": "2" })), &format!("UPDATE {kind}")).await;
        walk.does(&gone, &ids, None, &format!("DELETE {kind}")).await;
    }
    walk.does("PATCH /flows/{id}", &[&flow], Some(json!({ "name": "G" })), "UPDATE FLOW").await;
    let event = json!({ "routerId": router, "name": "e" });
    let event = id(&walk.does("POST /event-definitions", &[], Some(event), "CREATE EVENT_DEFINITION").await);
    let named = json!({ "name": "f" });
    walk.does("PATCH /event-definitions/{id}", &[&event], Some(named), "UPDATE EVENT_DEFINITION").await;
    walk.does("DELETE /event-definitions/{id}", &[&event], None, "DELETE EVENT_DEFINITION").await;
    walk.does("POST /flows/{id}/publish", &[&flow], None, "PUBLISH FLOW").await;
    walk.does("POST /flows/{id}/versions/{number}/rollback", &[&flow, "1"], None, "PUBLISH FLOW").await;
    walk.does("POST /flows/{id}/publish-test", &[&flow], None, "UPDATE FLOW").await;
    let channel = json!({ "routerId": router, "name": "C" });
    let channel =
        id(&walk.does("POST /webchat/channels", &[], Some(channel), "CREATE WEBCHAT_CHANNEL").await);
    let ids = [channel.as_str()];
    let update = "UPDATE WEBCHAT_CHANNEL";
    walk.does("PATCH /webchat/channels/{id}", &ids, Some(json!({ "name": "D" })), update).await;
    let begin = json!({ "flowId": flow });
    walk.does("PUT /webchat/channels/{id}/initial-flow", &ids, Some(begin), update).await;
    for _ in 0..2 {
        let made = walk.does("POST /webchat/channels/{id}/embed-secret", &ids, None, update).await;
        setup.plant(made["embedSecret"].as_str().unwrap());
    }
    walk.does("DELETE /webchat/channels/{id}/embed-secret", &ids, None, update).await;
    let mut file = admin.get(&format!("/routers/{router}/export")).await.ok(200);
    file["router"]["name"] = json!("Outro");
    walk.does("POST /routers/import", &[], Some(file.clone()), "CREATE ROUTER").await;
    file["flows"][0]["name"] = json!("Outro");
    file["flows"][0]["slug"] = json!("outro");
    file["router"] = Value::Null;
    file.as_object_mut().unwrap().remove("router");
    file["channels"] = json!([]);
    walk.does("POST /routers/{id}/import", &[&router], Some(file), "CREATE FLOW").await;
    let empty = json!({ "format": "flowsdk", "formatVersion": 1 });
    let draft = json!({ "routerId": router, "file": empty });
    let draft = id(&walk.does("POST /import-drafts", &[], Some(draft), "CREATE IMPORT_DRAFT").await);
    walk.does("POST /import-drafts/{id}/apply", &[&draft], None, "UPDATE IMPORT_DRAFT").await;
    walk.does("DELETE /import-drafts/{id}", &[&draft], None, "DELETE IMPORT_DRAFT").await;
    walk.does("DELETE /webchat/channels/{id}", &ids, None, "DELETE WEBCHAT_CHANNEL").await;
    walk.does("POST /flows/{id}/unpublish", &[&flow], None, "UNPUBLISH FLOW").await;
    let other = json!({ "routerId": router, "name": "Livre" });
    let other = id(&admin.post("/flows", &other).await.ok(201));
    walk.does("DELETE /flows/{id}", &[&other], None, "DELETE FLOW").await;

    // The ways to the outside.
    let number = json!({ "routerId": router, "name": "N", "phoneNumberId": "111", "phoneNumber": "5511987654321",
        "businessAccountId": "777" });
    let number = id(&walk.does("POST /channel-numbers", &[], Some(number), "CREATE CHANNEL_NUMBER").await);
    let ids = [number.as_str()];
    let update = "UPDATE CHANNEL_NUMBER";
    walk.does("PATCH /channel-numbers/{id}", &ids, Some(json!({ "name": "M" })), update).await;
    walk.does("POST /channel-numbers/{id}/encryption/generate-keys", &ids, None, update).await;
    walk.does("DELETE /channel-numbers/{id}", &ids, None, "DELETE CHANNEL_NUMBER").await;
    let template = json!({ "routerId": router, "businessAccountId": "777", "name": "t", "language": "pt_BR",
        "category": "UTILITY", "components": [{ "type": "BODY", "text": "Olá" }] });
    let template = id(&walk.does("POST /templates", &[], Some(template), "CREATE MESSAGE_TEMPLATE").await);
    let approved = json!({ "status": "APPROVED" });
    walk.does("PATCH /templates/{id}", &[&template], Some(approved), "UPDATE MESSAGE_TEMPLATE").await;
    walk.does("DELETE /templates/{id}", &[&template], None, "DELETE MESSAGE_TEMPLATE").await;
    let mapping = json!({ "routerId": router, "channelType": "phone", "label": "L", "externalType": "e" });
    let create = "CREATE CHANNEL_TYPE_MAPPING";
    let mapping = id(&walk.does("POST /channel-type-mappings", &[], Some(mapping), create).await);
    let (ids, named) = ([mapping.as_str()], json!({ "label": "M" }));
    let update = "UPDATE CHANNEL_TYPE_MAPPING";
    walk.does("PATCH /channel-type-mappings/{id}", &ids, Some(named), update).await;
    walk.does("DELETE /channel-type-mappings/{id}", &ids, None, "DELETE CHANNEL_TYPE_MAPPING").await;
    let (create, update) = ("CREATE INTERACTIVE_FORM", "UPDATE INTERACTIVE_FORM");
    let form = json!({ "routerId": router, "name": "F" });
    let draft = id(&walk.does("POST /interactive-forms", &[], Some(form), create).await);
    walk.does("DELETE /interactive-forms/{id}", &[&draft], None, "DELETE INTERACTIVE_FORM").await;
    let form = json!({ "routerId": router, "name": "F", "definition": { "screens": [{}] } });
    let form = id(&admin.post("/interactive-forms", &form).await.ok(201));
    let ids = [form.as_str()];
    walk.does("PATCH /interactive-forms/{id}", &ids, Some(json!({ "name": "G" })), update).await;
    walk.does("POST /interactive-forms/{id}/publish", &ids, None, "PUBLISH INTERACTIVE_FORM").await;
    walk.does("POST /interactive-forms/{id}/deprecate", &ids, None, update).await;
    let credential = json!({ "name": "L", "provider": "openai", "apiKey": "sk-chave" });
    let credential = walk.does("POST /llm-credentials", &[], Some(credential), "CREATE LLM_CREDENTIAL").await;
    let credential = id(&credential);
    let named = json!({ "name": "K" });
    walk.does("PATCH /llm-credentials/{id}", &[&credential], Some(named), "UPDATE LLM_CREDENTIAL").await;
    walk.does("DELETE /llm-credentials/{id}", &[&credential], None, "DELETE LLM_CREDENTIAL").await;
    let crm = json!({ "routerId": router, "name": "CRM", "kind": "http", "baseUrl": "https://crm.example" });
    let crm = id(&walk.does("POST /integrations", &[], Some(crm), "CREATE INTEGRATION_SERVER").await);
    let named = json!({ "name": "ERP" });
    walk.does("PATCH /integrations/{id}", &[&crm], Some(named), "UPDATE INTEGRATION_SERVER").await;
    walk.does("DELETE /integrations/{id}", &[&crm], None, "DELETE INTEGRATION_SERVER").await;
    let on = json!({ "enabled": true });
    walk.does("PATCH /settings/observability", &[], Some(on), "UPDATE OBSERVABILITY").await;

    // People.
    let contact = |phone: &str| Some(json!({ "phoneNumber": phone, "name": "Ana", "routerId": router }));
    let ana = id(&walk.does("POST /contacts", &[], contact("5511911110000"), "CREATE CONTACT").await);
    let bia = id(&walk.does("POST /contacts", &[], contact("5511911110001"), "CREATE CONTACT").await);
    let (ids, update) = ([ana.as_str()], "UPDATE CONTACT");
    walk.does("PATCH /contacts/{id}", &ids, Some(json!({ "name": "Ana B" })), update).await;
    let variables = json!({ "contactVariables": { "cpf": "123.456" } });
    walk.does("PATCH /contacts/{contactId}/variables", &ids, Some(variables), update).await;
    walk.does("DELETE /contacts/{contactId}/variables/{key}", &[&ana, "cpf"], None, update).await;
    let alias = "5511911110009";
    let body = Some(json!({ "alias": alias }));
    walk.does("POST /contacts/{contactId}/aliases", &ids, body, update).await;
    walk.does("DELETE /contacts/{contactId}/aliases/{alias}", &[&ana, alias], None, update).await;
    walk.does("POST /contacts/{contactId}/merge", &ids, Some(json!({ "contactId": bia })), update).await;
    walk.does("DELETE /contacts/{id}", &ids, None, "DELETE CONTACT").await;
    let log = json!(admin.get("/audit-logs?entityType=CONTACT&limit=200").await.ok(200)).to_string();
    assert!(log.contains("contactVariables.cpf") && !log.contains("123.456"), "{log}");
    let rows = json!({ "rows": [{ "phoneNumber": "5511911110002", "status": "accepted" }] });
    walk.does("POST /routers/{routerId}/opt-ins/bulk", &[&router], Some(rows), "CREATE OPT_IN").await;
    let filter = json!({ "routerId": router, "name": "F", "q": "ana" });
    let filter = id(&walk.does("POST /contact-filters", &[], Some(filter), "CREATE CONTACT_FILTER").await);
    let named = json!({ "name": "G" });
    walk.does("PATCH /contact-filters/{id}", &[&filter], Some(named), "UPDATE CONTACT_FILTER").await;
    walk.does("DELETE /contact-filters/{id}", &[&filter], None, "DELETE CONTACT_FILTER").await;
    walk.does("DELETE /routers/{id}", &[&router], None, "DELETE ROUTER").await;

    // Conversations.
    let (mut visitor, identity) = setup.visit(&server).await;
    visitor.say("oi").await;
    visitor.texts(1).await;
    let session = format!("wc-{}-{}", identity.channel, identity.user);
    let (ids, update) = ([session.as_str()], "UPDATE SESSION");
    let variables = json!({ "variables": { "plan": "secreto" } });
    walk.does("PATCH /sessions/{sessionId}/variables", &ids, Some(variables), update).await;
    let redirect = json!({ "flowId": setup.seeded.other_flow, "blockId": "again" });
    walk.does("POST /sessions/{sessionId}/redirect", &ids, Some(redirect), update).await;
    visitor.texts(1).await;
    let (mut other, identity) = setup.visit(&server).await;
    other.say("oi").await;
    other.texts(1).await;
    let second = format!("wc-{}-{}", identity.channel, identity.user);
    let unfreeze = "POST /sessions/{sessionId}/unfreeze";
    freeze(&setup, &second).await;
    walk.does(unfreeze, &[&second], Some(json!({ "action": "delete" })), "DELETE SESSION").await;
    freeze(&setup, &session).await;
    walk.does(unfreeze, &ids, Some(json!({ "action": "resume" })), update).await;
    let log = json!(admin.get("/audit-logs?entityType=SESSION&limit=200").await.ok(200)).to_string();
    assert!(log.contains("variables.plan") && !log.contains("secreto"), "{log}");
    walk.helpdesk(&server).await;
    letter(&setup, "letter0").await;
    walk.does("POST /dead-letters/{id}/retry", &["letter0"], None, "UPDATE DEAD_LETTER").await;
    letter(&setup, "letter1").await;
    walk.does("DELETE /dead-letters/{id}", &["letter1"], None, "DELETE DEAD_LETTER").await;

    let document = admin.get("/openapi.json").await.ok(200);
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["post", "put", "patch", "delete"] {
            let route = format!("{} {path}", method.to_uppercase());
            let known = walk.walked.contains(&route) || EXEMPT.iter().any(|(exempt, _)| *exempt == route);
            assert!(item.get(method).is_none() || known, "{route}: no record is known of it, and no reason");
        }
    }
}

/// Freezes a live session, as its engine does.
async fn freeze(setup: &Setup, session: &str) {
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    let frozen = FrozenSession {
        session_id: SessionId::parse(session).unwrap(),
        error: FrozenError { code: "flow_loop".to_owned(), message: "a loop".to_owned() },
        entry: json!({}),
        frozen_at: Timestamp::from_millis(1_795_085_820_050),
    };
    tx.sessions().freeze_many(&[frozen]).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
}

async fn letter(setup: &Setup, id: &str) {
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    let entry = FailedEntry {
        topic: TopicName::Status,
        group: "persister".to_owned(),
        source: Some(id.to_owned()),
        key: "nobody".to_owned(),
        payload: "not json".to_owned(),
        reason: "cannot be read".to_owned(),
        attempts: 5,
        first_failed_at: Timestamp::from_millis(1_795_085_820_050),
        failed_at: Timestamp::from_millis(1_795_085_820_050),
    };
    let id: DeadLetterId = id.parse().unwrap();
    tx.dead_letters().record(&id, &entry).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
}

async fn a_change_of_nothing_is_not(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let path = format!("/routers/{}", setup.seeded.router);
    admin.patch(&path, &json!({})).await.ok(200);
    admin.patch(&path, &json!({ "name": "Loja" })).await.ok(200);
    let contact = json!({ "phoneNumber": "5511911110000", "name": "Ana" });
    let ana = format!("/contacts/{}", id(&admin.post("/contacts", &contact).await.ok(201)));
    admin.patch(&ana, &json!({ "name": "Ana" })).await.ok(200);
    // Records are written in their order.
    admin.patch(&path, &json!({ "name": "Outra" })).await.ok(200);
    let log = super::building::records(&admin, "action=UPDATE&entityType=ROUTER", 1).await;
    assert_eq!(log[0]["changes"], json!({ "name": { "from": "Loja", "to": "Outra" } }));
    let all = admin.get("/audit-logs?action=UPDATE").await.ok(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 1, "{all}");
}

async fn a_new_secret_shows_without_its_value(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let path = format!("/routers/{}", setup.seeded.router);
    for secret in ["um-segredo-de-app", "outro-segredo-de-app"] {
        setup.plant(secret);
        admin.patch(&path, &json!({ "channelAppSecret": secret })).await.ok(200);
    }
    let new = json!({ "key": "k", "value": "um-valor-secreto", "isSecret": true });
    let variable = id(&admin.post(&format!("{path}/variables"), &new).await.ok(201));
    let other = json!({ "value": "outro-valor-secreto" });
    admin.put(&format!("{path}/variables/{variable}"), &other).await.ok(200);
    let hidden = json!({ "from": "***", "to": "***" });
    let log = super::building::records(&admin, "action=UPDATE&entityType=ROUTER", 2).await;
    assert_eq!(log[1]["changes"], json!({ "hasChannelAppSecret": { "from": false, "to": true } }));
    assert_eq!(log[0]["changes"], json!({ "channelAppSecret": hidden }));
    let log = super::building::records(&admin, "action=UPDATE&entityType=ROUTER_VARIABLE", 1).await;
    assert_eq!(log[0]["changes"], json!({ "value": hidden }));
}

/// What a caller who is confined to routers tries with records of others, and how the log shows it.
async fn attempts_on_records_of_others_are_on_record(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mine = super::building::router(&admin, "Minha").await;
    let all = ["routers", "flows", "contacts", "channel_numbers", "sessions"];
    let all = json!(all.map(|name| json!({ "resource": name, "actions": ["read", "write"] })));
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let me = bia.get("/auth/me").await.ok(200)["user"]["id"].clone();
    let (theirs, flow) = (setup.seeded.router.clone(), setup.seeded.other_flow.clone());
    let known = json!({ "phoneNumber": "5511911110000", "routerId": theirs });
    let ana = id(&admin.post("/contacts", &known).await.ok(201));
    // Reading leaves no record, whatever it finds.
    bia.get(&format!("/flows/{flow}")).await.assert_error(404);
    bia.patch(&format!("/routers/{theirs}"), &json!({ "name": "x" })).await.assert_error(403);
    bia.delete(&format!("/flows/{flow}")).await.assert_error(404);
    bia.patch(&format!("/contacts/{ana}"), &json!({ "name": "x" })).await.assert_error(404);
    let taken = json!({ "phoneNumber": "5511911110000", "routerId": mine });
    bia.post("/contacts", &taken).await.refused(
        409,
        "contact_taken",
        "Já existe um contato com esta identidade",
    );
    // A slip of one's own is no attempt on others.
    assert_eq!(
        bia.patch(&format!("/routers/{mine}"), &json!({ "name": "" })).await.invalid_fields(),
        ["name"]
    );
    let rows = json!({ "rows": [{ "phoneNumber": "5511911110000", "status": "accepted" },
        { "phoneNumber": "5511911110007", "status": "accepted" }] });
    let strict = bia.post(&format!("/routers/{mine}/opt-ins/bulk?strict=true"), &rows).await;
    strict.assert_error(422);
    let english = [("accept-language", "en"), ("content-type", "application/json")];
    let path = format!("/routers/{mine}/opt-ins/bulk");
    let loose = bia.send("POST", &path, &english, Some(rows.to_string().as_bytes())).await.ok(200);
    assert_eq!(loose["refused"][0]["reason"], "The contact cannot be imported", "{loose}");
    assert!(
        !strict.body.contains("roteador") && strict.body.contains("não pode ser importado"),
        "{strict:?}"
    );

    let log = super::building::records(&admin, "status=failure", 6).await;
    let told = |record: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let fields = ["action", "entityType", "entityId"].map(|field| text(&record[field]));
        (fields.join(" "), text(&record["metadata"]["code"]))
    };
    let log: Vec<_> =
        log.iter().rev().inspect(|record| assert_eq!(record["actorId"], me)).map(told).collect();
    let expected = [
        (format!("UPDATE ROUTER {theirs}"), "router_out_of_scope"),
        (format!("DELETE FLOW {flow}"), "not_found"),
        (format!("UPDATE CONTACT {ana}"), "not_found"),
        ("CREATE CONTACT -".to_owned(), "contact_taken"),
        ("CREATE OPT_IN -".to_owned(), "import_refused"),
        ("CREATE OPT_IN -".to_owned(), "import_refused"),
    ];
    assert_eq!(log, expected.map(|(record, code)| (record, code.to_owned())));
}
