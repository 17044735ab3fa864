//! Session ids: `wa-<phoneNumberId>-<phoneNumber>`, `wc-<channelId>-<userId>[-ctx<hash>]`,
//! `ig-<igUserId>-<fromId>` (spec A 2.6). The prefix alone selects the channel (spec B 1).

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cell::{Named, TextType};

/// The channels, an exhaustive list (rulings C9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Business messaging addressed by a phone number, prefix `wa-`.
    Phone,
    /// The web chat, prefix `wc-`.
    Webchat,
    /// Direct messages of a social network, prefix `ig-`.
    Social,
}

impl Channel {
    /// Returns the prefix of the channel's session ids.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Phone => "wa-",
            Self::Webchat => "wc-",
            Self::Social => "ig-",
        }
    }
}

/// A text that is not a session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a session id")]
pub struct InvalidSessionId;

/// A session id, parsed once into its parts.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, TextType)]
#[text(
    error = InvalidSessionId,
    schema = "SessionIdText",
    pattern = "^(wa|wc|ig)-[!-~]+$",
    max_length = MAX_LEN,
    example = "wc-cmi7w0q2p00000qx1b3k9z5ra-cmi7w0q2p00000qx1b3k9z5rb"
)]
pub struct SessionId {
    text: Arc<str>,
    /// Where the transport part (phone number id, channel id, account id) ends.
    transport_end: usize,
    /// Where the party (phone number, visitor id, sender id) ends.
    party_end: usize,
}

/// Length of every prefix.
const PREFIX: usize = 3;
/// Hex digits of a context hash.
pub(crate) const CONTEXT_HASH_LEN: usize = 16;
const CONTEXT_MARK: &str = "-ctx";
const MAX_LEN: usize = 320;

/// Where the party ends in `rest` when it carries a context hash.
fn context_mark(rest: &str) -> Option<usize> {
    let at = rest.len().checked_sub(CONTEXT_MARK.len() + CONTEXT_HASH_LEN)?;
    let tail = rest.get(at..)?.strip_prefix(CONTEXT_MARK)?;
    let is_hash = tail.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (at > 0 && is_hash).then_some(at)
}

impl SessionId {
    /// Parses a session id that came from outside.
    pub fn parse(text: impl AsRef<str>) -> Result<Self, InvalidSessionId> {
        let text = text.as_ref();
        if text.len() > MAX_LEN || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(InvalidSessionId);
        }
        let channel = match text.get(..PREFIX) {
            Some("wa-") => Channel::Phone,
            Some("wc-") => Channel::Webchat,
            Some("ig-") => Channel::Social,
            _ => return Err(InvalidSessionId),
        };
        let dash = text[PREFIX..].find('-').ok_or(InvalidSessionId)? + PREFIX;
        let rest = &text[dash + 1..];
        if dash == PREFIX || rest.is_empty() {
            return Err(InvalidSessionId);
        }
        let party = match channel {
            Channel::Webchat => context_mark(rest).unwrap_or(rest.len()),
            Channel::Phone | Channel::Social => rest.len(),
        };
        Ok(Self { transport_end: dash, party_end: dash + 1 + party, text: text.into() })
    }

    /// Returns the session of `visitor` on the webchat channel `channel`; `context_hash` is the fingerprint of an
    /// embed context.
    ///
    /// # Errors
    /// When the parts make no unambiguous id: a channel id with a hyphen, or a visitor id that
    /// looks as if it carried a context hash (it would name another visitor's session).
    pub fn webchat(
        channel: &crate::id::ChannelId,
        visitor: &crate::id::VisitorId,
        context_hash: Option<&str>,
    ) -> Result<Self, InvalidSessionId> {
        if channel.as_str().contains('-') || context_mark(visitor.as_str()).is_some() {
            return Err(InvalidSessionId);
        }
        let suffix = context_hash.map(|hash| format!("{CONTEXT_MARK}{hash}")).unwrap_or_default();
        let id = Self::parse(format!("wc-{channel}-{visitor}{suffix}"))?;
        if id.party() == visitor.as_str() { Ok(id) } else { Err(InvalidSessionId) }
    }

    /// Returns the whole id.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the channel, by the prefix.
    pub fn channel(&self) -> Channel {
        match self.text.as_bytes()[1] {
            b'a' => Channel::Phone,
            b'c' => Channel::Webchat,
            _ => Channel::Social,
        }
    }

    /// Returns the phone number id, webchat channel id or social account id.
    pub fn transport(&self) -> &str {
        &self.text[PREFIX..self.transport_end]
    }

    /// Returns the phone number, visitor id or social sender id.
    pub fn party(&self) -> &str {
        &self.text[self.transport_end + 1..self.party_end]
    }

    /// Returns the fingerprint of the embed context, if any.
    pub fn context_hash(&self) -> Option<&str> {
        self.text.get(self.party_end + CONTEXT_MARK.len()..).filter(|hash| !hash.is_empty())
    }

    /// Returns the contact's unique identity, `Contact.phoneNumber` (spec A 2.4); it never carries the context
    /// suffix (spec B 4.3).
    pub fn contact_identity(&self) -> String {
        match self.channel() {
            Channel::Phone => self.party().to_owned(),
            Channel::Webchat => self.text[..self.party_end].to_owned(),
            Channel::Social => format!("ig-{}", self.party()),
        }
    }

    /// `phoneNumberId` of stream events: `wc-<channelId>` for webchat (spec B 4.2), else the
    /// transport part.
    pub fn phone_number_id(&self) -> &str {
        match self.channel() {
            Channel::Webchat => &self.text[..self.transport_end],
            Channel::Phone | Channel::Social => self.transport(),
        }
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ChannelId, VisitorId};

    #[test]
    fn the_parts_of_each_form() {
        let hash = "0123456789abcdef";
        for (text, channel, transport, party, context, identity, phone_number_id) in [
            ("wa-111-5511999", Channel::Phone, "111", "5511999", None, "5511999", "111"),
            ("wc-cabc-cuser", Channel::Webchat, "cabc", "cuser", None, "wc-cabc-cuser", "wc-cabc"),
            ("wc-cabc-a-b-c", Channel::Webchat, "cabc", "a-b-c", None, "wc-cabc-a-b-c", "wc-cabc"),
            (
                &*format!("wc-cabc-u-ctx{hash}"),
                Channel::Webchat,
                "cabc",
                "u",
                Some(hash),
                "wc-cabc-u",
                "wc-cabc",
            ),
            (
                "wc-cabc-u-ctxshort",
                Channel::Webchat,
                "cabc",
                "u-ctxshort",
                None,
                "wc-cabc-u-ctxshort",
                "wc-cabc",
            ),
            ("ig-17-42", Channel::Social, "17", "42", None, "ig-42", "17"),
        ] {
            let id = SessionId::parse(text).expect(text);
            assert_eq!(
                (id.channel(), id.transport(), id.party(), id.context_hash()),
                (channel, transport, party, context),
                "{text}"
            );
            assert_eq!(
                (&*id.contact_identity(), id.phone_number_id()),
                (identity, phone_number_id),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_session_id_is_refused() {
        for bad in ["", "wc", "wc-", "wc-a", "wc-a-", "wc--u", "xx-a-b", "wa-1-a b", "wc-a-é"] {
            assert_eq!(SessionId::parse(bad), Err(InvalidSessionId), "{bad:?}");
        }
    }

    #[test]
    fn a_visitor_cannot_name_the_context_session_of_another() {
        let channel = ChannelId::parse("cabc").expect("id");
        let visitor = VisitorId::parse("ana-ctx0123456789abcdef").expect("id");
        assert_eq!(SessionId::webchat(&channel, &visitor, None), Err(InvalidSessionId));
        let ana = VisitorId::parse("ana").expect("id");
        let id = SessionId::webchat(&channel, &ana, Some("0123456789abcdef")).expect("id");
        assert_eq!(id.as_str(), "wc-cabc-ana-ctx0123456789abcdef");
    }
}
