//! Notices between the messages of `stream:outgoing-chat`.

use serde::{Deserialize, Serialize};

use crate::message::SenderKind;
use crate::session::{Mode, SessionId};
use crate::time::Timestamp;

/// Something that the sockets of a session are told beside its messages. It is stored nowhere else, and may be lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The id of the session.
    pub session_id: SessionId,
    /// When it was produced.
    pub timestamp: Timestamp,
    /// What they are told; its `kind` tells the notice from a message.
    #[serde(flatten)]
    pub kind: NoticeKind,
}

/// What a [`Notice`] tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum NoticeKind {
    /// An answer is being prepared.
    Typing {
        /// Milliseconds after which no answer is expected any more.
        typing_ms: u64,
        /// Who prepares it. Absent in notices of older processes, where it was always the flow.
        #[serde(default = "flow")]
        by: SenderKind,
    },
    /// The conversation has another owner.
    Session {
        /// The owner; `None` once the session has ended.
        mode: Option<Mode>,
    },
}

impl NoticeKind {
    /// Says that an answer is being prepared from `now` until `end`.
    pub fn typing(by: SenderKind, now: Timestamp, end: Timestamp) -> Self {
        let millis = end.as_millis().saturating_sub(now.as_millis());
        Self::Typing { typing_ms: u64::try_from(millis).unwrap_or(0), by }
    }
}

fn flow() -> SenderKind {
    SenderKind::Flow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_of_an_older_process_is_the_flows() {
        let typing = |text: &str| serde_json::from_str::<NoticeKind>(text).expect("a notice");
        assert_eq!(
            typing(r#"{ "kind": "typing", "typingMs": 5 }"#),
            NoticeKind::Typing { typing_ms: 5, by: SenderKind::Flow }
        );
        let human = NoticeKind::Typing { typing_ms: 5, by: SenderKind::Human };
        assert_eq!(typing(&serde_json::to_string(&human).expect("JSON")), human);
    }
}
