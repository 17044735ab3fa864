//! Close reasons, and tickets that are closed with them.

use serde_json::{Value, json};

use super::building::{id, router};
use super::router_records::Routes;
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice, lists, tickets_are_closed_with_them);

const ROUTES: Routes = Routes {
    path: "/close-reasons",
    body: |router| json!({ "routerId": router, "key": "refunded", "label": "Reembolsado" }),
    second: |router| json!({ "routerId": router, "key": "spam", "label": "Spam", "isActive": false }),
    change: || json!({ "label": "Estornado", "isActive": false }),
    fields: 7,
    unlisted: &[],
    commands: &[],
    resource: "helpdesk",
    kind: "CLOSE_REASON",
    not_found: "Motivo de fechamento não encontrado",
};

async fn life(setup: Setup) {
    ROUTES.live(setup).await;
}

async fn scope(setup: Setup) {
    ROUTES.keep_to_their_router(setup).await;
}

async fn twice(setup: Setup) {
    ROUTES.are_created_once(setup).await;
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let wrong = [
        ("key", json!("")),
        ("key", json!("Refunded")),
        ("key", json!("a b")),
        ("key", json!("k".repeat(65))),
        ("key", json!(1)),
        ("label", json!(" ")),
        ("label", json!("l".repeat(201))),
        ("label", json!(1)),
        ("isActive", json!("yes")),
        ("other", json!(1)),
    ];
    let path = ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    let mut body = (ROUTES.body)(&router);
    body["key"] = json!("a b");
    let told = super::building::details(&admin.post(ROUTES.path, &body).await);
    let must = "Formato inválido: esperado letras minúsculas, dígitos, sublinhados, pontos e hifens";
    assert_eq!(told, [("key".to_owned(), must.to_owned())]);
    for missing in ["key", "label"] {
        let mut body = (ROUTES.body)(&router);
        body.as_object_mut().unwrap().remove(missing);
        assert_eq!(admin.post(ROUTES.path, &body).await.invalid_fields(), [missing]);
    }
    let again = admin.post(ROUTES.path, &(ROUTES.body)(&router)).await;
    again.refused(409, "key_taken", "Chave já existe");
    // Another router may have the key too.
    admin.post(ROUTES.path, &(ROUTES.body)(&super::building::router(&admin, "Outra").await)).await.ok(201);
    // A key stays, because closed tickets have it.
    assert_eq!(admin.patch(&path, &json!({ "key": "other" })).await.invalid_fields(), ["key"]);
    admin.get(&ROUTES.at("cnothing")).await.refused(404, "not_found", ROUTES.not_found);
}

fn keys(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect()
}

async fn lists(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    for (key, label, is_active) in
        [("refunded", "Reembolsado", true), ("spam", "Propaganda", false), ("solved", "Resolvido", true)]
    {
        let body = json!({ "routerId": router, "key": key, "label": label, "isActive": is_active });
        admin.post(ROUTES.path, &body).await.ok(201);
    }
    let agent = json!([{ "resource": "helpdesk", "actions": ["read"] }]);
    let agent = admin.member(&setup, &agent, &[&router]).await;
    for (query, expected) in [
        ("", &["solved", "spam", "refunded"][..]),
        ("&isActive=true", &["solved", "refunded"]),
        ("&isActive=false", &["spam"]),
        ("&q=propag", &["spam"]),
        ("&q=refu&isActive=true", &["refunded"]),
        ("&q=refu&isActive=false", &[]),
        ("&isActive=true&limit=1", &["solved"]),
    ] {
        let list = agent.get(&format!("/close-reasons?routerId={router}{query}")).await.ok(200);
        assert_eq!(keys(&list), expected, "{query}");
    }
    assert_eq!(agent.get("/close-reasons?isActive=1").await.invalid_fields(), ["isActive"]);
}

async fn tickets_are_closed_with_them(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (ana, _) = desk.agent(&setup, &[&queue]).await;
    // Those of other routers do not count.
    admin.post(ROUTES.path, &(ROUTES.body)(&router(&admin, "Outra").await)).await.ok(201);
    let (mut visitors, mut tickets) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let (visitor, ticket) = desk.hand_over(&server).await;
        ana.post("/tickets/pickup", &json!({})).await.ok(200);
        visitors.push(visitor);
        tickets.push(id(&ticket));
    }
    let close = |ticket: &str| format!("/tickets/{ticket}/close");
    let closed = ana.post(&close(&tickets[0]), &json!({ "reason": "Em minhas palavras" })).await.ok(200);
    assert_eq!(closed["closeReason"], "Em minhas palavras");
    ana.post(ROUTES.path, &(ROUTES.body)(&desk.router)).await.ok(201);
    ana.post(ROUTES.path, &(ROUTES.second)(&desk.router)).await.ok(201);
    for unknown in ["Em minhas palavras", "spam"] {
        let refused = ana.post(&close(&tickets[1]), &json!({ "reason": unknown })).await;
        refused.refused(
            422,
            "close_reason_unknown",
            "O motivo de fechamento não existe neste roteador ou está inativo",
        );
        assert_eq!(super::building::details(&refused)[0].0, "reason");
        let body = json!({ "ticketIds": &tickets[1..], "reason": unknown });
        let done = ana.post("/tickets/bulk/close", &body).await.ok(200);
        for item in done["items"].as_array().unwrap() {
            assert_eq!((&item["code"], &item["ticket"]), (&json!("close_reason_unknown"), &Value::Null));
        }
        let ticket = ana.get(&format!("/tickets/{}", tickets[1])).await.ok(200);
        assert_eq!(ticket["status"], "assigned");
    }
    let body = json!({ "ticketIds": &tickets[1..2], "reason": "refunded" });
    let done = ana.post("/tickets/bulk/close", &body).await.ok(200);
    assert_eq!(done["items"][0]["ticket"]["closeReason"], "refunded");
    assert_eq!(visitors[1].texts(1).await, ["Fim: refunded"]);
    let closed = ana.post(&close(&tickets[2]), &json!({})).await.ok(200);
    assert_eq!((&closed["status"], &closed["closeReason"]), (&json!("closed"), &Value::Null));
}
