//! Notices, and messages before which somebody types.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

use flowsdk_core::event::{Notice, NoticeKind};
use flowsdk_core::message::SenderKind;
use flowsdk_core::session::SessionId;

use super::{ChatEvent, Gateway};
use crate::webchat::payload::{ServerNotice, SessionOwner, Typing};

/// Longest time for which somebody types, in milliseconds.
const LONGEST_TYPING_MS: u64 = 60_000;

/// Returns a notice as sockets get it.
pub(super) fn notice_of(notice: &Notice) -> ServerNotice {
    match notice.kind {
        NoticeKind::Typing { typing_ms, by } => typing(by, typing_ms),
        NoticeKind::Session { mode } => ServerNotice::Session(SessionOwner { mode }),
    }
}

fn typing(kind: SenderKind, millis: u64) -> ServerNotice {
    ServerNotice::Typing(Typing { kind, ms: millis.min(LONGEST_TYPING_MS) })
}

impl Gateway {
    /// Emits the waiting events of a session until none is left.
    pub(super) async fn emit_delayed(&self, session: &SessionId) {
        loop {
            let next = {
                let mut delayed = self.delayed.lock().unwrap_or_else(PoisonError::into_inner);
                let next = delayed.get_mut(session).and_then(VecDeque::pop_front);
                if next.is_none() {
                    delayed.remove(session);
                }
                next
            };
            let Some(event) = next else { return };
            if let ChatEvent::Message(message) = &event
                && let Some(millis) = message.typing_ms
            {
                let notice = typing(message.sender.kind, millis);
                self.members(session).iter().for_each(|member| member.connection.notify(&notice));
                tokio::time::sleep(Duration::from_millis(millis.min(LONGEST_TYPING_MS))).await;
            }
            self.emit_now(event);
        }
    }
}
