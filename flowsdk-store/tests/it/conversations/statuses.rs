//! Statuses by the ids of a provider, which may be known later than the statuses (rulings C4).

use std::time::Duration;

use flowsdk_core::conversation::MessagePersister;
use flowsdk_core::event::{DeliveryStatus, StatusEvent};
use flowsdk_core::id::MessageId;
use flowsdk_core::message::{Message, MessageStatus, StatusError};
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::SqlStore;

use super::identities::Phone;
use super::world::{MINUTE, NOW, World};
use crate::support::databases::on_every_database;

on_every_database! {
    statuses_in_any_order_come_to_the_same,
    a_failure_keeps_its_code,
    a_status_of_nobodys_message_is_dropped_after_a_while,
    the_first_provider_id_of_a_message_counts,
    what_one_business_says_of_anothers_message_counts_for_nothing,
}

struct Reports {
    world: World,
    persister: MessagePersister<SqlStore>,
    sent: u32,
}

impl Reports {
    async fn new(store: SqlStore) -> Self {
        let world = World::new(store).await;
        let persister = MessagePersister::new(world.store.clone(), world.cx.clone());
        Self { world, persister, sent: 0 }
    }

    /// A message to the contact.
    async fn message(&mut self) -> MessageId {
        self.sent += 1;
        let event = self.world.text("ana", &format!("m{}", self.sent), "oi");
        self.world.handle(event).await.outgoing[0].internal_id.clone()
    }

    async fn row(&self, id: &MessageId) -> Message {
        let chat = self.world.open_chat("ana").await;
        let found = self.world.history(&chat).await.into_iter().find(|message| message.id == *id);
        found.expect("a message")
    }

    async fn apply(&self, events: &[StatusEvent]) {
        self.persister.apply(&events.iter().collect::<Vec<_>>()).await.expect("applied");
    }
}

/// What the provider tells, which knows its own id alone.
fn told(provider: &str, status: DeliveryStatus, at: i64) -> StatusEvent {
    StatusEvent {
        phone_number_id: None,
        status,
        internal_id: None,
        channel_message_id: Some(provider.to_owned()),
        session_id: None,
        error: None,
        timestamp: Timestamp::from_millis(NOW + at),
    }
}

/// What the sender tells, which learned the provider's id.
fn sent(id: &MessageId, provider: &str) -> StatusEvent {
    StatusEvent { internal_id: Some(id.clone()), ..told(provider, DeliveryStatus::Sent, 1) }
}

async fn statuses_in_any_order_come_to_the_same(store: SqlStore) {
    let mut reports = Reports::new(store).await;
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for together in [false, true] {
            let id = reports.message().await;
            let provider = format!("wamid.{}", reports.sent);
            let events = [
                sent(&id, &provider),
                told(&provider, DeliveryStatus::Delivered, 2),
                told(&provider, DeliveryStatus::Read, 3),
            ];
            let events = order.map(|at: usize| events[at].clone());
            if together {
                reports.apply(&events).await;
            } else {
                for event in &events {
                    // Twice, as everything that comes at least once.
                    reports.apply(std::slice::from_ref(event)).await;
                    reports.apply(std::slice::from_ref(event)).await;
                }
            }
            let row = reports.row(&id).await;
            let found = (row.status, row.provider_id.as_deref(), row.status_updated_at.as_millis());
            let read = (Some(MessageStatus::Read), Some(&*provider), NOW + 3);
            assert_eq!(found, read, "{order:?}, together: {together}");
        }
    }
}

async fn a_failure_keeps_its_code(store: SqlStore) {
    let mut reports = Reports::new(store).await;
    let error = StatusError { code: 131_026, title: Some("Message undeliverable 👋".to_owned()) };
    let failed = |provider: &str| StatusEvent {
        error: Some(error.clone()),
        ..told(provider, DeliveryStatus::Failed, 2)
    };
    for early in [true, false] {
        let id = reports.message().await;
        let provider = format!("wamid.{early}");
        let mut events = [failed(&provider), sent(&id, &provider)];
        if !early {
            events.reverse();
        }
        for event in events {
            reports.apply(&[event]).await;
        }
        reports.apply(&[told(&provider, DeliveryStatus::Delivered, 3)]).await;
        let row = reports.row(&id).await;
        assert_eq!((row.status, row.error), (Some(MessageStatus::Failed), Some(error.clone())), "{early}");
    }
    // What was delivered did not fail, whatever is said of it.
    let id = reports.message().await;
    reports.apply(&[sent(&id, "w"), told("w", DeliveryStatus::Delivered, 2), failed("w")]).await;
    let row = reports.row(&id).await;
    assert_eq!((row.status, row.error), (Some(MessageStatus::Delivered), None));
}

async fn a_status_of_nobodys_message_is_dropped_after_a_while(store: SqlStore) {
    let mut reports = Reports::new(store).await;
    let (old, young) = (reports.message().await, reports.message().await);
    reports.apply(&[told("old", DeliveryStatus::Read, 2)]).await;
    reports.world.clock.advance(9 * MINUTE);
    reports.apply(&[told("young", DeliveryStatus::Read, 2)]).await;
    reports.world.clock.advance(MINUTE + Duration::from_secs(1));
    reports.apply(&[told("other", DeliveryStatus::Read, 2)]).await;
    reports.apply(&[sent(&old, "old"), sent(&young, "young")]).await;
    assert_eq!(reports.row(&old).await.status, Some(MessageStatus::Sent));
    assert_eq!(reports.row(&young).await.status, Some(MessageStatus::Read));
}

async fn the_first_provider_id_of_a_message_counts(store: SqlStore) {
    let mut reports = Reports::new(store).await;
    let id = reports.message().await;
    reports.apply(&[sent(&id, "one")]).await;
    reports.apply(&[sent(&id, "two"), told("one", DeliveryStatus::Read, 2)]).await;
    let row = reports.row(&id).await;
    assert_eq!((row.provider_id.as_deref(), row.status), (Some("one"), Some(MessageStatus::Read)));
    // A report on a message that is not there changes nothing, and is no error.
    reports.apply(&[sent(&"nobody".parse().expect("an id"), "three")]).await;
    reports.apply(&[told("three", DeliveryStatus::Read, 2)]).await;
}

/// Both have an app that signs deliveries: what one of them says of a message of the other is left out, whichever id names
/// it, and whether it comes before the id is known or after it.
async fn what_one_business_says_of_anothers_message_counts_for_nothing(store: SqlStore) {
    let phone = Phone::new(store).await;
    let persister = MessagePersister::new(phone.world.store.clone(), phone.world.cx.clone());
    for (nth, early) in [true, false].into_iter().enumerate() {
        let answered = phone.says("wa-111-5511987654321", &format!("wamid.in.{nth}"), &[], None).await;
        let (id, provider) = (answered.outgoing[0].internal_id.clone(), format!("wamid.out.{nth}"));
        let said = |number: &str, internal: bool| StatusEvent {
            internal_id: internal.then(|| id.clone()),
            phone_number_id: Some(number.to_owned()),
            ..told(&provider, DeliveryStatus::Read, 2)
        };
        let ours = sent(&id, &provider);
        let foreign = [said("222", false), said("222", true)];
        let order = if early { [&foreign[..], &[ours]].concat() } else { [&[ours], &foreign[..]].concat() };
        for event in &order {
            persister.apply(&[event]).await.expect("applied");
        }
        assert_eq!(phone.status(&id).await, Some(MessageStatus::Sent), "early: {early}");
        persister.apply(&[&said("111", early)]).await.expect("applied");
        assert_eq!(phone.status(&id).await, Some(MessageStatus::Read), "early: {early}");
    }
}
