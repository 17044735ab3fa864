//! The settings of observability (spec A 2.9).

use serde_json::{Value, json};

use super::building::router;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, who_may, at_once);

const PATH: &str = "/settings/observability";
const TOKEN: &str = "pylf-token-muito-secreto";

async fn life(setup: Setup) {
    setup.plant(TOKEN);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let fresh = json!({ "enabled": false, "serviceName": "flowsdk", "endpoint": null, "hasToken": false, "updatedAt": null });
    assert_eq!(admin.get(PATH).await.ok(200), fresh);
    let change = json!({ "enabled": true, "serviceName": "atendimento", "endpoint": "https://t.example/v1", "logfireToken": TOKEN });
    let changed = admin.patch(PATH, &change).await;
    assert!(!changed.body.contains(TOKEN));
    let changed = changed.ok(200);
    for field in ["enabled", "serviceName", "endpoint"] {
        assert_eq!(changed[field], change[field], "{field}");
    }
    assert!(changed["hasToken"] == true && changed["updatedAt"].is_string(), "{changed}");
    assert_eq!(admin.get(PATH).await.ok(200), changed);
    assert_eq!(admin.patch(PATH, &json!({})).await.ok(200)["hasToken"], true);
    // A token does not follow to another server.
    assert_eq!(
        admin.patch(PATH, &json!({ "endpoint": "https://u.example" })).await.ok(200)["hasToken"],
        false
    );
    assert_eq!(admin.patch(PATH, &json!({ "logfireToken": TOKEN })).await.ok(200)["hasToken"], true);
    assert_eq!(admin.patch(PATH, &json!({ "logfireToken": null })).await.ok(200)["hasToken"], false);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for (field, value) in [
        ("enabled", json!("yes")),
        ("enabled", Value::Null),
        ("serviceName", json!("")),
        ("serviceName", json!("a".repeat(101))),
        ("endpoint", json!("http://t.example")),
        ("endpoint", json!("https://user@t.example")),
        ("logfireToken", json!("")),
        ("logfireToken", json!("a\nb")),
        ("logfireTokenEncrypted", json!("00:11")),
        ("hasToken", json!(true)),
    ] {
        assert_eq!(admin.patch(PATH, &json!({ field: value })).await.invalid_fields(), [field], "{value}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        admin.send(method, PATH, &[], None).await.assert_error(405);
    }
}

async fn who_may(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mine = router(&admin, "A").await;
    let all = json!([{ "resource": "settings", "actions": ["read", "write"] }]);
    let scoped = admin.member(&setup, &all, &[&mine]).await;
    for answer in [scoped.get(PATH).await, scoped.patch(PATH, &json!({ "enabled": true })).await] {
        answer.assert_error(403);
        assert_eq!(answer.json()["code"], "resource_global");
    }
    let read = json!([{ "resource": "settings", "actions": ["read"] }]);
    let reader = admin.member(&setup, &read, &[]).await;
    reader.get(PATH).await.ok(200);
    reader.patch(PATH, &json!({ "enabled": true })).await.refused(403, "permission_denied", "Sem permissão");
    assert_eq!(admin.get(PATH).await.ok(200)["enabled"], false);
}

/// The first changes too: each sets another field, and none is lost.
async fn at_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let changes = [
        json!({ "enabled": true }),
        json!({ "serviceName": "a" }),
        json!({ "endpoint": "https://t.example" }),
    ];
    let answers =
        futures_util::future::join_all(changes.iter().map(|change| admin.patch(PATH, change))).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    let found = admin.get(PATH).await.ok(200);
    assert_eq!((&found["enabled"], &found["serviceName"]), (&json!(true), &json!("a")));
    assert_eq!(found["endpoint"], "https://t.example");
}
