//! Sockets: Socket.IO protocol 5 over Engine.IO 4.
//!
//! [`builder`] sets the limits of the protocol library consistently, [`in_order()`] handles events in order and bounded,
//! [`emit_checked`] and [`emit_within`] do not lose packets in silence, [`Front`] stands in front of the
//! service. [`client`] is the other side.
//!
//! # Input of a client
//!
//! Verified in `tests/sockets.rs` over websocket and long polling, against socketioxide 0.18.9:
//!
//! | Input | Outcome |
//! |---|---|
//! | More than `max_payload` | Long polling: 413 and the session closes. Websocket: the connection closes. The library's `max_payload` alone covers polling only and leaves websockets at 64 MiB a message; [`builder`] sets both |
//! | JSON of 10,000 levels | The name of the event is read by an iterative skip. The payload is read by `serde_json`, which refuses more than 127 levels: `{ ok: false, code: "invalid_payload" }`, the socket goes on. In `auth`: CONNECT_ERROR `invalid auth payload`. In an ack: [`AckError::Decode`](socketioxide::AckError::Decode). Nobody may turn on serde_json's `unbounded_depth` |
//! | Invalid JSON, an event without a string as its name, an unknown packet type | The connection closes (`parse error`), as in the reference server |
//! | An event name with a JSON escape in it (`"\u0061"`) | The connection closes: the library borrows the name from the packet. Event names are plain ASCII therefore, without `/` and quotes |
//! | Binary attachments | [`Event::attachments`], with placeholders in the arguments. Their sum is bounded by `max_payload`, their number by `max_attachments`; a text packet between them, or bytes nobody announced, closes the connection |
//! | CONNECT to an unknown namespace | CONNECT_ERROR `Invalid namespace`; without any CONNECT the session ends after `connect_timeout` |
//! | An event to a namespace not joined, unknown | Ignored. Known but not joined: the connection closes |
//! | A second CONNECT to the same namespace | Ignored |
//! | An ack id beyond `i64` | The event counts as one without ack |
//! | An ack nobody waits for | Ignored |
//!
//! # Waiting for acks
//!
//! `emit_with_ack` keeps one entry per pending ack in the socket until the answer, or until the sweep that runs when 64
//! entries (then twice the survivors) are there; the future ends after `ack_timeout` (5 s). Abandoned acks are thus
//! bounded by twice the pending ones plus 64. A disconnect does not end the
//! future while anybody holds the socket: it runs into its timeout.
//!
//! # Logging
//!
//! At `debug` the library logs whole packets, `auth` with its secrets among them: keep the targets `socketioxide` and
//! `engineioxide` at `info` or above.

pub mod client;
pub mod emit;
pub mod event;
pub mod front;
pub mod handshakes;
mod in_order;
pub mod ordered;
pub mod transports;

use std::time::Duration;

use socketioxide::{ParserConfig, SocketIo, SocketIoBuilder};

pub use emit::{EmitError, emit_checked, emit_within};
pub use event::{Ack, Event, EventHandler, handler_fn};
pub use front::Front;
pub use handshakes::{HandshakeLimits, Handshakes, Newcomer};
pub use in_order::{InOrder, in_order};
pub use ordered::{OrderedConfig, Pending, attach};
pub use transports::{Transports, close_in_slices};

/// Limits of a socket endpoint.
#[derive(Debug, Clone)]
pub struct SocketLimits {
    /// Bytes of one websocket message, of one polling request body, and of the attachments of one event together.
    pub max_payload: usize,
    /// Packets that may wait for a slow client; see the module [`emit`].
    pub max_buffer_size: usize,
    /// Read buffer of a websocket, allocated for its whole life.
    pub ws_read_buffer_size: usize,
    /// Binary attachments of one event.
    pub max_attachments: usize,
    /// The time between two heartbeats.
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
