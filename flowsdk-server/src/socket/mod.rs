//! Sockets: Socket.IO protocol 5 over Engine.IO 4.
//!
//! [`builder`] sets the limits of the protocol library consistently, [`ordered`] handles events in order and bounded,
//! [`emit_checked`] and [`emit_within`] do not lose packets in silence.

pub mod emit;
pub mod event;
pub mod ordered;
pub mod polls;

use std::time::Duration;

use socketioxide::{ParserConfig, SocketIo, SocketIoBuilder};

pub use emit::{EmitError, emit_checked, emit_within};
pub use event::{Ack, Event, EventHandler, handler_fn};
pub use ordered::{InOrder, OrderedConfig, Pending, attach, in_order};
pub use polls::CloseAbandonedPolls;

/// Limits of a socket endpoint.
#[derive(Debug, Clone)]
pub struct SocketLimits {
    /// Bytes of one websocket message, of one polling request body, and of the attachments of one event together.
    pub max_payload: usize,
    /// Packets that may wait for a slow client; see [`emit`](self::emit).
    pub max_buffer_size: usize,
    /// Read buffer of a websocket, allocated for its whole life.
    pub ws_read_buffer_size: usize,
    /// Binary attachments of one event.
    pub max_attachments: usize,
    /// Time between heartbeats.
    pub ping_interval: Duration,
    /// Time a client has to answer a heartbeat.
    pub ping_timeout: Duration,
    /// Time between the open connection and the CONNECT packet.
    pub connect_timeout: Duration,
}

impl Default for SocketLimits {
    fn default() -> Self {
        Self {
            max_payload: 100_000,
            max_buffer_size: 128,
            ws_read_buffer_size: 1024,
            max_attachments: 4,
            ping_interval: Duration::from_secs(25),
            ping_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(20),
        }
    }
}

/// A builder of the protocol library on which every size limit is set, to be completed with the path and an adapter.
pub fn builder(limits: &SocketLimits) -> SocketIoBuilder {
    SocketIo::builder()
        .max_payload(limits.max_payload as u64)
        .ws_max_message_size(limits.max_payload)
        .ws_max_frame_size(limits.max_payload)
        .ws_read_buffer_size(limits.ws_read_buffer_size)
        .max_buffer_size(limits.max_buffer_size)
        .ping_interval(limits.ping_interval)
        .ping_timeout(limits.ping_timeout)
        .connect_timeout(limits.connect_timeout)
        .with_parser(
            ParserConfig::common()
                .max_incoming_binary_buf_size(limits.max_payload)
                .max_incoming_binaries(limits.max_attachments)
                .packet_completion_timeout(Duration::from_secs(10)),
        )
}
