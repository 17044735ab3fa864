//! From a client's event to an incoming message (spec B 4.2).

use flowsdk_core::context::OpContext;
use flowsdk_core::id::{IdSource, MessageId};
use flowsdk_core::media::{MediaFile, MediaId, MediaKind, MediaOrigin};
use flowsdk_core::message::{
    IncomingContent, IncomingInteractive, IncomingMedia, IncomingMessage, Known, Reply, TextBody,
};
use flowsdk_core::session::SessionId;
use flowsdk_core::text::Text;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client_event::{InteractivePayload, MediaPayload, ReadPayload, ReplyType, TextPayload};

/// Longest text, in characters.
pub const MAX_TEXT_CHARS: usize = 4_096;
/// Longest id or title of a tapped button or row, in characters.
const MAX_REPLY_CHARS: usize = 256;
/// Longest text below a file, in characters.
const MAX_CAPTION_CHARS: usize = 1_024;
/// Longest `clientMessageId`, in bytes.
const MAX_CLIENT_ID_BYTES: usize = 64;

/// The reason why a client's event is not a message; answered as `{ ok: false, code, message }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InboundError {
    /// Not of the event's shape.
    #[error("Conteúdo inválido")]
    PayloadInvalid,
    /// The text has nothing but blanks.
    #[error("Mensagem vazia")]
    TextEmpty,
    /// More than 4,096 characters.
    #[error("Mensagem longa demais (máximo de 4096 caracteres)")]
    TextTooLong,
    /// `clientMessageId` is not usable.
    #[error("clientMessageId inválido")]
    ClientMessageIdInvalid,
    /// The text below a file has more than 1,024 characters.
    #[error("Legenda longa demais (máximo de 1024 caracteres)")]
    CaptionTooLong,
    /// No file that the visitor has uploaded.
    #[error("Arquivo não encontrado")]
    MediaUnknown,
}

impl InboundError {
    /// Returns the stable code for clients.
    pub const fn code(self) -> &'static str {
        match self {
            Self::PayloadInvalid => "payload_invalid",
            Self::TextEmpty => "text_empty",
            Self::TextTooLong => "text_too_long",
            Self::ClientMessageIdInvalid => "client_message_id_invalid",
            Self::CaptionTooLong => "caption_too_long",
            Self::MediaUnknown => "media_unknown",
        }
    }

    /// The reason, in the languages of the API.
    pub fn text(self) -> Text {
        match self {
            Self::PayloadInvalid => Text::new("Conteúdo inválido", "Invalid content"),
            Self::TextEmpty => Text::new("Mensagem vazia", "Empty message"),
            Self::TextTooLong => Text::new(
                "Mensagem longa demais (máximo de 4096 caracteres)",
                "Message too long (at most 4096 characters)",
            ),
            Self::ClientMessageIdInvalid => Text::new("clientMessageId inválido", "Invalid clientMessageId"),
            Self::CaptionTooLong => Text::new(
                "Legenda longa demais (máximo de 1024 caracteres)",
                "Caption too long (at most 1024 characters)",
            ),
            Self::MediaUnknown => Text::new("Arquivo não encontrado", "File not found"),
        }
    }

    /// The field that is wrong, where it is one.
    pub const fn field(self) -> Option<&'static str> {
        match self {
            Self::PayloadInvalid => None,
            Self::TextEmpty | Self::TextTooLong => Some("text"),
            Self::ClientMessageIdInvalid => Some("clientMessageId"),
            Self::CaptionTooLong => Some("caption"),
            Self::MediaUnknown => Some("mediaId"),
        }
    }
}

/// Event `message_media` before its file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// The file that the visitor names.
    pub media_id: MediaId,
    caption: Option<String>,
    client_message_id: Option<String>,
}

/// Reads an object; serde alone would take a list of the fields' values for one.
fn read<T: DeserializeOwned>(payload: Value) -> Result<T, InboundError> {
    if !payload.is_object() {
        return Err(InboundError::PayloadInvalid);
    }
    serde_json::from_value(payload).map_err(|_| InboundError::PayloadInvalid)
}

/// Event `message`: `{ text, clientMessageId? }`.
pub fn text(payload: Value, cx: &OpContext) -> Result<IncomingMessage, InboundError> {
    let payload: TextPayload = read(payload)?;
    if payload.text.trim().is_empty() {
        return Err(InboundError::TextEmpty);
    }
    if payload.text.chars().count() > MAX_TEXT_CHARS {
        return Err(InboundError::TextTooLong);
    }
    message(cx, payload.client_message_id, Known::Text { text: TextBody { body: clean(payload.text) } })
}

/// Event `message_interactive`: `{ type, id, title, clientMessageId? }`.
pub fn interactive(payload: Value, cx: &OpContext) -> Result<IncomingMessage, InboundError> {
    let payload: InteractivePayload = read(payload)?;
    if payload.id.is_empty()
        || [&payload.id, &payload.title].iter().any(|t| t.chars().count() > MAX_REPLY_CHARS)
    {
        return Err(InboundError::PayloadInvalid);
    }
    let reply = Reply { id: clean(payload.id), title: clean(payload.title) };
    let interactive = match payload.kind {
        ReplyType::ButtonReply => IncomingInteractive::ButtonReply { button_reply: reply },
        ReplyType::ListReply => IncomingInteractive::ListReply { list_reply: reply },
    };
    message(cx, payload.client_message_id, Known::Interactive { interactive })
}

/// Event `read`: `{ messageId }`. Returns `None` where it names no message.
pub fn read_message(payload: Value) -> Option<MessageId> {
    let ReadPayload { message_id } = read(payload).ok()?;
    MessageId::parse(message_id).ok()
}

/// Event `message_media`: `{ mediaId, caption?, clientMessageId? }`.
pub fn media(payload: Value) -> Result<Attached, InboundError> {
    let MediaPayload { media_id, caption, client_message_id } = read(payload)?;
    let media_id = MediaId::parse(media_id).map_err(|_| InboundError::MediaUnknown)?;
    let caption = caption.map(clean).filter(|caption| !caption.trim().is_empty());
    if caption.as_ref().is_some_and(|caption| caption.chars().count() > MAX_CAPTION_CHARS) {
        return Err(InboundError::CaptionTooLong);
    }
    Ok(Attached { media_id, caption, client_message_id })
}

impl Attached {
    /// Returns the message with its file, which has to be one that this session has uploaded.
    ///
    /// # Errors
    /// [`InboundError`].
    pub fn message(
        self,
        session: &SessionId,
        file: Option<MediaFile>,
        cx: &OpContext,
    ) -> Result<IncomingMessage, InboundError> {
        let is_theirs = |file: &MediaFile| {
            let is_of_session = file.session_id.as_ref() == Some(session);
            file.id == self.media_id
                && file.origin == MediaOrigin::Visitor
                && is_of_session
                && file.is_there()
        };
        let file = file.filter(is_theirs).ok_or(InboundError::MediaUnknown)?;
        let told = [("filename", file.filename), ("sha256", file.sha256)];
        let media = IncomingMedia {
            id: file.id.to_string(),
            mime_type: file.mime_type,
            caption: self.caption,
            rest: told.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into()))).collect(),
        };
        let content = match file.kind {
            MediaKind::Image => Known::Image { image: media },
            MediaKind::Audio => Known::Audio { audio: media },
            MediaKind::Video => Known::Video { video: media },
            MediaKind::Document => Known::Document { document: media },
            MediaKind::Sticker => Known::Sticker { sticker: media },
        };
        message(cx, self.client_message_id, content)
    }
}

/// Postgres stores no NUL in a text.
fn clean(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn message(cx: &OpContext, client: Option<String>, content: Known) -> Result<IncomingMessage, InboundError> {
    let usable = |id: &String| {
        !id.is_empty() && id.len() <= MAX_CLIENT_ID_BYTES && id.bytes().all(|b| b.is_ascii_graphic())
    };
    if client.as_ref().is_some_and(|id| !usable(id)) {
        return Err(InboundError::ClientMessageIdInvalid);
    }
    Ok(IncomingMessage {
        id: channel_message_id(cx.ids(), cx.now().as_millis()),
        internal_id: Some(MessageId::generate(cx.ids())),
        client_message_id: client,
        sent_at: None,
        content: IncomingContent::Known(content),
        beside: serde_json::Map::new(),
    })
}

/// Returns a new id: `wc-<timestamp>-<random>`.
fn channel_message_id(ids: &dyn IdSource, millis: i64) -> String {
    let mut random = ids.secret(1);
    random.truncate(16);
    format!("wc-{millis}-{random}")
}

#[cfg(test)]
mod tests {
    use flowsdk_core::id::RouterId;
    use flowsdk_core::media::MediaStatus;
    use proptest::prelude::{prop_assert, proptest};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_of_bad_input() {
        let cx = OpContext::system();
        let long = "a".repeat(MAX_TEXT_CHARS + 1);
        for (payload, error) in [
            (json!({}), InboundError::PayloadInvalid),
            (json!(null), InboundError::PayloadInvalid),
            (json!([{ "text": "a" }]), InboundError::PayloadInvalid),
            (json!(["a"]), InboundError::PayloadInvalid),
            (json!({ "text": 7 }), InboundError::PayloadInvalid),
            (json!({ "text": null }), InboundError::PayloadInvalid),
            (json!({ "text": { "body": "a" } }), InboundError::PayloadInvalid),
            (json!({ "text": "" }), InboundError::TextEmpty),
            (json!({ "text": " \n\t" }), InboundError::TextEmpty),
            (json!({ "text": long }), InboundError::TextTooLong),
            (json!({ "text": "a", "clientMessageId": "" }), InboundError::ClientMessageIdInvalid),
            (json!({ "text": "a", "clientMessageId": "a b" }), InboundError::ClientMessageIdInvalid),
            (json!({ "text": "a", "clientMessageId": "x".repeat(65) }), InboundError::ClientMessageIdInvalid),
        ] {
            assert_eq!(text(payload.clone(), &cx).map(drop), Err(error), "{payload}");
        }
        assert!(text(json!({ "text": "é".repeat(MAX_TEXT_CHARS) }), &cx).is_ok());
        for payload in [
            json!({ "type": "reply", "id": "a", "title": "A" }),
            json!({ "type": "button_reply", "id": "" , "title": "" }),
        ] {
            assert_eq!(interactive(payload, &cx).map(drop), Err(InboundError::PayloadInvalid));
        }
    }

    #[test]
    fn a_file_is_one_that_the_visitor_has_uploaded() {
        let cx = OpContext::system();
        let session = SessionId::parse("wc-c-u").expect("an id");
        let router = RouterId::parse("r").expect("an id");
        let stored = MediaFile {
            session_id: Some(session.clone()),
            status: MediaStatus::Stored,
            filename: Some("a.png".to_owned()),
            ..MediaFile::new(&cx, router, MediaOrigin::Visitor, MediaKind::Image)
        };
        let payload = json!({ "mediaId": stored.id, "caption": "look", "clientMessageId": "m1" });
        let said =
            |file: Option<MediaFile>| media(payload.clone()).expect("read").message(&session, file, &cx);
        let message = said(Some(stored.clone())).expect("a message");
        assert_eq!(message.content.kind(), "image");
        assert_eq!(message.content.as_text(), "look");
        assert_eq!(message.as_stored()["image"]["filename"], "a.png");
        let another = SessionId::parse("wc-c-v").expect("an id");
        for file in [
            None,
            Some(MediaFile { session_id: Some(another), ..stored.clone() }),
            Some(MediaFile { session_id: None, ..stored.clone() }),
            Some(MediaFile { origin: MediaOrigin::Upload, ..stored.clone() }),
            Some(MediaFile { status: MediaStatus::Pending, ..stored.clone() }),
            Some(MediaFile { id: MediaId::generate(cx.ids()), ..stored.clone() }),
        ] {
            assert_eq!(said(file.clone()).map(drop), Err(InboundError::MediaUnknown), "{file:?}");
        }
        for (payload, error) in [
            (json!({}), InboundError::PayloadInvalid),
            (json!({ "mediaId": 7 }), InboundError::PayloadInvalid),
            (json!({ "mediaId": "" }), InboundError::MediaUnknown),
            (json!({ "mediaId": "a", "caption": "x".repeat(1_025) }), InboundError::CaptionTooLong),
        ] {
            assert_eq!(media(payload.clone()).map(drop), Err(error), "{payload}");
        }
    }

    #[test]
    fn ids_have_the_form_of_the_contract() {
        let message = text(json!({ "text": "oi\u{0}" }), &OpContext::system()).expect("a message");
        let parts: Vec<&str> = message.id.split('-').collect();
        assert_eq!((parts[0], parts[1].len(), parts[2].len()), ("wc", 13, 16));
        assert_eq!(message.content.as_text(), "oi\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(body in "\\PC{0,60}") {
            let taken = text(json!({ "text": body }), &OpContext::system());
            prop_assert!(taken.is_ok() != body.trim().is_empty());
        }
    }
}
