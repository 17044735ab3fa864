//! What models cost.

use serde_json::json;

use super::building::router;
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: scope, twice, what_is_refused, a_model_has_one_price);

const PRICES: Routes = Routes {
    path: "/ai/prices",
    body: |router| {
        json!({ "routerId": router, "model": "gpt-5-mini", "inputPerMillion": 0.25, "cachedInputPerMillion": 0.025,
            "outputPerMillion": 2 })
    },
    second: |router| json!({ "routerId": router, "model": "gpt-5", "inputPerMillion": 1.25, "outputPerMillion": 10 }),
    change: || json!({ "inputPerMillion": 0.3, "cachedInputPerMillion": null, "outputPerMillion": 0 }),
    fields: 8,
    unlisted: &[],
    commands: &[],
    resource: "routers",
    kind: "AI_MODEL_PRICE",
    not_found: "Preço de modelo não encontrado",
};

async fn life(setup: Setup) {
    PRICES.live(setup).await;
}

async fn scope(setup: Setup) {
    PRICES.keep_to_their_router(setup).await;
}

async fn twice(setup: Setup) {
    PRICES.are_created_once(setup).await;
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let wrong = [
        ("inputPerMillion", json!(-1)),
        ("inputPerMillion", json!("1")),
        ("inputPerMillion", json!(null)),
        ("inputPerMillion", json!(0.0000001)),
        ("inputPerMillion", json!(1_000_000_001)),
        ("cachedInputPerMillion", json!(1.1234567)),
        ("outputPerMillion", json!(-0.5)),
        ("other", json!(1)),
    ];
    let path = PRICES.refuse(&admin, &router, &json!({}), &wrong).await;
    assert_eq!(admin.patch(&path, &json!({ "model": "gpt-5" })).await.invalid_fields(), ["model"]);
    for model in [" ", &"m".repeat(201)] {
        let mut body = (PRICES.body)(&router);
        body["model"] = json!(model);
        assert_eq!(admin.post(PRICES.path, &body).await.invalid_fields(), ["model"]);
    }
}

async fn a_model_has_one_price(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, other) = (router(&admin, "Loja").await, router(&admin, "B").await);
    admin.post(PRICES.path, &(PRICES.body)(&router)).await.ok(201);
    let taken = admin.post(PRICES.path, &(PRICES.body)(&router)).await;
    taken.refused(409, "model_taken", "O modelo já tem um preço neste roteador");
    admin.post(PRICES.path, &(PRICES.body)(&other)).await.ok(201);
    let list = admin.get(&format!("/ai/prices?routerId={router}&q=gpt")).await.ok(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}
