//! Numbers of the phone channel and the keys of their interactive forms (spec A 2.9, 4.7, rulings A10, A11, S13).

use std::process::Command;

use flowsdk_core::session::{HasSessions as _, Session, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::Timestamp;
use serde_json::{Value, json};

use super::building::{act, actions, details, id, records, router};
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(life, exports_are_on_record);
everywhere!(in process: what_is_refused, keys, in_use, scope, at_once);

const TOKEN: &str = "EAAG-token-do-provedor";

fn number(router: &str, phone_number_id: &str) -> Value {
    json!({ "routerId": router, "name": "Loja", "phoneNumberId": phone_number_id,
        "phoneNumber": "+55 (11) 98765-4321", "businessAccountId": "777", "accessToken": TOKEN })
}

async fn life(setup: Setup) {
    setup.plant(TOKEN);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let answer = admin.post("/channel-numbers", &number(&router, "111")).await;
    let made = answer.ok(201);
    assert_eq!(answer.headers["location"], format!("/api/channel-numbers/{}", id(&made)));
    let shown = json!({ "routerId": router, "name": "Loja", "phoneNumberId": "111", "phoneNumber": "5511987654321",
        "businessAccountId": "777", "hasAccessToken": true, "hasPrivateKey": false, "encryptionPublicKey": null,
        "active": true });
    for (field, value) in shown.as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!(made.as_object().unwrap().len(), shown.as_object().unwrap().len() + 3, "{made}");
    let path = format!("/channel-numbers/{}", id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);
    let second = admin
        .post(
            "/channel-numbers",
            &json!({ "routerId": router, "name": "B", "phoneNumberId": "112",
        "phoneNumber": "16505550100", "businessAccountId": "777", "active": false }),
        )
        .await
        .ok(201);
    assert_eq!((&second["hasAccessToken"], &second["active"]), (&json!(false), &json!(false)));
    let list = admin.get(&format!("/channel-numbers?routerId={router}")).await.ok(200);
    assert_eq!(list["items"], json!([second, made]));
    let first = admin.get(&format!("/channel-numbers?routerId={router}&limit=1")).await.ok(200);
    let next = format!("/channel-numbers?limit=1&cursor={}", first["nextCursor"].as_str().unwrap());
    assert_eq!(admin.get(&next).await.ok(200)["items"], json!([made]));

    let change = json!({ "name": "Ação", "phoneNumber": "5511999990000", "businessAccountId": "778",
        "active": false, "accessToken": null });
    let changed = admin.patch(&path, &change).await.ok(200);
    assert_eq!((&changed["name"], &changed["active"]), (&json!("Ação"), &json!(false)));
    assert_eq!((&changed["hasAccessToken"], &changed["phoneNumberId"]), (&json!(false), &json!("111")));
    admin.patch(&path, &json!({ "accessToken": TOKEN })).await.ok(200);
    admin.delete(&path).await.ok(204);
    for answer in [admin.get(&path).await, admin.patch(&path, &json!({})).await, admin.delete(&path).await] {
        answer.refused(404, "not_found", "Número não encontrado");
    }
    let log = records(&admin, &format!("entityType=CHANNEL_NUMBER&routerId={router}"), 5).await;
    assert_eq!(actions(&log), ["CREATE", "CREATE", "UPDATE", "UPDATE", "DELETE"]);
    assert_eq!(log[1]["changes"], json!({ "hasAccessToken": { "from": false, "to": true } }));
    let text = json!(log).to_string();
    assert!(!text.contains(TOKEN) && !text.contains("ncrypted\""), "{text}");
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let made = id(&admin.post("/channel-numbers", &number(&router, "111")).await.ok(201));
    let path = format!("/channel-numbers/{made}");
    let with = |field: &str, value: Value| {
        let mut body = number(&router, "113");
        body[field] = value;
        body
    };
    for (field, value) in [
        ("name", json!("")),
        ("name", json!(7)),
        ("name", json!("a".repeat(201))),
        ("phoneNumber", json!("call me")),
        ("phoneNumber", json!("05511987654321")),
        ("businessAccountId", json!("7a")),
        ("businessAccountId", json!(777)),
        ("accessToken", json!("")),
        ("accessToken", json!("a".repeat(4_097))),
        ("active", json!("yes")),
        ("encryptionPublicKey", json!("PEM")),
        ("accessTokenEncrypted", json!("00:11")),
        ("id", json!("c1")),
    ] {
        let body = with(field, value.clone());
        assert_eq!(admin.post("/channel-numbers", &body).await.invalid_fields(), [field], "{value}");
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [field], "{value}");
    }
    for field in ["routerId", "phoneNumberId"] {
        assert_eq!(admin.patch(&path, &json!({ field: "1" })).await.invalid_fields(), [field]);
    }
    for bad in [json!("wa-111"), json!("1-1"), json!(111), json!("9".repeat(33))] {
        assert_eq!(
            admin.post("/channel-numbers", &with("phoneNumberId", bad)).await.invalid_fields(),
            ["phoneNumberId"]
        );
    }
    let missing = admin.post("/channel-numbers", &json!({})).await.invalid_fields();
    assert_eq!(missing, ["businessAccountId", "name", "phoneNumber", "phoneNumberId", "routerId"]);
    let nowhere = admin.post("/channel-numbers", &number("cnothing", "113")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    let taken = admin.post("/channel-numbers", &number(&router, "111")).await;
    taken.refused(409, "phone_number_taken", "Número já cadastrado");
    assert_eq!(details(&taken)[0].0, "phoneNumberId");
    let large = json!({ "name": "a".repeat(1 << 20) }).to_string();
    let json = [("content-type", "application/json")];
    admin.send("POST", "/channel-numbers", &json, Some(large.as_bytes())).await.assert_error(413);
    admin
        .send("POST", "/channel-numbers", &[("content-type", "text/plain")], Some(b"{}"))
        .await
        .assert_error(415);
    for id in ["cnothing", "%00", "a%20b"] {
        admin.get(&format!("/channel-numbers/{id}")).await.assert_error(404);
    }
    assert_eq!(admin.get("/channel-numbers?routerId=a%20b").await.invalid_fields(), ["routerId"]);
    // The same request takes effect once.
    let key = [("idempotency-key", "n-1")];
    let first = admin.json("POST", "/channel-numbers", &key, &number(&router, "114")).await;
    let again = admin.json("POST", "/channel-numbers", &key, &number(&router, "114")).await;
    assert_eq!(first.ok(201), again.ok(201));
}

/// The pair opens with OpenSSL, and nothing but the export shows the private half.
async fn keys(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let made = id(&admin.post("/channel-numbers", &number(&router, "111")).await.ok(201));
    let path = format!("/channel-numbers/{made}/encryption");
    assert_eq!(admin.get(&path).await.ok(200), json!({ "hasPrivateKey": false }));
    let none = admin.get(&format!("{path}/private-key")).await;
    none.refused(404, "keys_missing", "O número não tem chaves");
    let mut seen = Vec::new();
    for _ in 0..2 {
        let answer = act(&admin, &format!("{path}/generate-keys")).await.ok(200);
        let public = answer["encryptionPublicKey"].as_str().unwrap().to_owned();
        assert!(public.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{public}");
        assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
        assert_eq!(admin.get(&path).await.ok(200), json!({ "hasPrivateKey": true }));
        let number = admin.get(&format!("/channel-numbers/{made}")).await;
        assert_eq!(number.ok(200)["encryptionPublicKey"], json!(public));
        assert!(!number.body.contains("PRIVATE"), "{number:?}");

        let exported = admin.get(&format!("{path}/private-key")).await;
        assert_eq!(exported.headers["cache-control"], "no-store");
        let exported = exported.ok(200);
        let text = |name: &str| exported[name].as_str().unwrap().to_owned();
        let (private, passphrase) = (text("privateKey"), text("passphrase"));
        assert!(passphrase.len() == 64 && passphrase.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(private.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), "no key");
        // In no log, and not the other one's either.
        setup.plant(&passphrase);
        setup.plant(private.lines().nth(1).unwrap());
        assert!(!seen.contains(&passphrase));
        seen.push(passphrase.clone());
        let file = setup.dir.path().join("private.pem");
        std::fs::write(&file, &private).unwrap();
        let password = format!("pass:{passphrase}");
        let openssl = Command::new("openssl")
            .args(["pkey", "-pubout", "-passin", &password, "-in"])
            .arg(&file)
            .output();
        match openssl {
            Ok(found) => assert_eq!(String::from_utf8(found.stdout).unwrap(), public),
            Err(_) => eprintln!("SKIPPED: there is no openssl"),
        }
    }
}

async fn exports_are_on_record(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let made = id(&admin.post("/channel-numbers", &number(&router, "111")).await.ok(201));
    let path = format!("/channel-numbers/{made}/encryption");
    act(&admin, &format!("{path}/generate-keys")).await.ok(200);
    // Reading is not enough.
    let read = json!([{ "resource": "channel_numbers", "actions": ["read"] }]);
    let reader = admin.member(&setup, &read, &[]).await;
    reader.get(&path).await.ok(200);
    for answer in [
        reader.get(&format!("{path}/private-key")).await,
        act(&reader, &format!("{path}/generate-keys")).await,
    ] {
        answer.refused(403, "permission_denied", "Sem permissão");
    }
    let exported = admin.get(&format!("{path}/private-key")).await.ok(200);
    admin.get(&format!("{path}/private-key")).await.ok(200);
    let log = records(&admin, &format!("entityType=CHANNEL_NUMBER&routerId={router}"), 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "UPDATE"]);
    for export in &log[..2] {
        assert_eq!(export["entityId"], json!(made));
        assert_eq!(
            export["changes"].as_object().unwrap().keys().collect::<Vec<_>>(),
            ["privateKeyExportedAt"]
        );
    }
    assert_eq!(log[2]["changes"]["hasPrivateKey"], json!({ "from": false, "to": true }));
    let text = json!(log).to_string();
    assert!(!text.contains("PRIVATE") && !text.contains(exported["passphrase"].as_str().unwrap()), "{text}");
    // And a warning in the log, which names the number.
    let warned = eventually("the log has both exports", || async {
        let files = std::fs::read_dir(setup.dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let texts = files.filter(|path| path.extension().is_some_and(|kind| kind == "log" || kind == "out"));
        let text: String = texts.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let lines: Vec<_> =
            text.lines().filter(|line| line.contains("was exported")).map(str::to_owned).collect();
        (lines.len() == 2).then_some(lines)
    })
    .await;
    assert!(warned.iter().all(|line| line.contains("WARN") && line.contains(&made)), "{warned:?}");
}

async fn session(setup: &Setup, id: &str, router: &str) {
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    let id = SessionId::parse(id).unwrap();
    let (contact, chat) = ("c1".parse().unwrap(), "h1".parse().unwrap());
    let now = Timestamp::from_millis(1_795_085_820_050);
    let session = Session::begin(id, router.parse().unwrap(), contact, chat, now);
    let write = flowsdk_core::session::SessionWrite { session: &session, expected: None };
    tx.sessions().save_many(&[write]).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
}

async fn in_use(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let made = id(&admin.post("/channel-numbers", &number(&router, "111")).await.ok(201));
    let other = id(&admin.post("/channel-numbers", &number(&router, "1111")).await.ok(201));
    for name in ["wa-111-5511999990000", "wa-111-5511999990001", "wa-1111-5511999990000"] {
        session(&setup, name, &router).await;
    }
    let path = format!("/channel-numbers/{made}");
    let refused = admin.delete(&path).await;
    refused.refused(409, "in_use", "Registro em uso");
    assert_eq!(details(&refused), [("sessions".to_owned(), "2 sessões abertas".to_owned())]);
    let write = json!([{ "resource": "channel_numbers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &write, &[&router]).await;
    let force = format!("{path}?force=true");
    bia.delete(&force).await.refused(403, "admin_only", "Acesso restrito a administradores");
    bia.get(&path).await.ok(200);
    admin.delete(&force).await.ok(204);
    admin.delete(&format!("/channel-numbers/{other}")).await.assert_error(409);
    // With its router everything goes.
    admin.delete(&format!("/routers/{router}?force=true")).await.ok(204);
    admin.get(&format!("/channel-numbers/{other}")).await.assert_error(404);
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, other) = (router(&admin, "A").await, router(&admin, "B").await);
    let foreign = id(&admin.post("/channel-numbers", &number(&other, "111")).await.ok(201));
    act(&admin, &format!("/channel-numbers/{foreign}/encryption/generate-keys")).await.ok(200);
    let all = json!([{ "resource": "channel_numbers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let own = id(&bia.post("/channel-numbers", &number(&mine, "112")).await.ok(201));
    let refused = "Roteador fora do escopo";
    bia.post("/channel-numbers", &number(&other, "113")).await.refused(403, "router_out_of_scope", refused);
    bia.get(&format!("/channel-numbers?routerId={other}")).await.refused(403, "router_out_of_scope", refused);
    let seen = bia.get("/channel-numbers").await.ok(200);
    assert_eq!(seen["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>(), [own]);
    let path = format!("/channel-numbers/{foreign}");
    for answer in [
        bia.get(&path).await,
        bia.patch(&path, &json!({ "name": "x" })).await,
        bia.delete(&path).await,
        bia.get(&format!("{path}/encryption")).await,
        bia.get(&format!("{path}/encryption/private-key")).await,
        act(&bia, &format!("{path}/encryption/generate-keys")).await,
        act(&bia, &format!("{path}/encryption/register")).await,
        bia.get(&format!("{path}/health")).await,
    ] {
        answer.refused(404, "not_found", "Número não encontrado");
    }
}

/// Of many who create the same number at once, one does; of many new key pairs the last one is whole.
async fn at_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let body = number(&router, "111");
    let answers = futures_util::future::join_all((0..8).map(|_| admin.post("/channel-numbers", &body))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    let made = answers.iter().find(|answer| answer.status == 201).unwrap().json();
    let path = format!("/channel-numbers/{}", id(&made));
    let generate = format!("{path}/encryption/generate-keys");
    let (pairs, patched) = futures_util::future::join(
        futures_util::future::join_all((0..3).map(|_| act(&admin, &generate))),
        admin.patch(&path, &json!({ "name": "Ação" })),
    )
    .await;
    patched.ok(200);
    let publics: Vec<_> = pairs.iter().map(|pair| pair.ok(200)["encryptionPublicKey"].clone()).collect();
    let number = admin.get(&path).await.ok(200);
    assert_eq!(number["name"], "Ação", "no change is lost");
    assert!(publics.contains(&number["encryptionPublicKey"]), "{number}");
    admin.get(&format!("{path}/encryption/private-key")).await.ok(200);
}
