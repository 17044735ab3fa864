//! The credentials of a visitor who comes back.

use serde::Deserialize;
use serde_json::json;

/// A visitor of an open channel, and the key that proves it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Known {
    pub(crate) user_id: String,
    pub(crate) session_key: String,
}

impl Known {
    /// Reads the payload of `auth_ok`; `None` where it gives no key.
    pub(crate) fn of(auth_ok: &str) -> Option<Self> {
        serde_json::from_str(auth_ok).ok()
    }

    /// Returns the `auth` with which the visitor comes back.
    pub(crate) fn auth(&self, channel: &str) -> String {
        json!({ "channelId": channel, "userId": self.user_id, "sessionKey": self.session_key }).to_string()
    }

    /// Returns the same visitor with a key of the same length that is wrong in its last character.
    pub(crate) fn with_wrong_key(&self) -> Self {
        let mut session_key = self.session_key.clone();
        let last = session_key.pop();
        session_key.push(if last == Some('0') { '1' } else { '0' });
        Self { user_id: self.user_id.clone(), session_key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_sent_back_and_made_wrong() {
        let known = Known::of(r#"{"userId":"u1","sessionKey":"abc0","channelName":"x"}"#).expect("a key");
        assert_eq!(Known::of(&known.auth("c1")), Some(known.clone()));
        assert_eq!(known.with_wrong_key().session_key, "abc1");
        assert_eq!(known.with_wrong_key().with_wrong_key(), known);
        assert_eq!(Known::of(r#"{"userId":"u1","sessionKey":null}"#), None);
    }
}
