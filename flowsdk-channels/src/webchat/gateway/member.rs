//! A socket in its room, and the messages that it was given.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

use flowsdk_core::id::MessageId;
use flowsdk_core::session::SessionId;

use super::{ChatEvent, Connection};

/// Messages that a socket remembers, so that a repetition of the stream is not shown twice: after a crash
/// the stream may repeat messages of the connection before. More than a replay has.
pub const RECENT: u32 = 256;

/// Events that may wait for a socket while its replay runs. Behind a socket for which more waits its visitor is
/// better served by the store.
pub(super) const MOST_HELD: usize = 256;

/// Whether a client acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acks {
    /// Not known yet; `true` while one message is out to find out.
    Unknown(bool),
    Yes,
}

#[derive(Debug)]
pub(super) struct State {
    /// Events that arrived while the replay runs, at most [`MOST_HELD`]; `None` once the socket is live.
    pub(super) held: Option<VecDeque<ChatEvent>>,
    /// A message did not get through: nothing after it may, or the visitor would miss it for good.
    pub(super) broken: bool,
    /// Digests of the last [`RECENT`] ids, because there is one of these for every socket.
    pub(super) recent: VecDeque<u64>,
    pub(super) acks: Acks,
}

impl State {
    /// Returns whether the socket was given the message.
    pub(super) fn has(&self, message: &MessageId) -> bool {
        self.recent.contains(&digest(message))
    }

    /// Remembers a message as written to the socket.
    pub(super) fn note(&mut self, message: &MessageId) {
        if self.recent.len() >= RECENT as usize {
            self.recent.pop_front();
        }
        self.recent.push_back(digest(message));
    }
}

fn digest(message: &MessageId) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.as_str().hash(&mut hasher);
    hasher.finish()
}

/// A socket in its room.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) session: SessionId,
    pub(super) connection: Arc<dyn Connection>,
    pub(super) state: Mutex<State>,
}
