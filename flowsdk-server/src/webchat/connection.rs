//! A Socket.IO socket as the gateway sees it.

use std::borrow::Cow;
use std::sync::Arc;

use flowsdk_channels::webchat::payload::{ServerEvent, ServerMessage, ServerNotice};
use flowsdk_channels::webchat::{Connection, SendError};
use flowsdk_core::id::RouterId;
use flowsdk_core::media::MediaLinks;
use futures_util::future::BoxFuture;
use serde_json::Value;
use socketioxide::AckError;
use socketioxide::extract::SocketRef;

use crate::socket::emit_checked;

/// A visitor's socket, as the gateway needs it.
#[derive(Debug)]
pub(super) struct SocketConnection {
    pub(super) socket: SocketRef,
    /// The router of the visitor, whose files they are shown.
    pub(super) router: RouterId,
    pub(super) links: Arc<MediaLinks>,
}

impl SocketConnection {
    /// Returns a message with links to its files.
    fn shown<'a>(&self, message: &'a ServerMessage) -> Cow<'a, ServerMessage> {
        if !MediaLinks::concern(&message.content) {
            return Cow::Borrowed(message);
        }
        let mut shown = message.clone();
        self.links.show(&self.router, &mut shown.content);
        Cow::Owned(shown)
    }
}

impl Connection for SocketConnection {
    fn send(&self, message: &ServerMessage) -> Result<(), SendError> {
        emit_checked(&self.socket, ServerEvent::Message.name(), &*self.shown(message)).map_err(|_| SendError)
    }

    fn send_acknowledged(&self, message: &ServerMessage) -> Result<BoxFuture<'static, bool>, SendError> {
        let name = ServerEvent::Message.name();
        let ack = self.socket.emit_with_ack::<_, Value>(name, &*self.shown(message));
        let ack = ack.map_err(|_| SendError)?;
        // An ack without arguments is one, though there is nothing in it to read.
        Ok(Box::pin(async move { matches!(ack.await, Ok(_) | Err(AckError::Decode(_))) }))
    }

    fn notify(&self, notice: &ServerNotice) {
        // A loss is counted there.
        let _lost = emit_checked(&self.socket, notice.name(), notice);
    }

    fn is_connected(&self) -> bool {
        self.socket.connected()
    }

    fn close(&self) {
        if let Err(error) = self.socket.clone().disconnect() {
            tracing::debug!(%error, "a socket was gone before it was closed");
        }
    }
}
