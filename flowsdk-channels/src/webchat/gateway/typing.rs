//! Messages before which somebody types, and answers that are being prepared.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

use flowsdk_core::event::TypingEvent;
use flowsdk_core::message::SenderKind;
use flowsdk_core::session::SessionId;

use super::Gateway;

/// Longest time for which somebody types before a message.
const LONGEST_TYPING: Duration = Duration::from_secs(60);

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
            if let Some(millis) = event.typing_ms {
                let pause = Duration::from_millis(millis).min(LONGEST_TYPING);
                self.show_typing(session, event.sender.kind, pause);
                tokio::time::sleep(pause).await;
            }
            self.emit_now(event);
        }
    }

    /// Shows the visitor that an answer is being prepared.
    pub fn prepare(&self, event: &TypingEvent) {
        let longest = Duration::from_millis(event.typing_ms).min(LONGEST_TYPING);
        self.show_typing(&event.session_id, SenderKind::Flow, longest);
    }

    fn show_typing(&self, session: &SessionId, kind: SenderKind, longest: Duration) {
        for member in self.members(session) {
            member.connection.typing(kind, longest);
        }
    }
}
