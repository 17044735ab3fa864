//! Event definitions.

use serde_json::{Value, json};

use super::building::{actions, answer, id, records, router, shop, visitor};
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life, counts);
everywhere!(in process: what_is_refused, scope, twice, names_without_a_definition);

const ROUTES: Routes = Routes {
    path: "/event-definitions",
    body: definition,
    second: |router| json!({ "routerId": router, "name": "outro" }),
    change: || json!({ "name": "plan", "description": null, "properties": [] }),
    fields: 10,
    unlisted: &[],
    commands: &[],
    resource: "flows",
    kind: "EVENT_DEFINITION",
    not_found: "Definição de evento não encontrada",
};

fn definition(router: &str) -> Value {
    json!({ "routerId": router, "name": "plan_chosen", "description": "Escolha do plano", "properties": [
        { "key": "plan", "type": "string", "description": "O plano", "required": true },
        { "key": "price", "type": "number", "description": null, "required": false },
    ] })
}

/// Tracks an event with each message, and says so.
fn tracks(name: &str) -> Value {
    json!({
        "schemaVersion": 1, "startBlockId": "start",
        "blocks": [{
            "id": "start", "type": "content",
            "onEnter": [{ "type": "trackEvent", "name": name, "properties": { "said": "{{input}}" } }],
            "contents": [{ "type": "text", "text": { "body": "ok" } }],
            "input": { "variable": "said" },
            "defaultOutput": { "blockId": "start" }
        }]
    })
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

/// A definition has the count of the events of its name, and refuses none.
async fn counts(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, _, channel) = shop(&admin, "Loja", &tracks("plan_chosen")).await;
    // The event lacks a property that the definition requires.
    let made = admin.post(ROUTES.path, &definition(&router)).await.ok(201);
    let path = ROUTES.at(&id(&made));
    let counts = |record: &Value| (record["count"].clone(), record["countIsExact"].clone());
    assert_eq!((counts(&made), &made["lastSeenAt"]), ((json!(0), json!(true)), &json!(null)));
    let mut ana = visitor(&server, &channel).await;
    assert_eq!(answer(&mut ana, "oi").await, "ok");
    assert_eq!(answer(&mut ana, "de novo").await, "ok");
    let seen = admin.get(&path).await.ok(200);
    assert_eq!(counts(&seen), (json!(2), json!(true)), "{seen}");
    assert!(seen["lastSeenAt"].as_str().is_some_and(|at| at.ends_with('Z')), "{seen}");
    let changed = admin.patch(&path, &json!({ "description": null, "properties": [] })).await.ok(200);
    assert_eq!((&changed["name"], counts(&changed)), (&json!("plan_chosen"), (json!(2), json!(true))));
    let other = json!({ "routerId": router, "name": "outro" });
    let other = admin.post(ROUTES.path, &other).await.ok(201);
    assert_eq!((&other["properties"], &other["count"]), (&json!([]), &json!(0)));
    let list = admin.get(&format!("{}?routerId={router}", ROUTES.path)).await.ok(200);
    assert_eq!(list["items"], json!([other, changed]));
    // Events that were tracked keep their name.
    let renamed = admin.patch(&path, &json!({ "name": "plan" })).await.ok(200);
    assert_eq!((&renamed["name"], &renamed["count"]), (&json!("plan"), &json!(0)));
    let log = records(&admin, "entityType=EVENT_DEFINITION", 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "CREATE", "UPDATE"]);
    assert_eq!(log[0]["changes"], json!({ "name": { "from": "plan_chosen", "to": "plan" } }));
}

async fn names_without_a_definition(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, channel) = shop(&admin, "Loja", &tracks("a")).await;
    for name in ["a", "b", "c", "d"] {
        let change = json!({ "definition": tracks(name),
            "revision": admin.get(&format!("/flows/{flow}")).await.ok(200)["revision"] });
        admin.patch(&format!("/flows/{flow}"), &change).await.ok(200);
        super::building::act(&admin, &format!("/flows/{flow}/publish")).await.ok(200);
        let mut visitor = visitor(&server, &channel).await;
        answer(&mut visitor, "oi").await;
    }
    let defined = json!({ "routerId": router, "name": "b" });
    admin.post("/event-definitions", &defined).await.ok(201);
    let path = format!("/routers/{router}/undefined-events");
    let all = admin.get(&path).await.ok(200);
    let names = |page: &Value| {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((names(&all), &all["nextCursor"]), (vec!["a".into(), "c".into(), "d".into()], &json!(null)));
    assert_eq!((&all["items"][1]["count"], &all["items"][1]["countIsExact"]), (&json!(1), &json!(true)));
    let first = admin.get(&format!("{path}?limit=2")).await.ok(200);
    assert_eq!(names(&first), ["a", "c"]);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = admin.get(&format!("{path}?limit=2&cursor={cursor}")).await.ok(200);
    assert_eq!((names(&second), &second["nextCursor"]), (vec!["d".to_owned()], &json!(null)));
    let empty = super::building::router(&admin, "Vazio").await;
    let none = admin.get(&format!("/routers/{empty}/undefined-events")).await.ok(200);
    assert_eq!(none, json!({ "items": [], "nextCursor": null }));
    assert_eq!(admin.get(&format!("{path}?cursor=zz")).await.invalid_fields(), ["cursor"]);
    assert_eq!(admin.get(&format!("{path}?cursor=00")).await.invalid_fields(), ["cursor"]);
    let read = json!([{ "resource": "flows", "actions": ["read"] }]);
    let bia = admin.member(&setup, &read, &[&empty]).await;
    bia.get(&path).await.assert_error(403);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let property = |field: &str, value: Value| {
        let mut property = json!({ "key": "a", "type": "date", "description": "d", "required": true });
        property[field] = value;
        json!([property])
    };
    let wrong = [
        ("name", json!("")),
        ("name", json!("  ")),
        ("name", json!(null)),
        ("name", json!("x".repeat(129))),
        ("description", json!(7)),
        ("description", json!("x".repeat(1_001))),
        ("properties", json!(null)),
        ("properties[0].key", property("key", json!(" "))),
        ("properties[0].key", property("key", json!("x".repeat(129)))),
        ("properties[0].type", property("type", json!("text"))),
        ("properties[0].description", property("description", json!("x".repeat(1_001)))),
        ("properties[0].required", property("required", json!("yes"))),
        ("properties[0].other", property("other", json!(1))),
        ("properties", json!(vec![property("key", json!("a"))[0].clone(); 101])),
        ("properties[1].key", json!(vec![property("key", json!("a"))[0].clone(); 2])),
        ("other", json!(1)),
    ];
    ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    let again = admin.post("/event-definitions", &definition(&router)).await;
    again.refused(409, "name_taken", "Nome já existe");
    let second = json!({ "routerId": router, "name": "outro" });
    let second = id(&admin.post("/event-definitions", &second).await.ok(201));
    let taken = json!({ "name": "plan_chosen" });
    let taken = admin.patch(&format!("/event-definitions/{second}"), &taken).await;
    taken.refused(409, "name_taken", "Nome já existe");
    // Names are unique in a router only.
    let other = super::building::router(&admin, "Outra").await;
    admin.post("/event-definitions", &definition(&other)).await.ok(201);
}
