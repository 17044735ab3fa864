//! What the provider is told to do wrong, and in which calls.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// A fault of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// The call is refused.
    Refuse {
        /// The code of the error.
        code: i64,
        /// Seconds of a `Retry-After` header.
        #[serde(default)]
        retry_after: Option<u64>,
    },
    /// The call does what it says, and the connection ends without an answer.
    LoseAnswer,
    /// The connection ends, and the call does nothing.
    Drop,
    /// The message is taken, and a status says later that it failed. In a call of another kind it does nothing.
    FailStatus {
        /// The code of the error.
        code: i64,
    },
    /// The answer comes after this time.
    Delay {
        /// Milliseconds.
        millis: u64,
    },
}

/// What a call is about. Read receipts are of no kind: nothing goes wrong with them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// It sends a message.
    #[default]
    Send,
    /// It uploads, deletes or reads a file.
    Media,
    /// It creates or lists templates.
    Template,
    /// It reads or changes a business profile.
    Profile,
    /// It reads or registers the public key of forms.
    Key,
    /// It reads a number, or which apps hear of the account.
    Number,
}

impl CallKind {
    /// Returns the kind of the call at a path of the API. `is_file` says whether an id is that of a file.
    pub(super) fn at(path: &str, is_file: impl FnOnce(&str) -> bool) -> Self {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match segments[..] {
            [_, _, "messages"] => Self::Send,
            [_, _, "message_templates"] => Self::Template,
            [_, _, "whatsapp_business_profile"] => Self::Profile,
            [_, _, "whatsapp_business_encryption"] => Self::Key,
            [_, _, "media"] | ["media", _] => Self::Media,
            [_, id] if is_file(id) => Self::Media,
            _ => Self::Number,
        }
    }
}

/// Faults that wait for their calls.
#[derive(Debug, Default)]
pub(super) struct Faults(VecDeque<(CallKind, Fault)>);

impl Faults {
    pub(super) fn add(&mut self, call: CallKind, fault: Fault) {
        self.0.push_back((call, fault));
    }

    /// Returns what is to go wrong in a call that comes now.
    pub(super) fn next(&mut self, call: CallKind) -> Option<Fault> {
        let first = self.0.iter().position(|(kind, _)| *kind == call)?;
        self.0.remove(first).map(|(_, fault)| fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_what_calls_are_about() {
        for (path, kind) in [
            ("/v24.0/111/messages", CallKind::Send),
            ("/v24.0/900/message_templates", CallKind::Template),
            ("/v24.0/900/subscribed_apps", CallKind::Number),
            ("/v24.0/111/whatsapp_business_profile", CallKind::Profile),
            ("/v24.0/111/whatsapp_business_encryption", CallKind::Key),
            ("/v24.0/111/media", CallKind::Media),
            ("/media/7", CallKind::Media),
            ("/v24.0/7", CallKind::Media),
            ("/v24.0/111", CallKind::Number),
        ] {
            assert_eq!(CallKind::at(path, |id| id == "7"), kind, "{path}");
        }
    }

    #[test]
    fn a_fault_waits_for_a_call_of_its_kind() {
        let mut faults = Faults::default();
        faults.add(CallKind::Key, Fault::Drop);
        faults.add(CallKind::Send, Fault::LoseAnswer);
        faults.add(CallKind::Send, Fault::Drop);
        assert_eq!(faults.next(CallKind::Template), None);
        assert_eq!(faults.next(CallKind::Send), Some(Fault::LoseAnswer));
        assert_eq!(faults.next(CallKind::Send), Some(Fault::Drop));
        assert_eq!(faults.next(CallKind::Key), Some(Fault::Drop));
        assert_eq!(faults.next(CallKind::Key), None);
    }
}
