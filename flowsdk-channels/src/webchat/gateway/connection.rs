//! A socket, as the gateway needs it.

use std::time::Duration;

use flowsdk_core::message::SenderKind;
use futures_util::future::BoxFuture;

use crate::webchat::payload::ServerMessage;

/// A packet was not taken by the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the socket takes no more")]
pub struct SendError;

/// A socket of a visitor.
pub trait Connection: Send + Sync + std::fmt::Debug {
    /// Writes a message, without asking for an acknowledgement.
    fn send(&self, message: &ServerMessage) -> Result<(), SendError>;

    /// Writes a message; the future says whether the client acknowledged it in time.
    fn send_acknowledged(&self, message: &ServerMessage) -> Result<BoxFuture<'static, bool>, SendError>;

    /// Shows that somebody types, for at most `longest`; lost without harm.
    fn typing(&self, kind: SenderKind, longest: Duration);

    /// Returns whether it is still connected.
    fn is_connected(&self) -> bool;

    /// Closes it; the client connects again and gets the messages that it missed.
    fn close(&self);
}
