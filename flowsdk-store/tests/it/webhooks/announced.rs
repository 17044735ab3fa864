//! What happens to tickets and messages is announced, where a webhook takes it.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::crypto::Encrypted;
use flowsdk_core::event::WebhookEventType;
use flowsdk_core::id::RouterId;
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_helpdesk::desk::{CloseTicket, ReplyToContact, TransferTicket};
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::queue::ServiceLevel;
use flowsdk_store::sql::SqlStore;
use flowsdk_webhooks::webhook::{Webhook, WebhookId};
use serde_json::Value;

use crate::conversations::world::{MINUTE, World};
use crate::helpdesk::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! {
    a_ticket_is_announced_from_its_beginning_to_its_end,
    transfers_end_a_ticket_and_open_another,
    a_survey_is_announced_once_for_each_answer,
    a_service_level_is_announced_when_it_is_in_danger_and_when_it_is_broken,
    nothing_is_announced_that_nobody_takes,
}

/// Creates a webhook that takes events of a router.
pub(super) async fn subscribe(world: &World, router: &RouterId, events: &[WebhookEventType]) {
    let store = Arc::clone(&world.store);
    let now = world.cx.now();
    let webhook = Webhook {
        id: WebhookId::generate(world.cx.ids()),
        router_id: router.clone(),
        name: "CRM".to_owned(),
        url: BaseUrl::parse("https://crm.example/hook").expect("an address"),
        event_types: events.to_vec(),
        secret: Encrypted::from_stored("sealed".to_owned()),
        previous_secret: None,
        previous_secret_ends_at: None,
        is_active: true,
        paused_at: None,
        failing_since: None,
        created_at: now,
        updated_at: now,
    };
    let mut tx = store.begin().await.expect("begin");
    tx.records().insert(&webhook).await.expect("a webhook");
    tx.commit().await.expect("commit");
    store.learn_webhooks().await.expect("learnt");
}

/// The events since the last look: their types, and what they are about.
pub(super) async fn announced(world: &World) -> Vec<(String, Value)> {
    let events = world.published(TopicName::Webhooks).await;
    let told = |event: Value| (event["type"].as_str().expect("a type").to_owned(), event);
    events.into_iter().map(told).collect()
}

pub(super) fn types(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(kind, _)| kind.as_str()).collect()
}

async fn a_ticket_is_announced_from_its_beginning_to_its_end(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    let of_contact = |event: &&WebhookEventType| event.name().starts_with("contact.");
    let events: Vec<WebhookEventType> =
        WebhookEventType::ALL.iter().filter(|event| !of_contact(event)).copied().collect();
    subscribe(&desk.world, &desk.world.router, &events).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.hand_over("v1", "bill").await.expect("a ticket");
    let events = announced(&desk.world).await;
    // The visitor writes twice and is answered once before people have the conversation.
    let expected = [
        "session.started",
        "message.received",
        "message.sent",
        "message.received",
        "session.owner_changed",
        "ticket.opened",
    ];
    assert_eq!(types(&events), expected);
    assert_eq!(events[0].1["data"]["session"]["mode"], "flow");
    assert_eq!(events[4].1["data"]["session"]["mode"], "human");
    let (first, message) = (&events[0].1, &events[3].1["data"]["message"]);
    assert_eq!(
        (&message["direction"], &message["type"], &message["seq"]),
        (&"in".into(), &"text".into(), &3.into())
    );
    assert_eq!(message["content"]["text"]["body"], "bill");
    assert_eq!(events[5].1["data"]["ticket"]["status"], "waiting");
    assert!(events.iter().all(|(_, event)| event["key"] == first["key"]), "they are of one conversation");
    assert!(events.iter().all(|(_, event)| event["routerId"] == desk.world.router.as_str()));
    let ticket = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    let reply = ReplyToContact::text("Olá");
    desk.desk.reply(desk.by(&eva), &ticket.id, reply, None).await.expect("sent");
    desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    let events = announced(&desk.world).await;
    assert_eq!(types(&events), ["ticket.assigned", "message.sent", "ticket.updated", "ticket.closed"]);
    assert_eq!(events[1].1["data"]["message"]["sender"]["kind"], "human");
    assert!(events[2].1["data"]["ticket"]["firstRepliedAt"].is_string());
    assert_eq!(events[3].1["data"]["ticket"]["closeKind"], "resolved");
    let mut ids: Vec<&Value> = events.iter().map(|(_, event)| &event["id"]).collect();
    ids.sort_by_key(|id| id.to_string());
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

async fn a_survey_is_announced_once_for_each_answer(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, Some("Why?")).await;
    use WebhookEventType::{TicketClosed, TicketUpdated};
    subscribe(&desk.world, &desk.world.router, &[TicketClosed, TicketUpdated]).await;
    desk.resolve("v1", &eva, CloseTicket::default()).await;
    desk.world.clock.advance(Duration::from_secs(1));
    desk.world.say("v1", "number", "4").await;
    let events = desk.events().await;
    for _ in 0..2 {
        desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    }
    assert_eq!(types(&announced(&desk.world).await), ["ticket.closed", "ticket.updated"]);
}

async fn transfers_end_a_ticket_and_open_another(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    use WebhookEventType::{TicketAssigned, TicketClosed, TicketOpened};
    subscribe(&desk.world, &desk.world.router, &[TicketOpened, TicketAssigned, TicketClosed]).await;
    desk.add_queue("q1", LeastLoaded).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ivo = desk.add_agent("ivo", &["q1"]).await;
    desk.online("eva").await;
    let ticket = desk.hand_over("v1", "bill").await.expect("a ticket");
    assert_eq!(types(&announced(&desk.world).await), ["ticket.opened", "ticket.assigned"]);
    let to = TransferTicket { to_user_id: Some(ivo), to_queue_id: None };
    desk.desk.transfer(desk.by(&eva), &ticket.id, to).await.expect("transferred");
    assert_eq!(types(&announced(&desk.world).await), ["ticket.closed", "ticket.opened", "ticket.assigned"]);
}

async fn a_service_level_is_announced_when_it_is_in_danger_and_when_it_is_broken(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    use WebhookEventType::{TicketServiceLevelBreached, TicketServiceLevelWarned};
    subscribe(&desk.world, &desk.world.router, &[TicketServiceLevelWarned, TicketServiceLevelBreached]).await;
    desk.add_queue("q1", ManualPickup).await;
    let level =
        ServiceLevel { first_response_minutes: None, resolution_minutes: Some(10), warn_at_percent: 50 };
    desk.change_queue("q1", |queue| queue.service_level = Some(level)).await;
    desk.hand_over("v1", "bill").await.expect("a ticket");
    for (kind, status) in
        [("ticket.service_level_warned", "warned"), ("ticket.service_level_breached", "breached")]
    {
        desk.world.clock.advance(MINUTE * 5);
        desk.sweep.pass_time().await.expect("swept");
        let events = announced(&desk.world).await;
        assert_eq!(types(&events), [kind]);
        let data = &events[0].1["data"];
        assert_eq!(
            (&data["target"], &data["ticket"]["service"]["resolution"]["status"]),
            (&"resolution".into(), &status.into())
        );
        assert_eq!(events[0].1["timestamp"], desk.world.cx.now().as_millis());
    }
    desk.sweep.pass_time().await.expect("swept");
    assert_eq!(announced(&desk.world).await, []);
}

async fn nothing_is_announced_that_nobody_takes(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.hand_over("v1", "bill").await.expect("a ticket");
    assert_eq!(announced(&desk.world).await, []);
    subscribe(&desk.world, &desk.world.router, &[WebhookEventType::TicketClosed]).await;
    desk.hand_over("v2", "bill").await.expect("a ticket");
    assert_eq!(announced(&desk.world).await, []);
}
