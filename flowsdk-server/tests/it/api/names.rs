//! Lists that are searched by name, and the names of contacts (rulings S23).

use serde_json::{Value, json};

use super::building::{answer, id, records, router};
use crate::harness::{Api, Client, Setup, everywhere, token};

everywhere!(in process: lists_are_searched, records_of_every_kind_are_searched, names_are_locked_and_unlocked, contacts_are_found_as_people_write_them);

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

async fn lists_are_searched(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let sales = router(&admin, "Łódź Vendas").await;
    router(&admin, "Cobrança São Paulo").await;
    let number = |name: &str, id: &str, digits: &str| {
        json!({ "routerId": sales, "name": name, "phoneNumberId": id, "phoneNumber": digits,
            "businessAccountId": "777" })
    };
    for (path, bodies) in [
        (
            "/flows",
            [
                json!({ "routerId": sales, "name": "Boas-vindas" }),
                json!({ "routerId": sales, "name": "Fim" }),
            ],
        ),
        (
            "/webchat/channels",
            [json!({ "routerId": sales, "name": "Site" }), json!({ "routerId": sales, "name": "Loja Ação" })],
        ),
        (
            "/channel-numbers",
            [number("Sac", "111", "5511987654321"), number("Vendas", "222", "5521987654321")],
        ),
    ] {
        for body in &bodies {
            admin.post(path, body).await.ok(201);
        }
    }
    for (path, expected) in [
        ("/routers?q=lodz", &["Łódź Vendas"][..]),
        ("/routers?q=SAO%20cob", &["Cobrança São Paulo"]),
        ("/routers?q=nada", &[]),
        ("/routers?q=!!", &[]),
        ("/flows?q=vindas", &["Boas-vindas"]),
        (&format!("/flows?q=f&routerId={sales}"), &["Fim"]),
        (&format!("/webchat/channels?q=acao&routerId={sales}"), &["Loja Ação"]),
        ("/channel-numbers?q=5521", &["Vendas"]),
        ("/channel-numbers?q=111", &["Sac"]),
        ("/channel-numbers?q=vend", &["Vendas"]),
    ] {
        assert_eq!(names(&admin.get(path).await.ok(200)), expected, "{path}");
    }
    let first = admin.get("/routers?q=vend&limit=1").await.ok(200);
    assert_eq!(names(&first), ["Łódź Vendas"]);
    let long = format!("/routers?q={}", "a".repeat(201));
    assert_eq!(admin.get(&long).await.invalid_fields(), ["q"]);
    let all = admin.get("/routers?q=").await.ok(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 4, "a blank query is none");
    // Within the caller's routers, as ever.
    let read = json!([{ "resource": "routers", "actions": ["read"] }]);
    let bia = admin.member(&setup, &read, &[&setup.seeded.router]).await;
    assert_eq!(names(&bia.get("/routers?q=vendas").await.ok(200)), Vec::<&str>::new());
}

async fn records_of_every_kind_are_searched(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let named = |name: &str| json!({ "routerId": router, "name": name });
    let template = |name: &str| {
        json!({ "routerId": router, "businessAccountId": "777", "name": name, "language": "pt_BR",
            "category": "UTILITY", "status": "DRAFT",
            "components": [{ "type": "BODY", "text": "Olá" }] })
    };
    let mapping = |channel: &str, label: &str| json!({ "routerId": router, "channelType": channel, "label": label, "externalType": "X" });
    let variable = |key: &str| json!({ "key": key, "value": "1" });
    let person = |name: &str, email: &str| json!({ "name": name, "email": email, "phone": "5511999990000", "password": "senha-segura" });
    let credential = |name: &str| json!({ "name": name, "provider": "openai", "apiKey": "sk-1" });
    let integration = |name: &str| json!({ "routerId": router, "name": name, "kind": "http", "baseUrl": "https://example.com" });
    let client = |name: &str| json!({ "name": name, "permissions": [], "routerIds": [] });
    for (path, first, second, query) in [
        ("/groups".to_owned(), json!({ "name": "Ação" }), json!({ "name": "Outro" }), "acao"),
        ("/api-clients".to_owned(), client("Ação"), client("Outro"), "acao"),
        ("/users".to_owned(), person("Ação", "a@example.com"), person("Outro", "b@example.com"), "acao"),
        (
            "/users".to_owned(),
            person("Bia", "bia@exemplo.com.br"),
            person("Caio", "c@example.com"),
            "exemplo",
        ),
        (format!("/routers/{router}/variables"), variable("acao"), variable("outra"), "ac"),
        ("/llm-credentials".to_owned(), credential("Ação"), credential("Outra"), "acao"),
        ("/integrations".to_owned(), integration("Ação"), integration("Outra"), "acao"),
        ("/event-definitions".to_owned(), named("acao"), named("outra"), "acao"),
        ("/contact-filters".to_owned(), named("Ação"), named("Outra"), "acao"),
        ("/interactive-forms".to_owned(), named("Ação"), named("Outra"), "acao"),
        ("/templates".to_owned(), template("acao_boa"), template("outra"), "boa"),
        ("/channel-type-mappings".to_owned(), mapping("webchat", "Ação"), mapping("phone", "Zap"), "acao"),
    ] {
        let made = id(&admin.post(&path, &first).await.ok(201));
        admin.post(&path, &second).await.ok(201);
        let found = admin.get(&format!("{path}?q={query}")).await.ok(200);
        let ids: Vec<_> = found["items"].as_array().unwrap().iter().map(id).collect();
        assert_eq!(ids, [made], "{path}");
    }
}

async fn names_are_locked_and_unlocked(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let enter = |name: &str| {
        let token = token::sign(&setup.seeded.secret, json!({ "sub": "ana", "name": name }));
        setup.plant(&token);
        Client::enter(server.addr, json!({ "channelId": setup.seeded.card, "token": token }))
    };
    let (mut visitor, _) = enter("Ana").await;
    assert_eq!(answer(&mut visitor, "oi").await, "Ana///oi");
    let ana = admin.get("/contacts?q=ana").await.ok(200)["items"][0].clone();
    assert_eq!(ana["nameLocked"], false);
    let path = format!("/contacts/{}", id(&ana));
    // A name that an operator gives is locked, unless they say otherwise.
    let named = admin.patch(&path, &json!({ "name": "Ana Souza" })).await.ok(200);
    assert_eq!((&named["name"], &named["nameLocked"]), (&json!("Ana Souza"), &json!(true)));
    let (_visitor, _) = enter("Ana B").await;
    assert_eq!(admin.get(&path).await.ok(200)["name"], "Ana Souza");
    let open = admin.patch(&path, &json!({ "nameLocked": false })).await.ok(200);
    assert_eq!((&open["name"], &open["nameLocked"]), (&json!("Ana Souza"), &json!(false)));
    let (_visitor, _) = enter("Ana C").await;
    let renamed = admin.get(&path).await.ok(200);
    assert_eq!((&renamed["name"], &renamed["nameLocked"]), (&json!("Ana C"), &json!(false)));
    let open = admin.patch(&path, &json!({ "name": "Ana D", "nameLocked": false })).await.ok(200);
    assert_eq!((&open["name"], &open["nameLocked"]), (&json!("Ana D"), &json!(false)));
    let locked = admin.patch(&path, &json!({ "nameLocked": true })).await.ok(200);
    assert_eq!((&locked["name"], &locked["nameLocked"]), (&json!("Ana D"), &json!(true)));
    assert_eq!(admin.patch(&path, &json!({ "nameLocked": null })).await.invalid_fields(), ["nameLocked"]);
    for (number, body, expected) in [
        ("5511911110000", json!({ "name": "Bia" }), true),
        ("5511911110001", json!({ "name": "Bia", "nameLocked": false }), false),
        ("5511911110002", json!({}), false),
        ("5511911110003", json!({ "nameLocked": true }), true),
    ] {
        let mut body = body;
        body["phoneNumber"] = json!(number);
        assert_eq!(admin.post("/contacts", &body).await.ok(201)["nameLocked"], expected, "{body}");
    }
    let log = records(&admin, "action=UPDATE&entityType=CONTACT", 4).await;
    assert_eq!(log[0]["changes"], json!({ "nameLocked": { "from": false, "to": true } }));
}

async fn contacts_are_found_as_people_write_them(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let contact = json!({ "phoneNumber": "+55 (11) 98765-4321", "name": "Łukasz Strauß" });
    let made = id(&admin.post("/contacts", &contact).await.ok(201));
    for query in ["(11)%2098765-43", "11987654321", "5511987", "lukasz", "strauss", "%C5%82uk"] {
        let found = admin.get(&format!("/contacts?q={query}")).await.ok(200);
        assert_eq!(names(&found), ["Łukasz Strauß"], "{query}");
    }
    let alias = json!({ "alias": "351912345678" });
    admin.post(&format!("/contacts/{made}/aliases"), &alias).await.ok(201);
    assert_eq!(names(&admin.get("/contacts?q=912345").await.ok(200)), ["Łukasz Strauß"]);
}
