//! The handshake of the web chat (spec B 3.1, 4.2, 4.3).

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message as Frame;

use crate::harness::client::Manner;
use crate::harness::{Api, Client, Setup, everywhere, http, token};

everywhere!(
    open_channel,
    embed_tokens,
    sockets_end_with_the_secret_that_let_them_in,
    embed_context,
    hostile_handshakes,
    limits_of_visits,
    guesses_tell_nothing_of_visitors
);

async fn refused(setup: &Setup, server: &crate::harness::Server, auth: &Value) -> String {
    let _ = setup;
    Client::refused(server.addr, &auth.to_string(), Manner::default()).await
}

/// New and returning visitors, and everybody who is neither.
async fn open_channel(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    assert_eq!((ana.user.len(), ana.key.len()), (25, 48));
    client.say("um").await;
    assert_eq!(client.texts(1).await, ["eco um"]);

    let (_, ok) = Client::enter(server.addr, ana.auth()).await;
    assert_eq!((&ok["userId"], &ok["sessionKey"]), (&json!(ana.user), &json!(ana.key)));
    assert_eq!((&ok["channelName"], &ok["appearance"]), (&json!("Canal"), &json!({ "title": "Loja" })));

    let (_, bob) = setup.visit(&server).await;
    assert_ne!(ana.user, bob.user);
    let open = &setup.seeded.open;
    for (auth, code) in [
        (json!({ "channelId": open, "userId": ana.user, "sessionKey": bob.key }), "identity_invalid"),
        (json!({ "channelId": open, "userId": ana.user, "sessionKey": "" }), "identity_invalid"),
        (
            json!({ "channelId": open, "userId": ana.user, "sessionKey": "x".repeat(5_000) }),
            "identity_invalid",
        ),
        (json!({ "channelId": open, "userId": "nobody", "sessionKey": ana.key }), "identity_invalid"),
        (json!({ "channelId": open, "userId": "", "sessionKey": ana.key }), "identity_invalid"),
        (json!({ "channelId": open, "userId": "a b/../\u{0}", "sessionKey": ana.key }), "identity_invalid"),
        (json!({ "channelId": open, "userId": ana.user }), "identity_invalid"),
        (json!({ "channelId": open, "sessionKey": ana.key }), "identity_invalid"),
        // The identity belongs to its channel.
        (
            json!({ "channelId": setup.seeded.second, "userId": ana.user, "sessionKey": ana.key }),
            "identity_invalid",
        ),
        (json!({ "channelId": "cnosuchchannel000000000000" }), "channel_unknown"),
        (json!({ "channelId": "no such/channel'; --" }), "channel_unknown"),
        (json!({ "channelId": "" }), "channel_unknown"),
        (json!({ "channelId": "c".repeat(10_000) }), "channel_unknown"),
        (json!({ "channelId": 7 }), "channel_unknown"),
        (json!({ "channelId": null }), "channel_unknown"),
        // One field of a wrong type makes the whole handshake unusable, never a new visit.
        (json!({ "channelId": open, "userId": 7, "sessionKey": ana.key }), "channel_unknown"),
        (json!({ "channelId": open, "userId": { "a": 1 } }), "channel_unknown"),
        (json!({}), "channel_unknown"),
        (json!([open]), "channel_unknown"),
        (json!("text"), "channel_unknown"),
        (json!(7), "channel_unknown"),
        (json!(null), "channel_unknown"),
    ] {
        assert_eq!(refused(&setup, &server, &auth).await, code, "{auth}");
    }
    assert_eq!(Client::refused(server.addr, "", Manner::default()).await, "channel_unknown");

    // Nobody of these has disturbed anything.
    client.say("dois").await;
    assert_eq!(client.texts(1).await, ["eco dois"]);
}

/// In whichever process the socket is: a channel that is closed, opened or gets another secret keeps nobody whom it
/// would not let in again.
async fn sockets_end_with_the_secret_that_let_them_in(setup: Setup) {
    let server = setup.start().await;
    let other = if setup.is_distributed() { Some(setup.start().await) } else { None };
    let there = other.as_ref().unwrap_or(&server).addr;
    let admin = Api::admin(&setup, &server).await;
    let channel = setup.seeded.open.clone();
    let path = format!("/webchat/channels/{channel}/embed-secret");
    let rotate = async || {
        let made = admin.send("POST", &path, &[], None).await.ok(200);
        let secret = made["embedSecret"].as_str().unwrap().to_owned();
        setup.plant(&secret);
        let token = token::sign(&secret, json!({ "sub": "ana" }));
        setup.plant(&token);
        json!({ "channelId": channel, "token": token })
    };
    let (anonymous, _) = Client::enter(there, json!({ "channelId": channel })).await;
    let (bystander, _) = Client::enter(there, json!({ "channelId": setup.seeded.second })).await;
    let auth = rotate().await;
    anonymous.closed().await;
    let (first, _) = Client::enter(there, auth.clone()).await;
    let again = rotate().await;
    first.closed().await;
    assert_eq!(Client::refused(there, &auth.to_string(), Manner::default()).await, "token_invalid");
    let (second, _) = Client::enter(there, again).await;
    admin.delete(&path).await.ok(204);
    second.closed().await;
    let (third, _) = Client::enter(there, json!({ "channelId": channel })).await;
    admin.delete(&format!("/webchat/channels/{channel}?force=true")).await.ok(204);
    third.closed().await;
    bystander.say("oi").await;
    assert!(!bystander.is_closed(), "the sockets of other channels stay");
}

/// Tokens, good and bad (spec B 4.3).
async fn embed_tokens(setup: Setup) {
    let server = setup.start().await;
    let closed = setup.seeded.closed.clone();
    let (mut client, ok) = Client::enter(
        server.addr,
        json!({ "channelId": closed, "token": setup.token(json!({ "sub": "ana@example.com", "name": "Ana" })) }),
    )
    .await;
    assert_eq!((&ok["userId"], &ok["sessionKey"]), (&json!("ana@example.com"), &json!(null)));
    client.say("oi").await;
    assert_eq!(client.texts(1).await, ["eco oi"]);

    // The query `t` is as good.
    let query = format!("&t={}", setup.token(json!({ "sub": "bob" })));
    let manner = Manner { query, ..Manner::default() };
    let (_, ok) = Client::enter_as(server.addr, json!({ "channelId": closed }), manner).await;
    assert_eq!(ok["userId"], "bob");

    let secret = setup.seeded.secret.clone();
    let later = token::in_seconds(300);
    let signed = |claims: Value| token::sign_with(Algorithm::HS256, &secret, &claims);
    let unsigned = {
        let good = signed(json!({ "sub": "ana", "exp": later }));
        let body = good.split('.').nth(1).unwrap().to_owned();
        // {"alg":"none","typ":"JWT"}
        format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{body}.")
    };
    let (mut other_body, good) =
        (signed(json!({ "sub": "bob", "exp": later })), signed(json!({ "sub": "ana", "exp": later })));
    other_body.truncate(other_body.rfind('.').unwrap());
    let swapped = format!("{other_body}{}", &good[good.rfind('.').unwrap()..]);
    for (name, token, code) in [
        ("expired", json!(signed(json!({ "sub": "ana", "exp": token::in_seconds(-1) }))), "token_expired"),
        ("expired long ago", json!(signed(json!({ "sub": "ana", "exp": 1 }))), "token_expired"),
        ("wrong secret", json!(token::sign("another secret", json!({ "sub": "ana" }))), "token_invalid"),
        ("alg none", json!(unsigned), "token_invalid"),
        (
            "HS512",
            json!(token::sign_with(Algorithm::HS512, &secret, &json!({ "sub": "ana", "exp": later }))),
            "token_invalid",
        ),
        (
            "HS384",
            json!(token::sign_with(Algorithm::HS384, &secret, &json!({ "sub": "ana", "exp": later }))),
            "token_invalid",
        ),
        ("no exp", json!(signed(json!({ "sub": "ana" }))), "token_invalid"),
        ("exp is a text", json!(signed(json!({ "sub": "ana", "exp": "tomorrow" }))), "token_invalid"),
        ("no sub", json!(signed(json!({ "exp": later }))), "token_invalid"),
        ("empty sub", json!(signed(json!({ "sub": "", "exp": later }))), "token_invalid"),
        ("sub with blanks", json!(signed(json!({ "sub": "a b", "exp": later }))), "token_invalid"),
        (
            "sub of another's context",
            json!(signed(json!({ "sub": "ana-ctx0123456789abcdef", "exp": later }))),
            "token_invalid",
        ),
        (
            "context is no object",
            json!(signed(json!({ "sub": "ana", "exp": later, "context": [1] }))),
            "token_invalid",
        ),
        ("body of another", json!(swapped), "token_invalid"),
        ("garbage", json!("a.b.c"), "token_invalid"),
        ("empty", json!(""), "token_invalid"),
        ("huge", json!("a".repeat(50_000)), "token_invalid"),
        ("no token", json!(null), "token_invalid"),
        ("a token that is no text", json!(7), "channel_unknown"),
    ] {
        let auth = json!({ "channelId": closed, "token": token });
        assert_eq!(refused(&setup, &server, &auth).await, code, "{name}");
    }
    let keys = json!({ "channelId": closed, "userId": "ana@example.com", "sessionKey": "x" });
    assert_eq!(refused(&setup, &server, &keys).await, "token_invalid", "a closed channel takes no keys");

    // An open channel takes no tokens: this is a new visit.
    let auth =
        json!({ "channelId": setup.seeded.open, "token": setup.token(json!({ "sub": "ana@example.com" })) });
    let (_, ok) = Client::enter(server.addr, auth).await;
    assert_ne!(ok["userId"], "ana@example.com");
    assert!(ok["sessionKey"].is_string());
}

/// What a token brings along (spec B 4.3, context rules).
async fn embed_context(setup: Setup) {
    let server = setup.start().await;
    let addr = server.addr;
    let auth = |claims: Value| json!({ "channelId": setup.seeded.card, "token": setup.token(claims) });
    let claims = |context: Value| json!({ "sub": "ana", "name": "Ana Maria", "context": context });

    let context = json!({ "plan": "pro", "order": { "id": 42 }, "x-y": 1, "@z": 2, "1a": 3 });
    let (mut first, _) = Client::enter(addr, auth(claims(context))).await;
    first.say("um").await;
    assert_eq!(first.texts(1).await, ["Ana Maria/pro/42/um"], "variables are there from the first block");

    // The same, in another order and with other keys that are dropped: the same conversation.
    let context = json!({ "9": 9, "order": { "id": 42 }, "plan": "pro" });
    let (mut same, _) = Client::enter(addr, auth(claims(context))).await;
    same.say("dois").await;
    assert_eq!(same.texts(1).await, ["Ana Maria/pro/42/dois"]);
    assert_eq!(first.texts(1).await, ["Ana Maria/pro/42/dois"], "both sockets are in one room");

    // Another context is another session of the same person.
    let (mut other, _) = Client::enter(addr, auth(claims(json!({ "plan": "free" })))).await;
    other.say("três").await;
    assert_eq!(other.texts(1).await, ["Ana Maria/free//três"]);
    same.say("quatro").await;
    assert_eq!(same.texts(1).await, ["Ana Maria/pro/42/quatro"], "nothing of the other session");
    assert_eq!(first.texts(1).await, ["Ana Maria/pro/42/quatro"]);

    let bearer = format!("Bearer {}", setup.token(json!({ "sub": "ana" })));
    let headers = [("x-channel-id", setup.seeded.card.as_str()), ("authorization", &bearer)];
    let history = http::get(addr, "/webchat/history", &headers).await;
    assert_eq!(history.json()["items"].as_array().unwrap().len(), 8, "the history is the person's");

    // A flow of the router is taken, one of another router and what is no flow are not.
    for (sub, flow, answer) in [
        ("carla", json!(setup.seeded.other_flow), "outro oi"),
        ("davi", json!(setup.seeded.foreign_flow), "///oi"),
        ("eva", json!("no such flow!"), "///oi"),
    ] {
        let (mut client, _) = Client::enter(addr, auth(json!({ "sub": sub, "flowId": flow }))).await;
        client.say("oi").await;
        assert_eq!(client.texts(1).await, [answer], "{sub}");
    }
    // A name that changes is the contact's new name.
    let (mut renamed, _) = Client::enter(addr, auth(json!({ "sub": "davi", "name": "Davi" }))).await;
    renamed.say("oi").await;
    assert_eq!(renamed.texts(1).await, ["Davi///oi"]);
}

/// Packets that are none, clients that leave early.
async fn hostile_handshakes(setup: Setup) {
    let server = setup.start().await;
    let open = setup.seeded.open.clone();
    // Events before and during the handshake lead nowhere.
    let early = Client::open_as(server.addr, json!({ "channelId": "x" }), Manner::default()).await;
    early.send("message", &json!({ "text": "cedo demais" }));
    early.closed().await;
    assert!(early.messages().is_empty());
    let eager = Client::open_as(server.addr, json!({ "channelId": open }), Manner::default()).await;
    let id = eager.emit_later("message", &json!({ "text": "já" }));
    assert_eq!(eager.try_ack(id).await.unwrap()["ok"], true, "it waits until the visitor is let in");

    // A thousand levels in `auth`.
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let client = Client::try_open(server.addr, &deep, Manner::default()).await.unwrap();
    client.raw(Frame::Close(None));
    client.closed().await;
    // Gone in the middle of it, many times.
    for _ in 0..50 {
        drop(Client::open_as(server.addr, json!({ "channelId": open }), Manner::default()).await);
    }
    // Bytes that are no text, a frame beyond the limit, a binary handshake.
    for frame in [
        Frame::binary(vec![0xff; 64]),
        Frame::text(format!("42{}", json!(["message", { "text": "x".repeat(200_000) }]))),
    ] {
        let client = Client::open_as(server.addr, json!({ "channelId": open }), Manner::default()).await;
        client.raw(frame);
        client.raw(Frame::Close(None));
        client.closed().await;
    }
    let (mut client, _) = setup.visit(&server).await;
    client.say("ainda aí?").await;
    assert_eq!(client.texts(1).await, ["eco ainda aí?"]);
}

/// New visits of one address are limited, returning visitors are not.
async fn limits_of_visits(setup: Setup) {
    let setup = setup.with("WEBCHAT_NEW_VISITS_PER_MINUTE", "3").with("WEBCHAT_SOCKETS_PER_VISITOR", "2");
    let server = setup.start().await;
    let (_client, ana) = setup.visit(&server).await;
    let (_other, _) = setup.visit(&server).await;
    let (_third, _) = setup.visit(&server).await;
    let auth = json!({ "channelId": setup.seeded.open });
    assert_eq!(refused(&setup, &server, &auth).await, "rate_limited");
    let (second, _) = Client::enter(server.addr, ana.auth()).await;
    assert_eq!(refused(&setup, &server, &ana.auth()).await, "rate_limited", "two sockets at once");
    second.raw(Frame::text("41"));
    // The place comes back.
    crate::harness::eventually("a place is free", || async {
        let client = Client::open_as(server.addr, ana.auth(), Manner::default()).await;
        (client.answer().await.0 == "auth_ok").then_some(())
    })
    .await;
}

/// A guess costs the same comparison, and counts towards the same limit, whether the visitor exists or not.
async fn guesses_tell_nothing_of_visitors(setup: Setup) {
    let setup = setup.with("WEBCHAT_KEY_CHECKS_PER_MINUTE", "2");
    let server = setup.start().await;
    let guess = json!({ "channelId": setup.seeded.open, "userId": "nobody", "sessionKey": "guess" });
    for _ in 0..2 {
        assert_eq!(refused(&setup, &server, &guess).await, "identity_invalid");
    }
    assert_eq!(refused(&setup, &server, &guess).await, "rate_limited");
}
