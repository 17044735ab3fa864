//! Saved filters of contacts.

use serde_json::{Value, json};

use super::building::router;
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice);

const ROUTES: Routes = Routes {
    path: "/contact-filters",
    body: filter,
    second: |router| json!({ "routerId": router, "name": "B" }),
    change: || json!({ "name": "Todos", "q": null }),
    fields: 7,
    unlisted: &[],
    commands: &[],
    resource: "contacts",
    kind: "CONTACT_FILTER",
    not_found: "Filtro não encontrado",
};

fn filter(router: &str) -> Value {
    json!({ "routerId": router, "name": "Do site", "q": "ana", "origin": "webchat" })
}

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
        ("name", json!("")),
        ("name", json!("  ")),
        ("name", json!(null)),
        ("name", json!("x".repeat(201))),
        ("q", json!("")),
        ("q", json!(" ")),
        ("q", json!(7)),
        ("q", json!("x".repeat(201))),
        ("origin", json!("fax")),
        ("origin", json!("")),
        ("other", json!(1)),
    ];
    ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    assert_eq!(admin.post(ROUTES.path, &json!({})).await.invalid_fields(), ["name", "routerId"]);
    let nothing = admin.post(ROUTES.path, &json!({ "routerId": router, "name": "B" })).await.ok(201);
    assert_eq!((&nothing["q"], &nothing["origin"]), (&json!(null), &json!(null)));
}
