//! Dead letters.

use flowsdk_core::id::DeadLetterId;
use flowsdk_core::prelude::*;
use flowsdk_core::stream::dead_letter::FailedEntry;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Api, Setup, eventually, everywhere, http};

everywhere!(life, a_retry_is_handled_again);
everywhere!(in process: pages_and_filters, who_may);

const PATH: &str = "/dead-letters";
const NOW: i64 = 1_795_085_820_050;

/// Records dead letters as a consumer does: their streams and groups.
async fn record(setup: &Setup, letters: &[(TopicName, &str)]) {
    let mut tx = setup.store().await.begin().await.unwrap();
    for (n, (topic, group)) in letters.iter().enumerate() {
        let entry = FailedEntry {
            topic: *topic,
            group: (*group).to_owned(),
            source: Some(format!("0:{n}")),
            key: "nobody".to_owned(),
            payload: "not json".to_owned(),
            reason: "cannot be read".to_owned(),
            attempts: 5,
            first_failed_at: Timestamp::from_millis(NOW),
            failed_at: Timestamp::from_millis(NOW + n as i64),
        };
        let id: DeadLetterId = format!("letter{n}").parse().unwrap();
        tx.dead_letters().record(&id, &entry).await.unwrap();
    }
    tx.commit().await.unwrap();
}

fn ids(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    assert_eq!(admin.get(PATH).await.ok(200), json!({ "items": [], "nextCursor": null }));
    record(&setup, &[(TopicName::Status, "persister")]).await;
    let expected = json!({
        "id": "letter0",
        "topic": "stream:status",
        "group": "persister",
        "key": "nobody",
        "payload": "not json",
        "reason": "cannot be read",
        "attempts": 5,
        "routerId": null,
        "firstFailedAt": "2026-11-19T10:57:00.050Z",
        "failedAt": "2026-11-19T10:57:00.050Z",
    });
    let one = format!("{PATH}/letter0");
    assert_eq!(admin.get(&one).await.ok(200), expected);
    assert_eq!(admin.get(PATH).await.ok(200)["items"], json!([expected]));
    admin.delete(&one).await.ok(204);
    for answer in [
        admin.get(&one).await,
        admin.delete(&one).await,
        admin.post(&format!("{one}/retry"), &json!({})).await,
    ] {
        answer.refused(404, "not_found", "Entrada não encontrada");
    }
}

async fn pages_and_filters(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (status, chat) = (TopicName::Status, TopicName::OutgoingChat);
    record(&setup, &[(status, "persister"), (chat, "webchat"), (status, "other"), (chat, "webchat")]).await;
    let first = admin.get(&format!("{PATH}?limit=3")).await.ok(200);
    assert_eq!(ids(&first), ["letter3", "letter2", "letter1"]);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = admin.get(&format!("{PATH}?limit=3&cursor={cursor}")).await.ok(200);
    assert_eq!((ids(&second), &second["nextCursor"]), (vec!["letter0"], &Value::Null));
    for (query, expected) in [
        ("topic=stream:status", &["letter2", "letter0"][..]),
        ("group=webchat", &["letter3", "letter1"]),
        ("topic=stream:status&group=other", &["letter2"]),
        ("topic=stream:flow", &[]),
    ] {
        assert_eq!(ids(&admin.get(&format!("{PATH}?{query}")).await.ok(200)), expected, "{query}");
    }
    assert_eq!(admin.get(&format!("{PATH}?topic=flow")).await.invalid_fields(), ["topic"]);
}

async fn who_may(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    record(&setup, &[(TopicName::Incoming, "conversation")]).await;
    let all = json!([{ "resource": "sessions", "actions": ["read", "write", "admin"] },
        { "resource": "settings", "actions": ["read", "write", "admin"] }]);
    let member = admin.member(&setup, &all, &[]).await;
    let one = format!("{PATH}/letter0");
    for answer in [
        member.get(PATH).await,
        member.get(&one).await,
        member.post(&format!("{one}/retry"), &json!({})).await,
        member.delete(&one).await,
    ] {
        answer.refused(403, "admin_only", "Acesso restrito a administradores");
    }
    admin.get(&one).await.ok(200);
}

/// The entry goes the whole way again: through the outbox, the lane of its key and, as it still cannot be read and no
/// session is there to freeze, into another dead letter.
async fn a_retry_is_handled_again(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    record(&setup, &[(TopicName::Incoming, "conversation")]).await;
    let retry = format!("{PATH}/letter0/retry");
    let nothing = json!({});
    let retries = futures_util::future::join_all((0..4).map(|_| admin.post(&retry, &nothing))).await;
    let published = retries.iter().filter(|answer| answer.status == 204).count();
    assert_eq!(published, 1, "{retries:?}");
    let again = eventually("it failed again", || async {
        let found = admin.get(PATH).await.ok(200)["items"].as_array().unwrap().first().cloned();
        found.filter(|letter| letter["id"] != "letter0")
    })
    .await;
    for (field, value) in [
        ("topic", json!("stream:incoming")),
        ("group", json!("conversation")),
        ("key", json!("nobody")),
        ("payload", json!("not json")),
        ("attempts", json!(1)),
    ] {
        assert_eq!(again[field], value, "{field}");
    }
    // It is counted after it is stored.
    let counted = r#"flowsdk_dead_letters_total{consumer="conversation",topic="stream:incoming"} 1"#;
    eventually("it is counted", || async {
        http::get(server.addr, "/metrics", &[]).await.body.contains(counted).then_some(())
    })
    .await;
}
