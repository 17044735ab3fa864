//! What is sent by phone, against the provider in the box (rulings C4, C6, C7, S2).

use std::time::Duration;

use flowsdk_channels::phone::graph::API_VERSION;
use flowsdk_core::context::OpContext;
use flowsdk_server::simulator::{
    Delivered, Disorder, Fault, Provider, ProviderConfig, Reach, SentMessage, Shown, routes,
};
use reqwest::Client;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{SECRET, Shop, bodies, transcript};
use crate::api::building::published;
use crate::harness::{Api, Server, Setup, eventually, everywhere};

everywhere!(a_conversation_that_is_answered, a_sender_that_dies_in_a_call_never_sends_twice);
everywhere!(
    in process:
    the_messages_of_a_recipient_stay_in_order,
    a_token_that_is_refused_pauses_the_number,
    a_number_without_a_token_loses_nothing,
    a_lost_answer_is_settled_by_a_status_or_ends_as_unknown,
    what_cannot_be_sent_fails_with_its_reason,
    a_message_that_was_taken_fails_later,
    users_without_a_number_are_answered,
    a_flow_reacts_to_the_message_that_it_got,
    what_an_ended_session_said_is_sent_although_the_next_has_begun,
    deliveries_that_come_again_and_in_another_order_are_answered_once,
    a_phone_is_told_what_the_webhook_made_of_its_message,
);

pub(super) const PHONE: &str = "5511987654321";

/// A provider that runs in this test, and the business that it serves.
pub(super) struct World {
    /// Dropped before the folder with its log, which a failed test shows.
    pub(super) server: Server,
    /// Its database goes with it.
    pub(super) setup: Setup,
    pub(super) provider: Provider,
    /// The provider listens as long as this is there.
    serving: JoinSet<()>,
    pub(super) admin: Api,
    pub(super) shop: Shop,
}

/// Starts a provider that listens, and knows the business account of the number `111`.
async fn provider(reads: bool, cx: OpContext) -> (Provider, String, JoinSet<()>) {
    let config = ProviderConfig {
        seed: 7,
        account_id: "9111".to_owned(),
        app_secret: SECRET.to_owned().into(),
        access_token: Some(SecretString::from("good-token")),
        callback: None,
        reach: if reads { Reach::Read } else { Reach::Sent },
        business: "Loja".to_owned(),
        approves_templates: false,
    };
    let client = Client::builder().timeout(Duration::from_secs(10)).build().unwrap();
    let provider = Provider::new(config, cx, client);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/{API_VERSION}", listener.local_addr().unwrap());
    let shown = Shown { number: "111".to_owned(), phone: PHONE.to_owned(), is_alone: true };
    let app = routes(&provider, shown);
    let mut serving = JoinSet::new();
    serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
    (provider, url, serving)
}

impl World {
    pub(super) async fn new(setup: Setup, reads: bool) -> Self {
        Self::timed(setup, reads, OpContext::system()).await
    }

    /// The provider has a clock of its own.
    pub(super) async fn timed(setup: Setup, reads: bool, cx: OpContext) -> Self {
        let (provider, url, serving) = provider(reads, cx).await;
        // Tests ask until something is there.
        let setup = setup.with("PHONE_API_URL", &url).with("API_REQUESTS_PER_SECOND", "0");
        let server = setup.start().await;
        let admin = Api::admin(&setup, &server).await;
        let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
        let world = Self { setup, provider, serving, server, admin, shop };
        world.listen();
        world.give_token("good-token").await;
        world
    }

    /// Kills the server, and starts it again.
    pub(super) async fn killed(self) -> Self {
        let Self { setup, provider, serving, server, shop, .. } = self;
        server.kill();
        let server = setup.start().await;
        let admin = Api::admin(&setup, &server).await;
        let world = Self { setup, provider, serving, server, admin, shop };
        world.listen();
        world
    }

    /// Nobody reaches the provider any more.
    pub(super) fn silence(&mut self) {
        self.serving.abort_all();
    }

    /// Lets the provider deliver to the server.
    fn listen(&self) {
        let callback = format!("http://{}/phone/webhook", self.server.addr).parse().unwrap();
        self.provider.set_callback(Some(callback));
    }

    pub(super) async fn number(&self) -> Value {
        let numbers =
            self.admin.get(&format!("/channel-numbers?routerId={}", self.shop.router)).await.ok(200);
        numbers["items"][0].clone()
    }

    pub(super) async fn give_token(&self, token: &str) {
        let path = format!("/channel-numbers/{}", self.number().await["id"].as_str().unwrap());
        self.admin.patch(&path, &json!({ "accessToken": token })).await.ok(200);
    }

    pub(super) async fn health(&self) -> Value {
        let path = format!("/channel-numbers/{}/health", self.number().await["id"].as_str().unwrap());
        self.admin.get(&path).await.ok(200)
    }

    pub(super) fn says(&self, text: &str) {
        self.provider.say("111", PHONE, "Ana", json!({ "type": "text", "text": { "body": text } }));
    }

    /// The messages that the provider took, once there are `count`.
    pub(super) async fn sent(&self, count: usize) -> Vec<SentMessage> {
        eventually("they are sent", || async {
            let sent = self.provider.sent();
            (sent.len() >= count).then_some(sent)
        })
        .await
    }

    /// The only answer in the chat, once it has this status.
    async fn answer(&self, status: &str) -> Value {
        eventually("the answer has its status", || async {
            let said = transcript(&self.admin, PHONE, 2).await;
            let answer = said.iter().find(|message| message["direction"] == "out")?;
            let path = format!("/messages/{}", answer["id"].as_str()?);
            let message = self.admin.get(&path).await.ok(200);
            (message["status"] == status).then_some(message)
        })
        .await
    }
}

pub(super) fn texts(sent: &[SentMessage]) -> Vec<&str> {
    sent.iter().map(|message| message.body["text"]["body"].as_str().unwrap_or("?")).collect()
}

async fn a_conversation_that_is_answered(setup: Setup) {
    for secret in [SECRET, "good-token"] {
        setup.plant(secret);
    }
    let world = World::new(setup, true).await;
    world.says("ol\u{e1}");
    let sent = world.sent(1).await;
    let answer = world.answer("read").await;
    assert_eq!(
        sent[0].body,
        json!({
            "messaging_product": "whatsapp", "recipient_type": "individual", "to": format!("+{PHONE}"), "type": "text",
            "text": { "body": "eco ol\u{e1}" }, "biz_opaque_callback_data": answer["id"],
        })
    );
    assert_eq!(answer["whatsappMessageId"], sent[0].id.as_str());
    assert_eq!(world.health().await["status"], "ok");
    // The contact may read the answer before the sender has noted that the provider took it.
    eventually("nothing waits", || async { (world.health().await["waiting"] == 0).then_some(()) }).await;
    for word in ["um", "dois", "três"] {
        world.says(word);
        world.sent(sent.len() + ["um", "dois", "três"].iter().position(|w| *w == word).unwrap() + 1).await;
    }
    assert_eq!(texts(&world.provider.sent()), ["eco olá", "eco um", "eco dois", "eco três"]);
    assert_eq!(world.provider.calls(), 4);
    assert!(world.server.stop().await.0.success());
}

/// The provider has taken the message, and the server is killed before it has the answer.
async fn a_sender_that_dies_in_a_call_never_sends_twice(setup: Setup) {
    let world = World::new(setup, false).await;
    world.provider.fail_next(Fault::Delay { millis: 60_000 });
    world.says("oi");
    eventually("the call has begun", || async { (world.provider.calls() == 1).then_some(()) }).await;
    let world = world.killed().await;
    // What the contact says next is answered behind it: the first one waits for what became of its call.
    world.says("ainda aí?");
    transcript(&world.admin, PHONE, 4).await;
    assert_eq!(
        world.provider.calls(),
        1,
        "the first message is not sent again, and the next one waits for it"
    );
    let message = SentMessage {
        id: "wamid.first".to_owned(),
        phone_number_id: "111".to_owned(),
        to: PHONE.to_owned(),
        body: json!({ "biz_opaque_callback_data": first_answer(&world.admin).await }),
    };
    world.provider.tell_status(&message, "delivered");
    let sent = world.sent(1).await;
    assert_eq!(texts(&sent), ["eco ainda aí?"]);
    assert_eq!(world.provider.calls(), 2);
    assert!(world.server.stop().await.0.success());
}

async fn first_answer(admin: &Api) -> Value {
    let said = transcript(admin, PHONE, 2).await;
    said.iter().find(|message| message["direction"] == "out").unwrap()["id"].clone()
}

async fn the_messages_of_a_recipient_stay_in_order(setup: Setup) {
    let world = World::new(setup, false).await;
    // The first of two is refused for a moment; another recipient does not wait for it.
    world.provider.fail_next(Fault::Refuse { code: 131_016, retry_after: None });
    world.says("um");
    eventually("the first call was made", || async { (world.provider.calls() == 1).then_some(()) }).await;
    world.says("dois");
    world.provider.say("111", "15550000001", "Bia", json!({ "type": "text", "text": { "body": "oi" } }));
    let sent = world.sent(1).await;
    assert_eq!(texts(&sent), ["eco oi"]);
    transcript(&world.admin, PHONE, 4).await;
    assert_eq!(world.provider.sent().len(), 1, "both wait");
    world.server.advance(Duration::from_secs(2)).await;
    let sent = world.sent(3).await;
    assert_eq!(texts(&sent), ["eco oi", "eco um", "eco dois"]);
    assert_eq!(world.provider.calls(), 4);
}

async fn a_token_that_is_refused_pauses_the_number(setup: Setup) {
    let world = World::new(setup, false).await;
    world.give_token("expired-token").await;
    for word in ["um", "dois"] {
        world.says(word);
        transcript(&world.admin, PHONE, if word == "um" { 2 } else { 4 }).await;
    }
    let health = eventually("it is paused, and both wait", || async {
        let health = world.health().await;
        (health["status"] == "paused" && health["waiting"] == 2).then_some(health)
    })
    .await;
    assert_eq!(health["error"]["code"], 190);
    assert!(health["pausedAt"].is_string() && health["waitingSince"].is_string(), "{health}");
    let calls = world.provider.calls();
    // A probe that fails changes nothing; one that succeeds ends the pause.
    world.server.advance(Duration::from_secs(61)).await;
    assert_eq!(world.health().await["status"], "paused");
    world.provider.set_access_token(Some(SecretString::from("expired-token")));
    eventually("the probe has ended the pause", || async {
        world.server.advance(Duration::from_secs(61)).await;
        (world.health().await["status"] == "ok").then_some(())
    })
    .await;
    assert_eq!(texts(&world.sent(2).await), ["eco um", "eco dois"]);
    assert_eq!(world.provider.calls(), calls + 2);
    // Another token ends it at once.
    world.provider.set_access_token(Some(SecretString::from("good-token")));
    world.says("três");
    eventually("it is paused again", || async { (world.health().await["status"] == "paused").then_some(()) })
        .await;
    world.give_token("good-token").await;
    assert_eq!(texts(&world.sent(3).await)[2], "eco três");
    let other = Shop::new(&world.admin, "Outra", "222", "another-secret").await;
    let reader = world
        .admin
        .member(
            &world.setup,
            &json!([{ "resource": "channel_numbers", "actions": ["read"] }]),
            &[&other.router],
        )
        .await;
    let path = format!("/channel-numbers/{}/health", world.number().await["id"].as_str().unwrap());
    assert_eq!(reader.get(&path).await.status, 404, "a number of another router");
}

async fn a_number_without_a_token_loses_nothing(setup: Setup) {
    let world = World::new(setup, false).await;
    let path = format!("/channel-numbers/{}", world.number().await["id"].as_str().unwrap());
    world.admin.patch(&path, &json!({ "accessToken": null })).await.ok(200);
    world.says("oi");
    transcript(&world.admin, PHONE, 2).await;
    eventually("it waits", || async { (world.health().await["waiting"] == 1).then_some(()) }).await;
    assert_eq!(world.health().await["status"], "no_access_token");
    world.admin.patch(&path, &json!({ "active": false, "accessToken": "good-token" })).await.ok(200);
    assert_eq!(world.health().await["status"], "inactive");
    assert_eq!(world.provider.calls(), 0);
    world.admin.patch(&path, &json!({ "active": true })).await.ok(200);
    assert_eq!(texts(&world.sent(1).await), ["eco oi"]);
}

async fn a_lost_answer_is_settled_by_a_status_or_ends_as_unknown(setup: Setup) {
    let world = World::new(setup, false).await;
    // The provider takes it and tells so by a webhook, although its answer is lost.
    world.provider.fail_next(Fault::LoseAnswer);
    world.says("um");
    let message = world.answer("sent").await;
    assert_eq!(message["whatsappMessageId"], world.provider.sent()[0].id.as_str());
    // Nobody ever hears of the next one.
    world.provider.fail_next(Fault::Drop);
    world.says("dois");
    transcript(&world.admin, PHONE, 4).await;
    eventually("the call was made", || async {
        world.server.advance(Duration::from_secs(1)).await;
        (world.provider.calls() == 2).then_some(())
    })
    .await;
    world.says("três");
    transcript(&world.admin, PHONE, 6).await;
    eventually("its time is over", || async {
        world.server.advance(Duration::from_secs(31)).await;
        (world.provider.sent().len() == 2).then_some(())
    })
    .await;
    assert_eq!(texts(&world.provider.sent()), ["eco um", "eco três"]);
    assert_eq!(world.provider.calls(), 3);
    let said = transcript(&world.admin, PHONE, 6).await;
    assert_eq!(bodies(&said), ["um", "eco um", "dois", "eco dois", "três", "eco três"]);
    let unknown = eventually("it has failed", || async {
        let message = world.admin.get(&format!("/messages/{}", said[3]["id"].as_str()?)).await.ok(200);
        (message["status"] == "failed").then_some(message)
    })
    .await;
    assert_eq!(unknown["error"], json!({ "code": -1, "title": "unknown_outcome" }));
}

async fn what_cannot_be_sent_fails_with_its_reason(setup: Setup) {
    let world = World::new(setup, false).await;
    world.provider.fail_next(Fault::Refuse { code: 131_026, retry_after: None });
    world.says("oi");
    let message = world.answer("failed").await;
    assert_eq!(message["error"]["code"], 131_026);
    // The channel cannot carry it: the provider is not asked.
    let long = "a".repeat(4_096);
    world.says(&long);
    let said = transcript(&world.admin, PHONE, 4).await;
    let failed = eventually("it has failed", || async {
        let message = world.admin.get(&format!("/messages/{}", said[3]["id"].as_str()?)).await.ok(200);
        (message["status"] == "failed").then_some(message)
    })
    .await;
    assert_eq!(failed["error"]["code"], -2);
    assert_eq!(failed["error"]["title"], "content_refused: /text/body: 4100 characters of at most 4096");
    assert_eq!(world.provider.calls(), 1);
}

/// The provider takes most messages that it cannot deliver, and says so later.
async fn a_message_that_was_taken_fails_later(setup: Setup) {
    let world = World::new(setup, false).await;
    world.provider.fail_next(Fault::FailStatus { code: 131_026 });
    world.says("oi");
    let message = world.answer("failed").await;
    assert_eq!(message["error"]["code"], 131_026);
    assert_eq!(message["whatsappMessageId"], world.provider.sent()[0].id.as_str());
    let shown = world.provider.screen("111", PHONE).messages;
    assert_eq!(shown.len(), 1, "the phone has its own message alone: {shown:?}");
}

async fn users_without_a_number_are_answered(setup: Setup) {
    let world = World::new(setup, true).await;
    world.provider.say(
        "111",
        "BR.13491208655302741918",
        "Ana",
        json!({ "type": "text", "text": { "body": "oi" } }),
    );
    let sent = world.sent(1).await;
    assert_eq!(
        (&sent[0].body["recipient"], sent[0].body.get("to")),
        (&json!("BR.13491208655302741918"), None)
    );
}

async fn a_flow_reacts_to_the_message_that_it_got(setup: Setup) {
    let world = World::new(setup, false).await;
    let reacts = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "content", "contents": [
        { "type": "reaction", "reaction": { "message_id": "{{input.id}}", "emoji": "👍" } }],
        "input": {}, "defaultOutput": { "blockId": "a" } }] });
    let flow = published(&world.admin, &world.shop.router, "Reage", &reacts).await;
    let path = format!("/routers/{}", world.shop.router);
    world.admin.patch(&path, &json!({ "initialFlowId": flow })).await.ok(200);
    let text = json!({ "type": "text", "text": { "body": "oi" } });
    let wamid = world.provider.say("111", PHONE, "Ana", text);
    let sent = world.sent(1).await;
    assert_eq!(sent[0].body["reaction"], json!({ "message_id": wamid, "emoji": "👍" }));
}

async fn what_an_ended_session_said_is_sent_although_the_next_has_begun(setup: Setup) {
    let world = World::new(setup, false).await;
    let say = |id: &str, body: &str, input: Value, next: Value| {
        json!({ "id": id, "type": "content", "contents": [{ "type": "text", "text": { "body": body } }],
            "input": input, "defaultOutput": next })
    };
    let flow = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        say("a", "olá", json!({ "variable": "x" }), json!({ "blockId": "b" })),
        say("b", "tchau {{x}}", Value::Null, json!({ "end": true })) ] });
    let flow = published(&world.admin, &world.shop.router, "Curto", &flow).await;
    let path = format!("/routers/{}", world.shop.router);
    world.admin.patch(&path, &json!({ "initialFlowId": flow })).await.ok(200);
    // Everything waits until the number has a token.
    let number = format!("/channel-numbers/{}", world.number().await["id"].as_str().unwrap());
    world.admin.patch(&number, &json!({ "accessToken": null })).await.ok(200);
    for (nth, word) in ["um", "dois", "três"].into_iter().enumerate() {
        world.says(word);
        transcript(&world.admin, PHONE, 2 * nth + 2).await;
        world.server.advance(Duration::from_secs(1)).await;
    }
    world.give_token("good-token").await;
    assert_eq!(texts(&world.sent(3).await), ["olá", "tchau dois", "olá"]);
}

/// Of one contact they are answered in the order in which they come.
async fn deliveries_that_come_again_and_in_another_order_are_answered_once(setup: Setup) {
    let world = World::new(setup, true).await;
    world.provider.disturb(Disorder { repeats: 2, holds: 6 });
    for text in ["a", "b", "c", "d", "e", "f"] {
        world.says(text);
    }
    let sent = world.sent(6).await;
    let answers: Vec<&str> = sent.iter().filter_map(|one| one.body["text"]["body"].as_str()).collect();
    let mut once: Vec<&str> = answers.clone();
    once.sort_unstable();
    assert_eq!(once, ["eco a", "eco b", "eco c", "eco d", "eco e", "eco f"]);
    assert_ne!(answers, once, "the seed gives another order");
    // Statuses of what was answered are held back, too, and come in any order: none goes back.
    world.provider.disturb(Disorder::default());
    let said = eventually("all is read", || async {
        let said = transcript(&world.admin, PHONE, 12).await;
        let mut read = 0;
        for message in said.iter().filter(|message| message["direction"] == "out") {
            let path = format!("/messages/{}", message["id"].as_str()?);
            read += usize::from(world.admin.get(&path).await.ok(200)["status"] == "read");
        }
        (read == 6).then_some(said)
    })
    .await;
    assert_eq!(said.len(), 12);
}

async fn a_phone_is_told_what_the_webhook_made_of_its_message(setup: Setup) {
    let world = World::new(setup, false).await;
    let delivered = async |number: &str, id: &str, how: Delivered| {
        eventually("it is delivered so", || async {
            let screen = world.provider.screen(number, PHONE);
            let bubble = screen.messages.into_iter().find(|bubble| bubble.id == id)?;
            (bubble.delivered == Some(how)).then_some(())
        })
        .await;
    };
    let says = |number: &str| {
        world.provider.say(number, PHONE, "Ana", json!({ "type": "text", "text": { "body": "oi" } }))
    };
    delivered("111", &says("111"), Delivered::Taken).await;
    // Of the account, and yet no number that the server knows.
    delivered("999", &says("999"), Delivered::LeftOut).await;
    let elsewhere = [
        (format!("http://{}/phone/webhook/nobody", world.server.addr), Delivered::Refused { status: 403 }),
        ("http://127.0.0.1:1/".to_owned(), Delivered::Unanswered),
    ];
    for (callback, how) in elsewhere {
        world.provider.set_callback(Some(callback.parse().unwrap()));
        let id = says("111");
        delivered("111", &id, how).await;
        world.listen();
        delivered("111", &id, Delivered::Taken).await;
    }
    assert_eq!(world.sent(3).await.len(), 3, "what was refused came again, once");
}
