//! Channels of the web chat (spec B 2.1, 4.1, 4.3, 4.4, 7).

use serde_json::{Value, json};

use super::building::{
    UNANSWERED, act, actions, answer, details, id, published, records, router, says, shop, visitor,
};
use crate::harness::client::{Manner, text};
use crate::harness::{Api, Client, Setup, eventually, everywhere, http, token};

everywhere!(life, entering_visitors_are_spoken_to, visitors_are_told_where_no_flow_answers);
everywhere!(in process: embed_secret, initial_flow, missing_answers_are_warned_of, test_channel, further_test_channels, in_use,
    scope);

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let new = json!({ "routerId": router, "name": "Loja", "appearance": { "title": "Oi" },
        "allowedOrigins": ["https://loja.example"] });
    let answer = admin.post("/webchat/channels", &new).await;
    let made = answer.ok(201);
    assert_eq!(answer.headers["location"], format!("/api/webchat/channels/{}", id(&made)));
    for (field, value) in new.as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!((&made["isTestChannel"], &made["hasEmbedSecret"]), (&json!(false), &json!(false)));
    assert!(made["initialFlowId"].is_null());
    assert_eq!(made["startOn"], "message");
    // Both paths exist, and answer.
    for prefix in ["", "/api"] {
        let path = format!("{prefix}/webchat/channels/{}", id(&made));
        assert_eq!(admin.get(&path).await.ok(200), made);
    }
    let path = format!("/webchat/channels/{}", id(&made));
    // What is set counts for the next visitor.
    let from = |origin: &str| Manner { origin: Some(origin.to_owned()), ..Manner::default() };
    let auth = json!({ "channelId": id(&made) });
    let (_client, ok) = Client::enter_as(server.addr, auth.clone(), from("https://loja.example")).await;
    assert_eq!((&ok["channelName"], &ok["appearance"]), (&json!("Loja"), &json!({ "title": "Oi" })));
    let code = Client::refused(server.addr, &auth.to_string(), from("https://else.example")).await;
    assert_eq!(code, "origin_refused");
    // The page whose widget holds the chat page has to be among them too.
    let within = |embedder: &str| json!({ "channelId": id(&made), "embedder": embedder });
    Client::enter_as(server.addr, within("https://loja.example"), from("https://loja.example")).await;
    let auth_within = within("https://else.example").to_string();
    let code = Client::refused(server.addr, &auth_within, from("https://loja.example")).await;
    assert_eq!(code, "origin_refused");
    let change = json!({ "name": "Nova", "appearance": null, "allowedOrigins": null });
    let changed = admin.patch(&path, &change).await.ok(200);
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&changed[field], value, "{field}");
    }
    let (_client, ok) = Client::enter_as(server.addr, auth.clone(), from("https://else.example")).await;
    assert_eq!((&ok["channelName"], &ok["appearance"]), (&json!("Nova"), &Value::Null));
    let looks = json!({ "appearance": { "primaryColor": "#0a7d4f", "font": "serif", "radius": 4, "language": "en",
        "launcher": { "position": "left", "color": "#333", "greeting": "Questions?", "label": "Ask us" },
        "texts": { "fr": { "title": "Boutique", "greeting": "Une question ?" } }, "custom": { "theme": [1] } } });
    assert_eq!(admin.patch(&path, &looks).await.ok(200)["appearance"], looks["appearance"]);
    // Of the looks, pages get what the launcher needs, before the script.
    let script = http::get(server.addr, &format!("/widget.js?channel={}", id(&made)), &[]).await;
    assert_eq!((script.status, &*script.headers["cross-origin-resource-policy"]), (200, "cross-origin"));
    let (before, plain) = script.body.split_once(";\n").expect("looks");
    let part: Value =
        serde_json::from_str(before.strip_prefix("document.currentScript.flowsdkLooks=").expect("looks"))
            .unwrap();
    assert_eq!(
        part,
        json!({ "primaryColor": "#0a7d4f", "language": "en", "launcher": looks["appearance"]["launcher"],
        "texts": { "fr": { "greeting": "Une question ?" } } })
    );
    for query in ["", "?channel=", "?channel=c1", "?channel=%00", "?other=1"] {
        assert_eq!(http::get(server.addr, &format!("/widget.js{query}"), &[]).await.body, plain, "{query}");
    }
    for (body, field) in [
        (json!({ "name": "" }), "name"),
        (json!({ "appearance": "red" }), "appearance"),
        (json!({ "appearance": { "primarycolor": "#fff" } }), "appearance.primarycolor"),
        (json!({ "appearance": { "primaryColor": "red" } }), "appearance.primaryColor"),
        (json!({ "appearance": { "font": "comic" } }), "appearance.font"),
        (json!({ "appearance": { "radius": 29 } }), "appearance.radius"),
        (json!({ "appearance": { "language": "english" } }), "appearance.language"),
        (json!({ "appearance": { "launcher": { "position": "top" } } }), "appearance.launcher.position"),
        (json!({ "appearance": { "launcher": { "color": "red" } } }), "appearance.launcher.color"),
        (json!({ "appearance": { "launcher": { "colour": "#fff" } } }), "appearance.launcher.colour"),
        (
            json!({ "appearance": { "texts": { "en": { "label": "x".repeat(201) } } } }),
            "appearance.texts.en.label",
        ),
        (json!({ "appearance": { "texts": { "it": {} } } }), "appearance.texts.it"),
        (json!({ "allowedOrigins": ["loja.example"] }), "allowedOrigins[0]"),
        (json!({ "allowedOrigins": ["https://a/b"] }), "allowedOrigins[0]"),
        (json!({ "embedSecret": "x" }), "embedSecret"),
        (json!({ "isTestChannel": true }), "isTestChannel"),
        (json!({ "startOn": "later" }), "startOn"),
        (json!({ "fallbackTexts": { "failed": "x".repeat(1_025) } }), "fallbackTexts.failed"),
        (json!({ "fallbackTexts": { "other": "x" } }), "fallbackTexts.other"),
    ] {
        assert_eq!(admin.patch(&path, &body).await.invalid_fields(), [field], "{body}");
    }
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Canal não encontrado");
    assert_eq!(Client::refused(server.addr, &auth.to_string(), Manner::default()).await, "channel_unknown");
    let log = records(&admin, &format!("entityType=WEBCHAT_CHANNEL&routerId={router}"), 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "DELETE"]);
    assert_eq!(log[2]["changes"]["name"], json!({ "from": "Loja", "to": "Nova" }));
}

async fn entering_visitors_are_spoken_to(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, _, channel) = shop(&admin, "Loja", &says("eco {{input}}")).await;
    let path = format!("/webchat/channels/{channel}");
    assert_eq!(admin.patch(&path, &json!({ "startOn": "open" })).await.ok(200)["startOn"], "open");
    let auth = json!({ "channelId": channel });
    let (mut ana, ok) = Client::enter(server.addr, auth.clone()).await;
    assert_eq!(ana.texts(1).await, ["eco "], "there is no input yet");
    // Another tab, and a reload: nobody is greeted again.
    let again = json!({ "channelId": channel, "userId": ok["userId"], "sessionKey": ok["sessionKey"] });
    let (mut tab, _) = Client::enter(server.addr, again.clone()).await;
    tab.nothing_else().await;
    drop(ana);
    let mut reloaded = Client::enter(server.addr, again).await.0;
    reloaded.nothing_else().await;
    // The greeting is in the history, before the first message.
    let sessions = admin.get(&format!("/sessions?routerId={router}")).await.ok(200);
    assert_eq!(sessions["items"].as_array().map(Vec::len), Some(1), "{sessions}");
    // A file of the router carries the setting.
    let made = json!({ "routerId": router, "name": "Outra", "startOn": "open" });
    assert_eq!(admin.post("/webchat/channels", &made).await.ok(201)["startOn"], "open");
    let file = admin.get(&format!("/routers/{router}/export")).await.ok(200);
    let channels = file["channels"].as_array().unwrap();
    assert_eq!(channels.iter().filter(|sent| sent["startOn"] == "open").count(), 2, "{file}");
    // Back to the spec's way.
    admin.patch(&path, &json!({ "startOn": "message" })).await.ok(200);
    visitor(&server, &channel).await.nothing_else().await;
}

async fn visitors_are_told_where_no_flow_answers(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Vazio").await;
    let made = json!({ "routerId": router, "name": "Loja" });
    let channel = admin.post("/webchat/channels", &made).await.ok(201);
    assert_eq!(channel["fallbackTexts"], json!({ "failed": null, "unanswered": null, "stuckHandoff": null }));
    let channel = id(&channel);
    // The texts that a visitor was sent once each of their messages is stored, newest first.
    let told = async |messages: &[&str]| {
        let (visitor, ok) = Client::enter(server.addr, json!({ "channelId": channel })).await;
        for message in messages {
            visitor.say(message).await;
        }
        let key = |name: &str| ok[name].as_str().unwrap().to_owned();
        let (user, key) = (key("userId"), key("sessionKey"));
        let headers = [("x-channel-id", &*channel), ("x-user-id", &user), ("x-session-key", &key)];
        eventually("the messages are stored", || async {
            let page = http::get(server.addr, "/webchat/history", &headers).await.ok(200);
            let items = page["items"].as_array().unwrap().clone();
            let (came, sent): (Vec<_>, Vec<_>) = items.iter().partition(|item| item["direction"] == "in");
            (came.len() == messages.len()).then(|| sent.into_iter().map(text).collect::<Vec<_>>())
        })
        .await
    };
    assert_eq!(told(&["oi", "oi?"]).await, [UNANSWERED], "once");
    let texts = |unanswered: &str| json!({ "fallbackTexts": { "failed": null, "unanswered": unanswered, "stuckHandoff": null } });
    let path = format!("/routers/{router}");
    let changed = admin.patch(&path, &texts("Voltamos segunda.")).await.ok(200);
    assert_eq!(changed["fallbackTexts"], texts("Voltamos segunda.")["fallbackTexts"]);
    assert_eq!(told(&["oi"]).await, ["Voltamos segunda."]);
    let path = format!("/webchat/channels/{channel}");
    admin.patch(&path, &texts("A loja fechou.")).await.ok(200);
    assert_eq!(told(&["oi"]).await, ["A loja fechou."]);
    let file = admin.get(&format!("/routers/{router}/export")).await.ok(200);
    assert_eq!(file["router"]["fallbackTexts"]["unanswered"], "Voltamos segunda.");
    assert_eq!(file["channels"][0]["fallbackTexts"]["unanswered"], "A loja fechou.");
    let copy = admin.post("/routers/import?onConflict=rename", &file).await.ok(201);
    let copy = id(&copy["channels"][0]);
    let copied = admin.get(&format!("/webchat/channels/{copy}")).await.ok(200);
    assert_eq!(copied["fallbackTexts"]["unanswered"], "A loja fechou.");
    // Silence can be asked for.
    admin.patch(&path, &texts("")).await.ok(200);
    assert_eq!(told(&["oi"]).await, [""; 0]);
    admin.patch(&path, &json!({ "fallbackTexts": null })).await.ok(200);
    assert_eq!(told(&["oi"]).await, ["Voltamos segunda."]);
}

async fn embed_secret(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, _, channel) = shop(&admin, "Loja", &says("{{contact.name}} {{input}}")).await;
    let path = format!("/webchat/channels/{channel}/embed-secret");
    let mut secrets = Vec::new();
    for _ in 0..2 {
        let made = act(&admin, &path).await.ok(200);
        assert_eq!(made["channelId"], json!(channel));
        let secret = made["embedSecret"].as_str().unwrap().to_owned();
        setup.plant(&secret);
        assert!(secret.len() >= 48 && !secrets.contains(&secret));
        secrets.push(secret);
    }
    let shown = admin.get(&format!("/webchat/channels/{channel}")).await;
    assert_eq!(shown.ok(200)["hasEmbedSecret"], true);
    assert!(secrets.iter().all(|secret| !shown.body.contains(secret)) && !shown.body.contains("ncrypted"));
    // Closed: nobody without a token, nobody with one under the older secret.
    let auth = json!({ "channelId": channel });
    let code = Client::refused(server.addr, &auth.to_string(), Manner::default()).await;
    assert_eq!(code, "token_invalid");
    let signed = |secret: &str| {
        let token = token::sign(secret, json!({ "sub": "ana", "name": "Ana" }));
        setup.plant(&token);
        json!({ "channelId": channel, "token": token })
    };
    let code = Client::refused(server.addr, &signed(&secrets[0]).to_string(), Manner::default()).await;
    assert_eq!(code, "token_invalid");
    let (mut ana, _) = Client::enter(server.addr, signed(&secrets[1])).await;
    assert_eq!(answer(&mut ana, "oi").await, "Ana oi");
    admin.delete(&path).await.ok(204);
    assert_eq!(answer(&mut visitor(&server, &channel).await, "oi").await, " oi");
    let log = records(&admin, &format!("entityType=WEBCHAT_CHANNEL&routerId={router}"), 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "UPDATE"]);
    assert_eq!(log[0]["changes"], json!({ "hasEmbedSecret": { "from": true, "to": false } }));
    let text = json!(log).to_string();
    assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    act(&admin, "/webchat/channels/cnothing/embed-secret").await.assert_error(404);
}

async fn initial_flow(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, _, channel) = shop(&admin, "Loja", &says("do roteador")).await;
    let own = published(&admin, &router, "Próprio", &says("do canal")).await;
    let path = format!("/webchat/channels/{channel}/initial-flow");
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "do roteador");
    let put = admin.put(&path, &json!({ "flowId": own })).await.ok(200);
    assert_eq!(put["initialFlowId"], json!(own));
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "do canal");
    assert!(admin.put(&path, &json!({ "flowId": null })).await.ok(200)["initialFlowId"].is_null());
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "do roteador");
    for flow in [setup.seeded.foreign_flow.as_str(), "cnothing"] {
        let refused = admin.put(&path, &json!({ "flowId": flow })).await;
        refused.refused(422, "flow_unknown", "Flow não pertence ao roteador");
        let new = json!({ "routerId": router, "name": "C", "initialFlowId": flow });
        let refused = admin.post("/webchat/channels", &new).await;
        refused.refused(422, "flow_unknown", "Flow não pertence ao roteador");
    }
    let tool = json!({ "routerId": router, "name": "T", "kind": "tool" });
    let tool = id(&admin.post("/flows", &tool).await.ok(201));
    let new = json!({ "routerId": router, "name": "C", "initialFlowId": tool });
    for refused in
        [admin.put(&path, &json!({ "flowId": tool })).await, admin.post("/webchat/channels", &new).await]
    {
        refused.refused(422, "flow_is_tool", "Uma ferramenta não pode iniciar conversas");
    }
    assert_eq!(admin.put(&path, &json!({})).await.invalid_fields(), ["flowId"]);
    // The same field can be written as it was when the channel was made.
    let path = format!("/webchat/channels/{channel}");
    let set = json!({ "initialFlowId": own });
    assert_eq!(admin.patch(&path, &set).await.ok(200)["initialFlowId"], json!(own));
    assert_eq!(admin.patch(&path, &json!({ "name": "N" })).await.ok(200)["initialFlowId"], json!(own));
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "do canal");
    assert!(admin.patch(&path, &json!({ "initialFlowId": null })).await.ok(200)["initialFlowId"].is_null());
    let foreign = json!({ "initialFlowId": setup.seeded.foreign_flow });
    admin.patch(&path, &foreign).await.refused(422, "flow_unknown", "Flow não pertence ao roteador");
    admin.patch(&path, &json!({ "initialFlowId": tool })).await.refused(
        422,
        "flow_is_tool",
        "Uma ferramenta não pode iniciar conversas",
    );
}

async fn missing_answers_are_warned_of(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Vazio").await;
    let codes = |channel: &Value| -> Vec<String> {
        let warnings = channel["warnings"].as_array().unwrap();
        warnings.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
    };
    let new = json!({ "routerId": router, "name": "Loja" });
    let key = [("idempotency-key", "k-1")];
    let made = admin.json("POST", "/webchat/channels", &key, &new).await.ok(201);
    assert_eq!(codes(&made), ["no_initial_flow"]);
    let text = "Nenhum fluxo responde aqui: defina o fluxo inicial do canal ou do roteador";
    assert_eq!(made["warnings"][0]["message"], text);
    assert_eq!(admin.json("POST", "/webchat/channels", &key, &new).await.ok(201), made, "repeated");
    let path = format!("/webchat/channels/{}", id(&made));
    let warned = async || codes(&admin.get(&path).await.ok(200));
    let test_path = format!("/routers/{router}/webchat/test");
    let warned_in_test = async || codes(&admin.get(&test_path).await.ok(200));
    assert_eq!((warned().await, warned_in_test().await), (codes(&made), codes(&made)));

    // A draft answers nobody; a test version answers in the test channel alone.
    let flow = json!({ "routerId": router, "name": "F", "definition": says("oi") });
    let flow = id(&admin.post("/flows", &flow).await.ok(201));
    let set = json!({ "initialFlowId": flow });
    let not_published = ["initial_flow_not_published"];
    assert_eq!(codes(&admin.patch(&path, &set).await.ok(200)), not_published);
    let put = admin.put(&format!("{path}/initial-flow"), &json!({ "flowId": flow })).await.ok(200);
    assert_eq!(codes(&put), not_published);
    let of_router = admin.patch(&format!("/routers/{router}"), &set).await;
    assert_eq!(codes(&of_router.ok(200)), not_published);
    assert_eq!(warned_in_test().await, not_published);
    act(&admin, &format!("/flows/{flow}/publish-test")).await.ok(200);
    assert_eq!((warned().await, warned_in_test().await), (not_published.map(str::to_owned).to_vec(), vec![]));
    act(&admin, &format!("/flows/{flow}/publish")).await.ok(200);
    assert_eq!(warned().await, [""; 0]);
    // The router's flow counts where the channel has none.
    assert_eq!(codes(&admin.patch(&path, &json!({ "initialFlowId": null })).await.ok(200)), [""; 0]);
    act(&admin, &format!("/flows/{flow}/unpublish")).await.ok(204);
    assert_eq!(warned().await, not_published);
}

async fn test_channel(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, _, _) = shop(&admin, "Loja", &says("eco {{input}}")).await;
    let path = format!("/routers/{router}/webchat/test");
    // Many who ask at once get the same.
    let answers = futures_util::future::join_all((0..8).map(|_| admin.get(&path))).await;
    let first = answers[0].ok(200);
    assert!(answers.iter().all(|answer| answer.ok(200) == first));
    assert_eq!((&first["name"], &first["isTestChannel"]), (&json!("Teste"), &json!(true)));
    // It behaves like any other.
    assert_eq!(answer(&mut visitor(&server, &id(&first)).await, "a").await, "eco a");
    for query in ["", "?force=true"] {
        let refused = admin.delete(&format!("/webchat/channels/{}{query}", id(&first))).await;
        refused.refused(400, "test_channel", "O canal de teste não pode ser excluído");
    }
    admin.get("/routers/cnothing/webchat/test").await.refused(404, "not_found", "Roteador não encontrado");
    let log = records(&admin, &format!("entityType=WEBCHAT_CHANNEL&routerId={router}"), 2).await;
    assert_eq!(actions(&log), ["CREATE", "CREATE"]);
}

async fn further_test_channels(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, public) = shop(&admin, "Loja", &says("público {{input}}")).await;
    let own = id(&admin.get(&format!("/routers/{router}/webchat/test")).await.ok(200));
    let new = |router: &str| json!({ "routerId": router, "name": "Ana", "isTestChannel": true });
    let made = admin.post("/webchat/channels", &new(&router)).await.ok(201);
    assert_eq!((&made["isTestChannel"], &made["name"]), (&json!(true), &json!("Ana")));
    let [ana, bia] = [id(&made), id(&admin.post("/webchat/channels", &new(&router)).await.ok(201))];
    let draft =
        |name: &str, text: &str| json!({ "routerId": router, "name": name, "definition": says(text) });
    let of_bia = id(&admin.post("/flows", &draft("B", "bia {{input}}")).await.ok(201));

    // Each has its flow, and nobody else's changes.
    let test = async |flow: &str, channel: &str| {
        let tested = act(&admin, &format!("/flows/{flow}/publish-test?channelId={channel}")).await.ok(200);
        assert_eq!(
            (id(&tested["channel"]), &tested["channel"]["initialFlowId"]),
            (channel.to_owned(), &json!(flow))
        );
    };
    let edit = async |n: i64, text: &str| {
        let change = json!({ "definition": says(text), "revision": n });
        admin.patch(&format!("/flows/{flow}"), &change).await.ok(200);
    };
    edit(1, "teste 1 {{input}}").await;
    test(&flow, &ana).await;
    test(&of_bia, &bia).await;
    let mut running = visitor(&server, &ana).await;
    assert_eq!(answer(&mut running, "a").await, "teste 1 a");
    assert_eq!(answer(&mut visitor(&server, &bia).await, "a").await, "bia a");
    assert_eq!(answer(&mut visitor(&server, &public).await, "a").await, "público a");
    assert!(admin.get(&format!("/webchat/channels/{own}")).await.ok(200)["initialFlowId"].is_null());
    // The version on which a session stands is kept.
    for n in 2..=5 {
        edit(n, &format!("teste {n} {{{{input}}}}")).await;
        test(&flow, &ana).await;
    }
    assert_eq!(answer(&mut running, "b").await, "teste 1 b");
    assert_eq!(answer(&mut visitor(&server, &ana).await, "a").await, "teste 5 a");
    let said = Api::anonymous(&server)
        .json("POST", "/webchat/test/messages", &[("x-channel-id", &bia)], &json!({ "text": "oi" }))
        .await
        .ok(200);
    assert_eq!(said["messages"][0]["text"]["body"], "bia oi");

    let (elsewhere, _, _) = shop(&admin, "Outra", &says("x")).await;
    let foreign = id(&admin.post("/webchat/channels", &new(&elsewhere)).await.ok(201));
    for other in [&*public, &*foreign, "cunknown"] {
        let refused = act(&admin, &format!("/flows/{flow}/publish-test?channelId={other}")).await;
        refused.refused(422, "channel_unknown", "O canal não é um canal de teste do roteador");
    }
    let bad = act(&admin, &format!("/flows/{flow}/publish-test?channelId=a%20b")).await;
    assert_eq!(bad.invalid_fields(), ["channelId"]);
    assert_eq!(admin.get(&format!("/flows/{flow}")).await.ok(200)["revision"], 6);
    // Only the router's own stays for ever.
    admin.delete(&format!("/webchat/channels/{bia}?force=true")).await.ok(204);
    admin.delete(&format!("/webchat/channels/{own}")).await.refused(
        400,
        "test_channel",
        "O canal de teste não pode ser excluído",
    );
    assert_eq!(id(&admin.get(&format!("/routers/{router}/webchat/test")).await.ok(200)), own);
}

async fn in_use(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, _, channel) = shop(&admin, "Loja", &says("eco {{input}}")).await;
    let other =
        id(&admin.post("/webchat/channels", &json!({ "routerId": router, "name": "B" })).await.ok(201));
    let mut client = visitor(&server, &channel).await;
    answer(&mut client, "a").await;
    let mut elsewhere = visitor(&server, &other).await;
    answer(&mut elsewhere, "a").await;
    let path = format!("/webchat/channels/{channel}");
    let refused = admin.delete(&path).await;
    refused.refused(409, "in_use", "Registro em uso");
    assert_eq!(details(&refused), [("sessions".to_owned(), "1 sessão aberta".to_owned())]);
    admin.delete(&format!("{path}?force=true")).await.ok(204);
    client.emit("message", &json!({ "text": "b" })).await;
    assert_eq!(client.messages().len(), 1);
    assert_eq!(answer(&mut elsewhere, "b").await, "eco b", "sessions of other channels go on");
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, other) = (router(&admin, "A").await, router(&admin, "B").await);
    let new = |router: &str| json!({ "routerId": router, "name": "C" });
    let foreign = id(&admin.post("/webchat/channels", &new(&other)).await.ok(201));
    let all = json!([{ "resource": "channel_numbers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let own = id(&bia.post("/webchat/channels", &new(&mine)).await.ok(201));
    let refused = "Roteador fora do escopo";
    bia.post("/webchat/channels", &new(&other)).await.refused(403, "router_out_of_scope", refused);
    for path in [format!("/webchat/channels?routerId={other}"), format!("/routers/{other}/webchat/test")] {
        bia.get(&path).await.refused(403, "router_out_of_scope", refused);
    }
    let seen = bia.get("/webchat/channels").await.ok(200);
    assert_eq!(seen["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>(), [own]);
    let path = format!("/webchat/channels/{foreign}");
    for answer in [
        bia.get(&path).await,
        bia.patch(&path, &json!({ "name": "x" })).await,
        bia.delete(&path).await,
        act(&bia, &format!("{path}/embed-secret")).await,
        bia.delete(&format!("{path}/embed-secret")).await,
        bia.put(&format!("{path}/initial-flow"), &json!({ "flowId": null })).await,
    ] {
        answer.refused(404, "not_found", "Canal não encontrado");
    }
}
