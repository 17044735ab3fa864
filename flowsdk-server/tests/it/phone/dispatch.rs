//! Dispatch: templates to contacts who have not written (spec A 4.8).

use std::time::Duration;

use flowsdk_server::simulator::{Fault, KeptTemplate};
use serde_json::{Value, json};

use super::sending::World;
use super::{deliver, delivery, transcript};
use crate::api::agents::agent;
use crate::api::building::{id, published, says};
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(a_reply_to_a_dispatch_begins_its_flow, agents_dispatch_if_they_may);
everywhere!(
    in process:
    what_is_not_dispatched,
    several_dispatches_wait_in_line,
    once_for_each_key,
    whoever_refuses_under_one_form_of_their_number_is_not_written_to,
    a_target_that_is_gone_leads_to_the_flow_of_the_router,
    whoever_stops_a_business_is_not_written_to,
    a_consent_that_is_passed_over_is_on_record,
    a_reply_begins_at_its_block_within_seven_days,
    a_quick_reply_of_a_template_is_answered,
    an_uploaded_file_is_the_header_of_a_template,
    nothing_is_dispatched_from_a_number_that_is_paused,
    a_consent_that_is_revoked_while_the_template_waits_counts,
);

pub(super) const PHONE: &str = "5511987654321";

/// A template of the shop's account, and what dispatches it.
pub(super) struct Desk {
    pub(super) world: World,
    pub(super) template: String,
    number: String,
}

impl Desk {
    pub(super) async fn new(setup: Setup) -> Self {
        let world = World::new(setup, false).await;
        let number = world.number().await["id"].as_str().unwrap().to_owned();
        let desk = Self { template: String::new(), number, world };
        let template = desk.template("APPROVED", "9111").await;
        Self { template, ..desk }
    }

    pub(super) fn admin(&self) -> &Api {
        &self.world.admin
    }

    async fn template(&self, status: &str, account: &str) -> String {
        let body = json!({ "routerId": self.world.shop.router, "businessAccountId": account,
            "name": format!("aviso_{}_{account}", status.to_lowercase()), "language": "pt_BR", "category": "UTILITY", "status": status,
            "components": [{ "type": "HEADER", "format": "IMAGE" },
                { "type": "BODY", "text": "Olá {{1}}, seu pedido {{2}} saiu." }] });
        self.admin().post("/templates", &body).await.ok(201)["id"].as_str().unwrap().to_owned()
    }

    /// The newest answer of a contact to being written to.
    async fn answers(&self, phone: &str, status: &str) -> Value {
        let rows = json!({ "rows": [{ "phoneNumber": phone, "status": status }] });
        self.admin().post(&format!("/routers/{}/opt-ins/bulk", self.world.shop.router), &rows).await.ok(200)
    }

    pub(super) async fn agrees(&self, phone: &str) {
        let contact = json!({ "routerId": self.world.shop.router, "origin": "phone", "phoneNumber": phone, "name": "Ana" });
        self.admin().post("/contacts", &contact).await.ok(201);
        self.answers(phone, "accepted").await;
    }

    pub(super) fn body(&self) -> Value {
        json!({ "channelNumberId": self.number, "phoneNumber": PHONE, "templateId": self.template,
            "variables": ["Ana", "7"],
            "components": [{ "type": "header", "parameters": [
                { "type": "image", "image": { "link": "https://example.com/a.png" } }] }] })
    }

    pub(super) fn path(&self) -> String {
        format!("/routers/{}/dispatch/template", self.world.shop.router)
    }

    pub(super) async fn queue(&self, router: &str, settings: Value) -> String {
        let mut body = json!({ "routerId": router, "name": "Fila" });
        body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        id(&self.admin().post("/queues", &body).await.ok(201))
    }

    /// Answers what the last message of the contact, `text`, led to.
    async fn answered(&self, count: usize) -> String {
        let said = transcript(self.admin(), PHONE, count).await;
        said[count - 1]["content"]["text"]["body"].as_str().unwrap_or("?").to_owned()
    }
}

async fn a_reply_to_a_dispatch_begins_its_flow(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let flow =
        published(desk.admin(), &desk.world.shop.router, "Pedido", &says("sobre o pedido: {{input}}")).await;
    let mut body = desk.body();
    body["targetFlowId"] = flow.into();
    let done = desk.admin().post(&desk.path(), &body).await.ok(200);
    let sent = desk.world.sent(1).await;
    assert_eq!(
        sent[0].body["template"],
        json!({
            "name": "aviso_approved_9111", "language": { "code": "pt_BR" },
            "components": [
                { "type": "header", "parameters": [{ "type": "image", "image": { "link": "https://example.com/a.png" } }] },
                { "type": "body", "parameters": [{ "type": "text", "text": "Ana" }, { "type": "text", "text": "7" }] },
            ],
        })
    );
    let id = done["messageId"].as_str().unwrap();
    eventually("it is sent", || async {
        let message = desk.admin().get(&format!("/messages/{id}")).await.ok(200);
        (message["status"] == "sent" && message["type"] == "template").then_some(())
    })
    .await;
    let said = transcript(desk.admin(), PHONE, 1).await;
    assert_eq!(said[0]["content"]["template"]["text"], "Olá Ana, seu pedido 7 saiu.");
    // The provider writes the number without the ninth digit.
    desk.world.provider.say(
        "111",
        "551187654321",
        "Ana",
        json!({ "type": "text", "text": { "body": "cadê?" } }),
    );
    assert_eq!(desk.answered(3).await, "sobre o pedido: cadê?");
}

async fn several_dispatches_wait_in_line(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let end = |text: &str| {
        json!({ "schemaVersion": 1, "startBlockId": "b", "blocks": [{ "id": "b", "type": "content",
            "contents": [{ "type": "text", "text": { "body": text } }], "defaultOutput": { "end": true } }] })
    };
    for name in ["um", "dois", "três"] {
        let flow = published(desk.admin(), &desk.world.shop.router, name, &end(name)).await;
        let mut body = desk.body();
        body["targetFlowId"] = flow.into();
        desk.admin().post(&desk.path(), &body).await.ok(200);
    }
    let sent = desk.world.sent(3).await;
    let text = |body: &str| json!({ "type": "text", "text": { "body": body } });
    // The second one is answered by name, then the others in their order, and then the flow of the router.
    let mut answer = text("a");
    answer["context"] = json!({ "id": sent[1].id, "from": "5511987654321" });
    for (nth, (message, expected)) in
        [(answer, "dois"), (text("b"), "um"), (text("c"), "três"), (text("d"), "eco d")]
            .into_iter()
            .enumerate()
    {
        desk.world.provider.say("111", PHONE, "Ana", message);
        assert_eq!(desk.answered(5 + 2 * nth).await, expected);
    }
}

async fn what_is_not_dispatched(setup: Setup) {
    let desk = Desk::new(setup).await;
    let (admin, path) = (desk.admin(), desk.path());
    admin.post(&path, &desk.body()).await.refused(
        403,
        "opt_in_missing",
        "O contato não aceitou receber mensagens",
    );
    desk.agrees(PHONE).await;
    let draft = desk.template("PENDING", "9111").await;
    let elsewhere = desk.template("APPROVED", "9222").await;
    let other = super::Shop::new(admin, "Outra", "222", "another-secret").await;
    let foreign = published(admin, &other.router, "Alheio", &says("?")).await;
    let own = published(admin, &desk.world.shop.router, "Nosso", &says("?")).await;
    for (field, value, code) in [
        ("templateId", json!(draft), "template_not_approved"),
        ("templateId", json!(elsewhere), "template_other_account"),
        ("templateId", json!("nothing"), "template_unknown"),
        ("channelNumberId", json!("nothing"), "channel_number_unknown"),
        ("variables", json!(["Ana"]), "template_parameters"),
        ("variables", json!(["Ana", "a\nb"]), "template_parameters"),
        ("variables", json!(["Ana", " "]), "template_parameters"),
        ("components", json!([]), "template_parameters"),
        (
            "components",
            json!([{ "type": "header", "parameters": [{ "type": "text", "text": "x" }] }]),
            "template_parameters",
        ),
        ("targetFlowId", json!(foreign), "flow_unknown"),
        ("targetQueueId", json!("q"), "queue_unknown"),
        ("targetQueueId", json!(desk.queue(&other.router, json!({})).await), "queue_unknown"),
        (
            "targetQueueId",
            json!(desk.queue(&desk.world.shop.router, json!({ "isActive": false })).await),
            "queue_unknown",
        ),
    ] {
        let mut body = desk.body();
        body[field] = value;
        let answer = admin.post(&path, &body).await;
        assert_eq!((answer.status, &answer.json()["code"]), (422, &json!(code)), "{field}");
    }
    let mut body = desk.body();
    body["targetQueueId"] = desk.queue(&desk.world.shop.router, json!({ "name": "Aberta" })).await.into();
    body["targetUserId"] = agent(admin, &other.router, "bia").await["userId"].clone();
    admin.post(&path, &body).await.refused(422, "agent_unknown", "O usuário não é agente deste roteador");
    for field in ["targetBlockId", "targetUserId"] {
        let mut body = desk.body();
        body[field] = "b".into();
        assert_eq!(admin.post(&path, &body).await.invalid_fields(), [field]);
    }
    let mut body = desk.body();
    body["targetFlowId"] = own.into();
    body["targetBlockId"] = "nowhere".into();
    assert_eq!(admin.post(&path, &body).await.json()["code"], "block_not_found");
    let tool = json!({ "routerId": desk.world.shop.router, "name": "Ferramenta", "kind": "tool" });
    body["targetFlowId"] = admin.post("/flows", &tool).await.ok(201)["id"].clone();
    assert_eq!(admin.post(&path, &body).await.json()["code"], "flow_is_tool");
    // The order of the contract: the target, the template, the number, the parameters, the contact.
    let mut body = json!({ "channelNumberId": "nothing", "phoneNumber": "5521900000000", "templateId": draft,
        "variables": ["?"], "targetFlowId": foreign });
    for (field, right, code) in [
        ("targetFlowId", Value::Null, "flow_unknown"),
        ("templateId", json!(desk.template), "template_not_approved"),
        ("channelNumberId", json!(desk.number), "channel_number_unknown"),
    ] {
        assert_eq!(admin.post(&path, &body).await.json()["code"], code);
        body[field] = right;
    }
    assert_eq!(admin.post(&path, &body).await.json()["code"], "template_parameters");
    let contacts = admin.get("/contacts?q=5521900000000").await.ok(200);
    assert_eq!(contacts["items"], json!([]), "a refused dispatch makes no contact");
    let number = format!("/channel-numbers/{}", desk.number);
    admin.patch(&number, &json!({ "active": false })).await.ok(200);
    assert_eq!(admin.post(&path, &desk.body()).await.json()["code"], "channel_number_inactive");
    admin.patch(&number, &json!({ "active": true, "accessToken": null })).await.ok(200);
    assert_eq!(admin.post(&path, &desk.body()).await.json()["code"], "no_access_token");
    admin.patch(&number, &json!({ "accessToken": "good-token" })).await.ok(200);
    // Who is no agent of the router may not; who does not reach the router learns nothing of it.
    let write = json!([{ "resource": "routers", "actions": ["read"] }]);
    let member = admin.member(&desk.world.setup, &write, &[&desk.world.shop.router]).await;
    assert_eq!(member.post(&path, &desk.body()).await.json()["code"], "dispatch_not_allowed");
    let stranger = admin.member(&desk.world.setup, &write, &[&other.router]).await;
    let refused = stranger.post(&path, &desk.body()).await;
    refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let nowhere = "/routers/nowhere/dispatch/template";
    admin.post(nowhere, &desk.body()).await.refused(404, "not_found", "Roteador não encontrado");
    assert_eq!(stranger.post(nowhere, &desk.body()).await.json()["code"], "router_out_of_scope");
    assert_eq!(desk.world.provider.calls(), 0);
}

async fn once_for_each_key(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let key = [("idempotency-key", "k1")];
    let first = desk.admin().json("POST", &desk.path(), &key, &desk.body()).await.ok(200);
    let again = desk.admin().json("POST", &desk.path(), &key, &desk.body()).await.ok(200);
    assert_eq!(first, again);
    desk.world.sent(1).await;
    let mut other = desk.body();
    other["variables"] = json!(["Bia", "8"]);
    assert_eq!(desk.admin().json("POST", &desk.path(), &key, &other).await.status, 409);
    assert_eq!(desk.world.provider.calls(), 1);
}

async fn whoever_refuses_under_one_form_of_their_number_is_not_written_to(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let other = "551187654321";
    let report = desk.answers(other, "revoked").await;
    assert_eq!(report["createdContacts"], 0, "{report}");
    let body = json!({ "routerId": desk.world.shop.router, "origin": "phone", "phoneNumber": other });
    assert_eq!(desk.admin().post("/contacts", &body).await.status, 409);
    let answer = desk.admin().post(&desk.path(), &desk.body()).await;
    answer.refused(403, "opt_in_missing", "O contato não aceitou receber mensagens");
    // Both forms in one table are one contact, too: with the number of the first row, and whichever name there is.
    let path = format!("/routers/{}/opt-ins/bulk", desk.world.shop.router);
    for (first, second) in [("5521987654321", "552187654321"), ("554187651001", "5541987651001")] {
        let rows = json!({ "rows": [{ "phoneNumber": first, "status": "accepted" },
            { "phoneNumber": second, "status": "revoked", "name": "Zé" }] });
        assert_eq!(desk.admin().post(&path, &rows).await.ok(200)["createdContacts"], 1);
        for form in [first, second] {
            let found = desk.admin().get(&format!("/contacts?q={form}")).await.ok(200);
            let found = &found["items"][0];
            assert_eq!((&found["phoneNumber"], &found["name"]), (&json!(first), &json!("Zé")), "{form}");
        }
    }
}

async fn a_target_that_is_gone_leads_to_the_flow_of_the_router(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let flow = published(desk.admin(), &desk.world.shop.router, "Pedido", &says("pedido: {{input}}")).await;
    let mut body = desk.body();
    body["targetFlowId"] = flow.as_str().into();
    desk.admin().post(&desk.path(), &body).await.ok(200);
    desk.world.sent(1).await;
    crate::api::building::act(desk.admin(), &format!("/flows/{flow}/unpublish")).await.ok(204);
    desk.world.provider.say("111", PHONE, "Ana", json!({ "type": "text", "text": { "body": "oi" } }));
    assert_eq!(desk.answered(3).await, "eco oi");
}

async fn whoever_stops_a_business_is_not_written_to(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let later = i64::from(u32::MAX);
    let prefers = async |values: &[(&str, i64)]| {
        let preference = |(value, at): &(&str, i64)| {
            json!({ "wa_id": "551187654321", "category": "marketing_messages", "value": value,
                "timestamp": at.to_string() })
        };
        let preferences: Vec<Value> = values.iter().map(preference).collect();
        let mut entry = desk.world.shop.entry(json!({ "user_preferences": preferences }));
        entry["changes"][0]["field"] = "user_preferences".into();
        let body = delivery(&[entry]);
        assert_eq!(deliver(&desk.world.server, &desk.world.shop, &body).await.status, 200);
    };
    let newest = async |status: &str| {
        let path = format!("/routers/{}/opt-ins?limit=1", desk.world.shop.router);
        eventually("it is noted", || async {
            (desk.admin().get(&path).await.ok(200)["items"][0]["status"] == status).then_some(())
        })
        .await;
    };
    let dispatched = async || desk.admin().post(&desk.path(), &desk.body()).await.status;
    // What came before the contact agreed says nothing, and what comes again says nothing new.
    prefers(&[("stop", 1)]).await;
    prefers(&[("stop", later)]).await;
    newest("revoked").await;
    assert_eq!(dispatched().await, 403);
    prefers(&[("stop", later), ("resume", later)]).await;
    newest("accepted").await;
    assert_eq!(dispatched().await, 200);
    desk.world.sent(1).await;
    prefers(&[("stop", later), ("resume", later), ("stop", later)]).await;
    newest("revoked").await;
    prefers(&[("resume", later)]).await;
    newest("accepted").await;
    assert_eq!(dispatched().await, 200);
    // Refused for this reason by a status, and at once.
    desk.world.sent(2).await;
    desk.world.provider.fail_next(Fault::Refuse { code: 131_050, retry_after: None });
    assert_eq!(dispatched().await, 200);
    eventually("it is noted", || async { (dispatched().await == 403).then_some(()) }).await;
    // Whoever refused elsewhere has refused.
    desk.answers(PHONE, "revoked").await;
    prefers(&[("resume", later)]).await;
    assert_eq!(dispatched().await, 403);
}

async fn a_consent_that_is_passed_over_is_on_record(setup: Setup) {
    let desk = Desk::new(setup).await;
    let mut body = desk.body();
    body["disableOptIn"] = true.into();
    let key = [("idempotency-key", "k1")];
    let done = desk.admin().json("POST", &desk.path(), &key, &body).await.ok(200);
    // What is repeated is not done again, and who has agreed is not passed over.
    desk.admin().json("POST", &desk.path(), &key, &body).await.ok(200);
    desk.answers(PHONE, "accepted").await;
    desk.admin().post(&desk.path(), &body).await.ok(200);
    desk.world.sent(2).await;
    let log = eventually("it is on record", || async {
        let path = "/audit-logs?entityType=CONTACT&action=UPDATE";
        let log = desk.admin().get(path).await.ok(200)["items"].as_array()?.clone();
        (!log.is_empty()).then_some(log)
    })
    .await;
    let [record] = log.as_slice() else { panic!("{log:?}") };
    assert_eq!(
        record["changes"],
        json!({ "dispatchedWithoutOptIn": { "from": null, "to": done["messageId"] } })
    );
    assert_eq!(record["routerId"], desk.world.shop.router.as_str());
}

async fn agents_dispatch_if_they_may(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let (admin, setup, path) = (desk.admin(), &desk.world.setup, desk.path());
    let agent = async |can_dispatch: bool| {
        let member = admin.member(setup, &json!([]), &[]).await;
        let user = member.get("/auth/me").await.ok(200)["user"]["id"].as_str().unwrap().to_owned();
        let agent =
            json!({ "routerId": desk.world.shop.router, "userId": user, "canActiveDispatch": can_dispatch });
        admin.post("/agents", &agent).await.ok(201);
        member
    };
    let (may, may_not) = (agent(true).await, agent(false).await);
    may_not.post(&path, &desk.body()).await.refused(
        403,
        "dispatch_not_allowed",
        "Sem permissão para disparo ativo",
    );
    may.post(&path, &desk.body()).await.ok(200);
    let mut body = desk.body();
    body["disableOptIn"] = true.into();
    may.post(&path, &body).await.refused(403, "admin_only", "Acesso restrito a administradores");
    // What their group may, they may.
    let router = &desk.world.shop.router;
    let group = json!({ "routerId": router, "name": "Vendas", "canActiveDispatch": true });
    let group = id(&admin.post("/agent-groups", &group).await.ok(201));
    let agents = admin.get(&format!("/agents?routerId={router}")).await.ok(200);
    for agent in agents["items"].as_array().unwrap() {
        let agent = format!("/agents/{}", id(agent));
        admin.patch(&agent, &json!({ "groupId": group })).await.ok(200);
    }
    may_not.post(&path, &desk.body()).await.ok(200);
    let client = json!({ "name": "CRM", "permissions": [{ "resource": "routers", "actions": ["admin"] }] });
    let token = admin.post("/api-clients", &client).await.ok(201)["token"].as_str().unwrap().to_owned();
    setup.plant(&token);
    let refused = admin.with(&token).post(&path, &desk.body()).await;
    refused.refused(403, "user_only", "Acesso restrito a usuários");
    assert_eq!(desk.world.sent(2).await.len(), 2);
}

async fn a_reply_begins_at_its_block_within_seven_days(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let block = |id: &str, text: &str| {
        json!({ "id": id, "type": "content", "contents": [{ "type": "text", "text": { "body": text } }],
            "defaultOutput": { "end": true } })
    };
    let blocks = [block("b", "do início"), block("c", "do meio")];
    let flow = json!({ "schemaVersion": 1, "startBlockId": "b", "blocks": blocks });
    let flow = published(desk.admin(), &desk.world.shop.router, "Pedido", &flow).await;
    let mut body = desk.body();
    body["targetFlowId"] = flow.into();
    body["targetBlockId"] = "c".into();
    for _ in 0..2 {
        desk.admin().post(&desk.path(), &body).await.ok(200);
    }
    desk.world.sent(2).await;
    desk.world.says("sim");
    assert_eq!(desk.answered(4).await, "do meio");
    // What still waited would be too old to be sent.
    desk.world.sent(3).await;
    desk.world.server.advance(Duration::from_secs(7 * 24 * 3_600 + 1)).await;
    desk.world.says("e o outro?");
    let sent = desk.world.sent(4).await;
    assert_eq!(sent[3].body["text"]["body"], "eco e o outro?");
}

async fn nothing_is_dispatched_from_a_number_that_is_paused(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    desk.world.provider.fail_next(Fault::Refuse { code: 190, retry_after: None });
    desk.world.says("oi");
    eventually("it is paused", || async { (desk.world.health().await["status"] == "paused").then_some(()) })
        .await;
    let refused = desk.admin().post(&desk.path(), &desk.body()).await;
    refused.refused(422, "channel_number_paused", "O número está pausado: o provedor recusa a conta");
    desk.world.give_token("good-token").await;
    desk.world.sent(1).await;
    desk.admin().post(&desk.path(), &desk.body()).await.ok(200);
    desk.world.sent(2).await;
}

/// The phone shows the template with its buttons, and what it taps reaches the flow.
async fn a_quick_reply_of_a_template_is_answered(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let components = json!([{ "type": "HEADER", "format": "TEXT", "text": "Pedido {{1}}" },
        { "type": "BODY", "text": "Olá {{1}}, podemos entregar?" },
        { "type": "BUTTONS", "buttons": [{ "type": "QUICK_REPLY", "text": "Sim" }, { "type": "QUICK_REPLY", "text": "Não" }] }]);
    let new = json!({ "routerId": desk.world.shop.router, "businessAccountId": "9111", "name": "entrega", "language": "pt_BR",
        "category": "UTILITY", "status": "APPROVED", "components": components });
    let template = desk.admin().post("/templates", &new).await.ok(201);
    let kept = KeptTemplate {
        id: String::new(),
        name: "entrega".to_owned(),
        language: "pt_BR".to_owned(),
        category: "UTILITY".to_owned(),
        status: "APPROVED".to_owned(),
        rejected_reason: None,
        components: components.as_array().unwrap().clone(),
    };
    desk.world.provider.add_template(kept).unwrap();
    let mut body = desk.body();
    body["templateId"] = template["id"].clone();
    body["variables"] = json!(["Ana"]);
    body["components"] = json!([
        { "type": "header", "parameters": [{ "type": "text", "text": "7" }] },
        { "type": "button", "sub_type": "quick_reply", "index": "1",
            "parameters": [{ "type": "payload", "payload": "no-7" }] }]);
    desk.admin().post(&desk.path(), &body).await.ok(200);
    let sent = desk.world.sent(1).await;
    let provider = &desk.world.provider;
    let shown = provider.screen("111", PHONE).messages[0].message.clone();
    assert_eq!(
        shown["template"]["filled"],
        json!({ "header": { "type": "text", "text": "Pedido 7" }, "body": "Olá Ana, podemos entregar?", "footer": null,
            "buttons": [{ "type": "quick_reply", "text": "Sim", "payload": "Sim" },
                { "type": "quick_reply", "text": "Não", "payload": "no-7" }] })
    );
    assert_eq!(provider.tap("111", PHONE, "Ana", &sent[0].id, "Talvez"), None);
    let tapped = provider.tap("111", PHONE, "Ana", &sent[0].id, "Não").expect("there is such a button");
    assert_eq!(desk.answered(3).await, "eco Não");
    let said = provider.screen("111", PHONE).messages[1].clone();
    assert_eq!((said.id, &said.message["button"]), (tapped, &json!({ "text": "Não", "payload": "no-7" })));
    let heard = transcript(desk.admin(), PHONE, 3).await[1].clone();
    assert_eq!(
        (&heard["type"], &heard["content"]["button"]),
        (&json!("button"), &said.message["button"]),
        "{heard}"
    );
}

async fn an_uploaded_file_is_the_header_of_a_template(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";
    let upload = format!("/media?routerId={}", desk.world.shop.router);
    let file = desk.admin().send("POST", &upload, &[], Some(png)).await.ok(201);
    let mut body = desk.body();
    body["components"][0]["parameters"][0]["image"] = json!({ "id": file["id"] });
    desk.admin().post(&desk.path(), &body).await.ok(200);
    let sent = desk.world.sent(1).await;
    let image = &sent[0].body["template"]["components"][0]["parameters"][0]["image"];
    let link = image["link"].as_str().expect("a link");
    assert!(link.contains(&format!("/media/{}/content?", file["id"].as_str().unwrap())), "{image}");
    assert_eq!(image.get("id"), None);
}

async fn a_consent_that_is_revoked_while_the_template_waits_counts(setup: Setup) {
    let desk = Desk::new(setup).await;
    let dispatched = async |phone: &str, without: bool| {
        desk.world.provider.fail_next(Fault::Refuse { code: 131_016, retry_after: Some(60) });
        let mut body = desk.body();
        body["phoneNumber"] = phone.into();
        body["disableOptIn"] = without.into();
        desk.admin().post(&desk.path(), &body).await.ok(200)["messageId"].as_str().unwrap().to_owned()
    };
    let (stays, goes, never) = ("5511900000001", PHONE, "5511900000003");
    for phone in [stays, goes] {
        desk.agrees(phone).await;
    }
    desk.answers(never, "revoked").await;
    let waiting = dispatched(goes, false).await;
    dispatched(stays, false).await;
    // An administrator takes this upon themselves.
    dispatched(never, true).await;
    eventually("all wait", || async { (desk.world.provider.calls() == 3).then_some(()) }).await;
    desk.world.server.advance(Duration::from_secs(1)).await;
    // Under the other form of their number.
    desk.answers("551187654321", "revoked").await;
    let failed = eventually("it has failed", || async {
        desk.world.server.advance(Duration::from_secs(60)).await;
        let message = desk.admin().get(&format!("/messages/{waiting}")).await.ok(200);
        (message["status"] == "failed").then_some(message)
    })
    .await;
    assert_eq!(failed["error"], json!({ "code": -7, "title": "consent_revoked" }));
    // Each is tried again when its own pause is over.
    let sent = eventually("the others are sent", || async {
        desk.world.server.advance(Duration::from_secs(1)).await;
        let sent = desk.world.provider.sent();
        (sent.len() >= 2).then_some(sent)
    })
    .await;
    let to: Vec<&str> = sent.iter().map(|message| message.to.as_str()).collect();
    assert!(sent.len() == 2 && to.contains(&stays) && to.contains(&never), "{to:?}");
}
