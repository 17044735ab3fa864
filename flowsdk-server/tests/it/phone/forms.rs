//! Interactive forms that ask while they are open, against the provider in the box (WhatsApp Flows, "Implementing
//! Endpoints for Flows").

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_crypto::SealedQuestion;
use flowsdk_server::simulator::{Answered, Asked, CallKind, Fault};
use serde_json::{Value, json};

use super::sending::{PHONE, World};
use super::{SECRET, post};
use crate::api::building::{act, id, router};
use crate::harness::http::Answer;
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(a_form_that_is_opened_asked_and_sent);
everywhere!(
    in process:
    questions_that_are_refused,
    a_tool_that_fails_answers_nothing,
    keys_are_registered_at_the_provider,
);

/// A shop whose form asks a tool for a price.
struct Counter {
    world: World,
    form: String,
}

/// Greets who opens the form, refuses odd sizes, and ends it with a price.
fn tool() -> Value {
    let when = |source: Value, values: Value, target: &str| {
        json!({ "conditions": [{ "source": source, "comparator": "equals", "values": values }],
            "target": { "blockId": target } })
    };
    let key = |key: &str| json!({ "type": "context", "key": key });
    let set = |key: &str, value: &str| json!({ "type": "setVariable", "key": key, "value": value });
    json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "start",
        "parameters": [{ "name": "action", "required": true }, { "name": "size" }],
        "returns": ["screen", "greeting", "price", "error_message"],
        "blocks": [
            { "id": "start", "type": "content",
                "outputConditions": [when(key("action"), json!(["INIT"]), "open"), when(key("size"), json!(["odd"]), "odd"),
                    when(key("size"), json!(["broken"]), "broken")],
                "defaultOutput": { "blockId": "done" } },
            { "id": "open", "type": "content", "defaultOutput": { "end": true },
                "onEnter": [set("screen", "SIZE"), set("greeting", "Olá, {{contact.name}}")] },
            { "id": "odd", "type": "content", "defaultOutput": { "end": true },
                "onEnter": [set("error_message", "Tamanho inválido")] },
            { "id": "broken", "type": "content", "defaultOutput": { "end": true },
                "onEnter": [{ "type": "httpRequest", "url": "http://127.0.0.1:9/x" }] },
            { "id": "done", "type": "content", "defaultOutput": { "end": true },
                "onEnter": [set("screen", "SUCCESS"), set("price", "12"),
                    { "type": "setContactVariable", "key": "size", "value": "{{size}}" }] },
        ] })
}

/// Sends the form, and says what comes of it.
fn flow() -> Value {
    json!({ "schemaVersion": 1, "startBlockId": "ask", "blocks": [
        { "id": "ask", "type": "content", "input": {}, "defaultOutput": { "blockId": "said" }, "contents": [
            { "type": "interactive", "interactive": { "type": "flow", "body": { "text": "Qual tamanho?" },
                "action": { "name": "flow", "parameters": { "flow_id": "4711", "flow_cta": "Escolher",
                    "flow_action": "data_exchange" } } } }] },
        { "id": "said", "type": "content", "defaultOutput": { "blockId": "ask" }, "input": {}, "contents": [
            { "type": "text", "text": { "body": "Custa {{input.interactive.answers.price}}" } }],
            "outputConditions": [{ "conditions": [{ "source": { "type": "input" }, "comparator": "equals",
                "values": ["tchau"] }], "target": { "end": true } }] },
    ] })
}

async fn publish(admin: &Api, router: &str, name: &str, kind: &str, definition: Value) -> String {
    let new = json!({ "routerId": router, "name": name, "kind": kind, "definition": definition });
    let flow = id(&admin.post("/flows", &new).await.ok(201));
    act(admin, &format!("/flows/{flow}/publish")).await.ok(200);
    flow
}

impl Counter {
    async fn new(setup: Setup) -> Self {
        let world = World::new(setup, false).await;
        let router = &world.shop.router;
        let tool = publish(&world.admin, router, "Preço", "tool", tool()).await;
        let flow = publish(&world.admin, router, "Pedido", "flow", flow()).await;
        let path = format!("/routers/{router}");
        world.admin.patch(&path, &json!({ "initialFlowId": flow })).await.ok(200);
        let new = json!({ "routerId": router, "name": "Tamanho", "providerFormId": "4711", "flowId": tool });
        let form = id(&world.admin.post("/interactive-forms", &new).await.ok(201));
        let counter = Self { world, form };
        act(&counter.world.admin, &counter.keys("generate-keys").await).await.ok(200);
        act(&counter.world.admin, &counter.keys("register").await).await.ok(200);
        counter
    }

    /// The path of a command on the keys of the number.
    async fn keys(&self, command: &str) -> String {
        let number = self.world.number().await;
        format!("/channel-numbers/{}/encryption/{command}", number["id"].as_str().unwrap())
    }

    fn path(&self) -> String {
        format!("/phone/forms/{}", self.form)
    }

    /// The token of the newest form that the phone has, once it has `count` messages.
    async fn token(&self, count: usize) -> String {
        let sent = self.world.sent(count).await;
        let parameters = &sent[count - 1].body["interactive"]["action"]["parameters"];
        assert_eq!(parameters["flow_id"], "4711");
        parameters["flow_token"].as_str().unwrap().to_owned()
    }

    /// The app of the contact asks.
    async fn ask(&self, question: Value) -> Answered {
        let endpoint = format!("http://{}{}", self.world.server.addr, self.path()).parse().unwrap();
        self.world.provider.ask_form("111", &Asked { endpoint, question }).await.unwrap()
    }

    async fn answer(&self, question: Value) -> Value {
        let Answered { status, answer, .. } = self.ask(question).await;
        assert_eq!(status, 200, "{answer:?}");
        answer.expect("it is encrypted")
    }

    /// The endpoint gets a body as it is.
    async fn send(&self, path: &str, signature: Option<&str>, body: &str) -> Answer {
        let headers: Vec<_> = signature.map(|signature| (SIGNATURE_HEADER, signature)).into_iter().collect();
        post(&self.world.server, path, &headers, body).await
    }
}

async fn a_form_that_is_opened_asked_and_sent(setup: Setup) {
    let counter = Counter::new(setup).await;
    assert_eq!(
        counter.answer(json!({ "version": "3.0", "action": "ping" })).await["data"]["status"],
        "active"
    );
    counter.world.says("oi");
    let token = counter.token(1).await;
    let opened = counter.answer(json!({ "action": "INIT", "flow_token": token })).await;
    assert_eq!(opened, json!({ "screen": "SIZE", "data": { "greeting": "Olá, Ana" } }));
    let ask = |size: &str| json!({ "action": "data_exchange", "screen": "SIZE", "data": { "size": size }, "flow_token": token });
    let wrong = counter.answer(ask("odd")).await;
    assert_eq!(wrong, json!({ "screen": "SIZE", "data": { "error_message": "Tamanho inválido" } }));
    let done = counter.answer(ask("large")).await;
    let params = &done["data"]["extension_message_response"]["params"];
    assert_eq!(
        (&done["screen"], params),
        (&json!("SUCCESS"), &json!({ "price": "12", "flow_token": token }))
    );
    // The app sends the answers as a message of the contact.
    let reply = json!({ "type": "interactive", "interactive": { "type": "nfm_reply", "nfm_reply": {
        "name": "flow", "body": "Sent", "response_json": params.to_string() } } });
    counter.world.provider.say("111", PHONE, "Ana", reply);
    let sent = counter.world.sent(2).await;
    assert_eq!(sent[1].body["text"]["body"], "Custa 12");
    let contacts = counter.world.admin.get(&format!("/contacts?q={PHONE}")).await.ok(200);
    let contact = format!("/contacts/{}", contacts["items"][0]["id"].as_str().unwrap());
    assert_eq!(counter.world.admin.get(&contact).await.ok(200)["contactVariables"]["size"], "large");
    let notice = json!({ "action": "data_exchange", "screen": "SIZE", "flow_token": token,
        "data": { "error": "invalid-screen-transition", "error_message": "x" } });
    assert_eq!(counter.answer(notice).await, json!({ "data": { "acknowledged": true } }));
    // A session that has ended has no form any more.
    let session = format!("/sessions/wa-111-{PHONE}");
    counter.world.says("tchau");
    eventually("it has ended", || async {
        (counter.world.admin.get(&session).await.status == 404).then_some(())
    })
    .await;
    let expired = counter.ask(ask("large")).await;
    assert_eq!(expired.status, 427);
    assert!(expired.answer.unwrap()["error_msg"].as_str().unwrap().starts_with("Este formulário expirou"));
    assert!(counter.world.server.stop().await.0.success());
}

async fn questions_that_are_refused(setup: Setup) {
    let counter = Counter::new(setup).await;
    let key = counter.world.provider.form_key("111").expect("it was registered");
    let sealed = |question: &[u8], key: &str| {
        let (sealed, _) = SealedQuestion::seal(key, question).expect("sealed");
        serde_json::to_string(&sealed).unwrap()
    };
    let body = sealed(br#"{"action":"ping"}"#, &key);
    let signed = |body: &str| sign(&SECRET.to_owned().into(), body.as_bytes());
    let path = counter.path();
    assert_eq!(counter.send(&path, Some(&signed(&body)), &body).await.status, 200);
    let foreign = sign(&"another".to_owned().into(), body.as_bytes());
    for signature in [None, Some(foreign.as_str()), Some("sha256=zz"), Some(&signed("{}"))] {
        counter.send(&path, signature, &body).await.refused(432, "signature_invalid", "Assinatura inválida");
    }
    for body in [
        "{}",
        "not JSON",
        r#"{"encrypted_flow_data":"AAAA","encrypted_aes_key":"AAAA","initial_vector":"AAAA"}"#,
    ] {
        let answer = counter.send(&path, Some(&signed(body)), body).await;
        answer.refused(421, "question_undecipherable", "A pergunta não pode ser decifrada");
    }
    for form in ["cnothing", "não"] {
        let path = format!("/phone/forms/{form}");
        assert_eq!(counter.send(&path, Some(&signed(&body)), &body).await.status, 404, "{form}");
    }
    let large = "x".repeat((256 << 10) + 1);
    assert_eq!(counter.send(&path, Some(&signed(&large)), &large).await.status, 413);
    for question in [&b"[]"[..], b"no JSON", br#"{"action":"navigate"}"#] {
        let body = sealed(question, &key);
        let answer = counter.send(&path, Some(&signed(&body)), &body).await;
        answer.refused(500, "form_unanswered", "O formulário não tem resposta a isto");
    }
    // A token of nobody, and one of a message that opened no session of this router.
    for token in ["unused", "cnothing"] {
        assert_eq!(
            counter.ask(json!({ "action": "INIT", "flow_token": token })).await.status,
            427,
            "{token}"
        );
    }
    // After another pair was made, what the provider has does not fit any more.
    act(&counter.world.admin, &counter.keys("generate-keys").await).await.ok(200);
    let foreign = counter.ask(json!({ "action": "ping" })).await;
    assert_eq!((foreign.status, foreign.answer), (421, None));
    assert_eq!(foreign.refusal.unwrap()["code"], "question_undecipherable");
    act(&counter.world.admin, &counter.keys("register").await).await.ok(200);
    assert_eq!(counter.ask(json!({ "action": "ping" })).await.status, 200);
    // The form of another router does not answer for messages of this one.
    let theirs = router(&counter.world.admin, "Outra").await;
    let secret = json!({ "channelAppSecret": SECRET });
    counter.world.admin.patch(&format!("/routers/{theirs}"), &secret).await.ok(200);
    let other = publish(&counter.world.admin, &theirs, "Preço", "tool", tool()).await;
    let new = json!({ "routerId": theirs, "name": "Deles", "flowId": other });
    let form = id(&counter.world.admin.post("/interactive-forms", &new).await.ok(201));
    let body = sealed(br#"{"action":"ping"}"#, &key);
    let answer = counter.send(&format!("/phone/forms/{form}"), Some(&signed(&body)), &body).await;
    answer.refused(421, "question_undecipherable", "A pergunta não pode ser decifrada");
}

async fn a_tool_that_fails_answers_nothing(setup: Setup) {
    let counter = Counter::new(setup).await;
    counter.world.says("oi");
    let token = counter.token(1).await;
    let broken = json!({ "action": "data_exchange", "screen": "SIZE", "data": { "size": "broken" },
        "flow_token": token });
    let unanswered = counter.ask(broken).await;
    assert_eq!((unanswered.status, unanswered.answer), (500, None));
    // A value that does not fit the tool, one without a tool, and a tool that is not published any more.
    let odd =
        json!({ "action": "data_exchange", "screen": "SIZE", "data": { "size": 7 }, "flow_token": token });
    assert_eq!(counter.ask(odd).await.status, 500);
    let admin = &counter.world.admin;
    let form = format!("/interactive-forms/{}", counter.form);
    let tool = admin.get(&form).await.ok(200)["flowId"].as_str().unwrap().to_owned();
    let init = json!({ "action": "INIT", "flow_token": token });
    assert_eq!(counter.ask(init.clone()).await.status, 200);
    act(admin, &format!("/flows/{tool}/unpublish")).await.ok(204);
    assert_eq!(counter.ask(init.clone()).await.status, 500);
    admin.patch(&form, &json!({ "flowId": null })).await.ok(200);
    assert_eq!(counter.ask(init).await.status, 500);
}

async fn keys_are_registered_at_the_provider(setup: Setup) {
    let mut world = World::new(setup, false).await;
    let number = format!("/channel-numbers/{}", world.number().await["id"].as_str().unwrap());
    let register = format!("{number}/encryption/register");
    act(&world.admin, &register).await.refused(404, "keys_missing", "O número não tem chaves");
    let made = act(&world.admin, &format!("{number}/encryption/generate-keys")).await.ok(200);
    let registered = act(&world.admin, &register).await.ok(200);
    assert_eq!(registered, made);
    assert_eq!(world.provider.form_key("111").as_deref(), made["encryptionPublicKey"].as_str());
    eventually("it is on record", || async {
        let log = world.admin.get("/audit-logs?entityType=CHANNEL_NUMBER&limit=1").await.ok(200);
        log["items"][0]["changes"]["publicKeyRegisteredAt"].is_object().then_some(())
    })
    .await;
    world.provider.fail_next_of(CallKind::Key, Fault::Refuse { code: 131_000, retry_after: None });
    act(&world.admin, &register).await.refused(422, "provider_refused", "O provedor recusou");
    world.provider.fail_next_of(CallKind::Key, Fault::Drop);
    act(&world.admin, &register).await.refused(
        504,
        "provider_unanswered",
        "A resposta do provedor se perdeu; verifique se foi feito",
    );
    world.give_token("expired-token").await;
    act(&world.admin, &register).await.refused(422, "provider_refused", "O provedor recusou");
    world.give_token("good-token").await;
    world.silence();
    eventually("nobody listens", || async {
        (act(&world.admin, &register).await.status == 502).then_some(())
    })
    .await;
    world.admin.patch(&number, &json!({ "accessToken": null })).await.ok(200);
    act(&world.admin, &register).await.refused(422, "no_access_token", "O número não tem um token de acesso");
}
