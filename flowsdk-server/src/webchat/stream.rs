//! `stream:outgoing-chat` between several processes.
//!
//! Every process with sockets follows the stream by itself and emits to the visitors it has.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::webchat::{ChatEvent, Gateway};
use flowsdk_core::stream::broker::{Entry, StreamReader};
use tokio_util::sync::CancellationToken;

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
        match ChatEvent::parse(&entry.payload) {
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
