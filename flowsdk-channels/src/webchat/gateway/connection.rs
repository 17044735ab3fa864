//! A socket, as the gateway needs it.

use futures_util::future::BoxFuture;

use crate::webchat::payload::{ServerMessage, ServerNotice};

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

    /// Writes a notice; it may be lost.
    fn notify(&self, notice: &ServerNotice);

    /// Returns whether it is still connected.
    fn is_connected(&self) -> bool;

    /// Closes it; the client connects again and gets the messages that it missed.
    fn close(&self);
}
