//! Deliveries are sent in order, again and again, and no longer than they should be.

use std::time::Duration;

use flowsdk_core::contact::HasContactCatalog as _;
use flowsdk_core::event::{WebhookEvent, WebhookEventType};
use flowsdk_core::router::Reach;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::IsoTime;
use flowsdk_store::sql::SqlStore;
use flowsdk_webhooks::delivery::{DeliveryStatus, KEPT_FOR, ReplayRange, Secret, sign};
use flowsdk_webhooks::webhook::{SecretOverlap, WebhookChange, WebhookError};
use tokio_util::sync::CancellationToken;

use super::place::{Call, Place};
use crate::support::databases::on_every_database;

on_every_database! {
    an_event_is_sent_once_and_signed,
    events_of_a_conversation_wait_for_each_other,
    a_webhook_that_fails_for_a_day_is_paused,
    a_webhook_that_is_gone_is_paused_at_once,
    what_was_sent_is_sent_again_on_demand,
    a_time_is_sent_again_in_order,
    only_what_is_subscribed_to_is_sent,
    a_deleted_webhook_is_sent_nothing,
    a_webhook_is_tried,
    a_sender_that_stops_begins_nothing,
    old_deliveries_are_forgotten,
    what_was_told_of_a_contact_goes_with_them,
    a_secret_that_is_replaced_signs_for_a_while,
}

fn pause(is_paused: bool) -> WebhookChange {
    WebhookChange { is_paused: Some(is_paused), ..WebhookChange::default() }
}

async fn an_event_is_sent_once_and_signed(store: SqlStore) {
    let place = Place::new(store).await;
    place.happens("e1", "c1").await;
    // A stream delivers at least once.
    place.happens("e1", "c1").await;
    assert_eq!(place.sender.send_due(&CancellationToken::new()).await.expect("sent"), 1);
    let call = place.receiver.calls.lock().expect("a lock").remove(0);
    assert_eq!((call.url.as_str(), call.event()), ("https://crm.example/hook", "e1"));
    let seconds: i64 = call.header("webhook-timestamp").parse().expect("a number");
    assert_eq!(seconds, place.world.cx.now().as_millis() / 1_000);
    assert_eq!(call.header("webhook-signature"), sign(&place.secret, "e1", seconds, &call.body));
    let body: serde_json::Value = serde_json::from_str(&call.body).expect("JSON");
    assert_eq!((&body["type"], &body["data"]["name"]), (&"ticket.updated".into(), &"Zoë \u{1f44b}".into()));
    assert_eq!(body["timestamp"], place.world.cx.now().to_iso());
    let (delivery, attempts) = place.delivery("e1").await;
    assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Delivered, 1));
    assert_eq!((delivery.due_at, delivery.finished_at), (None, Some(place.world.cx.now())));
    let [attempt] = attempts.as_slice() else { panic!("{attempts:?}") };
    assert_eq!((attempt.status_code, attempt.answer.as_deref()), (Some(204), Some("seen")));
    assert_eq!(place.send().await, Vec::<String>::new());
}

async fn events_of_a_conversation_wait_for_each_other(store: SqlStore) {
    let place = Place::new(store).await;
    place.receiver.answers(&[500]);
    place.happens("e1", "c1").await;
    assert_eq!(place.send().await, ["e1"]);
    place.happens("e2", "c1").await;
    place.happens("e3", "c2").await;
    assert_eq!(place.send().await, ["e3"], "another conversation does not wait");
    place.receiver.answers(&[0]);
    for (seconds, sent) in [(4, &[][..]), (1, &["e1"]), (29, &[]), (1, &["e1", "e2"])] {
        place.world.clock.advance(Duration::from_secs(seconds));
        assert_eq!(place.send().await, sent, "{seconds} s later");
    }
    let (delivery, attempts) = place.delivery("e1").await;
    assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Delivered, 3));
    let seen: Vec<_> = attempts.iter().map(|one| (one.status_code, one.error.as_deref())).collect();
    assert_eq!(seen, [(Some(500), None), (None, Some("no whole answer in time")), (Some(204), None)]);
    assert_eq!(place.stored().await.failing_since, None);
}

async fn a_webhook_that_fails_for_a_day_is_paused(store: SqlStore) {
    let place = Place::new(store).await;
    place.receiver.always(Some(503));
    let began = place.world.cx.now();
    place.happens("e1", "c1").await;
    place.happens("e2", "c1").await;
    let mut attempts = Vec::new();
    while place.stored().await.paused_at.is_none() {
        attempts.extend(place.send().await);
        assert!(attempts.len() < 30, "it goes on for ever: {attempts:?}");
        place.world.clock.advance(Duration::from_secs(1));
        place.world.clock.advance(Duration::from_mins(5));
    }
    let webhook = place.stored().await;
    assert_eq!(webhook.failing_since, Some(began));
    let failed_for = webhook.paused_at.expect("paused").since(began);
    assert!(
        failed_for >= Duration::from_hours(24) && failed_for < Duration::from_hours(26),
        "{failed_for:?}"
    );
    let (first, second) = (place.delivery("e1").await.0, place.delivery("e2").await.0);
    assert_eq!((first.status, first.attempts), (DeliveryStatus::Failed, 11));
    assert_eq!(second.status, DeliveryStatus::Pending);
    // What happens meanwhile waits.
    place.happens("e3", "c3").await;
    place.world.clock.advance(Duration::from_hours(24));
    place.sender.wake().await.expect("woken");
    assert_eq!(place.send().await, Vec::<String>::new());
    place.receiver.always(None);
    place.change(pause(false)).await;
    let mut sent = place.send().await;
    sent.sort();
    assert_eq!(sent, ["e2", "e3"]);
    assert_eq!(place.stored().await.failing_since, None);
}

async fn a_webhook_that_is_gone_is_paused_at_once(store: SqlStore) {
    let place = Place::new(store).await;
    place.receiver.answers(&[410]);
    place.happens("e1", "c1").await;
    assert_eq!(place.send().await, ["e1"]);
    assert_eq!(place.stored().await.paused_at, Some(place.world.cx.now()));
    place.world.clock.advance(Duration::from_hours(1));
    assert_eq!(place.send().await, Vec::<String>::new());
    // By hand, too.
    place.change(pause(false)).await;
    assert_eq!(place.send().await, ["e1"]);
    place.change(pause(true)).await;
    place.happens("e2", "c1").await;
    assert_eq!(place.send().await, Vec::<String>::new());
    let off = |is_active| WebhookChange { is_active: Some(is_active), ..pause(false) };
    place.change(off(false)).await;
    place.happens("e3", "c1").await;
    assert_eq!(place.send().await, Vec::<String>::new());
    place.change(off(true)).await;
    assert_eq!(
        place.send().await,
        ["e2"],
        "nothing was sent while it was off, and what happened then is not"
    );
}

async fn what_was_sent_is_sent_again_on_demand(store: SqlStore) {
    let place = Place::new(store).await;
    place.happens("e1", "c1").await;
    place.happens("e2", "c1").await;
    assert_eq!(place.send().await, ["e1", "e2"]);
    let (hook, id) = (&place.webhook.id, place.id_of("e1").await);
    let again = place.webhooks.replay(Reach::ALL, hook, &id).await.expect("replayed");
    assert_eq!((again.status, again.attempts), (DeliveryStatus::Pending, 0));
    assert_eq!(again.due_at, Some(place.world.cx.now()));
    assert_eq!(place.send().await, ["e1"]);
    assert_eq!(place.delivery("e1").await.1.len(), 2, "earlier attempts stay visible");
    // One that waits is tried at once.
    place.receiver.answers(&[500]);
    place.happens("e3", "c3").await;
    assert_eq!(place.send().await, ["e3"]);
    place.webhooks.replay(Reach::ALL, hook, &place.id_of("e3").await).await.expect("replayed");
    assert_eq!(place.send().await, ["e3"]);
    let unknown = "dnothing".parse().expect("an id");
    for outcome in [
        place.webhooks.replay(Reach::ALL, hook, &unknown).await.map(drop),
        place.webhooks.delivery(Reach::ALL, hook, &unknown).await.map(drop),
    ] {
        assert!(matches!(outcome, Err(WebhookError::DeliveryNotFound)), "{outcome:?}");
    }
    let nobody = place.webhooks.replay(Reach::only(&[]), hook, &id).await;
    assert!(matches!(nobody, Err(WebhookError::NotFound)), "{nobody:?}");
}

async fn a_time_is_sent_again_in_order(store: SqlStore) {
    let place = Place::new(store).await;
    let mut times = Vec::new();
    for (event, status) in [("e1", 204), ("e2", 204), ("e3", 204), ("e4", 204)] {
        place.receiver.answers(&[status]);
        times.push(place.world.cx.now());
        place.happens(event, "c1").await;
        place.send().await;
        place.world.clock.advance(Duration::from_secs(10));
    }
    let range = |from: usize, to: usize, status| ReplayRange {
        from: IsoTime(times[from]),
        to: IsoTime(times[to]),
        status,
    };
    let replay =
        async |range: ReplayRange| place.webhooks.replay_range(Reach::ALL, &place.webhook.id, &range).await;
    assert_eq!(replay(range(1, 3, None)).await.expect("replayed"), 2);
    // What happens meanwhile comes behind.
    place.happens("e5", "c1").await;
    assert_eq!(place.send().await, ["e2", "e3", "e5"]);
    assert_eq!(replay(range(0, 3, Some(DeliveryStatus::Failed))).await.expect("replayed"), 0);
    assert_eq!(replay(range(0, 1, Some(DeliveryStatus::Delivered))).await.expect("replayed"), 1);
    assert_eq!(place.send().await, ["e1"]);
    let nothing = replay(range(2, 2, None)).await;
    assert!(matches!(nothing, Err(WebhookError::RangeEmpty)), "{nothing:?}");
}

async fn only_what_is_subscribed_to_is_sent(store: SqlStore) {
    let place = Place::new(store).await;
    let only =
        WebhookChange { event_types: Some(vec![WebhookEventType::TicketClosed]), ..WebhookChange::default() };
    place.change(only).await;
    place.happens("e1", "c1").await;
    let closed = WebhookEvent { r#type: WebhookEventType::TicketClosed, ..place.event("e2", "c1") };
    let elsewhere = WebhookEvent {
        router_id: "router2".parse().expect("an id"),
        ..WebhookEvent { id: "e3".to_owned(), ..closed.clone() }
    };
    place.fan_out.take(&[&closed, &elsewhere]).await.expect("taken");
    assert_eq!(place.send().await, ["e2"]);
}

async fn a_deleted_webhook_is_sent_nothing(store: SqlStore) {
    let place = Place::new(store).await;
    place.receiver.answers(&[500]);
    place.happens("e1", "c1").await;
    assert_eq!(place.send().await, ["e1"]);
    place.delete().await;
    place.happens("e2", "c1").await;
    place.world.clock.advance(Duration::from_hours(1));
    assert_eq!(place.send().await, Vec::<String>::new());
}

async fn a_webhook_is_tried(store: SqlStore) {
    let place = Place::new(store).await;
    let tried = place.webhooks.test(Reach::ALL, &place.webhook.id).await.expect("tried");
    assert_eq!((tried.event_type, tried.due_at), (WebhookEventType::WebhookTest, Some(place.world.cx.now())));
    assert_eq!(place.send().await, [tried.event_id]);
}

async fn old_deliveries_are_forgotten(store: SqlStore) {
    let place = Place::new(store).await;
    place.happens("e1", "c1").await;
    place.send().await;
    place.world.clock.advance(KEPT_FOR);
    place.happens("e2", "c1").await;
    place.sender.forget().await;
    assert_eq!(place.deliveries().await.len(), 2, "it is kept for so long");
    place.world.clock.advance(Duration::from_millis(1));
    place.sender.forget().await;
    let left: Vec<String> = place.deliveries().await.into_iter().map(|one| one.event_id).collect();
    assert_eq!(left, ["e2"]);
    assert_eq!(place.send().await, ["e2"]);
}

async fn a_sender_that_stops_begins_nothing(store: SqlStore) {
    let place = Place::new(store).await;
    place.happens("e1", "c1").await;
    let stopped = CancellationToken::new();
    stopped.cancel();
    assert_eq!(place.sender.send_due(&stopped).await.expect("stopped"), 0);
    assert_eq!(place.receiver.took(), Vec::<String>::new());
    assert_eq!(place.send().await, ["e1"]);
}

async fn what_was_told_of_a_contact_goes_with_them(store: SqlStore) {
    let place = Place::new(store).await;
    let ana = place.world.add_visitor("ana").await;
    place.world.say("ana", "a1", "my number is 5511987654321").await;
    let chat = place.world.open_chat("ana").await;
    place.happens("e1", chat.as_str()).await;
    place.happens("e2", chat.as_str()).await;
    place.happens("e3", "another").await;
    place.receiver.answers(&[204, 500, 500]);
    place.send().await;
    let mut tx = place.world.store.begin().await.expect("begin");
    tx.contact_catalog().delete(&ana.id).await.expect("deleted");
    tx.commit().await.expect("commit");
    let left: Vec<String> = place.deliveries().await.into_iter().map(|delivery| delivery.event_id).collect();
    assert_eq!(left, ["e3"]);
    place.world.clock.advance(Duration::from_secs(5));
    assert_eq!(place.send().await, ["e3"], "nothing of the contact is sent again");
}

async fn a_secret_that_is_replaced_signs_for_a_while(store: SqlStore) {
    let place = Place::new(store).await;
    let hours = |hours| SecretOverlap::from_hours(hours).expect("an overlap");
    let signed_by = async |event: &str| {
        place.happens(event, "c1").await;
        place.sender.send_due(&CancellationToken::new()).await.expect("sent");
        place.receiver.calls.lock().expect("a lock").remove(0)
    };
    let expected = |call: &Call, secrets: &[&Secret]| {
        let seconds = place.world.cx.now().as_millis() / 1_000;
        let each = secrets.iter().map(|secret| sign(secret, call.event(), seconds, &call.body));
        assert_eq!(call.header("webhook-signature"), each.collect::<Vec<_>>().join(" "));
    };
    let (rotated, second) = place.rotate(hours(2)).await;
    let ends_at = place.world.cx.now() + Duration::from_hours(2);
    assert_eq!((rotated.previous_secret_ends_at, rotated.previous_secret.is_some()), (Some(ends_at), true));
    expected(&signed_by("e1").await, &[&second, &place.secret]);
    place.world.clock.advance(Duration::from_hours(2) - Duration::from_millis(1));
    place.sender.forget().await;
    expected(&signed_by("e2").await, &[&second, &place.secret]);
    place.world.clock.advance(Duration::from_millis(1));
    expected(&signed_by("e3").await, &[&second]);
    place.sender.forget().await;
    let stored = place.stored().await;
    assert_eq!((stored.previous_secret, stored.previous_secret_ends_at), (None, None));
    // Of two that were replaced at once the older signs nothing more.
    let (_, third) = place.rotate(SecretOverlap::default()).await;
    let (_, fourth) = place.rotate(SecretOverlap::default()).await;
    expected(&signed_by("e4").await, &[&fourth, &third]);
    // A change of something else leaves both.
    place.change(pause(false)).await;
    expected(&signed_by("e5").await, &[&fourth, &third]);
    let (rotated, fifth) = place.rotate(SecretOverlap::NONE).await;
    assert_eq!((rotated.previous_secret, rotated.previous_secret_ends_at), (None, None));
    expected(&signed_by("e6").await, &[&fifth]);
}
