//! The row of a file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::MediaKind;
use crate::cell::Named;
use crate::context::OpContext;
use crate::id::{Id, MessageId, RouterId};
use crate::message::IncomingMedia;
use crate::session::SessionId;
use crate::time::Timestamp;

/// Identifier of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct MediaId(Arc<str>);

/// Where a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "MediaOrigin")]
pub enum MediaOrigin {
    /// A contact sent it over a channel with a provider, which keeps its content for some days.
    Contact,
    /// A visitor of the web chat uploaded it.
    Visitor,
    /// It was uploaded to be sent.
    Upload,
}

/// How the content of a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "MediaStatus")]
pub enum MediaStatus {
    /// It is not here yet.
    Pending,
    /// It is here.
    Stored,
    /// It could not be fetched, and is not tried again.
    Failed,
    /// It was deleted, by somebody or because its time was over.
    Expired,
}

/// Why the content of a file could not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
#[named(schema = "MediaFailure")]
pub enum MediaFailure {
    /// The provider has it no more.
    Gone,
    /// It is larger than what is kept.
    TooLarge,
    /// Its digest is not the one that the provider tells.
    Damaged,
    /// The provider refuses it.
    Refused,
    /// It could not be fetched for as long as the provider keeps it.
    Unreachable,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaFile {
    /// Its id; its content goes by the same.
    pub id: MediaId,
    /// The router in whose conversations it is; `None` once that is deleted.
    pub router_id: Option<RouterId>,
    /// The message that brought it. `None` of one that is to be sent, or whose message is deleted.
    pub message_id: Option<MessageId>,
    /// The session of the sender.
    pub session_id: Option<SessionId>,
    /// Where it comes from.
    pub origin: MediaOrigin,
    /// What it is.
    pub kind: MediaKind,
    /// Its media type, such as `image/jpeg`.
    pub mime_type: Option<String>,
    /// Its name, for people to read. It is no path.
    pub filename: Option<String>,
    /// Bytes of its content.
    pub size: Option<u64>,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: Option<String>,
    /// How its content stands.
    pub status: MediaStatus,
    /// Why it could not be fetched.
    pub failure: Option<MediaFailure>,
    /// The provider's id of it.
    pub provider_id: Option<String>,
    /// The provider's id of the number that it came to.
    pub phone_number_id: Option<String>,
    /// How often it was tried to fetch it.
    pub attempts: u32,
    /// When it is tried next; `None`, if it is not.
    pub due_at: Option<Timestamp>,
    /// When it came.
    pub created_at: Timestamp,
    /// When its status last changed.
    pub updated_at: Timestamp,
}

/// Most characters of a file name that are kept.
pub const MAX_FILENAME: usize = 255;
/// Most characters of a media type that are kept.
const MAX_TYPE: usize = 127;

impl MediaFile {
    /// Returns a file without a content, which nobody is to fetch.
    pub fn new(cx: &OpContext, router_id: RouterId, origin: MediaOrigin, kind: MediaKind) -> Self {
        let now = cx.now();
        Self {
            id: MediaId::generate(cx.ids()),
            router_id: Some(router_id),
            message_id: None,
            session_id: None,
            origin,
            kind,
            mime_type: None,
            filename: None,
            size: None,
            sha256: None,
            status: MediaStatus::Pending,
            failure: None,
            provider_id: None,
            phone_number_id: None,
            attempts: 0,
            due_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the file of a message by phone, which is to be fetched.
    pub fn received(
        cx: &OpContext,
        router_id: RouterId,
        (message_id, session_id): (MessageId, SessionId),
        (kind, told): (MediaKind, &IncomingMedia),
        at: Timestamp,
    ) -> Self {
        let name = told.rest.get("filename").and_then(serde_json::Value::as_str);
        Self {
            message_id: Some(message_id),
            mime_type: told.mime_type.as_deref().and_then(plain_type),
            filename: name.map(clean_filename),
            provider_id: Some(told.id.clone()),
            phone_number_id: Some(session_id.transport().to_owned()),
            session_id: Some(session_id),
            due_at: Some(at),
            created_at: at,
            updated_at: at,
            ..Self::new(cx, router_id, MediaOrigin::Contact, kind)
        }
    }

    /// Returns whether its content can be read, by whoever may see the file.
    pub fn is_there(&self) -> bool {
        let is_orphan = self.origin == MediaOrigin::Contact && self.message_id.is_none();
        self.status == MediaStatus::Stored && !is_orphan
    }
}

/// Returns a media type without its parameters, in lower case; `None`, if the text is none.
pub fn plain_type(text: &str) -> Option<String> {
    let plain = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+/".contains(&byte);
    let is_type = plain.len() <= MAX_TYPE && plain.bytes().all(is_letter);
    (is_type && plain.split('/').count() == 2).then_some(plain)
}

/// Returns a file name as it is kept and shown: its last part, without characters that end a line or a header.
pub fn clean_filename(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control() && *c != '"').take(MAX_FILENAME).collect();
    let kept = kept.trim().trim_start_matches('.').trim();
    if kept.is_empty() { "file".to_owned() } else { kept.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_paths() {
        for (name, kept) in [
            ("nota.pdf", "nota.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\temp\\a b.doc", "a b.doc"),
            ("..", "file"),
            ("", "file"),
            (".env", "env"),
            ("a\r\nb\".txt", "ab.txt"),
            ("ação ☕.png", "ação ☕.png"),
        ] {
            assert_eq!(clean_filename(name), kept, "{name:?}");
        }
        assert_eq!(clean_filename(&"x".repeat(300)).len(), MAX_FILENAME);
    }

    #[test]
    fn types_have_no_parameters() {
        for (text, plain) in [
            ("audio/ogg; codecs=opus", Some("audio/ogg")),
            ("Image/PNG", Some("image/png")),
            ("image", None),
            ("a/b/c", None),
            ("text/html\r\nx: y", None),
            ("", None),
        ] {
            assert_eq!(plain_type(text).as_deref(), plain, "{text:?}");
        }
    }
}
