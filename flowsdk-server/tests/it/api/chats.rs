//! Chats and messages (spec A 2.5; rulings H8, H11).

use flowsdk_core::context::OpContext;
use flowsdk_core::message::{Direction, HasMessages as _, MessageStatus, NewMessage, StatusError};
use flowsdk_core::session::SessionId;
use flowsdk_core::store::{Store as _, Transaction as _};
use serde_json::json;

use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(chats_and_messages);

async fn chats_and_messages(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, _ana) = setup.visit(&server).await;
    let mut said = Vec::new();
    for text in ["um", "dois", "três"] {
        said.push(client.say(text).await);
    }
    client.until("eco três").await;
    let page = admin.get("/chats").await.ok(200);
    let chat = page["items"][0].clone();
    let id = chat["id"].as_str().unwrap();
    assert_eq!((&chat["routerId"], &chat["status"]), (&json!(setup.seeded.router), &json!("open")));
    assert!(chat["summary"].is_null() && chat["createdAt"].is_string(), "{chat}");
    assert_eq!(admin.get(&format!("/chats/{id}")).await.ok(200), chat);
    let contact = chat["contactId"].as_str().unwrap();
    for (filter, count) in [
        (format!("contactId={contact}&status=open"), 1),
        (format!("contactId={contact}&status=closed"), 0),
        (format!("routerId={}", setup.seeded.router), 1),
        (format!("routerId={}&status=open", setup.seeded.router), 1),
        ("status=closed".to_owned(), 0),
        ("contactId=nobody".to_owned(), 0),
    ] {
        let found = admin.get(&format!("/chats?{filter}")).await.ok(200);
        assert_eq!(found["items"].as_array().unwrap().len(), count, "{filter}");
    }
    // Pages, newest first, both directions.
    let (mut texts, mut numbers, mut cursor) = (Vec::new(), Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/chats/{id}/messages?limit=4{cursor}")).await.ok(200);
        for item in page["items"].as_array().unwrap() {
            texts.push(item["content"]["text"]["body"].as_str().unwrap().to_owned());
            numbers.push(item["seq"].as_i64().unwrap());
            let out = item["direction"] == "out";
            assert_eq!((item["status"].is_null(), item["sender"].is_null()), (!out, !out), "{item}");
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    texts.reverse();
    assert_eq!(texts, ["um", "eco um", "dois", "eco dois", "três", "eco três"]);
    assert_eq!(numbers, [6, 5, 4, 3, 2, 1]);
    // The socket says the same numbers.
    let shown: Vec<_> = client.messages().iter().map(|m| (m["chatId"].clone(), m["seq"].clone())).collect();
    assert_eq!(shown, [2, 4, 6].map(|seq| (json!(id), json!(seq))));
    assert_eq!(admin.get(&format!("/chats/{id}/messages?cursor=zz")).await.invalid_fields(), ["cursor"]);
    // A message (spec A 2.5).
    let message = admin.get(&format!("/messages/{}", said[0])).await.ok(200);
    assert_eq!((&message["status"], &message["type"]), (&json!(null), &json!("text")));
    let answer = client.messages()[0]["id"].as_str().unwrap().to_owned();
    let message = eventually("the answer is delivered", || async {
        let message = admin.get(&format!("/messages/{answer}")).await.ok(200);
        (message["status"] == "delivered").then_some(message)
    })
    .await;
    let fields: Vec<_> = message.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        fields,
        ["createdAt", "error", "id", "seq", "status", "statusUpdatedAt", "type", "whatsappMessageId"]
    );
    // What a provider calls it, and why it failed.
    let (store, now) = (setup.store().await, OpContext::system().now());
    let newest = admin.get(&format!("/chats/{id}/messages?limit=1")).await.ok(200);
    let message_session = newest["items"][0]["sessionId"].as_str().unwrap();
    let mut tx = store.begin().await.unwrap();
    let failed = NewMessage {
        id: "failed".parse().unwrap(),
        chat_id: id.parse().unwrap(),
        seq: (),
        session_id: SessionId::parse(message_session).unwrap(),
        direction: Direction::Out,
        kind: "template".to_owned(),
        content: json!({ "type": "template" }),
        sender: None,
        status: Some(MessageStatus::Failed),
        channel_message_id: None,
        provider_id: Some("wamid.1".to_owned()),
        error: Some(StatusError { code: 131_026, title: Some("Message undeliverable".to_owned()) }),
        created_at: now,
        status_updated_at: now,
    };
    tx.messages().insert_many(&[failed]).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    let error = json!({ "code": 131_026, "title": "Message undeliverable" });
    let shown = admin.get("/messages/failed").await.ok(200);
    assert_eq!((&shown["whatsappMessageId"], &shown["error"]), (&json!("wamid.1"), &error));
    let listed = admin.get(&format!("/chats/{id}/messages?limit=1")).await.ok(200);
    assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["error"]), (&json!("failed"), &error));
    assert_eq!((&message["whatsappMessageId"], &message["error"]), (&json!(null), &json!(null)));
    admin.get("/messages/nothing").await.refused(404, "not_found", "Mensagem não encontrada");
    admin.get("/chats/nothing").await.refused(404, "not_found", "Chat não encontrado");
    // Within the scope, and not beyond it.
    let reads = json!([{ "resource": "chats", "actions": ["read"] }]);
    let routers = admin.get("/routers").await.ok(200);
    let other = routers["items"].as_array().unwrap().iter().find(|r| r["id"] != setup.seeded.router).unwrap();
    let owner = admin.member(&setup, &reads, &[&setup.seeded.router]).await;
    let stranger = admin.member(&setup, &reads, &[other["id"].as_str().unwrap()]).await;
    assert_eq!(stranger.get("/chats").await.ok(200)["items"], json!([]));
    let paths = [
        (format!("/chats/{id}"), "Chat não encontrado"),
        (format!("/chats/{id}/messages"), "Chat não encontrado"),
        (format!("/messages/{answer}"), "Mensagem não encontrada"),
    ];
    for (path, text) in paths {
        owner.get(&path).await.ok(200);
        stranger.get(&path).await.refused(404, "not_found", text);
    }
}
