//! Messages before which somebody types.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

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
                for member in self.members(session) {
                    member.connection.typing(event.sender.kind);
                }
                tokio::time::sleep(Duration::from_millis(millis).min(LONGEST_TYPING)).await;
            }
            self.emit_now(event);
        }
    }
}
