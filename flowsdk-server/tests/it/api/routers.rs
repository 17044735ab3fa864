//! Routers (spec A 2.2, 2.9, 4.3, rulings S9, S13).

use flowsdk_core::router::HasRouters as _;
use serde_json::json;

use super::building::{
    UNANSWERED, act, actions, answer, details, id, published, records, router, says, shop, visitor,
};
use crate::harness::{Api, Setup, everywhere};

everywhere!(every_field_is_kept_and_secrets_are_not_shown, changes_count_with_the_next_message);
everywhere!(in process:
    names_are_not_blank,
    what_is_refused,
    an_initial_flow_is_one_of_the_router,
    scope,
    a_router_in_use_is_not_deleted,
);

/// A name says something (also in changes, and in files).
async fn names_are_not_blank(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, channel) = shop(&admin, "Com nome", &says("oi")).await;
    let number = json!({ "routerId": router, "phoneNumberId": "77", "businessAccountId": "88",
        "phoneNumber": "+5511987654321" });
    let credential = json!({ "provider": "openai", "apiKey": "sk-0123456789abcdef" });
    let integration = json!({ "routerId": router, "kind": "http", "baseUrl": "https://crm.example" });
    let file = admin.get(&format!("/routers/{router}/export")).await.ok(200);
    for (path, known, rest) in [
        ("/routers", Some(router.as_str()), json!({})),
        ("/flows", Some(flow.as_str()), json!({ "routerId": router })),
        ("/webchat/channels", Some(channel.as_str()), json!({ "routerId": router })),
        ("/channel-numbers", None, number),
        ("/llm-credentials", None, credential),
        ("/integrations", None, integration),
        ("/groups", None, json!({})),
    ] {
        for blank in ["", " ", "\t\n\u{a0}"] {
            let mut body = rest.clone();
            body["name"] = json!(blank);
            let refused = admin.post(path, &body).await;
            assert!(refused.invalid_fields().contains(&"name".to_owned()), "{path} {refused:?}");
            if let Some(id) = known {
                let refused = admin.patch(&format!("{path}/{id}"), &json!({ "name": blank })).await;
                assert_eq!(refused.invalid_fields(), ["name"], "{path}");
            }
        }
    }
    let mut blank = file.clone();
    blank["router"]["name"] = json!("  ");
    assert_eq!(admin.post("/routers/import", &blank).await.invalid_fields(), ["router.name"]);
    // What stands around a name stays.
    let spaced = admin.post("/routers", &json!({ "name": " Loja " })).await.ok(201);
    assert_eq!(spaced["name"], " Loja ");
}

async fn every_field_is_kept_and_secrets_are_not_shown(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (secret, token) = ("segredo-do-aplicativo", "token-de-verificacao");
    setup.plant(secret);
    setup.plant(token);
    let credential = json!({ "name": "Produção", "provider": "openai", "apiKey": "sk-segredo-do-modelo" });
    let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
    let settings = json!({ "name": "Atendimento", "tz": "Europe/Lisbon", "channelAppSecret": secret,
        "channelVerifyToken": token, "llmCredentialId": credential, "logoUrl": "https://a.example/l.png",
        "sentimentConfig": { "on": true }, "copilotConfig": { "a": [1] }, "helpdeskAgentPrefixEnabled": true,
        "helpdeskAgentPrefixTemplate": "*{{name}}*", "initialFlowId": null,
        "fallbackTexts": { "failed": "Já voltamos", "unanswered": null, "stuckHandoff": null },
        "phone": { "readReceipts": true, "typingIndicator": false, "optOutWords": ["sair"] } });
    let made = admin.post("/routers", &settings).await.ok(201);
    let mut shown = settings.clone();
    for hidden in ["channelAppSecret", "channelVerifyToken"] {
        shown.as_object_mut().unwrap().remove(hidden);
    }
    for (field, value) in shown.as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!((&made["hasChannelAppSecret"], &made["hasChannelVerifyToken"]), (&json!(true), &json!(true)));
    let path = format!("/routers/{}", id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);

    let bare = admin.post("/routers", &json!({ "name": "B" })).await.ok(201);
    assert_eq!((&bare["tz"], &bare["hasChannelAppSecret"]), (&json!("America/Sao_Paulo"), &json!(false)));
    let none = json!({ "channelAppSecret": null, "channelVerifyToken": null, "logoUrl": null,
        "sentimentConfig": null, "llmCredentialId": null, "helpdeskAgentPrefixTemplate": null });
    let changed = admin.patch(&path, &none).await.ok(200);
    assert_eq!((&changed["name"], &changed["tz"]), (&made["name"], &made["tz"]));
    for field in ["logoUrl", "sentimentConfig", "llmCredentialId", "helpdeskAgentPrefixTemplate"] {
        assert!(changed[field].is_null(), "{field}");
    }
    assert_eq!(changed["hasChannelAppSecret"], false);
    assert_eq!(changed["copilotConfig"], made["copilotConfig"]);
    admin.patch(&path, &json!({ "channelAppSecret": secret })).await.ok(200);
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Roteador não encontrado");
    admin.patch(&path, &json!({ "name": "x" })).await.refused(404, "not_found", "Roteador não encontrado");

    let log = records(&admin, &format!("entityType=ROUTER&routerId={}", id(&made)), 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "DELETE"]);
    assert_eq!(log[1]["changes"], json!({ "hasChannelAppSecret": { "from": false, "to": true } }));
    let text = json!(log).to_string();
    assert!(!text.contains(secret) && !text.contains(token) && !text.contains("ncrypted"), "{text}");
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let path = format!("/routers/{}", setup.seeded.router);
    for (body, field) in [
        (json!({ "name": "" }), "name"),
        (json!({ "name": "a".repeat(201) }), "name"),
        (json!({ "name": "a", "tz": "Brasil/São Paulo" }), "tz"),
        (json!({ "name": "a", "tz": "" }), "tz"),
        (json!({ "name": "a", "tz": "-03:00" }), "tz"),
        (json!({ "name": "a", "logoUrl": "javascript:alert(1)" }), "logoUrl"),
        (json!({ "name": "a", "sentimentConfig": 7 }), "sentimentConfig"),
        (json!({ "name": "a", "channelAppSecret": "" }), "channelAppSecret"),
        (json!({ "name": "a", "channelAppSecretEncrypted": "00:11" }), "channelAppSecretEncrypted"),
        (json!({ "name": "a", "hasChannelAppSecret": true }), "hasChannelAppSecret"),
        (json!({ "name": "a", "id": "c1" }), "id"),
    ] {
        assert_eq!(admin.post("/routers", &body).await.invalid_fields(), [field], "{body}");
        assert_eq!(admin.patch(&path, &body).await.invalid_fields(), [field], "{body}");
    }
    assert_eq!(admin.post("/routers", &json!({})).await.invalid_fields(), ["name"]);
    let key = [("idempotency-key", "r-1")];
    let body = json!({ "name": "Uma vez" });
    let first = admin.json("POST", "/routers", &key, &body).await;
    let again = admin.json("POST", "/routers", &key, &body).await;
    assert_eq!(first.ok(201), again.ok(201));
    assert_eq!(again.headers["location"], first.headers["location"]);
}

async fn an_initial_flow_is_one_of_the_router(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mine = router(&admin, "R").await;
    let path = format!("/routers/{mine}");
    let tool = json!({ "routerId": mine, "name": "T", "kind": "tool" });
    let tool = id(&admin.post("/flows", &tool).await.ok(201));
    let refused = admin.patch(&path, &json!({ "initialFlowId": tool })).await;
    refused.refused(422, "flow_is_tool", "Uma ferramenta não pode iniciar conversas");
    assert_eq!(details(&refused)[0].0, "initialFlowId");
    // Another router's is not told apart.
    let foreign = json!({ "routerId": router(&admin, "S").await, "name": "T", "kind": "tool" });
    let foreign = id(&admin.post("/flows", &foreign).await.ok(201));
    for flow in ["cnothing", &setup.seeded.foreign_flow, &setup.seeded.other_flow, &foreign] {
        let answer = admin.patch(&path, &json!({ "initialFlowId": flow })).await;
        answer.refused(422, "flow_unknown", "Flow não pertence ao roteador");
        assert_eq!(details(&answer)[0].0, "initialFlowId");
        let answer = admin.post("/routers", &json!({ "name": "N", "initialFlowId": flow })).await;
        answer.refused(422, "flow_unknown", "Flow não pertence ao roteador");
    }
    let flow = published(&admin, &mine, "F", &says("oi")).await;
    let changed = admin.patch(&path, &json!({ "initialFlowId": flow })).await.ok(200);
    assert_eq!((&changed["initialFlowId"], &changed["warnings"]), (&json!(flow), &json!([])));
    // A flow that is not published answers nobody; a router without a flow means that.
    act(&admin, &format!("/flows/{flow}/unpublish")).await.ok(204);
    let changed = admin.patch(&path, &json!({ "name": "S" })).await.ok(200);
    assert_eq!(changed["warnings"][0]["code"], "initial_flow_not_published");
    let changed = admin.patch(&path, &json!({ "initialFlowId": null })).await.ok(200);
    assert_eq!(changed["warnings"], json!([]));
}

/// A caller who is confined to routers makes no others, and touches only their own.
async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, other) = (router(&admin, "A").await, router(&admin, "B").await);
    let all = json!([{ "resource": "routers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let refused = "Roteador fora do escopo";
    bia.post("/routers", &json!({ "name": "C" })).await.refused(403, "router_out_of_scope", refused);
    for path in [format!("/routers/{other}"), format!("/routers/{}", "cnothing")] {
        bia.patch(&path, &json!({ "name": "x" })).await.refused(403, "router_out_of_scope", refused);
        bia.delete(&path).await.refused(403, "router_out_of_scope", refused);
    }
    bia.patch(&format!("/routers/{mine}"), &json!({ "name": "x" })).await.ok(200);
    bia.delete(&format!("/routers/{mine}?force=true")).await.refused(
        403,
        "admin_only",
        "Acesso restrito a administradores",
    );
    bia.delete(&format!("/routers/{mine}")).await.ok(204);
}

async fn a_router_in_use_is_not_deleted(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, channel) = shop(&admin, "Loja", &says("eco {{input}} {{router.chave}}")).await;
    let variable = json!({ "key": "chave", "value": "muito-secreto", "isSecret": true });
    setup.plant("muito-secreto");
    admin.post(&format!("/routers/{router}/variables"), &variable).await.ok(201);
    let mut client = visitor(&server, &channel).await;
    assert_eq!(answer(&mut client, "a").await, "eco a muito-secreto");
    let path = format!("/routers/{router}");
    let answered = admin.delete(&path).await;
    answered.refused(409, "in_use", "Registro em uso");
    assert_eq!(details(&answered), [("sessions".to_owned(), "1 sessão aberta".to_owned())]);
    assert_eq!(admin.delete(&format!("{path}?force=yes")).await.invalid_fields(), ["force"]);
    admin.delete(&format!("{path}?force=true")).await.ok(204);
    for gone in [
        path.clone(),
        format!("{path}/variables"),
        format!("/flows/{flow}"),
        format!("/flows/{flow}/variables"),
        format!("/webchat/channels/{channel}"),
    ] {
        admin.get(&gone).await.assert_error(404);
    }
    // Rulings S9: the decrypted variables go with their owner; nothing that a turn could read is left.
    let store = setup.store().await;
    let owner = flowsdk_core::router::VariableOwner::Router(router.parse().unwrap());
    use flowsdk_core::store::Store as _;
    assert!(store.read().await.unwrap().routers().static_variables(&[owner]).await.unwrap().is_empty());
    setup.done(store).await;
    // Nobody answers the visitor, and the server lives.
    client.emit("message", &json!({ "text": "b" })).await;
    assert_eq!(client.messages().len(), 1);
    admin.get("/auth/me").await.ok(200);
}

/// Also in another process (spec A 1).
async fn changes_count_with_the_next_message(setup: Setup) {
    let first = setup.start().await;
    let other = if setup.is_distributed() { Some(setup.start().await) } else { None };
    let second = other.as_ref().unwrap_or(&first);
    let admin = Api::admin(&setup, &first).await;
    let (router, _, channel) = shop(&admin, "Loja", &says("um {{input}}")).await;
    assert_eq!(answer(&mut visitor(second, &channel).await, "a").await, "um a");
    let flow = published(&admin, &router, "Outro", &says("dois {{input}}")).await;
    for round in 0..3 {
        let path = format!("/routers/{router}");
        admin.patch(&path, &json!({ "initialFlowId": flow })).await.ok(200);
        assert_eq!(answer(&mut visitor(second, &channel).await, "a").await, "dois a", "{round}");
        admin.patch(&path, &json!({ "initialFlowId": null })).await.ok(200);
        assert_eq!(answer(&mut visitor(second, &channel).await, "b").await, UNANSWERED, "it starts none");
    }
}
