//! Incoming messages, phone-shaped on every channel (spec B 2.5, 4.2).

use serde::de::value::MapDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::MediaKind;
use crate::id::MessageId;
use crate::schema::SchemaAttributes;
use crate::session::Channel;
use crate::time::Timestamp;

/// One message from a contact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", from = "Wire")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IncomingMessage {
    /// The channel's id of the message, `wc-<timestamp>-<random>` for webchat. Its key for
    /// deduplication unless `clientMessageId` is given.
    pub id: String,
    /// The id that its row gets; the gateway chooses it, so that it can be acknowledged before the
    /// row is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub internal_id: Option<MessageId>,
    /// The sender's own id of the message: the same one is stored once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub client_message_id: Option<String>,
    /// When the contact sent it, where the provider says so: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, required = false, example = 1_795_313_588_134_i64)]
    pub sent_at: Option<Timestamp>,
    /// The content of the message.
    #[serde(flatten)]
    pub content: IncomingContent,
    /// What else came beside the content: `context` of a reply, `referral` of an advertisement, and the like.
    #[serde(flatten)]
    pub beside: Map<String, Value>,
}

/// A message as it is read: which of its fields are the content depends on its `type`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    id: String,
    #[serde(default)]
    internal_id: Option<MessageId>,
    #[serde(default)]
    client_message_id: Option<String>,
    #[serde(default)]
    sent_at: Option<Timestamp>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl From<Wire> for IncomingMessage {
    fn from(wire: Wire) -> Self {
        let Wire { id, internal_id, client_message_id, sent_at, fields } = wire;
        Self { internal_id, client_message_id, sent_at, ..Self::of(id, fields) }
    }
}

/// The content of an incoming message, discriminated by `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum IncomingContent {
    /// A type this version knows.
    Known(Known),
    /// Any other: kept as it came, never dropped (rulings C8).
    Unsupported(Map<String, Value>),
}

#[cfg(feature = "schema")]
impl utoipa::PartialSchema for IncomingContent {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::Ref;
        use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Type};
        let other = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("type", ObjectBuilder::new().schema_type(Type::String))
            .description(Some("A type that this version does not know, as it came."));
        let known = Ref::from_schema_name(<Known as utoipa::ToSchema>::name());
        let content = AnyOfBuilder::new().item(known).item(other);
        content.description(Some("`type`, and the field of that name.")).into()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for IncomingContent {
    fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
        let name = <Known as utoipa::ToSchema>::name().into_owned();
        schemas.push((name, <Known as utoipa::PartialSchema>::schema()));
        <Known as utoipa::ToSchema>::schemas(schemas);
    }
}

/// The known types. Media nodes are kept whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, SchemaAttributes)]
#[serde(tag = "type", rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = KnownContent)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum Known {
    /// A text that the contact wrote.
    Text { text: super::TextBody },
    /// A tapped button or chosen row.
    Interactive { interactive: IncomingInteractive },
    /// An image, with or without a caption.
    Image { image: IncomingMedia },
    /// A sound or a voice message.
    Audio { audio: IncomingMedia },
    /// A video, with or without a caption.
    Video { video: IncomingMedia },
    /// A file with a name.
    Document { document: IncomingMedia },
    /// A sticker, which is a small image.
    Sticker { sticker: IncomingMedia },
    /// A place on the map.
    Location { location: Value },
    /// A reaction to a message.
    Reaction { reaction: Value },
    /// Cards of people that the contact shares.
    Contacts { contacts: Value },
    /// A tap on a template button.
    Button { button: Value },
}

/// The node of an interactive reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum IncomingInteractive {
    /// A button that the contact tapped.
    ButtonReply {
        /// Id and title of the button.
        button_reply: Reply,
    },
    /// A row that the contact chose in a list.
    ListReply {
        /// Id and title of the row.
        list_reply: Reply,
    },
    /// An interactive form that the contact filled in.
    NfmReply {
        /// The answers.
        nfm_reply: FormReply,
    },
}

/// The tapped button or row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = InteractiveReply)]
pub struct Reply {
    /// The id that the author gave to the button or row.
    pub id: String,
    /// The title that the contact saw.
    pub title: String,
}

/// The answers of an interactive form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FormReply {
    /// The answers and mostly the token of the form, as the text of a JSON object.
    pub response_json: String,
    /// Everything else that came, such as `name` and `body`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl FormReply {
    /// Returns the answers by their names; the text as it is, where it is no object.
    pub fn answers(&self) -> Value {
        let read = serde_json::from_str::<Map<String, Value>>(&self.response_json);
        read.map_or_else(|_| Value::from(self.response_json.as_str()), Value::Object)
    }
}

/// The node of incoming media.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IncomingMedia {
    /// The provider's id, or an address.
    pub id: String,
    /// The MIME type, as the provider reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub mime_type: Option<String>,
    /// Text sent with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub caption: Option<String>,
    /// Everything else that came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl IncomingMessage {
    /// Returns the message with these fields: its content, as its `type` says, and what is beside it.
    pub fn of(id: impl Into<String>, fields: Map<String, Value>) -> Self {
        let (content, beside) = IncomingContent::of(fields);
        Self { id: id.into(), internal_id: None, client_message_id: None, sent_at: None, content, beside }
    }

    /// Returns a text message.
    pub fn text(id: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            internal_id: None,
            client_message_id: None,
            sent_at: None,
            content: IncomingContent::Known(Known::Text { text: super::TextBody { body: body.into() } }),
            beside: Map::new(),
        }
    }

    /// Returns the content with what came beside it, as its row has them.
    pub fn as_stored(&self) -> Value {
        let mut stored = serde_json::to_value(&self.content).unwrap_or_default();
        if let Value::Object(fields) = &mut stored {
            fields.extend(self.beside.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        stored
    }

    /// Returns the key under which it is stored once.
    pub fn dedupe_key(&self, session: &crate::session::SessionId) -> String {
        match &self.client_message_id {
            Some(client) => format!("{session}/{client}"),
            // Deliveries are signed by the business of the number, which may write any id.
            None if session.channel() == Channel::Phone => format!("{}/{}", session.transport(), self.id),
            None => self.id.clone(),
        }
    }
}

/// Types that say nothing (WhatsApp Cloud API, "messages webhook"): `unsupported` stands for what the contact's app can
/// send and the provider cannot, and for messages that were withdrawn.
const REPORTS: [&str; 3] = ["reaction", "unsupported", "system"];

impl IncomingContent {
    /// Splits the fields of a message into its content and what is beside it. Fields that are no content of a type this
    /// version knows are all content.
    fn of(mut fields: Map<String, Value>) -> (Self, Map<String, Value>) {
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
        let content = ["type", kind].into_iter().filter_map(|name| fields.get_key_value(name));
        match Known::deserialize(MapDeserializer::new(content.map(|(name, value)| (name.as_str(), value)))) {
            Ok(known) => {
                ["type", known.kind()].iter().for_each(|name| drop(fields.remove(*name)));
                (Self::Known(known), fields)
            }
            Err(serde_json::Error { .. }) => (Self::Unsupported(fields), Map::new()),
        }
    }

    /// Returns the `type`; `unsupported` for an unknown content that names none.
    pub fn kind(&self) -> &str {
        match self {
            Self::Known(known) => known.kind(),
            Self::Unsupported(map) => map.get("type").and_then(Value::as_str).unwrap_or("unsupported"),
        }
    }

    /// Returns whether a contact says something with it, which a flow answers. A reaction, and what the provider reports in
    /// place of a message, are only stored.
    pub fn is_said(&self) -> bool {
        !REPORTS.contains(&self.kind())
    }

    /// Returns the answers, if it is a form that was filled in.
    pub fn form_reply(&self) -> Option<&FormReply> {
        match self {
            Self::Known(Known::Interactive { interactive: IncomingInteractive::NfmReply { nfm_reply } }) => {
                Some(nfm_reply)
            }
            _ => None,
        }
    }

    /// Returns the text of the message: the body, the title of the tapped reply, the answers of a form as JSON, or the
    /// caption.
    pub fn as_text(&self) -> &str {
        match self {
            Self::Known(Known::Text { text }) => &text.body,
            Self::Known(Known::Interactive { interactive }) => interactive.as_text(),
            Self::Known(Known::Button { button }) => button.get("text").and_then(Value::as_str).unwrap_or(""),
            _ => self.file().and_then(|(_, media)| media.caption.as_deref()).unwrap_or(""),
        }
    }

    /// Returns the file, if the message is one.
    pub fn file(&self) -> Option<(MediaKind, &IncomingMedia)> {
        let Self::Known(known) = self else { return None };
        match known {
            Known::Image { image } => Some((MediaKind::Image, image)),
            Known::Audio { audio } => Some((MediaKind::Audio, audio)),
            Known::Video { video } => Some((MediaKind::Video, video)),
            Known::Document { document } => Some((MediaKind::Document, document)),
            Known::Sticker { sticker } => Some((MediaKind::Sticker, sticker)),
            _ => None,
        }
    }
}

impl Known {
    /// Returns the `type` on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Interactive { .. } => "interactive",
            Self::Image { .. } => "image",
            Self::Audio { .. } => "audio",
            Self::Video { .. } => "video",
            Self::Document { .. } => "document",
            Self::Sticker { .. } => "sticker",
            Self::Location { .. } => "location",
            Self::Reaction { .. } => "reaction",
            Self::Contacts { .. } => "contacts",
            Self::Button { .. } => "button",
        }
    }
}

impl IncomingInteractive {
    /// Returns the id and title of the tapped reply; `None` of a form.
    pub fn reply(&self) -> Option<&Reply> {
        match self {
            Self::ButtonReply { button_reply } => Some(button_reply),
            Self::ListReply { list_reply } => Some(list_reply),
            Self::NfmReply { .. } => None,
        }
    }

    /// Returns the title of the tapped reply, or the answers of the form as JSON.
    fn as_text(&self) -> &str {
        match self {
            Self::ButtonReply { button_reply: reply } | Self::ListReply { list_reply: reply } => &reply.title,
            Self::NfmReply { nfm_reply } => &nfm_reply.response_json,
        }
    }

    /// Returns `button_reply`, `list_reply` or `nfm_reply`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ButtonReply { .. } => "button_reply",
            Self::ListReply { .. } => "list_reply",
            Self::NfmReply { .. } => "nfm_reply",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_types_are_kept_whole() {
        let json = serde_json::json!({ "id": "wamid.1", "type": "order", "order": { "catalog_id": "7" } });
        let message: IncomingMessage = serde_json::from_value(json.clone()).expect("parses");
        assert_eq!((message.content.kind(), message.content.as_text()), ("order", ""));
        assert_eq!(serde_json::to_value(&message).expect("serialises"), json);
    }

    #[test]
    fn what_comes_beside_the_content_is_kept() {
        let json = serde_json::json!({ "id": "wamid.1", "type": "text", "text": { "body": "yes" },
            "context": { "id": "wamid.0", "from": "15550783881" } });
        let message: IncomingMessage = serde_json::from_value(json.clone()).expect("parses");
        assert_eq!((message.content.kind(), message.content.as_text()), ("text", "yes"));
        assert_eq!(message.beside["context"]["id"], "wamid.0");
        assert_eq!(serde_json::to_value(&message).expect("serialises"), json);
        assert_eq!(message.as_stored()["context"], json["context"]);
        assert_eq!(message.as_stored().get("id"), None);
        // A node that is none of its type: everything is kept.
        let odd = serde_json::json!({ "id": "wamid.2", "type": "text", "text": 7, "context": {} });
        let message: IncomingMessage = serde_json::from_value(odd.clone()).expect("parses");
        assert!(
            matches!(&message.content, IncomingContent::Unsupported(fields) if fields.len() == 3),
            "{message:?}"
        );
        assert_eq!(serde_json::to_value(&message).expect("serialises"), odd);
    }

    #[test]
    fn a_form_reads_as_its_answers() {
        let json = serde_json::json!({ "id": "wamid.1", "type": "interactive", "interactive": { "type": "nfm_reply",
            "nfm_reply": { "name": "flow", "body": "Sent", "response_json": "{\"flow_token\":\"t\",\"size\":2}" } } });
        let message: IncomingMessage = serde_json::from_value(json.clone()).expect("parses");
        let form = message.content.form_reply().expect("a form");
        assert_eq!(form.answers(), serde_json::json!({ "flow_token": "t", "size": 2 }));
        assert_eq!(message.content.as_text(), form.response_json);
        assert_eq!(serde_json::to_value(&message).expect("serialises"), json);
        for odd in ["[1]", "no JSON", ""] {
            let form = FormReply { response_json: odd.to_owned(), rest: Map::new() };
            assert_eq!(form.answers(), odd);
        }
    }

    #[test]
    fn a_tapped_button_reads_as_its_title() {
        let json = serde_json::json!({ "id": "wc-1-a", "type": "interactive",
            "interactive": { "type": "button_reply", "button_reply": { "id": "plans", "title": "Ver planos" } } });
        let message: IncomingMessage = serde_json::from_value(json.clone()).expect("parses");
        assert_eq!((message.content.kind(), message.content.as_text()), ("interactive", "Ver planos"));
        assert_eq!(serde_json::to_value(&message).expect("serialises"), json);
    }
}
