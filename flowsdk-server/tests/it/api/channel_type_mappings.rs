//! Channel type mappings.

use serde_json::{Value, json};

use super::building::{id, router};
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice);

const ROUTES: Routes = Routes {
    path: "/channel-type-mappings",
    body: mapping,
    second: |router| json!({ "routerId": router, "channelType": "webchat", "label": "Site", "externalType": "WEB" }),
    change: || json!({ "label": "Zap" }),
    fields: 7,
    unlisted: &[],
    commands: &[],
    resource: "channel_numbers",
    kind: "CHANNEL_TYPE_MAPPING",
    not_found: "Mapeamento não encontrado",
};

fn mapping(router: &str) -> Value {
    json!({ "routerId": router, "channelType": "phone", "label": "WhatsApp", "externalType": "WABA" })
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
    let (router, other) = (router(&admin, "Loja").await, router(&admin, "Outra").await);
    let wrong = [
        ("label", json!("")),
        ("label", json!("  ")),
        ("label", json!(null)),
        ("label", json!("x".repeat(201))),
        ("externalType", json!("")),
        ("externalType", json!(" ")),
        ("externalType", json!(7)),
        ("externalType", json!("x".repeat(129))),
        ("other", json!(1)),
    ];
    ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    let mut fax = mapping(&router);
    fax["channelType"] = json!("fax");
    assert_eq!(admin.post(ROUTES.path, &fax).await.invalid_fields(), ["channelType"]);
    let again = admin.post(ROUTES.path, &mapping(&router)).await;
    again.refused(409, "channel_type_taken", "O roteador já tem um mapeamento deste canal");
    // Of each router there is one.
    let of_other = admin.post(ROUTES.path, &mapping(&other)).await.ok(201);
    // A mapping stays with its channel.
    let moved = admin.patch(&ROUTES.at(&id(&of_other)), &json!({ "channelType": "social" })).await;
    assert_eq!(moved.invalid_fields(), ["channelType"]);
}
