//! How far messages came is announced in the transaction that stores it, each status once.

use flowsdk_core::conversation::MessagePersister;
use flowsdk_core::event::{DeliveryStatus, StatusEvent, WebhookEventType};
use flowsdk_core::id::MessageId;
use flowsdk_core::message::StatusError;
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::announced::{announced, subscribe, types};
use crate::conversations::world::{NOW, World};
use crate::support::databases::on_every_database;

on_every_database! {
    every_status_that_a_message_comes_to_is_announced_once,
    a_failure_is_announced_with_its_reason,
    statuses_that_nobody_takes_are_stored_alone,
}

fn status(id: &MessageId, status: DeliveryStatus, at: i64) -> StatusEvent {
    StatusEvent {
        status,
        internal_id: Some(id.clone()),
        channel_message_id: None,
        session_id: None,
        phone_number_id: None,
        error: None,
        timestamp: Timestamp::from_millis(NOW + at),
    }
}

async fn apply(world: &World, events: &[StatusEvent]) {
    let persister = MessagePersister::new(world.store.clone(), world.cx.clone());
    persister.apply(&events.iter().collect::<Vec<_>>()).await.expect("applied");
}

/// A message to a visitor.
async fn message(world: &World, visitor: &str) -> MessageId {
    world.handle(world.text(visitor, &format!("{visitor}1"), "oi")).await.outgoing[0].internal_id.clone()
}

/// The statuses that were announced since the last look.
async fn told(world: &World) -> Vec<Value> {
    let events = announced(world).await;
    assert!(types(&events).iter().all(|kind| *kind == "message.status"), "{events:?}");
    events.into_iter().map(|(_, event)| event["data"]["message"]["status"].clone()).collect()
}

async fn every_status_that_a_message_comes_to_is_announced_once(store: SqlStore) {
    use DeliveryStatus::{Delivered, Played, Read, Sent};
    let world = World::new(store).await;
    subscribe(&world, &world.router, &[WebhookEventType::MessageStatus]).await;
    let id = message(&world, "ana").await;
    apply(&world, &[status(&id, Delivered, 1)]).await;
    let events = announced(&world).await;
    let [(_, event)] = events.as_slice() else { panic!("{events:?}") };
    let chat = world.open_chat("ana").await;
    let row = world.history(&chat).await.into_iter().find(|row| row.id == id).expect("a message");
    let expected = json!({ "message": {
        "id": id,
        "chatId": chat,
        "seq": row.seq,
        "sessionId": row.session_id,
        "direction": "out",
        "status": "delivered",
        "statusUpdatedAt": Timestamp::from_millis(NOW + 1).to_iso(),
        "error": null,
    } });
    assert_eq!((&event["data"], &event["key"]), (&expected, &json!(chat)));
    assert_eq!(
        (&event["routerId"], &event["id"]),
        (&json!(world.router), &json!(format!("message.status:{id}:delivered")))
    );
    assert_eq!(event["timestamp"], json!(world.cx.now()));
    for (reports, expected) in [
        (vec![(Delivered, 2), (Sent, 3)], json!([])),
        (vec![(Read, 4)], json!(["read"])),
        (vec![(Delivered, 3), (Read, 5)], json!([])),
        // One transaction stores the later of two.
        (vec![(Read, 6), (Played, 7), (Sent, 8)], json!(["played"])),
    ] {
        let events: Vec<StatusEvent> = reports.iter().map(|(to, at)| status(&id, *to, *at)).collect();
        apply(&world, &events).await;
        assert_eq!(json!(told(&world).await), expected, "{reports:?}");
    }
}

async fn a_failure_is_announced_with_its_reason(store: SqlStore) {
    let world = World::new(store).await;
    subscribe(&world, &world.router, &[WebhookEventType::MessageStatus]).await;
    let (failed, other) = (message(&world, "ana").await, message(&world, "bia").await);
    let error = StatusError { code: 131_026, title: Some("Message undeliverable \u{1f44b}".to_owned()) };
    let failure =
        StatusEvent { error: Some(error.clone()), ..status(&failed, DeliveryStatus::SendFailed, 1) };
    apply(&world, &[failure.clone(), status(&other, DeliveryStatus::Delivered, 1)]).await;
    let mut events = announced(&world).await;
    events.sort_by_key(|(_, event)| event["data"]["message"]["status"].to_string());
    let shown: Vec<_> = events.iter().map(|(_, event)| &event["data"]["message"]).collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert_eq!((&shown[0]["status"], &shown[0]["error"]), (&json!("delivered"), &Value::Null));
    assert_eq!((&shown[1]["status"], &shown[1]["error"]), (&json!("failed"), &json!(error)));
    apply(&world, &[failure, status(&failed, DeliveryStatus::Delivered, 2)]).await;
    assert_eq!(told(&world).await, Vec::<Value>::new(), "what failed stays so");
}

async fn statuses_that_nobody_takes_are_stored_alone(store: SqlStore) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    let id = message(&world, "ana").await;
    apply(&world, &[status(&id, DeliveryStatus::Sent, 1)]).await;
    subscribe(&world, &world.router, &[WebhookEventType::TicketClosed]).await;
    subscribe(&world, &"router2".parse().expect("an id"), &[WebhookEventType::MessageStatus]).await;
    apply(&world, &[status(&id, DeliveryStatus::Delivered, 2)]).await;
    assert_eq!(told(&world).await, Vec::<Value>::new(), "a webhook of another router takes it");
}
