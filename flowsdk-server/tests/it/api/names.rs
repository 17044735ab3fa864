//! Lists that are searched by name, and the names of contacts (rulings S23).

use serde_json::{Value, json};

use super::building::{answer, id, records, router};
use crate::harness::{Api, Client, Setup, everywhere, token};

everywhere!(in process: lists_are_searched, names_are_locked_and_unlocked, contacts_are_found_as_people_write_them);

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
