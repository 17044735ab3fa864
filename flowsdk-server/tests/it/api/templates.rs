//! Message templates (spec A 4.8, rulings H8, O4).

use serde_json::{Value, json};

use super::building::{details, id, router};
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life, components);
everywhere!(in process: what_is_refused, filters, scope, twice, at_once);

const ROUTES: Routes = Routes {
    path: "/templates",
    body: |router| {
        let mut body = template(router, "a");
        body["status"] = json!("DRAFT");
        body
    },
    second: |router| template(router, "b"),
    change: || json!({ "status": "APPROVED", "category": "MARKETING" }),
    fields: 14,
    unlisted: &[],
    commands: &[],
    resource: "channel_numbers",
    kind: "MESSAGE_TEMPLATE",
    not_found: "Modelo não encontrado",
};

fn template(router: &str, name: &str) -> Value {
    json!({ "routerId": router, "businessAccountId": "777", "name": name, "language": "pt_BR",
        "category": "UTILITY", "components": [{ "type": "BODY", "text": "Olá" }] })
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

/// The components are read back, and their variables counted.
async fn components(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let components = json!([
        { "type": "HEADER", "format": "TEXT", "text": "Pedido {{1}}", "example": { "header_text": ["7"] } },
        { "type": "BODY", "text": "Olá {{1}}, o pedido {{2}} saiu.", "example": { "body_text": [["Ana", "7"]] } },
        { "type": "FOOTER", "text": "Loja" },
        { "type": "BUTTONS", "buttons": [
            { "type": "QUICK_REPLY", "text": "Parar" },
            { "type": "URL", "text": "Ver", "url": "https://a.example/{{1}}", "example": ["https://a.example/7"] },
            { "type": "PHONE_NUMBER", "text": "Ligar", "phone_number": "+5511987654321" },
        ] },
    ]);
    let mut body = template(&router, "pedido_saiu");
    body["components"] = components.clone();
    let answer = admin.post("/templates", &body).await;
    let made = answer.ok(201);
    assert_eq!(answer.headers["location"], format!("/api/templates/{}", id(&made)));
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!((&made["status"], &made["bodyVariables"]), (&json!("DRAFT"), &json!(2)));
    let path = format!("/templates/{}", id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);
    let change = json!({ "status": "APPROVED", "category": "MARKETING", "components": [{ "type": "BODY", "text": "Oi" }] });
    let changed = admin.patch(&path, &change).await.ok(200);
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&changed[field], value, "{field}");
    }
    assert_eq!(changed["bodyVariables"], 0);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let wrong = [
        ("name", json!("Pedido")),
        ("name", json!("a b")),
        ("name", json!("")),
        ("language", json!("português")),
        ("language", json!("pt-BR")),
        ("businessAccountId", json!("abc")),
        ("category", json!("OTHER")),
        ("status", json!("approved")),
        ("status", json!(null)),
        ("components", json!({})),
        ("components", json!(null)),
        ("id", json!("c1")),
        ("bodyVariables", json!(3)),
    ];
    let path = ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    let with = |field: &str, value: Value| {
        let mut body = template(&router, "b");
        body[field] = value;
        body
    };
    // What the schema cannot say, the provider's rules do.
    for (components, fields) in [
        (json!([]), &["components"][..]),
        (json!([{ "type": "BODY", "text": "a {{2}} b" }]), &["components[0].text"]),
        (json!([{ "type": "BODY", "text": "a".repeat(1025) }]), &["components[0].text"]),
        (
            json!([{ "type": "FOOTER", "text": "{{1}}" }, { "type": "BUTTONS", "buttons": [] }]),
            &["components", "components[0].text", "components[1].buttons"],
        ),
    ] {
        let answer = admin.post("/templates", &with("components", components.clone())).await;
        assert_eq!(answer.invalid_fields(), fields, "{components}");
        let answer = admin.patch(&path, &json!({ "components": components })).await;
        assert_eq!(answer.invalid_fields(), fields);
    }
    for components in [
        json!([{ "type": "BODY" }]),
        json!([{ "type": "HERO", "text": "a" }]),
        json!([7]),
        json!([{ "type": "BODY", "text": "a", "color": "red" }]),
    ] {
        let fields = admin.post("/templates", &with("components", components.clone())).await.invalid_fields();
        assert!(fields.iter().all(|field| field.starts_with("components[0]")), "{components} {fields:?}");
    }
    let taken = admin.post("/templates", &template(&router, "a")).await;
    taken.refused(409, "name_taken", "Nome já existe");
    assert_eq!(details(&taken)[0].0, "name");
    let mut english = template(&router, "a");
    english["language"] = json!("en");
    admin.post("/templates", &english).await.ok(201);
}

async fn filters(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (first, second) = (router(&admin, "A").await, router(&admin, "B").await);
    let mut other = template(&second, "b");
    other["businessAccountId"] = json!("778");
    other["status"] = json!("APPROVED");
    let a = id(&admin.post("/templates", &template(&first, "a")).await.ok(201));
    let b = id(&admin.post("/templates", &template(&first, "b")).await.ok(201));
    let c = id(&admin.post("/templates", &other).await.ok(201));
    for (query, ids) in [
        ("".to_owned(), vec![&c, &b, &a]),
        (format!("routerId={first}"), vec![&b, &a]),
        ("businessAccountId=778".to_owned(), vec![&c]),
        ("status=APPROVED".to_owned(), vec![&c]),
        ("name=b".to_owned(), vec![&c, &b]),
        (format!("name=b&routerId={first}"), vec![&b]),
        (format!("status=APPROVED&routerId={first}"), vec![]),
    ] {
        let list = admin.get(&format!("/templates?{query}")).await.ok(200);
        assert_eq!(
            list["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>(),
            ids.into_iter().cloned().collect::<Vec<_>>(),
            "{query}"
        );
    }
    // A caller of one router finds none of another.
    let read = json!([{ "resource": "channel_numbers", "actions": ["read"] }]);
    let bia = admin.member(&setup, &read, &[&first]).await;
    let seen = bia.get("/templates?name=b").await.ok(200);
    assert_eq!(seen["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>(), [b]);
    let wrong = admin.get("/templates?status=x&businessAccountId=y&routerId=a%20b&limit=0").await;
    assert_eq!(wrong.invalid_fields(), ["businessAccountId", "limit", "routerId", "status"]);
}

async fn at_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let body = template(&router, "a");
    let answers = futures_util::future::join_all((0..6).map(|_| admin.post("/templates", &body))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409]);
    let key = [("idempotency-key", "t-1")];
    let body = template(&router, "b");
    let first = admin.json("POST", "/templates", &key, &body).await.ok(201);
    assert_eq!(admin.json("POST", "/templates", &key, &body).await.ok(201), first);
}
