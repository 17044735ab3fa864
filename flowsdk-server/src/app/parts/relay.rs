//! Moves the outbox of every process to Redis, and keeps the streams there short. Without Redis the outbox itself is
//! the stream.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::stream::relay::{Relay, RelayOptions};
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_store::redis::{RedisBroker, TrimPolicy};
use flowsdk_store::sql::SqlBroker;

use super::Part;
use super::conversation::CONVERSATION;
use crate::app::ground::Ground;

const TRIM_PERIOD: Duration = Duration::from_secs(30);

pub(super) const PART: Part =
    Part { role: CONVERSATION, reads: &[], start: |ground| Box::pin(async { start(ground) }) };

#[allow(clippy::unnecessary_wraps, reason = "as every part starts")]
fn start(ground: &mut Ground) -> Result<(), BoxError> {
    if let Some(redis) = ground.redis() {
        relay(ground);
        trim(ground, Arc::clone(redis));
    }
    Ok(())
}

fn relay(ground: &Ground) {
    let source: Arc<dyn Broker> = Arc::new(SqlBroker::outbox((*ground.store).clone()));
    for topic in TopicName::ALL {
        let relay = Relay::new(
            Arc::clone(&source),
            Arc::clone(&ground.broker),
            StreamPartition { topic, index: 0 },
            ground.leases.owner(),
            RelayOptions::default(),
        );
        let relay = Arc::new(relay);
        ground.under_lease(format!("relay:{}", topic.name()), "outbox relay", move |stop| {
            let relay = Arc::clone(&relay);
            async move { relay.run(&stop).await }
        });
    }
}

fn trim(ground: &Ground, broker: Arc<RedisBroker>) {
    ground.every("stream trim", TRIM_PERIOD, move || {
        let broker = Arc::clone(&broker);
        async move {
            // Every gateway reads the answers by itself, and one that stood still reads on where it was.
            let policy = TrimPolicy { followed: &[TopicName::OutgoingChat], ..TrimPolicy::default() };
            if let Err(error) = broker.trim(policy).await {
                tracing::warn!(error = %Chain(&error), "streams were not trimmed");
            }
        }
    });
}
