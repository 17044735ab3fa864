//! Templates at the provider: read, submitted, and followed by its webhooks (rulings O4).

use flowsdk_server::simulator::{CallKind, Fault, KeptTemplate, Review};
use serde_json::{Value, json};

use super::dispatch::Desk;
use super::sending::World;
use super::{Shop, deliver, delivery};
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(templates_are_those_of_the_provider);
everywhere!(
    in process:
    a_draft_is_reviewed,
    a_submission_that_goes_wrong_is_told,
    many_templates_are_read,
    what_the_provider_tells_counts_for_its_account,
    what_keeps_templates_from_being_read,
    a_template_that_was_stopped_is_not_sent,
);

fn kept(name: &str, status: &str) -> KeptTemplate {
    KeptTemplate {
        id: String::new(),
        name: name.to_owned(),
        language: "pt_BR".to_owned(),
        category: "UTILITY".to_owned(),
        status: status.to_owned(),
        rejected_reason: None,
        components: vec![json!({ "type": "BODY", "text": "Olá {{1}}, tudo bem?" })],
    }
}

fn review(event: &str) -> Review {
    Review { event: event.to_owned(), reason: None }
}

impl World {
    fn account(&self) -> Value {
        json!({ "routerId": self.shop.router, "businessAccountId": "9111" })
    }

    /// Name and status of each template, by name.
    async fn templates(&self) -> Vec<(String, String)> {
        let path = format!("/templates?limit=200&routerId={}", self.shop.router);
        let page = self.admin.get(&path).await.ok(200);
        let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let all = page["items"].as_array().unwrap();
        let mut all: Vec<_> = all.iter().map(|one| (text(one, "name"), text(one, "status"))).collect();
        all.sort_unstable();
        all
    }

    async fn status_of(&self, name: &str, status: &str) {
        eventually("the template has its status", || async {
            let all = self.templates().await;
            all.iter().any(|(one, is)| one == name && is == status).then_some(())
        })
        .await;
    }
}

fn pairs<const N: usize>(all: [(&str, &str); N]) -> Vec<(String, String)> {
    all.map(|(name, status)| (name.to_owned(), status.to_owned())).to_vec()
}

async fn templates_are_those_of_the_provider(setup: Setup) {
    let world = World::new(setup, false).await;
    let sync = async || world.admin.post("/templates/sync", &world.account()).await.ok(200);
    let order = world.provider.add_template(kept("order", "APPROVED")).unwrap();
    world.provider.add_template(kept("late", "REJECTED")).unwrap();
    let mut named = kept("named", "APPROVED");
    named.components = vec![json!({ "type": "BODY", "text": "Olá {{name}}, tudo bem?" })];
    world.provider.add_template(named).unwrap();
    let draft = json!({ "routerId": world.shop.router, "businessAccountId": "9111", "name": "draft", "language": "pt_BR",
        "category": "UTILITY", "components": [{ "type": "BODY", "text": "Oi" }] });
    world.admin.post("/templates", &draft).await.ok(201);
    let omitted = json!([{ "name": "named", "language": "pt_BR", "reason": "components" }]);
    let mut report = json!({ "created": 2, "updated": 0, "unchanged": 0, "gone": 0, "omitted": omitted });
    assert_eq!(sync().await, report);
    let all = [("draft", "DRAFT"), ("late", "REJECTED"), ("order", "APPROVED")];
    assert_eq!(world.templates().await, pairs(all));
    report["created"] = 0.into();
    report["unchanged"] = 2.into();
    assert_eq!(sync().await, report);

    assert!(world.provider.review(&order, &review("PAUSED")));
    world.status_of("order", "PAUSED").await;
    assert!(world.provider.review(&order, &review("FLAGGED")));
    assert!(world.provider.review(&order, &review("APPROVED")));
    world.status_of("order", "APPROVED").await;
    world.provider.remove_template(&order);
    report["unchanged"] = 1.into();
    report["gone"] = 1.into();
    assert_eq!(sync().await, report);
    let all = [("draft", "DRAFT"), ("late", "REJECTED"), ("order", "DISABLED")];
    assert_eq!(world.templates().await, pairs(all));
    report["gone"] = 0.into();
    assert_eq!(sync().await, report);
    let kinds = "entityType=MESSAGE_TEMPLATE&action";
    for (action, count) in [("CREATE", 3), ("UPDATE", 1)] {
        eventually("the records are there", || async {
            let log = world.admin.get(&format!("/audit-logs?{kinds}={action}")).await.ok(200);
            (log["items"].as_array()?.len() == count).then_some(())
        })
        .await;
    }
    assert!(world.server.stop().await.0.success());
}

async fn a_draft_is_reviewed(setup: Setup) {
    let world = World::new(setup, false).await;
    let submit = async |id: &str| {
        world.admin.json("POST", &format!("/templates/{id}/submit"), &[], &Value::Null).await
    };
    let new = json!({ "routerId": world.shop.router, "businessAccountId": "9111", "name": "order", "language": "pt_BR",
        "category": "UTILITY", "components": [{ "type": "BODY", "text": "Olá {{1}}, tudo bem?",
            "example": { "body_text": [["Ana"]] } }] });
    let template = world.admin.post("/templates", &new).await.ok(201);
    assert_eq!((&template["providerId"], &template["quality"]), (&Value::Null, &Value::Null));
    let id = template["id"].as_str().unwrap();
    let submitted = submit(id).await.ok(200);
    assert_eq!(submitted["status"], "PENDING");
    let provider_id = submitted["providerId"].as_str().unwrap();
    submit(id).await.refused(409, "already_submitted", "O provedor já tem este modelo");
    let rejected = Review { event: "REJECTED".to_owned(), reason: Some("INCORRECT_CATEGORY".to_owned()) };
    assert!(world.provider.review(provider_id, &rejected));
    world.status_of("order", "REJECTED").await;
    let path = format!("/templates/{id}");
    assert_eq!(world.admin.get(&path).await.ok(200)["rejectedReason"], "INCORRECT_CATEGORY");
    world.admin.post("/templates/sync", &world.account()).await.ok(200);
    assert_eq!(world.admin.get(&path).await.ok(200)["rejectedReason"], "INCORRECT_CATEGORY");
    assert!(world.provider.review(provider_id, &review("APPROVED")));
    world.status_of("order", "APPROVED").await;
    assert_eq!(world.admin.get(&path).await.ok(200)["rejectedReason"], Value::Null);

    // The provider has one of this name that is not known here.
    world.provider.add_template(kept("taken", "APPROVED")).unwrap();
    let mut taken = new.clone();
    taken["name"] = "taken".into();
    let taken = world.admin.post("/templates", &taken).await.ok(201);
    let refused = submit(taken["id"].as_str().unwrap()).await;
    refused.refused(422, "provider_refused", "O provedor recusou");
    assert!(
        refused.json()["details"][0]["message"].as_str().unwrap().starts_with("2388024: "),
        "{}",
        refused.json()
    );
    assert_eq!(world.templates().await[1], ("taken".to_owned(), "DRAFT".to_owned()));
    let found = world.admin.post("/templates/sync", &world.account()).await.ok(200);
    assert_eq!((&found["updated"], &found["created"]), (&json!(1), &json!(0)));
    assert_eq!(world.admin.get(&path).await.ok(200)["quality"], "UNKNOWN");
    submit("nothing").await.refused(404, "not_found", "Modelo não encontrado");
}

async fn a_submission_that_goes_wrong_is_told(setup: Setup) {
    let world = World::new(setup, false).await;
    let new = json!({ "routerId": world.shop.router, "businessAccountId": "9111", "name": "order", "language": "pt_BR",
        "category": "UTILITY", "components": [{ "type": "BODY", "text": "Oi" }] });
    let template = world.admin.post("/templates", &new).await.ok(201);
    let path = format!("/templates/{}/submit", template["id"].as_str().unwrap());
    world.provider.fail_next_of(CallKind::Template, Fault::Refuse { code: 2_388_019, retry_after: None });
    let refused = world.admin.json("POST", &path, &[], &Value::Null).await;
    refused.refused(422, "provider_refused", "O provedor recusou");
    let details = refused.json()["details"][0]["message"].as_str().unwrap().to_owned();
    assert!(details.starts_with("2388019: "), "{details}");
    // A message is no call of this kind.
    world.provider.fail_next_of(CallKind::Template, Fault::LoseAnswer);
    world.says("oi");
    world.sent(1).await;
    let lost = world.admin.json("POST", &path, &[], &Value::Null).await;
    lost.refused(504, "provider_unanswered", "A resposta do provedor se perdeu; verifique se foi feito");
    assert_eq!(world.templates().await, pairs([("order", "DRAFT")]));
    assert_eq!(world.provider.add_template(kept("order", "PENDING")), None, "the provider has it");
    world.admin.post("/templates/sync", &world.account()).await.ok(200);
    assert_eq!(world.templates().await, pairs([("order", "PENDING")]));
}

async fn many_templates_are_read(setup: Setup) {
    let world = World::new(setup, false).await;
    for nth in 0..230 {
        world.provider.add_template(kept(&format!("t{nth}"), "APPROVED")).unwrap();
    }
    let report = world.admin.post("/templates/sync", &world.account()).await.ok(200);
    assert_eq!((&report["created"], &report["omitted"]), (&json!(230), &json!([])));
    let report = world.admin.post("/templates/sync", &world.account()).await.ok(200);
    assert_eq!((&report["unchanged"], &report["gone"]), (&json!(230), &json!(0)));
}

async fn what_the_provider_tells_counts_for_its_account(setup: Setup) {
    let world = World::new(setup, false).await;
    let other = Shop::new(&world.admin, "Outra", "222", "another-secret").await;
    for (router, account) in [(&world.shop.router, "9111"), (&other.router, "9111"), (&other.router, "9222")]
    {
        let new = json!({ "routerId": router, "businessAccountId": account, "name": "order", "language": "pt_BR",
            "category": "UTILITY", "status": "APPROVED", "components": [{ "type": "BODY", "text": "Oi" }] });
        world.admin.post("/templates", &new).await.ok(201);
    }
    let tell = async |field: &str, mut value: Value| {
        value["message_template_name"] = "order".into();
        value["message_template_language"] = "pt_BR".into();
        let entry = json!({ "id": "9111", "changes": [{ "field": field, "value": value }] });
        assert_eq!(deliver(&world.server, &world.shop, &delivery(&[entry])).await.status, 200);
    };
    tell(
        "message_template_quality_update",
        json!({ "previous_quality_score": "GREEN", "new_quality_score": "RED" }),
    )
    .await;
    tell("template_category_update", json!({ "new_category": "MARKETING", "message_template_id": 7 })).await;
    tell("message_template_status_update", json!({ "event": "DISABLED", "reason": null })).await;
    for odd in [json!({ "event": "NEW" }), json!({ "event": 7 }), json!({})] {
        tell("message_template_status_update", odd).await;
    }
    let of = async |router: &str| {
        let page = world.admin.get(&format!("/templates?routerId={router}")).await.ok(200);
        let told = |one: &Value| (one["status"].clone(), one["category"].clone(), one["quality"].clone());
        page["items"].as_array().unwrap().iter().map(told).collect::<Vec<_>>()
    };
    // A delivery is answered before its news count.
    let told = [(json!("DISABLED"), json!("MARKETING"), json!("RED"))];
    eventually("the news count", || async { (of(&world.shop.router).await == told).then_some(()) }).await;
    let untouched = (json!("APPROVED"), json!("UTILITY"), Value::Null);
    assert_eq!(
        of(&other.router).await,
        [untouched.clone(), untouched],
        "the router has no number of the account"
    );
}

async fn what_keeps_templates_from_being_read(setup: Setup) {
    let mut world = World::new(setup, false).await;
    let account = world.account();
    let mut elsewhere = account.clone();
    elsewhere["businessAccountId"] = "9999".into();
    world.admin.post("/templates/sync", &elsewhere).await.refused(
        422,
        "no_access_token",
        "Nenhum número desta conta tem um token de acesso",
    );
    let mut nowhere = account.clone();
    nowhere["routerId"] = "nothing".into();
    assert_eq!(world.admin.post("/templates/sync", &nowhere).await.json()["code"], "router_unknown");
    for (body, field) in [
        (json!({ "routerId": world.shop.router }), "businessAccountId"),
        (json!({ "routerId": world.shop.router, "businessAccountId": "x" }), "businessAccountId"),
    ] {
        assert_eq!(world.admin.post("/templates/sync", &body).await.invalid_fields(), [field]);
    }
    let other = Shop::new(&world.admin, "Outra", "222", "another-secret").await;
    let permission = |action: &str| json!([{ "resource": "channel_numbers", "actions": [action] }]);
    let member = async |action: &str, router: &str| -> Api {
        world.admin.member(&world.setup, &permission(action), &[router]).await
    };
    let new = json!({ "routerId": world.shop.router, "businessAccountId": "9111", "name": "order", "language": "pt_BR",
        "category": "UTILITY", "components": [{ "type": "BODY", "text": "Oi" }] });
    let template = world.admin.post("/templates", &new).await.ok(201)["id"].as_str().unwrap().to_owned();
    let submit = format!("/templates/{template}/submit");
    let stranger = member("write", &other.router).await;
    assert_eq!(stranger.post(&submit, &Value::Null).await.status, 404, "a template of another router");
    let (sync, create) =
        (stranger.post("/templates/sync", &account).await, stranger.post("/templates", &new).await);
    assert_eq!((sync.status, create.status), (403, 403), "into another router");
    let reader = member("read", &world.shop.router).await;
    assert_eq!(reader.post(&submit, &Value::Null).await.status, 403);
    assert_eq!(reader.post("/templates/sync", &account).await.status, 403);

    world.give_token("expired-token").await;
    let refused = world.admin.post("/templates/sync", &account).await;
    refused.refused(422, "provider_refused", "O provedor recusou");
    assert!(refused.json()["details"][0]["message"].as_str().unwrap().starts_with("190: "));
    world.silence();
    let unreached = eventually("nobody listens", || async {
        let answer = world.admin.post("/templates/sync", &account).await;
        (answer.status == 502).then_some(answer)
    })
    .await;
    unreached.refused(502, "provider_unreachable", "O provedor não respondeu");
    assert_eq!(world.templates().await, pairs([("order", "DRAFT")]));
}

async fn a_template_that_was_stopped_is_not_sent(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees("5511987654321").await;
    let dispatch = async || {
        let done = desk.admin().post(&desk.path(), &desk.body()).await.ok(200);
        done["messageId"].as_str().unwrap().to_owned()
    };
    let failed = async |id: &str| {
        eventually("it has failed", || async {
            let message = desk.admin().get(&format!("/messages/{id}")).await.ok(200);
            (message["status"] == "failed").then_some(message["error"].clone())
        })
        .await
    };
    let template = format!("/templates/{}", desk.template);
    let path = template.as_str();
    let change = async |status: &str| desk.admin().patch(path, &json!({ "status": status })).await.ok(200);
    // It waits for a token while the template is stopped.
    desk.world.provider.fail_next(Fault::Refuse { code: 190, retry_after: None });
    let id = dispatch().await;
    eventually("it waits", || async { (desk.world.health().await["status"] == "paused").then_some(()) })
        .await;
    change("PAUSED").await;
    desk.world.give_token("good-token").await;
    assert_eq!(failed(&id).await, json!({ "code": -6, "title": "template_not_approved: PAUSED" }));
    assert!(desk.world.provider.sent().is_empty());
    // The provider says so first.
    for (code, status) in [(132_015, "PAUSED"), (132_016, "DISABLED")] {
        change("APPROVED").await;
        desk.world.provider.fail_next(Fault::Refuse { code, retry_after: None });
        assert_eq!(failed(&dispatch().await).await["code"], code);
        assert_eq!(desk.admin().get(path).await.ok(200)["status"], status);
    }
}
