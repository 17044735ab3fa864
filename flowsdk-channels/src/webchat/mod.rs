//! The web chat (spec B 2.1, 3.1, 4.1-4.4).
//!
//! [`Visitors`] recognises a visitor who connects; their message becomes an incoming event by
//! [`inbound`]; messages to them come through the [`Gateway`]. The transport stays outside: a
//! socket is anything that implements [`Connection`].

mod admissions;
pub mod channels;
pub mod client_event;
pub mod context;
pub mod embed;
mod error;
mod gateway;
pub mod inbound;
mod ingress;
mod key_digest;
mod limits;
mod model;
pub mod payload;
mod remembered;
mod repository;
mod statuses;
mod test_chat;
mod visitors;

pub use admissions::{Admission, Admissions};
pub use error::{AUTH_ERROR_MESSAGE, AuthError, UploadError};
pub use gateway::{ChatEvent, Connection, Gateway, RECENT, Seat, SendError};
pub use ingress::{Accepted, DirectIngress, Ingress, IngressError, StreamIngress};
pub use key_digest::key_digest;
pub use limits::{Limits, LimitsConfig};
pub use model::{Purpose, WebchatChannel, WebchatIdentity};
pub use repository::{HasWebchat, WebchatRepository};
pub use statuses::{StatusQueue, StatusSink, StoreStatuses, StreamStatuses};
pub use test_chat::{TestChat, TestChatError, TestTurn};
pub use visitors::{Caller, Handshake, Visitor, Visitors};
