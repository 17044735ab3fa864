//! What clients of the web chat socket send (spec B 4.2).

use flowsdk_core::cell::Named;
use flowsdk_core::schema::SchemaAttributes;
use serde::Deserialize;

/// The events of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Named)]
#[serde(rename_all = "snake_case")]
pub enum ClientEvent {
    /// The visitor wrote.
    Message,
    /// The visitor tapped a button, or chose a row.
    MessageInteractive,
    /// The visitor sends a file that they have uploaded.
    MessageMedia,
    /// The visitor begins another session without a message.
    Start,
    /// The visitor has seen a message.
    Read,
    /// The visitor types.
    Typing,
}

/// A text of a visitor.
#[derive(Debug, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = VisitorText)]
pub struct TextPayload {
    /// Not only blanks.
    #[schema(min_length = 1, max_length = 4_096, pattern = r"\S", example = "Hello")]
    pub text: String,
    /// The client's own id of the message: the same one is stored once.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, pattern = "^[!-~]+$")]
    pub client_message_id: Option<String>,
}

/// What was tapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ReplyType {
    /// A button.
    ButtonReply,
    /// A row of a list.
    ListReply,
}

/// A button that a visitor tapped, or a row that they chose.
#[derive(Debug, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = VisitorReply)]
pub struct InteractivePayload {
    /// Which of the two.
    #[serde(rename = "type")]
    pub kind: ReplyType,
    /// The id that the author gave to the button or row.
    #[schema(min_length = 1, max_length = 256, example = "plans")]
    pub id: String,
    /// The title that the visitor saw.
    #[schema(max_length = 256, example = "Plans")]
    pub title: String,
    /// The client's own id of the message: the same one is stored once.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, pattern = "^[!-~]+$")]
    pub client_message_id: Option<String>,
}

/// A file that a visitor sends.
#[derive(Debug, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = VisitorFile)]
pub struct MediaPayload {
    /// The id of the upload, which has to be the visitor's own.
    #[schema(example = "cmi7w0q2p00000qx1b3k9z5ra")]
    pub media_id: String,
    /// A text below it.
    #[serde(default)]
    #[schema(max_length = 1_024)]
    pub caption: Option<String>,
    /// The client's own id of the message: the same one is stored once.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, pattern = "^[!-~]+$")]
    pub client_message_id: Option<String>,
}

/// A message that a visitor has seen.
#[derive(Debug, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = VisitorRead)]
pub struct ReadPayload {
    /// The id of the message.
    #[schema(example = "cmi7w0q2p00000qx1b3k9z5ra")]
    pub message_id: String,
}
