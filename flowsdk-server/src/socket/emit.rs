//! Emits that are never lost in silence.
//!
//! The socket library drops a packet when the socket's outgoing buffer is full and says so only in a return value that
//! is easy to `.ok()`. These functions count every loss (`flowsdk_socket_emit_failed_total{reason}`) and return it in a
//! `#[must_use]` error. `socket.disconnect()` cannot help a full socket either: it needs a free place for its own
//! packet. Such a socket ends by itself at the next heartbeat, which treats a full buffer as a dead client.

use std::time::Duration;

use serde::Serialize;
use socketioxide::{SendError, SocketError, adapter::Adapter, socket::Socket};
use tokio::time::Instant;

/// Why a packet did not reach the outgoing buffer of a socket.
#[derive(Debug, thiserror::Error)]
#[must_use = "the packet was not sent"]
pub enum EmitError {
    /// The client reads too slowly: `max_buffer_size` packets wait already.
    #[error("the outgoing buffer of the socket is full")]
    Full,
    /// The socket is gone.
    #[error("the socket is closed")]
    Closed,
    /// The payload does not serialise.
    #[error("the payload does not serialise: {0}")]
    Encode(String),
}

impl EmitError {
    /// Short name, used as a metric label.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Closed => "closed",
            Self::Encode(_) => "encode",
        }
    }

    pub(super) fn counted(error: SendError) -> Self {
        let error = match error {
            SendError::Socket(SocketError::InternalChannelFull) => Self::Full,
            SendError::Socket(SocketError::Closed) => Self::Closed,
            SendError::Serialize(error) => Self::Encode(error.to_string()),
        };
        metrics::counter!("flowsdk_socket_emit_failed_total", "reason" => error.reason()).increment(1);
        error
    }
}

/// Emits one event, or says why not.
///
/// `Ok` means the packet is in the buffer of the socket, not that the client has it: ask for an ack when that matters.
///
/// # Errors
/// See [`EmitError`].
pub fn emit_checked<A: Adapter, T: Serialize + ?Sized>(
    socket: &Socket<A>,
    event: &str,
    data: &T,
) -> Result<(), EmitError> {
    socket.emit(event, data).map_err(|error| {
        let error = EmitError::counted(error);
        tracing::debug!(sid = %socket.id, event, %error, "emit failed");
        error
    })
}

/// Emits one event and waits up to `patience` for room in the buffer: for replays, which come in bursts.
///
/// # Errors
/// [`EmitError::Full`] when there is still no room after `patience`, otherwise as [`emit_checked`].
pub async fn emit_within<A: Adapter, T: Serialize + ?Sized>(
    socket: &Socket<A>,
    event: &str,
    data: &T,
    patience: Duration,
) -> Result<(), EmitError> {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        match socket.emit(event, data) {
            Ok(()) => return Ok(()),
            Err(SendError::Socket(SocketError::InternalChannelFull)) if Instant::now() + pause < deadline => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_millis(50));
            }
            Err(error) => return Err(EmitError::counted(error)),
        }
    }
}
