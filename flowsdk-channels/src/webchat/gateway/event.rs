//! What the gateway passes on to sockets, in the order of its session.

use flowsdk_core::event::{Notice, OutgoingEvent};
use flowsdk_core::session::SessionId;

/// An entry of `stream:outgoing-chat`.
#[derive(Debug, Clone)]
pub enum ChatEvent {
    /// A message.
    Message(Box<OutgoingEvent>),
    /// Something that sockets are told beside the messages.
    Notice(Notice),
}

impl ChatEvent {
    /// Reads the payload of an entry.
    ///
    /// # Errors
    /// It is neither; the reason why it is no message.
    pub fn parse(payload: &str) -> Result<Self, serde_json::Error> {
        match serde_json::from_str(payload) {
            Ok(message) => Ok(Self::Message(Box::new(message))),
            // Notices are rare, so they are tried last.
            Err(error) => serde_json::from_str(payload).map(Self::Notice).map_err(|_| error),
        }
    }

    pub(super) fn session(&self) -> &SessionId {
        match self {
            Self::Message(event) => &event.session_id,
            Self::Notice(notice) => &notice.session_id,
        }
    }

    /// For how long somebody types before it, in milliseconds.
    pub(super) fn typing_ms(&self) -> Option<u64> {
        match self {
            Self::Message(event) => event.typing_ms,
            Self::Notice(_) => None,
        }
    }

    /// Nobody types before it any more.
    pub(super) fn hurry(&mut self) {
        if let Self::Message(event) = self {
            event.typing_ms = None;
        }
    }
}
