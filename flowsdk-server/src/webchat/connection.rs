//! A Socket.IO socket as the gateway sees it.

use flowsdk_channels::webchat::payload::{ServerMessage, ServerNotice};
use flowsdk_channels::webchat::{Connection, SendError};
use futures_util::future::BoxFuture;
use serde_json::Value;
use socketioxide::AckError;
use socketioxide::extract::SocketRef;

use crate::socket::emit_checked;

/// A visitor's socket, as the gateway needs it.
#[derive(Debug)]
pub(super) struct SocketConnection(pub(super) SocketRef);

impl Connection for SocketConnection {
    fn send(&self, message: &ServerMessage) -> Result<(), SendError> {
        emit_checked(&self.0, "message", message).map_err(|_| SendError)
    }

    fn send_acknowledged(&self, message: &ServerMessage) -> Result<BoxFuture<'static, bool>, SendError> {
        let ack = self.0.emit_with_ack::<_, Value>("message", message).map_err(|_| SendError)?;
        // An ack without arguments is one, though there is nothing in it to read.
        Ok(Box::pin(async move { matches!(ack.await, Ok(_) | Err(AckError::Decode(_))) }))
    }

    fn notify(&self, notice: &ServerNotice) {
        // A loss is counted there.
        let _lost = emit_checked(&self.0, notice.name(), notice);
    }

    fn is_connected(&self) -> bool {
        self.0.connected()
    }

    fn close(&self) {
        if let Err(error) = self.0.clone().disconnect() {
            tracing::debug!(%error, "a socket was gone before it was closed");
        }
    }
}
