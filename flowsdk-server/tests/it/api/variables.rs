//! Static variables of routers and flows (spec A 2.3, 2.9, 4.4, ruling S9).

use flowsdk_core::flow::HasFlowCatalog as _;
use flowsdk_core::router::{HasRouterCatalog as _, HasRouters as _};
use serde_json::{Value, json};

use super::building::{actions, answer, details, id, records, router, says, shop, visitor};
use crate::harness::http::Answer;
use crate::harness::{Api, Setup, everywhere};

everywhere!(
    rule_4_4_3_put_takes_the_sent_value,
    rule_4_4_4_every_change_counts_with_the_next_turn,
    a_variable_of_an_owner_that_is_being_deleted_is_not_found
);
everywhere!(in process:
    rule_4_4_1_keys,
    rule_4_4_2_secrets_are_encrypted_and_never_leave,
    rule_4_4_5_variables_go_with_their_owner,
    rule_4_4_6_turns_read_and_never_write_them,
    audit,
    scope,
    one_variable_is_shown_with_its_owner,
);

/// The two kinds of owner: their paths.
async fn owners(api: &Api) -> [String; 2] {
    let router = router(api, "R").await;
    let flow = api.post("/flows", &json!({ "routerId": router, "name": "F" })).await.ok(201);
    [format!("/routers/{router}/variables"), format!("/flows/{}/variables", id(&flow))]
}

/// What is said when there is no such owner.
fn no_owner(path: &str) -> &'static str {
    if path.starts_with("/routers") { "Roteador não encontrado" } else { "Flow não encontrado" }
}

async fn items(api: &Api, path: &str) -> Vec<Value> {
    api.get(path).await.ok(200)["items"].as_array().unwrap().clone()
}

async fn rule_4_4_1_keys(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for path in owners(&admin).await {
        let good = ["a", "_", "A1_b", &"k".repeat(128)];
        for key in good {
            let made = admin.post(&path, &json!({ "key": key, "value": "v" })).await;
            let record = made.ok(201);
            assert_eq!((&record["key"], &record["isSecret"]), (&json!(key), &json!(false)));
            assert_eq!(made.headers["location"], format!("/api{path}/{}", id(&record)));
            let again = admin.post(&path, &json!({ "key": key, "value": "other", "isSecret": true })).await;
            again.refused(409, "key_taken", "Chave já existe");
            assert_eq!(details(&again)[0].0, "key");
        }
        assert_eq!(items(&admin, &path).await.len(), good.len());
        for key in ["", "1a", "a-b", "a.b", "é", " a", "a\n", "{{a}}", &"k".repeat(129)] {
            let answer = admin.post(&path, &json!({ "key": key, "value": "v" })).await;
            assert_eq!(answer.invalid_fields(), ["key"], "{key:?}");
        }
        for (body, field) in [
            (json!({ "key": "b" }), "value"),
            (json!({ "key": "b", "value": null }), "value"),
            (json!({ "key": "b", "value": 1 }), "value"),
            (json!({ "key": "b", "value": "a".repeat(65_537) }), "value"),
            (json!({ "key": "b", "value": "v", "isSecret": "no" }), "isSecret"),
            (json!({ "key": "b", "value": "v", "valueEncrypted": "00:11" }), "valueEncrypted"),
        ] {
            assert_eq!(admin.post(&path, &body).await.invalid_fields(), [field], "{body}");
        }
        // Renaming is DELETE and POST: PUT knows no key.
        let one = format!("{path}/{}", id(&items(&admin, &path).await[0]));
        let renamed = admin.put(&one, &json!({ "key": "other", "value": "v" })).await;
        assert_eq!(renamed.invalid_fields(), ["key"]);
        assert_eq!(admin.put(&one, &json!({ "isSecret": true })).await.invalid_fields(), ["value"]);
        admin.get(&one).await.ok(200);
        let again = json!({ "key": "again", "value": "v" });
        let key = [("idempotency-key", path.as_str())];
        let first = admin.json("POST", &path, &key, &again).await.ok(201);
        assert_eq!(admin.json("POST", &path, &key, &again).await.ok(201), first);
        let page = admin.get(&format!("{path}?limit=2")).await.ok(200);
        assert!(page["items"].as_array().unwrap().len() == 2 && page["nextCursor"].is_string());
    }
}

/// The value is in no answer.
fn hides(answer: &Answer, secret: &str) {
    assert!(!answer.body.contains(secret) && !answer.body.contains("ncrypted"), "{answer:?}");
}

async fn rule_4_4_2_secrets_are_encrypted_and_never_leave(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let secret = "chave-secretissima";
    setup.plant(secret);
    for path in owners(&admin).await {
        let sent = json!({ "key": "token", "value": secret, "isSecret": true });
        let key = [("idempotency-key", path.as_str())];
        for _ in 0..2 {
            let made = admin.json("POST", &path, &key, &sent).await;
            hides(&made, secret);
            let made = made.ok(201);
            assert_eq!((&made["value"], &made["isSecret"]), (&Value::Null, &json!(true)));
        }
        let list = admin.get(&path).await;
        hides(&list, secret);
        let one = format!("{path}/{}", id(&list.ok(200)["items"][0]));
        let put = admin.put(&one, &json!({ "value": secret })).await;
        hides(&put, secret);
        assert_eq!(put.ok(200)["isSecret"], true, "it stays what it is");
        hides(&admin.post(&path, &sent).await, secret);
        let wrong = json!({ "key": "token", "value": secret, "isSecret": "yes" });
        hides(&admin.post(&path, &wrong).await, secret);
        // At rest: ciphertext and nothing else.
        let (value, encrypted) = stored(&setup, &path, "token").await;
        assert_eq!(value, None);
        let encrypted = encrypted.unwrap();
        let (iv, cipher) = encrypted.split_once(':').unwrap();
        assert!(iv.len() == 32 && hex::decode(cipher).is_ok() && !encrypted.contains(secret));
    }
}

/// Both columns of a stored variable; never filled together.
async fn stored(setup: &Setup, path: &str, key: &str) -> (Option<String>, Option<String>) {
    use flowsdk_core::router::VariableOwner;
    use flowsdk_core::store::Store as _;
    let owner = path.split('/').nth(2).unwrap();
    let owner = if path.starts_with("/routers") {
        VariableOwner::Router(owner.parse().unwrap())
    } else {
        VariableOwner::Flow(owner.parse().unwrap())
    };
    let store = setup.store().await;
    let found = store.read().await.unwrap().routers().static_variables(&[owner]).await.unwrap();
    setup.done(store).await;
    let found = found.into_iter().find(|variable| variable.key == key).unwrap();
    assert!(found.value.is_none() || found.encrypted.is_none());
    (found.value, found.encrypted.map(|value| value.as_stored().to_owned()))
}

async fn rule_4_4_3_put_takes_the_sent_value(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for path in owners(&admin).await {
        let made = admin.post(&path, &json!({ "key": "a", "value": "um" })).await.ok(201);
        let one = format!("{path}/{}", id(&made));
        // From clear to secret: the sent value is encrypted, the clear one cleared.
        let put = admin.put(&one, &json!({ "value": "dois", "isSecret": true })).await.ok(200);
        assert_eq!((&put["value"], &put["isSecret"]), (&Value::Null, &json!(true)));
        let (value, first) = stored(&setup, &path, "a").await;
        assert!(value.is_none() && first.is_some());
        // Secret again, with the same value: encrypted anew.
        admin.put(&one, &json!({ "value": "dois" })).await.ok(200);
        assert_ne!(stored(&setup, &path, "a").await.1, first);
        // From secret to clear: the sent value, never the stored one.
        let put = admin.put(&one, &json!({ "value": "três", "isSecret": false })).await.ok(200);
        assert_eq!((&put["value"], &put["isSecret"]), (&json!("três"), &json!(false)));
        assert_eq!(stored(&setup, &path, "a").await, (Some("três".to_owned()), None));
        assert_eq!(
            (&put["id"], &put["key"], &put["createdAt"]),
            (&made["id"], &made["key"], &made["createdAt"])
        );
        assert!(put["updatedAt"].as_str() >= made["updatedAt"].as_str());
        let unknown = admin.put(&format!("{path}/cnothing"), &json!({ "value": "x" })).await;
        unknown.refused(404, "not_found", "Variável não encontrada");
    }
    for path in ["/routers/abc/variables", "/flows/zz/variables"] {
        let (one, text) = (format!("{path}/cnothing"), no_owner(path));
        let variable = json!({ "key": "a", "value": "v" });
        for answer in [
            admin.get(path).await,
            admin.post(path, &variable).await,
            admin.put(&one, &json!({ "value": "x" })).await,
            admin.delete(&one).await,
        ] {
            answer.refused(404, "not_found", text);
        }
    }
    // A variable of another owner is none of this one.
    let ([mine, _], [other, _]) = (owners(&admin).await, owners(&admin).await);
    let made = admin.post(&mine, &json!({ "key": "a", "value": "v" })).await.ok(201);
    let elsewhere = format!("{other}/{}", id(&made));
    let text = "Variável não encontrada";
    admin.put(&elsewhere, &json!({ "value": "x" })).await.refused(404, "not_found", text);
    admin.delete(&elsewhere).await.refused(404, "not_found", text);
    assert_eq!(items(&admin, &mine).await[0]["value"], "v");
}

/// Through the socket, also when another process has made the change.
async fn rule_4_4_4_every_change_counts_with_the_next_turn(setup: Setup) {
    let first = setup.start().await;
    let other = if setup.is_distributed() { Some(setup.start().await) } else { None };
    let second = other.as_ref().unwrap_or(&first);
    let admin = Api::admin(&setup, &first).await;
    let (router, flow, channel) = shop(&admin, "Loja", &says("{{router.a}}/{{flow.a}}")).await;
    let mut client = visitor(second, &channel).await;
    assert_eq!(answer(&mut client, "x").await, "/");
    let (of_router, of_flow) = (format!("/routers/{router}/variables"), format!("/flows/{flow}/variables"));
    let mut paths = Vec::new();
    for (path, text) in [(&of_router, "um"), (&of_flow, "dois")] {
        let made = admin.post(path, &json!({ "key": "a", "value": text })).await.ok(201);
        paths.push(format!("{path}/{}", id(&made)));
    }
    assert_eq!(answer(&mut client, "x").await, "um/dois", "POST");
    for round in 0..5 {
        let value = json!({ "value": format!("s{round}"), "isSecret": round % 2 == 0 });
        admin.put(&paths[0], &value).await.ok(200);
        assert_eq!(answer(&mut client, "x").await, format!("s{round}/dois"), "PUT");
    }
    admin.delete(&paths[0]).await.ok(204);
    assert_eq!(answer(&mut client, "x").await, "/dois", "DELETE");
    admin.delete(&paths[1]).await.ok(204);
    assert_eq!(answer(&mut client, "x").await, "/");
    admin.delete(&paths[1]).await.refused(404, "not_found", "Variável não encontrada");
}

/// Ruling S9: not even an orphan is left.
async fn rule_4_4_5_variables_go_with_their_owner(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let [of_router, of_flow] = owners(&admin).await;
    for path in [&of_flow, &of_router] {
        let variable = json!({ "key": "a", "value": "v", "isSecret": true });
        admin.post(path, &variable).await.ok(201);
        admin.delete(path.trim_end_matches("/variables")).await.ok(204);
        let text = no_owner(path);
        admin.get(path).await.refused(404, "not_found", text);
        admin.post(path, &variable).await.refused(404, "not_found", text);
    }
    let store = setup.store().await;
    use flowsdk_core::router::VariableOwner::{Flow, Router};
    use flowsdk_core::store::Store as _;
    let part = |path: &str| path.split('/').nth(2).unwrap().to_owned();
    let owners = [Router(part(&of_router).parse().unwrap()), Flow(part(&of_flow).parse().unwrap())];
    assert!(store.read().await.unwrap().routers().static_variables(&owners).await.unwrap().is_empty());
    setup.done(store).await;
}

async fn rule_4_4_6_turns_read_and_never_write_them(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut definition = says("{{router.a}}|{{flow.a}}|{{a}}|{{session.variables}}");
    definition["blocks"][0]["onEnter"] = json!([
        { "type": "setVariable", "key": "a", "value": "da sessão" },
    ]);
    let (router, flow, channel) = shop(&admin, "Loja", &definition).await;
    let paths = [format!("/routers/{router}/variables"), format!("/flows/{flow}/variables")];
    for (path, value) in paths.iter().zip(["do roteador", "do flow"]) {
        admin.post(path, &json!({ "key": "a", "value": value })).await.ok(201);
    }
    let mut client = visitor(&server, &channel).await;
    let text = answer(&mut client, "x").await;
    let session = text.strip_prefix("do roteador|do flow|da sessão|").unwrap_or_else(|| panic!("{text}"));
    assert!(!session.contains("do roteador") && !session.contains("do flow"), "{text}");
    for (path, value) in paths.iter().zip(["do roteador", "do flow"]) {
        assert_eq!(items(&admin, path).await[0]["value"], value);
    }
}

/// On Postgres the insert waits for the deletion and then finds its foreign key broken.
async fn a_variable_of_an_owner_that_is_being_deleted_is_not_found(setup: Setup) {
    use flowsdk_core::store::{Store as _, Transaction as _};
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let [of_router, of_flow] = owners(&admin).await;
    let store = setup.store().await;
    let variable = json!({ "key": "a", "value": "v" });
    let deleting = async |owner: &str, path: &str, body: &Value| {
        let mut tx = store.begin().await.unwrap();
        let id = owner.split('/').nth(2).unwrap();
        if owner.starts_with("/flows") {
            tx.flow_catalog().delete(&id.parse().unwrap()).await.unwrap();
        } else {
            tx.router_catalog().delete(&id.parse().unwrap()).await.unwrap();
        }
        let commit = async {
            setup.somebody_waits_for_a_lock().await;
            tx.commit().await.unwrap();
        };
        let answer = futures_util::future::join(admin.post(path, body), commit).await.0;
        assert!([404, 422].contains(&answer.status), "{path}: {answer:?}");
        answer.json()["code"].as_str().unwrap().to_owned()
    };
    for path in [&of_flow, &of_router] {
        assert_eq!(deleting(path, path, &variable).await, "not_found");
    }
    // What belongs to a router in other ways is refused as if the router had never been.
    for path in ["/flows", "/webchat/channels"] {
        let router = router(&admin, "R").await;
        let body = json!({ "routerId": router, "name": "N" });
        assert_eq!(deleting(&format!("/routers/{router}"), path, &body).await, "router_unknown");
    }
    setup.done(store).await;
}

async fn audit(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let secret = "nunca-no-registro";
    setup.plant(secret);
    for (path, kind) in owners(&admin).await.iter().zip(["ROUTER_VARIABLE", "FLOW_VARIABLE"]) {
        let made = admin.post(path, &json!({ "key": "a", "value": secret, "isSecret": true })).await.ok(201);
        let one = format!("{path}/{}", id(&made));
        admin.put(&one, &json!({ "value": "claro", "isSecret": false })).await.ok(200);
        admin.put(&one, &json!({ "value": secret, "isSecret": true })).await.ok(200);
        admin.delete(&one).await.ok(204);
        let log = records(&admin, &format!("entityType={kind}"), 4).await;
        assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "DELETE"]);
        assert_eq!(
            log[2]["changes"],
            json!({ "value": { "from": null, "to": "claro" }, "isSecret": { "from": true, "to": false } })
        );
        assert!(log.iter().all(|record| record["entityId"] == made["id"] && record["routerId"].is_string()));
        let text = json!(log).to_string();
        assert!(!text.contains(secret) && !text.contains("ncrypted"), "{text}");
    }
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let ([mine, of_mine], [other, of_other]) = (owners(&admin).await, owners(&admin).await);
    let router = mine.split('/').nth(2).unwrap();
    let all = json!([{ "resource": "routers", "actions": ["read", "write"] },
        { "resource": "flows", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[router]).await;
    let variable = json!({ "key": "a", "value": "v" });
    for path in [&mine, &of_mine] {
        let made = id(&bia.post(path, &variable).await.ok(201));
        bia.put(&format!("{path}/{made}"), &json!({ "value": "w" })).await.ok(200);
        assert_eq!(items(&bia, path).await.len(), 1);
    }
    for (path, status, code) in [(&other, 403, "router_out_of_scope"), (&of_other, 404, "not_found")] {
        let made = id(&admin.post(path, &variable).await.ok(201));
        let one = format!("{path}/{made}");
        for answer in [
            bia.get(path).await,
            bia.post(path, &variable).await,
            bia.put(&one, &json!({ "value": "w" })).await,
            bia.delete(&one).await,
        ] {
            answer.assert_error(status);
            assert_eq!(answer.json()["code"], code);
        }
    }
    // Variables of routers are guarded by `routers`, those of flows by `flows`.
    let flows = admin.member(&setup, &json!([{ "resource": "flows", "actions": ["read"] }]), &[]).await;
    flows.get(&mine).await.refused(403, "permission_denied", "Sem permissão");
    flows.get(&of_mine).await.ok(200);
    flows.post(&of_mine, &variable).await.refused(403, "permission_denied", "Sem permissão");
}

async fn one_variable_is_shown_with_its_owner(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let [of_router, of_flow] = owners(&admin).await;
    for (variables, field, other) in [(&of_router, "routerId", "flowId"), (&of_flow, "flowId", "routerId")] {
        let made = admin.post(variables, &json!({ "key": "a", "value": "1" })).await.ok(201);
        let owner = variables.split('/').nth(2).unwrap();
        assert_eq!((&made[field], made.get(other)), (&json!(owner), None), "{made}");
        let one = format!("{variables}/{}", made["id"].as_str().unwrap());
        assert_eq!(admin.get(&one).await.ok(200), made);
        assert_eq!(admin.get(variables).await.ok(200)["items"], json!([made]));
        admin.get(&format!("{variables}/cnothing")).await.assert_error(404);
        admin.delete(&one).await.ok(204);
        admin.get(&one).await.assert_error(404);
    }
    // A variable is found with its own owner only.
    let made = admin.post(&of_router, &json!({ "key": "a", "value": "1" })).await.ok(201);
    let id = made["id"].as_str().unwrap();
    admin.get(&format!("{of_flow}/{id}")).await.assert_error(404);
    let read = json!([{ "resource": "routers", "actions": ["read"] }]);
    let stranger = admin.member(&setup, &read, &[&setup.seeded.router]).await;
    stranger.get(&format!("{of_router}/{id}")).await.assert_error(403);
}
