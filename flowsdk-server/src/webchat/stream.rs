//! `stream:outgoing-chat` between several processes.
//!
//! Every process with sockets follows the stream by itself and emits to the visitors it has; one of
//! them, in the group `webchat`, reports `sent` for each message.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_channels::webchat::{Gateway, StatusSink};
use flowsdk_core::event::{DeliveryStatus, OutgoingEvent, StatusEvent};
use flowsdk_core::stream::broker::{Entry, StreamReader};
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Clock;
use tokio_util::sync::CancellationToken;

/// The consumer group that reports `sent` (spec B 4.2).
pub const SENT_GROUP: &str = "webchat";

/// Entries asked for at once, how long a read waits, and the pause after an error.
const READ_COUNT: usize = 256;
const READ_WAIT: Duration = Duration::from_secs(1);
const ERROR_PAUSE: Duration = Duration::from_millis(500);

/// Emits the events of one partition to the visitors of this process until `stop`.
pub async fn tail_outgoing(
    mut reader: Box<dyn StreamReader>,
    gateway: Arc<Gateway>,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        match reader.read(READ_COUNT, READ_WAIT).await {
            Ok(entries) => emit_all(&gateway, entries),
            Err(error) => pause(&error, &stop).await,
        }
    }
}

fn emit_all(gateway: &Gateway, entries: Vec<Entry>) {
    for entry in entries {
        match serde_json::from_str::<OutgoingEvent>(&entry.payload) {
            Ok(event) => gateway.emit(event),
            Err(error) => tracing::error!(entry = entry.id, %error, "an outgoing event cannot be read"),
        }
    }
}

async fn pause(error: &flowsdk_core::stream::broker::BrokerError, stop: &CancellationToken) {
    tracing::warn!(%error, "the outgoing stream cannot be read");
    tokio::select! {
        () = tokio::time::sleep(ERROR_PAUSE) => {}
        () = stop.cancelled() => {}
    }
}

/// Reports `sent` once for each outgoing message, whichever process has the socket.
#[derive(Debug)]
pub struct SentReporter {
    sink: Arc<dyn StatusSink>,
    clock: Arc<dyn Clock>,
}

impl SentReporter {
    /// A reporter to `sink`.
    pub fn new(sink: Arc<dyn StatusSink>, clock: Arc<dyn Clock>) -> Self {
        Self { sink, clock }
    }
}

#[async_trait]
impl BatchHandler for SentReporter {
    type Event = OutgoingEvent;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<OutgoingEvent, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<OutgoingEvent, ()>]) -> Vec<Verdict<()>> {
        let at = self.clock.now();
        let events: Vec<StatusEvent> = batch
            .iter()
            .map(|work| StatusEvent {
                status: DeliveryStatus::Sent,
                internal_id: Some(work.event().internal_id.clone()),
                channel_message_id: None,
                session_id: Some(work.event().session_id.clone()),
                error: None,
                timestamp: at,
            })
            .collect();
        match self.sink.pass(&events).await {
            Ok(()) => batch.iter().map(|_| Verdict::Done(())).collect(),
            Err(reason) => batch.iter().map(|_| Verdict::transient(reason.as_str())).collect(),
        }
    }
}
