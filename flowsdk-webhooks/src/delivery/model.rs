//! The delivery.

use std::sync::Arc;

use flowsdk_core::cell::Named;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::event::{WebhookEvent, WebhookEventType};
use flowsdk_core::id::{Id, IdSource};
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::page::Cursor;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::webhook::WebhookId;

/// Identifier of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct DeliveryId(Arc<str>);

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "WebhookDeliveryStatus")]
pub enum DeliveryStatus {
    /// It is to be sent, or sent again.
    Pending,
    /// The webhook has answered with 2xx.
    Delivered,
    /// It was tried for a day, and is given up.
    Failed,
}

/// An event for a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The event: a webhook gets it once. It is the `webhook-id` of every attempt.
    pub event_id: String,
    /// What happened.
    pub event_type: WebhookEventType,
    /// The conversation.
    pub key: String,
    /// Its place among those of the webhook and the conversation. The store gives it.
    pub seq: i64,
    /// What is sent: JSON.
    pub body: String,
    /// What became of it.
    pub status: DeliveryStatus,
    /// How often it was tried since it was made, or replayed.
    pub attempts: i64,
    /// When it is tried next; `None` while another one of the conversation is before it, and when it is over.
    pub due_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
    /// When the event happened.
    pub created_at: Timestamp,
}

impl Delivery {
    /// Returns its place in lists.
    pub fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

/// Returns the delivery of an event to a webhook.
pub fn of_event(event: &WebhookEvent, webhook: &WebhookId, ids: &dyn IdSource) -> Delivery {
    let body = json!({
        "type": event.r#type,
        "timestamp": event.timestamp.to_iso(),
        "routerId": event.router_id,
        "data": event.data,
    });
    Delivery {
        id: DeliveryId::generate(ids),
        webhook_id: webhook.clone(),
        event_id: event.id.clone(),
        event_type: event.r#type,
        key: event.key.clone(),
        seq: 0,
        body: body.to_string(),
        status: DeliveryStatus::Pending,
        attempts: 0,
        due_at: None,
        finished_at: None,
        created_at: event.timestamp,
    }
}

/// A delivery whose time has come, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDelivery {
    /// The delivery.
    pub delivery: Delivery,
    /// The address of the webhook.
    pub url: BaseUrl,
    /// The secret of the webhook.
    pub secret: Encrypted,
    /// The secret before it.
    pub previous_secret: Option<Encrypted>,
    /// From when on the secret before it signs nothing.
    pub previous_secret_ends_at: Option<Timestamp>,
}

impl DueDelivery {
    /// Returns the secrets by which an attempt at `now` is signed, the newest first.
    pub fn secrets_at(&self, now: Timestamp) -> impl Iterator<Item = &Encrypted> {
        let is_in_time = self.previous_secret_ends_at.is_some_and(|end| now < end);
        let previous = self.previous_secret.as_ref().filter(|_| is_in_time);
        std::iter::once(&self.secret).chain(previous)
    }
}

/// An attempt to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the view says it")]
pub struct Attempt {
    pub id: String,
    pub delivery_id: DeliveryId,
    pub status_code: Option<i64>,
    pub error: Option<String>,
    pub answer: Option<String>,
    pub duration_ms: i64,
    pub created_at: Timestamp,
}

impl Attempt {
    /// Returns whether the webhook has taken the delivery.
    pub fn has_succeeded(&self) -> bool {
        self.status_code.is_some_and(|code| (200..300).contains(&code))
    }
}

/// Which deliveries of a webhook are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// In this state.
    pub status: Option<DeliveryStatus>,
}

/// Which deliveries are sent again: those of events that happened in this time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ReplayWebhook)]
pub struct ReplayRange {
    /// From when on.
    pub from: IsoTime,
    /// Until before when.
    pub to: IsoTime,
    /// Only those in this state; all of them when it is absent.
    pub status: Option<DeliveryStatus>,
}

/// An event for a webhook, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = WebhookDelivery)]
pub struct DeliveryView {
    /// The id of the delivery.
    pub id: DeliveryId,
    /// The event: the `webhook-id` of every attempt.
    #[schema(example = "message.received:cmwoxm0000000000000000001")]
    pub event_id: String,
    /// What happened.
    pub event_type: WebhookEventType,
    /// What became of it.
    pub status: DeliveryStatus,
    /// How often it was tried since it was made, or replayed.
    #[schema(minimum = 0, example = 1)]
    pub attempt_count: i64,
    /// When it is tried next; null while another one of the conversation is before it, and when it is over.
    #[schema(required = true)]
    pub next_attempt_at: Option<IsoTime>,
    /// When it was over.
    #[schema(required = true)]
    pub finished_at: Option<IsoTime>,
    /// When the event happened.
    pub created_at: IsoTime,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: delivery.id,
            event_id: delivery.event_id,
            event_type: delivery.event_type,
            status: delivery.status,
            attempt_count: delivery.attempts,
            next_attempt_at: delivery.due_at.map(IsoTime),
            finished_at: delivery.finished_at.map(IsoTime),
            created_at: IsoTime(delivery.created_at),
        }
    }
}

/// An attempt to deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = WebhookAttempt)]
pub struct AttemptView {
    /// The HTTP status of the answer; null without one.
    #[schema(required = true, example = 503)]
    pub status_code: Option<i64>,
    /// Why there was no answer.
    #[schema(required = true, example = "no whole answer in time")]
    pub error: Option<String>,
    /// How the answer begins: 1,000 characters at most.
    #[schema(required = true)]
    pub answer: Option<String>,
    /// How long it took.
    #[schema(minimum = 0, example = 120)]
    pub duration_ms: i64,
    /// When it began.
    pub created_at: IsoTime,
}

impl From<Attempt> for AttemptView {
    fn from(attempt: Attempt) -> Self {
        let Attempt { status_code, error, answer, duration_ms, created_at, .. } = attempt;
        Self { status_code, error, answer, duration_ms, created_at: IsoTime(created_at) }
    }
}

/// An event for a webhook, with what is sent and every attempt.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = WebhookDeliveryDetail)]
pub struct DeliveryDetail {
    /// The delivery.
    pub delivery: DeliveryView,
    /// What is sent.
    #[schema(value_type = Object)]
    pub payload: Value,
    /// Every attempt, the oldest first.
    pub attempts: Vec<AttemptView>,
}

impl From<(Delivery, Vec<Attempt>)> for DeliveryDetail {
    fn from((delivery, attempts): (Delivery, Vec<Attempt>)) -> Self {
        Self {
            payload: serde_json::from_str(&delivery.body).unwrap_or_default(),
            delivery: delivery.into(),
            attempts: attempts.into_iter().map(AttemptView::from).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::context::OpContext;

    use super::*;

    #[test]
    fn the_secret_before_signs_until_it_ends() {
        let sealed = |text: &str| Encrypted::from_stored(text.to_owned());
        let at = |millis| Some(Timestamp::from_millis(millis));
        for (previous, ends_at, signing) in [
            (None, None, &["new"][..]),
            (Some("old"), at(101), &["new", "old"]),
            (Some("old"), at(100), &["new"]),
            (Some("old"), at(99), &["new"]),
            (Some("old"), None, &["new"]),
            (None, at(101), &["new"]),
        ] {
            let due = DueDelivery {
                delivery: of_event(&event(), &"w1".parse().expect("an id"), OpContext::system().ids()),
                url: BaseUrl::parse("https://a.example/hook").expect("an address"),
                secret: sealed("new"),
                previous_secret: previous.map(sealed),
                previous_secret_ends_at: ends_at,
            };
            let found: Vec<&str> =
                due.secrets_at(Timestamp::from_millis(100)).map(Encrypted::as_stored).collect();
            assert_eq!(found, signing, "{previous:?} {ends_at:?}");
        }
    }

    fn event() -> WebhookEvent {
        WebhookEvent {
            id: "e1".to_owned(),
            r#type: WebhookEventType::TicketOpened,
            router_id: "r1".parse().expect("an id"),
            key: "c1".to_owned(),
            timestamp: Timestamp::from_millis(1),
            data: json!({}),
        }
    }
}
