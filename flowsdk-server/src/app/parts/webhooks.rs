//! Outgoing webhooks: events become deliveries, and deliveries are sent.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::stream::consumer::ConsumerConfig;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_webhooks::fan_out::{FanOut, WEBHOOKS_GROUP};
use flowsdk_webhooks::sender::Sender;

use super::{Part, Reads};
use crate::app::ground::Ground;
use crate::config::Role;

/// How late what is due is sent.
const SEND_PERIOD: Duration = Duration::from_millis(250);
/// How late what waits for nothing is found.
const WAKE_PERIOD: Duration = Duration::from_secs(10);
const FORGET_PERIOD: Duration = Duration::from_secs(10 * 60);

/// The role of the consumer and the sender.
const WEBHOOKS: Role = Role { names: &["webhooks"], together: None, sections: &[] };

const EVENTS: Reads = Reads { topics: &[TopicName::Webhooks], group: WEBHOOKS_GROUP, watched_as: None };

pub(super) const PART: Part =
    Part { role: WEBHOOKS, reads: &[EVENTS], start: |ground| Box::pin(async { start(ground) }) };

fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let http = ground.http()?;
    let fan_out = FanOut::new(Arc::clone(&ground.store), ground.cx.clone());
    // Its one source of events is the stream.
    drop(ground.consume(
        fan_out,
        &EVENTS,
        ConsumerConfig { max_batch: 128, ..ConsumerConfig::named("webhooks") },
    ));
    let key = Arc::clone(&ground.config.master_key);
    let sender = Arc::new(Sender::new(Arc::clone(&ground.store), ground.cx.clone(), key, http));
    let (due, stop) = (Arc::clone(&sender), ground.supervisor.work.clone());
    ground.every_alone("webhook-sender", "webhook sender", SEND_PERIOD, move || {
        let (sender, stop) = (Arc::clone(&due), stop.clone());
        async move {
            if let Err(error) = sender.send_due(&stop).await {
                tracing::warn!(error = %Chain(&error), "webhooks are sent what is due later");
            }
        }
    });
    let waiting = Arc::clone(&sender);
    ground.every_alone("webhook-wake", "webhook upkeep", WAKE_PERIOD, move || {
        let sender = Arc::clone(&waiting);
        async move {
            if let Err(error) = sender.wake().await {
                tracing::warn!(error = %Chain(&error), "webhooks are looked after later");
            }
        }
    });
    ground.every_alone("webhook-forget", "webhook history", FORGET_PERIOD, move || {
        let sender = Arc::clone(&sender);
        async move { sender.forget().await }
    });
    Ok(())
}
