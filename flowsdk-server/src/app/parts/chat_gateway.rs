//! The web chat gateway: answers to the visitors of this process, and the statuses of their delivery.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::webchat::{Gateway, StatusQueue, StatusSink, StoreStatuses, StreamStatuses};
use flowsdk_core::conversation::MessagePersister;
use flowsdk_core::fault::BoxError;
use flowsdk_core::stream::broker::{Broker as _, Tails as _};
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_store::redis::RedisBroker;

use super::Part;
use super::webchat::WEBCHAT;
use crate::app::ground::Ground;
use crate::supervisor::Supervisor;
use crate::webchat::tail_outgoing;

/// How often gathered statuses are passed on and deliveries settled.
const STATUS_PERIOD: Duration = Duration::from_millis(100);
const DELIVERY_PERIOD: Duration = Duration::from_millis(100);
/// How long a shutdown waits for acknowledgements that are under way.
const LAST_ACKS: Duration = Duration::from_millis(500);

pub(super) const PART: Part = Part { role: WEBCHAT, reads: &[], start: |ground| Box::pin(start(ground)) };

async fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let sink: Arc<dyn StatusSink> = match ground.redis() {
        Some(_) => Arc::new(StreamStatuses(Arc::clone(&ground.broker))),
        None => Arc::new(StoreStatuses(MessagePersister::new(Arc::clone(&ground.store), ground.cx.clone()))),
    };
    let gateway = Gateway::new(ground.cx.clone(), Arc::new(StatusQueue::new(sink)));
    if let Some(redis) = ground.redis().cloned() {
        follow(redis, ground.supervisor.clone(), &gateway).await?;
    }
    ground.links.gateway = Some(Arc::clone(&gateway));
    periodic(ground, &gateway);
    ground.surface.acts.last.push(Box::pin(async move {
        // Visitors that have not acknowledged by now are given the message again when they are back.
        if tokio::time::timeout(LAST_ACKS, gateway.drain()).await.is_err() {
            tracing::debug!("acknowledgements are still awaited");
        }
        gateway.flush_statuses().await;
    }));
    Ok(())
}

/// Emits the answers that other processes publish to the visitors of this one.
async fn follow(
    redis: Arc<RedisBroker>,
    supervisor: Supervisor,
    gateway: &Arc<Gateway>,
) -> Result<(), BoxError> {
    for index in 0..redis.partitions() {
        let stream = StreamPartition { topic: TopicName::OutgoingChat, index };
        // Open before the first socket joins: events that it does not read from the store come from here.
        let reader = redis.tail(stream).await?;
        let tail = tail_outgoing(reader, Arc::clone(gateway), supervisor.work.clone());
        supervisor.work("webchat outgoing", tail);
    }
    Ok(())
}

fn periodic(ground: &Ground, gateway: &Arc<Gateway>) {
    let statuses = Arc::clone(gateway);
    ground.every("webchat statuses", STATUS_PERIOD, move || {
        let gateway = Arc::clone(&statuses);
        async move { gateway.flush_statuses().await }
    });
    let deliveries = Arc::clone(gateway);
    ground.every("webchat deliveries", DELIVERY_PERIOD, move || {
        deliveries.settle_deliveries();
        async {}
    });
}
