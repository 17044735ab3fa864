//! Quick replies, alone and for a ticket (spec B 4.7).

use serde_json::{Value, json};

use super::building::{id, router};
use super::router_records::Routes;
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice, they_are_offered_for_a_ticket);

const ROUTES: Routes = Routes {
    path: "/quick-replies",
    body: |router| {
        json!({ "routerId": router, "name": "Saudação", "shortcut": "oi", "text": "Olá {{contact.name}}!",
            "queueId": null })
    },
    second: |router| json!({ "routerId": router, "name": "Tchau", "text": "Até mais!" }),
    change: || json!({ "name": "Boas-vindas", "shortcut": null, "text": "Olá!" }),
    fields: 8,
    unlisted: &[],
    commands: &[],
    resource: "helpdesk",
    kind: "QUICK_REPLY",
    not_found: "Resposta rápida não encontrada",
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
    let (mine, other) = (router(&admin, "Loja").await, router(&admin, "Outra").await);
    let wrong = [
        ("name", json!("")),
        ("shortcut", json!("com espaço")),
        ("shortcut", json!("")),
        ("text", json!(" ")),
        ("text", json!("x".repeat(4_097))),
        ("text", json!(null)),
        ("queueId", json!("!")),
        ("other", json!(1)),
    ];
    ROUTES.refuse(&admin, &mine, &json!({}), &wrong).await;
    let again = admin.post(ROUTES.path, &(ROUTES.body)(&mine)).await;
    again.refused(409, "shortcut_taken", "Atalho já existe");
    let foreign = id(&admin.post("/queues", &json!({ "routerId": other, "name": "Q" })).await.ok(201));
    let body = json!({ "routerId": mine, "name": "X", "text": "x", "queueId": foreign });
    let refused = admin.post(ROUTES.path, &body).await;
    refused.refused(422, "queue_unknown", "A fila não existe neste roteador");
    let made = id(&admin.post(ROUTES.path, &(ROUTES.second)(&mine)).await.ok(201));
    let change = json!({ "queueId": foreign });
    let refused = admin.patch(&format!("/quick-replies/{made}"), &change).await;
    refused.refused(422, "queue_unknown", "A fila não existe neste roteador");
}

async fn they_are_offered_for_a_ticket(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let other =
        id(&admin.post("/queues", &json!({ "routerId": desk.router, "name": "Outra" })).await.ok(201));
    let (ana, _) = desk.agent(&setup, &[&queue]).await;
    let (_visitor, ticket) = desk.hand_over(&server).await;
    let contact = format!("/contacts/{}", ticket["contactId"].as_str().unwrap());
    let known = json!({ "contactVariables": { "plano": "ouro" } });
    admin.patch(&format!("{contact}/variables"), &known).await.ok(200);
    let contact = admin.get(&contact).await.ok(200);
    let elsewhere = router(&admin, "Terceira").await;
    for (router, name, text, of) in [
        (&desk.router, "B", "{{contact.plano}} {{contact.nada}} {{context.subject}}", Value::Null),
        (&desk.router, "A", "{{contact.name}}", json!(queue)),
        (&desk.router, "C", "de outra fila", json!(other)),
        (&elsewhere, "D", "de outro roteador", Value::Null),
    ] {
        let body = json!({ "routerId": router, "name": name, "text": text, "queueId": of });
        admin.post("/quick-replies", &body).await.ok(201);
    }
    let path = format!("/tickets/{}/quick-replies", id(&ticket));
    let offered = ana.get(&path).await.ok(200);
    let offered: Vec<(&str, &str)> = offered["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reply| (reply["name"].as_str().unwrap(), reply["text"].as_str().unwrap()))
        .collect();
    // What the visitor has said to the flow is a variable of it.
    let name = contact["name"].as_str().unwrap();
    assert_eq!(offered, [("A", name), ("B", "ouro {{contact.nada}} fatura")]);
    let all = json!([{ "resource": "helpdesk", "actions": ["read"] }]);
    let stranger = admin.member(&setup, &all, &[&elsewhere]).await;
    stranger.get(&path).await.refused(404, "not_found", "Ticket não encontrado");
    // A queue that has quick replies is in use; they go with it by force.
    let refused = admin.delete(&format!("/queues/{other}")).await;
    refused.refused(409, "in_use", "Registro em uso");
    admin.delete(&format!("/queues/{other}?force=true")).await.ok(204);
    let left = admin.get(&format!("/quick-replies?routerId={}", desk.router)).await.ok(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 2);
}
