//! Tags, and tickets that have them.

use serde_json::{Value, json};

use super::building::{id, router};
use super::router_records::Routes;
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice, tickets_are_tagged, a_deleted_tag_is_taken_off);

const ROUTES: Routes = Routes {
    path: "/tags",
    body: |router| json!({ "routerId": router, "name": "Reembolso", "color": "#d0342c" }),
    second: |router| json!({ "routerId": router, "name": "Vendas" }),
    change: || json!({ "name": "Estorno", "color": null }),
    fields: 6,
    unlisted: &[],
    commands: &[],
    resource: "helpdesk",
    kind: "TAG",
    not_found: "Tag não encontrada",
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
        ("name", json!(" ")),
        ("name", json!(1)),
        ("color", json!("red")),
        ("color", json!("#12345")),
        ("other", json!(1)),
    ];
    ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    let again = admin.post(ROUTES.path, &(ROUTES.body)(&router)).await;
    again.refused(409, "name_taken", "Nome já existe");
}

async fn tag(api: &Api, router: &str, name: &str) -> String {
    id(&api.post("/tags", &json!({ "routerId": router, "name": name })).await.ok(201))
}

fn tags_of(ticket: &Value) -> Vec<&str> {
    ticket["tagIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
}

async fn tickets_are_tagged(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (ana, _) = desk.agent(&setup, &[&queue]).await;
    let (refund, late) =
        (tag(&admin, &desk.router, "Reembolso").await, tag(&admin, &desk.router, "Atraso").await);
    let foreign = tag(&admin, &router(&admin, "Outra").await, "Alheia").await;
    let (_visitor, ticket) = desk.hand_over(&server).await;
    assert_eq!(ticket["tagIds"], json!([]));
    let path = format!("/tickets/{}", id(&ticket));
    let put = async |api: &Api, ids: Value| {
        api.json("PUT", &format!("{path}/tags"), &[], &json!({ "tagIds": ids })).await
    };
    let tagged = put(&ana, json!([refund, refund, late])).await.ok(200);
    assert_eq!(tags_of(&tagged), [&refund, &late], "each once");
    assert_eq!(ana.get(&path).await.ok(200), tagged);
    for wrong in [json!([foreign]), json!(["cnothing"])] {
        put(&ana, wrong).await.refused(422, "tag_unknown", "A tag não existe neste roteador");
    }
    for wrong in [json!("x"), json!([1]), json!(vec!["c"; 21])] {
        put(&ana, wrong).await.assert_error(400);
    }
    let all = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let stranger = admin.member(&setup, &all, &[&router(&admin, "Terceira").await]).await;
    put(&stranger, json!([])).await.refused(404, "not_found", "Ticket não encontrado");
    // They stay with the conversation, and a close may set others.
    ana.post("/tickets/pickup", &json!({})).await.ok(200);
    let next = ana.post(&format!("{path}/transfer"), &json!({ "toQueueId": queue })).await.ok(200);
    assert_eq!(tags_of(&next), [&refund, &late]);
    ana.post("/tickets/pickup", &json!({})).await.ok(200);
    let close = format!("/tickets/{}/close", id(&next));
    let refused = ana.post(&close, &json!({ "tagIds": [foreign] })).await;
    refused.refused(422, "tag_unknown", "A tag não existe neste roteador");
    let closed = ana.post(&close, &json!({ "tagIds": [late] })).await.ok(200);
    assert_eq!((closed["status"].as_str(), tags_of(&closed)), (Some("closed"), vec![late.as_str()]));
    let tags = format!("/tickets/{}/tags", id(&next));
    let refused = ana.json("PUT", &tags, &[], &json!({ "tagIds": [] })).await;
    refused.refused(409, "ticket_closed", "O ticket já está fechado");
}

async fn a_deleted_tag_is_taken_off(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (gone, kept) = (tag(&admin, &desk.router, "A").await, tag(&admin, &desk.router, "B").await);
    let (_visitor, ticket) = desk.hand_over(&server).await;
    let path = format!("/tickets/{}", id(&ticket));
    let body = json!({ "tagIds": [gone, kept] });
    admin.json("PUT", &format!("{path}/tags"), &[], &body).await.ok(200);
    admin.delete(&format!("/tags/{gone}")).await.ok(204);
    assert_eq!(tags_of(&admin.get(&path).await.ok(200)), [&kept]);
}
