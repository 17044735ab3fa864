//! Contacts (spec A 2.4, 4.6; rulings C5, H8, H13).

use flowsdk_core::contact::HasContacts as _;
use flowsdk_core::store::Store as _;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::setup::Identity;
use crate::harness::{Api, Client, Setup, everywhere};

everywhere!(created_changed_and_deleted, merged_visitors_go_on);
everywhere!(in process:
    found_by_words,
    variables_are_merged_and_removed,
    aliases_lead_to_one_contact,
    strangers_of_other_routers_are_not_there,
    aliases_reach_no_visitor_of_another_router,
    insights,
    merged,
    merges_that_are_refused,
    merges_at_once,
);

async fn create(api: &Api, phone: &str, name: &str) -> String {
    let contact = api.post("/contacts", &json!({ "phoneNumber": phone, "name": name })).await.ok(201);
    contact["id"].as_str().unwrap().to_owned()
}

async fn names(api: &Api, query: &str) -> Vec<String> {
    let page = api.get(&format!("/contacts?{query}")).await.ok(200);
    page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

/// A visitor who has written, and the id of their contact.
async fn visitor(setup: &Setup, server: &crate::harness::Server, admin: &Api) -> (Client, Identity, String) {
    let (mut client, ana) = setup.visit(server).await;
    client.say("oi").await;
    client.until("eco oi").await;
    let state = admin.get(&format!("/sessions/wc-{}-{}", ana.channel, ana.user)).await.ok(200);
    (client, ana, state["contactId"].as_str().unwrap().to_owned())
}

async fn created_changed_and_deleted(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let body =
        json!({ "phoneNumber": "5511987654321", "name": " Ana ", "contactVariables": { "plan": null } });
    let key = [("idempotency-key", "c1")];
    let first = admin.json("POST", "/contacts", &key, &body).await;
    let ana = first.ok(201);
    assert_eq!(
        (&ana["name"], &ana["nameLocked"], &ana["origin"]),
        (&json!("Ana"), &json!(true), &json!("phone"))
    );
    assert_eq!((&ana["contactVariables"], &ana["aliases"]), (&json!({ "plan": null }), &json!([])));
    let again = admin.json("POST", "/contacts", &key, &body).await;
    assert_eq!((again.ok(201), again.headers["idempotency-replayed"].as_str()), (ana.clone(), "true"));
    let again = admin.json("POST", "/contacts?x=1", &key, &body).await;
    assert_eq!(again.ok(201), ana, "a query that says nothing is none");
    let other = json!({ "phoneNumber": "5511987654322" });
    admin.json("POST", "/contacts", &key, &other).await.refused(
        409,
        "idempotency_conflict",
        "Idempotency-Key já usada com outro conteúdo",
    );
    admin.post("/contacts", &body).await.refused(
        409,
        "contact_taken",
        "Já existe um contato com esta identidade",
    );
    // A number as people write it is the same number.
    let written = json!({ "phoneNumber": "+55 (11) 98765-4321" });
    assert_eq!(admin.post("/contacts", &written).await.json()["code"], "contact_taken");
    // Of every channel.
    let bia = admin.post("/contacts", &other).await.ok(201);
    assert_eq!((&bia["name"], &bia["nameLocked"]), (&json!("5511987654322"), &json!(false)));
    admin.post("/contacts", &json!({ "phoneNumber": "ig-42", "origin": "social" })).await.ok(201);
    let webchat = format!("wc-{}-externo", setup.seeded.open);
    let made = admin.post("/contacts", &json!({ "phoneNumber": webchat, "origin": "webchat" })).await.ok(201);
    assert_eq!(made["phoneNumber"], webchat);
    let nowhere = json!({ "phoneNumber": "wc-nothing-x", "origin": "webchat" });
    admin.post("/contacts", &nowhere).await.refused(422, "channel_unknown", "Canal não encontrado");
    for bad in ["+55119876543210000", "11", "abc", "", "ig-1", "55119876543210000"] {
        assert_eq!(
            admin.post("/contacts", &json!({ "phoneNumber": bad })).await.invalid_fields(),
            ["phoneNumber"]
        );
    }
    let bad = json!({ "phoneNumber": "5511987654399", "name": " ", "contactVariables": [], "x": 1 });
    assert_eq!(admin.post("/contacts", &bad).await.invalid_fields(), ["contactVariables", "name", "x"]);

    let path = format!("/contacts/{}", bia["id"].as_str().unwrap());
    let bia = admin.patch(&path, &json!({ "name": "Bia" })).await.ok(200);
    assert_eq!((&bia["name"], &bia["nameLocked"]), (&json!("Bia"), &json!(true)));
    assert_eq!(admin.patch(&path, &json!({})).await.ok(200), bia);
    assert_eq!(admin.patch(&path, &json!({ "origin": "social" })).await.invalid_fields(), ["origin"]);
    assert_eq!(admin.get(&path).await.ok(200), bia);
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Contato não encontrado");
    admin.delete(&path).await.refused(404, "not_found", "Contato não encontrado");

    // One with a chat stays, unless an administrator forces it.
    let (_client, _, id) = visitor(&setup, &server, &admin).await;
    let path = format!("/contacts/{id}");
    let answer = admin.delete(&path).await;
    answer.refused(409, "in_use", "Registro em uso");
    let fields: Vec<_> =
        answer.json()["details"].as_array().unwrap().iter().map(|d| d["field"].clone()).collect();
    assert_eq!(fields, [json!("sessions"), json!("chats")]);
    let writes = json!([{ "resource": "contacts", "actions": ["read", "write"] }]);
    let member = admin.member(&setup, &writes, &[]).await;
    let forced = format!("{path}?force=true");
    member.delete(&forced).await.refused(403, "admin_only", "Acesso restrito a administradores");
    admin.delete(&forced).await.ok(204);
    assert_eq!(admin.get("/sessions").await.ok(200)["items"], json!([]));
    assert_eq!(admin.get("/chats").await.ok(200)["items"], json!([]));
    // Names show what they are.
    let odd = json!({ "phoneNumber": "5511987650001", "name": "a\u{202e}\r\nb\u{1b}" });
    let odd = admin.post("/contacts", &odd).await.ok(201);
    assert_eq!(odd["name"], "a  b");
    let path = format!("/contacts/{}", odd["id"].as_str().unwrap());
    let blank = admin.patch(&path, &json!({ "name": "\u{202e}" })).await;
    assert_eq!(blank.invalid_fields(), ["name"]);
    assert_eq!(admin.get(&path).await.ok(200)["name"], "a  b");
}

async fn found_by_words(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for (phone, name) in [
        ("5511900000001", "José da Silva"),
        ("5511900000002", "Ana Conceição"),
        ("5521900000003", "Anabela Silveira"),
    ] {
        create(&admin, phone, name).await;
    }
    for (query, expected) in [
        ("q=jose", vec!["José da Silva"]),
        ("q=SILV", vec!["Anabela Silveira", "José da Silva"]),
        ("q=ana", vec!["Anabela Silveira", "Ana Conceição"]),
        ("q=con%20ANA", vec!["Ana Conceição"]),
        ("q=conceicao", vec!["Ana Conceição"]),
        ("q=%2B55%20(21)", vec!["Anabela Silveira"]),
        ("q=5511&origin=phone", vec!["Ana Conceição", "José da Silva"]),
        ("q=ana&origin=social", vec![]),
        ("q=ose", vec![]),
        ("q=!!!", vec![]),
        ("q=%20&origin=phone", vec!["Anabela Silveira", "Ana Conceição", "José da Silva"]),
        ("origin=phone", vec!["Anabela Silveira", "Ana Conceição", "José da Silva"]),
    ] {
        assert_eq!(names(&admin, query).await, expected, "{query}");
    }
    let page = admin.get("/contacts?q=5511&limit=1").await.ok(200);
    let next = format!("q=5511&limit=1&cursor={}", page["nextCursor"].as_str().unwrap());
    assert_eq!(names(&admin, &next).await, ["José da Silva"]);
    let long = "a".repeat(201);
    assert_eq!(admin.get(&format!("/contacts?q={long}&origin=x")).await.invalid_fields(), ["origin", "q"]);
    // A new name is found, the old one is not.
    let id = admin.get("/contacts?q=jose").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    admin.patch(&format!("/contacts/{id}"), &json!({ "name": "Zé" })).await.ok(200);
    assert_eq!((names(&admin, "q=ze").await, names(&admin, "q=jose").await), (vec!["Zé".to_owned()], vec![]));
}

async fn variables_are_merged_and_removed(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let id = create(&admin, "5511987654321", "Ana").await;
    let at = format!("/contacts/{id}/variables");
    let patch = |variables: Value| json!({ "contactVariables": variables });
    admin.patch(&at, &patch(json!({ "a": { "x": 1 }, "b": 1 }))).await.ok(200);
    let merged = admin.patch(&at, &patch(json!({ "a": { "y": 2 }, "c": null }))).await.ok(200);
    assert_eq!(merged, patch(json!({ "a": { "y": 2 }, "b": 1, "c": null })));
    admin.delete(&format!("{at}/b")).await.ok(204);
    admin.delete(&format!("{at}/b")).await.assert_error(404);
    let left = json!({ "a": { "y": 2 }, "c": null });
    assert_eq!(admin.get(&format!("/contacts/{id}")).await.ok(200)["contactVariables"], left);
    for bad in [json!({ "a b": 1 }), json!({ "": 1 }), json!({ "a{": 1 })] {
        assert_eq!(admin.patch(&at, &patch(bad)).await.invalid_fields().len(), 1);
    }
    let large = admin.patch(&at, &patch(json!({ "big": "x".repeat(64 * 1024) }))).await;
    large.assert_error(422);
    // Many at once: nobody loses what another wrote.
    let patches = (0..20).map(|n| {
        let (admin, at) = (admin.clone(), at.clone());
        async move { admin.patch(&at, &json!({ "contactVariables": { format!("k{n}"): n } })).await.ok(200) }
    });
    join_all(patches).await;
    let all = admin.get(&format!("/contacts/{id}")).await.ok(200)["contactVariables"].clone();
    assert!((0..20).all(|n| all[format!("k{n}")] == n), "{all}");
}

async fn aliases_lead_to_one_contact(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let ana = create(&admin, "5511987654321", "Ana").await;
    let bia = create(&admin, "5511987654322", "Bia").await;
    let aliases = |id: &str| format!("/contacts/{id}/aliases");
    let alias = |text: &str| json!({ "alias": text });
    // The provider drops the ninth digit, or gives no number at all.
    admin.post(&aliases(&ana), &alias("551187654321")).await.ok(201);
    admin.post(&aliases(&ana), &alias("BR.13491208655302741918")).await.ok(201);
    let taken = "Este identificador já pertence a um contato";
    for text in ["551187654321", "5511987654322", "5511987654321"] {
        admin.post(&aliases(&bia), &alias(text)).await.refused(409, "alias_taken", taken);
    }
    admin.post("/contacts", &json!({ "phoneNumber": "551187654321" })).await.refused(
        409,
        "contact_taken",
        "Já existe um contato com esta identidade",
    );
    for bad in ["", "a b", "é"] {
        assert_eq!(admin.post(&aliases(&ana), &alias(bad)).await.invalid_fields(), ["alias"]);
    }
    let listed = admin.get(&aliases(&ana)).await.ok(200);
    let listed: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|item| item["alias"].clone()).collect();
    assert_eq!(listed, [json!("551187654321"), json!("BR.13491208655302741918")]);
    assert_eq!(names(&admin, "q=551187").await, ["Ana"]);
    // What the orchestrator finds.
    let store = setup.store().await;
    let mut tx = store.read().await.unwrap();
    let asked = ["551187654321".to_owned(), "5511987654322".to_owned(), "nobody".to_owned()];
    let found = tx.contacts().find_by_phone_numbers(&asked).await.unwrap();
    let mut found: Vec<_> = found.iter().map(|c| (c.phone_number.as_str(), c.name.as_str())).collect();
    found.sort_unstable();
    assert_eq!(found, [("551187654321", "Ana"), ("5511987654322", "Bia")]);
    drop(tx);
    setup.done(store).await;
    admin.delete(&format!("{}/551187654321", aliases(&ana))).await.ok(204);
    admin.delete(&format!("{}/551187654321", aliases(&ana))).await.assert_error(404);
    admin.post(&aliases(&bia), &alias("551187654321")).await.ok(201);
    // One alias, many at once: one has it.
    let adds = (0..8).map(|n| {
        let (admin, at) = (admin.clone(), aliases(if n % 2 == 0 { &ana } else { &bia }));
        async move { admin.post(&at, &json!({ "alias": "same" })).await.status }
    });
    let statuses = join_all(adds).await;
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
}

async fn strangers_of_other_routers_are_not_there(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (_client, _, known) = visitor(&setup, &server, &admin).await;
    let nobodys = create(&admin, "5511987654321", "Ninguém").await;
    let routers = admin.get("/routers").await.ok(200);
    let other = routers["items"].as_array().unwrap().iter().find(|r| r["id"] != setup.seeded.router).unwrap();
    let other = other["id"].as_str().unwrap();
    let all = json!([{ "resource": "contacts", "actions": ["read", "write"] }]);
    let here = admin.member(&setup, &all, &[&setup.seeded.router]).await;
    let there = admin.member(&setup, &all, &[other]).await;
    here.get(&format!("/contacts/{known}")).await.ok(200);
    let not_found = "Contato não encontrado";
    for (api, id) in [(&there, &known), (&here, &nobodys), (&there, &nobodys)] {
        for (method, rest, body) in [
            ("GET", "", None),
            ("DELETE", "", None),
            ("PATCH", "", Some(json!({ "name": "X" }))),
            ("GET", "/insights", None),
            ("GET", "/aliases", None),
            ("GET", "/opt-ins", None),
            ("POST", "/aliases", Some(json!({ "alias": "x" }))),
            ("DELETE", "/aliases/x", None),
            ("PATCH", "/variables", Some(json!({ "contactVariables": {} }))),
            ("DELETE", "/variables/x", None),
            ("POST", "/merge", Some(json!({ "contactId": "x" }))),
        ] {
            let at = format!("/contacts/{id}{rest}");
            let answer = match body {
                Some(body) => api.json(method, &at, &[], &body).await,
                None => api.send(method, &at, &[], None).await,
            };
            answer.refused(404, "not_found", not_found);
        }
    }
    assert_eq!(names(&there, "").await, [] as [&str; 0]);
    assert_eq!(names(&there, "q=5511").await, [] as [&str; 0]);
    assert_eq!(names(&here, "").await.len(), 1);
    // They create for their router, and see the contact.
    let body = |router: Value| json!({ "phoneNumber": "5511987654399", "name": "Novo", "routerId": router });
    let scope = (403, "router_out_of_scope", "Roteador fora do escopo");
    there.post("/contacts", &body(json!(setup.seeded.router))).await.refused(scope.0, scope.1, scope.2);
    there
        .post("/contacts", &json!({ "phoneNumber": "5511987654399" }))
        .await
        .refused(scope.0, scope.1, scope.2);
    let made = there.post("/contacts", &body(json!(other))).await.ok(201);
    there.get(&format!("/contacts/{}", made["id"].as_str().unwrap())).await.ok(200);
    assert_eq!(
        (names(&there, "q=novo").await, names(&here, "q=novo").await),
        (vec!["Novo".to_owned()], vec![])
    );
    // A number that they know does not show them whose it is.
    let rows = json!({ "rows": [{ "phoneNumber": "+55 11 98765-4321", "status": "revoked" }] });
    let report = there.post(&format!("/routers/{other}/opt-ins/bulk"), &rows).await.ok(200);
    assert_eq!((&report["imported"], &report["refused"][0]["field"]), (&json!(0), &json!("phoneNumber")));
    there.get(&format!("/contacts/{nobodys}")).await.refused(404, "not_found", not_found);
    // Nor do they delete a contact that another router knows, with its records.
    let id = made["id"].as_str().unwrap();
    let opt_ins = json!({ "rows": [{ "contactId": id, "status": "accepted" }] });
    admin.post(&format!("/routers/{}/opt-ins/bulk", setup.seeded.router), &opt_ins).await.ok(200);
    for api in [&there, &here] {
        let answer = api.send("DELETE", &format!("/contacts/{id}"), &[], None).await;
        assert_eq!((answer.status, &answer.json()["code"]), (403, &json!(scope.1)), "{answer:?}");
    }
    admin.get(&format!("/contacts/{id}/opt-ins")).await.ok(200);
}

/// A visitor's identity is known to whoever knows the public id of the channel and the visitor's name there.
async fn aliases_reach_no_visitor_of_another_router(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, visitor, victim) = visitor(&setup, &server, &admin).await;
    let routers = admin.get("/routers").await.ok(200);
    let other = routers["items"].as_array().unwrap().iter().find(|r| r["id"] != setup.seeded.router).unwrap();
    let other = other["id"].as_str().unwrap();
    let all = json!([{ "resource": "contacts", "actions": ["read", "write"] }]);
    let mallory = admin.member(&setup, &all, &[other]).await;
    let mine = mallory.post("/contacts", &json!({ "phoneNumber": "5511987650000", "routerId": other })).await;
    let mine = format!("/contacts/{}/aliases", mine.ok(201)["id"].as_str().unwrap());
    // The identity of a visitor to come, of a channel out of reach, and of a channel that does not exist; then what is
    // nearly one.
    let channel = &visitor.channel;
    for text in [
        format!("wc-{channel}-victim@customer.example"),
        "wc-nothing-victim".to_owned(),
        format!("WC-{channel}-victim@customer.example"),
        format!("wc-{channel}-"),
        format!("wc-{channel}"),
    ] {
        let refused = mallory.post(&mine, &json!({ "alias": text })).await;
        refused.refused(422, "channel_unknown", "Canal não encontrado");
        assert_eq!(refused.json()["details"][0]["field"], "alias");
    }
    // A caller of the channel's router may.
    let owner = admin.member(&setup, &all, &[&setup.seeded.router]).await;
    let alias = format!("wc-{}-second@customer.example", visitor.channel);
    let of_victim = format!("/contacts/{victim}/aliases");
    owner.post(&of_victim, &json!({ "alias": alias })).await.ok(201);
    // A contact that both know keeps its identities, whoever of the two asks.
    let rows = json!({ "rows": [{ "contactId": victim, "status": "accepted" }] });
    admin.post(&format!("/routers/{other}/opt-ins/bulk"), &rows).await.ok(200);
    let out_of_scope = "O contato pertence também a roteadores fora do seu escopo";
    for caller in [&mallory, &owner] {
        let removed = caller.delete(&format!("{of_victim}/{alias}")).await;
        removed.refused(403, "router_out_of_scope", out_of_scope);
        let added = caller.post(&of_victim, &json!({ "alias": "BR.1" })).await;
        added.refused(403, "router_out_of_scope", out_of_scope);
    }
    client.say("de novo").await;
    client.until("eco de novo").await;
    admin.delete(&format!("{of_victim}/{alias}")).await.ok(204);
}

async fn insights(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, _, id) = visitor(&setup, &server, &admin).await;
    client.say("dois").await;
    client.until("eco dois").await;
    let router = &setup.seeded.router;
    let rows = json!({ "rows": [{ "contactId": id, "status": "revoked" }] });
    admin.post(&format!("/routers/{router}/opt-ins/bulk"), &rows).await.ok(200);
    let found = admin.get(&format!("/contacts/{id}/insights")).await.ok(200);
    assert_eq!(
        (&found["liveSessions"], &found["chats"], &found["openChats"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let days = found["messagesByDay"].as_array().unwrap();
    let sum = |name: &str| days.iter().map(|day| day[name].as_i64().unwrap()).sum::<i64>();
    assert_eq!((sum("incoming"), sum("outgoing")), (2, 2), "{found}");
    assert_eq!(days[0]["date"].as_str().unwrap().len(), 10);
    assert!(found["lastSeenAt"].is_string());
    assert_eq!(
        (&found["optIns"][0]["status"], &found["optIns"][0]["routerId"]),
        (&json!("revoked"), &json!(router))
    );
    let nobody = create(&admin, "5511987654321", "Ana").await;
    let none = admin.get(&format!("/contacts/{nobody}/insights")).await.ok(200);
    let expected = json!({ "liveSessions": 0, "chats": 0, "openChats": 0, "lastSeenAt": null, "messagesByDay": [],
        "optIns": [] });
    assert_eq!(none, expected);
}

async fn merged(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana, visitor) = visitor(&setup, &server, &admin).await;
    let id = create(&admin, "5511987654321", "Ana").await;
    let router = &setup.seeded.router;
    admin
        .patch(&format!("/contacts/{id}/variables"), &json!({ "contactVariables": { "a": 1 } }))
        .await
        .ok(200);
    let both = json!({ "contactVariables": { "a": 2, "b": 3 } });
    admin.patch(&format!("/contacts/{visitor}/variables"), &both).await.ok(200);
    admin.post(&format!("/contacts/{visitor}/aliases"), &json!({ "alias": "x1" })).await.ok(201);
    let rows = json!({ "rows": [{ "contactId": visitor, "status": "accepted" }] });
    admin.post(&format!("/routers/{router}/opt-ins/bulk"), &rows).await.ok(200);
    let one = admin.post(&format!("/contacts/{id}/merge"), &json!({ "contactId": visitor })).await.ok(200);
    assert_eq!((&one["id"], &one["name"]), (&json!(id), &json!("Ana")));
    assert_eq!(one["contactVariables"], json!({ "a": 1, "b": 3 }), "its own values count");
    let aliases: Vec<_> = one["aliases"].as_array().unwrap().iter().map(|a| a["alias"].clone()).collect();
    let identity = format!("wc-{}-{}", ana.channel, ana.user);
    assert!(aliases.contains(&json!("x1")) && aliases.contains(&json!(identity)), "{one}");
    admin.get(&format!("/contacts/{visitor}")).await.refused(404, "not_found", "Contato não encontrado");
    assert_eq!(admin.get("/chats").await.ok(200)["items"][0]["contactId"], json!(id));
    assert_eq!(admin.get(&format!("/sessions/{identity}")).await.ok(200)["contactId"], json!(id));
    let opt_in = admin.get(&format!("/contacts/{id}/opt-in?routerId={router}")).await.ok(200);
    assert_eq!(opt_in["status"], "accepted");
    assert_eq!(names(&admin, &format!("q={}", ana.user)).await, ["Ana"]);
    // The conversation goes on where it was, also after a new connection.
    client.say("dois").await;
    client.until("eco dois").await;
    let (mut again, _) = Client::enter(server.addr, ana.auth()).await;
    again.say("três").await;
    again.until("eco três").await;
    let chats = admin.get("/chats").await.ok(200);
    assert_eq!(chats["items"].as_array().unwrap().len(), 1, "{chats}");
}

/// A contact that was merged is the same contact also when they begin anew.
async fn merged_visitors_go_on(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    // They have never written, so that their session begins after the merge.
    let (mut client, ana) = setup.visit(&server).await;
    let identity = format!("wc-{}-{}", ana.channel, ana.user);
    let found = admin.get(&format!("/contacts?q={identity}")).await.ok(200);
    let visitor = found["items"][0]["id"].as_str().unwrap().to_owned();
    let id = create(&admin, "5511987654321", "Ana").await;
    admin.post(&format!("/contacts/{id}/merge"), &json!({ "contactId": visitor })).await.ok(200);
    client.say("oi").await;
    client.until("eco oi").await;
    assert_eq!(admin.get(&format!("/sessions/{identity}")).await.ok(200)["contactId"], json!(id));
    assert_eq!(
        admin.get("/contacts").await.ok(200)["items"].as_array().unwrap().len(),
        1,
        "no second contact"
    );
}

async fn merges_that_are_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (_one, _, first) = visitor(&setup, &server, &admin).await;
    let (_two, _, second) = visitor(&setup, &server, &admin).await;
    let merge = |id: &str, other: &str| {
        let (admin, at, body) =
            (admin.clone(), format!("/contacts/{id}/merge"), json!({ "contactId": other }));
        async move { admin.post(&at, &body).await }
    };
    let text = "Os dois contatos têm sessão ativa no mesmo roteador";
    merge(&first, &second).await.refused(409, "merge_conflict", text);
    assert_eq!(
        admin.get("/contacts").await.ok(200)["items"].as_array().unwrap().len(),
        2,
        "nothing happened"
    );
    assert_eq!(merge(&first, &first).await.status, 400);
    merge("nothing", &first).await.refused(404, "not_found", "Contato não encontrado");
    let text = "O contato a unificar não foi encontrado";
    merge(&first, "nothing").await.refused(422, "contact_unknown", text);
    // Another router knows it.
    let routers = admin.get("/routers").await.ok(200);
    let other = routers["items"].as_array().unwrap().iter().find(|r| r["id"] != setup.seeded.router).unwrap();
    let third = create(&admin, "5511987654321", "Ana").await;
    for router in [json!(setup.seeded.router), other["id"].clone()] {
        let path = format!("/routers/{}/opt-ins/bulk", router.as_str().unwrap());
        admin.post(&path, &json!({ "rows": [{ "contactId": third, "status": "accepted" }] })).await.ok(200);
    }
    let all = json!([{ "resource": "contacts", "actions": ["read", "write"] }]);
    let scoped = admin.member(&setup, &all, &[&setup.seeded.router]).await;
    let answer = scoped.post(&format!("/contacts/{first}/merge"), &json!({ "contactId": third })).await;
    answer.assert_error(403);
    assert_eq!(answer.json()["code"], "router_out_of_scope");
}

/// Two that merge each other at once, while both write: one contact is left, and every message.
async fn merges_at_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana, visitor) = visitor(&setup, &server, &admin).await;
    let other = create(&admin, "5511987654321", "Ana").await;
    let merge = |id: String, from: String| {
        let admin = admin.clone();
        async move { admin.post(&format!("/contacts/{id}/merge"), &json!({ "contactId": from })).await.status }
    };
    let merges = join_all([
        merge(visitor.clone(), other.clone()),
        merge(other.clone(), visitor.clone()),
        merge(visitor.clone(), other.clone()),
    ]);
    let writes = async {
        for n in 0..10 {
            client.say(&format!("m{n}")).await;
        }
        client.until("eco m9").await;
    };
    let (statuses, ()) = futures_util::future::join(merges, writes).await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 404, 422].contains(status)), "{statuses:?}");
    let left = admin.get("/contacts").await.ok(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    let chats = admin.get("/chats").await.ok(200);
    assert_eq!(chats["items"][0]["contactId"], left["items"][0]["id"]);
    let items = crate::messages::history(&server, &ana).await;
    assert_eq!(items.len(), 22, "two a message");
}
