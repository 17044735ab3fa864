//! Outgoing content, phone-shaped on every channel (spec B 2.5; provider shapes of the phone
//! channel's Cloud API).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Reply;

/// Most buttons of a button message (spec B 8).
pub const MAX_BUTTONS: usize = 3;
/// Most rows of a list, over all its sections (spec B 8).
pub const MAX_ROWS: usize = 10;

/// One outgoing message: `{ "type": "text", "text": { "body": ".." } }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(missing_docs, reason = "the fields say it")]
pub enum ContentMessage {
    /// A text without buttons or files.
    Text { text: TextBody },
    /// Buttons or a list.
    Interactive { interactive: Interactive },
    /// An image by address.
    Image { image: Media },
    /// A sound by address.
    Audio { audio: Media },
    /// A video by address.
    Video { video: Media },
    /// A file by address.
    Document { document: Media },
    /// A message template of the provider.
    Template { template: TemplateMessage },
}

/// The node of a template message (WhatsApp Cloud API, "Template messages").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemplateMessage {
    /// The name of the template in the business account.
    pub name: String,
    /// Its language.
    pub language: TemplateLocale,
    /// The values of its parts, in the provider's shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Value>,
    /// The body with its values, for those who read the chat. It is not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The language of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateLocale {
    /// Such as `pt_BR`.
    pub code: String,
}

/// The node of a text message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextBody {
    /// The text, interpolated before it is sent.
    pub body: String,
}

/// The node of a media message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Public address of the file.
    pub link: String,
    /// Text shown with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
    /// File name, for documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// The node of an interactive message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Interactive {
    /// Up to [`MAX_BUTTONS`] reply buttons.
    #[allow(missing_docs, reason = "the fields say it")]
    Button {
        /// A text above the body, as a title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Header>,
        /// The text above the buttons.
        body: Text,
        /// A small text below the body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        footer: Option<Text>,
        action: ButtonAction,
    },
    /// A list of up to [`MAX_ROWS`] rows.
    #[allow(missing_docs, reason = "the fields say it")]
    List {
        /// A text above the body, as a title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Header>,
        /// The text above the list.
        body: Text,
        /// A small text below the body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        footer: Option<Text>,
        action: ListAction,
    },
}

/// `{ "text": ".." }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The text, interpolated before it is sent.
    pub text: String,
}

/// A header of type text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Header {
    /// A text, interpolated before it is sent.
    #[allow(missing_docs, reason = "the fields say it")]
    Text { text: String },
}

/// The buttons of a button message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonAction {
    /// The buttons, in order.
    pub buttons: Vec<ReplyButton>,
}

/// A reply button: `{ "type": "reply", "reply": { "id", "title" } }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ReplyButton {
    /// Answers with its id and title.
    #[allow(missing_docs, reason = "the fields say it")]
    Reply { reply: ButtonReply },
}

/// Id and title of a button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonReply {
    /// The id that the reply carries.
    pub id: String,
    /// The title that contacts see.
    pub title: String,
}

/// The list of a list message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListAction {
    /// Label of the control that opens the list.
    pub button: String,
    /// The sections, in the order shown.
    pub sections: Vec<ListSection>,
}

/// A section of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSection {
    /// The title above the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The rows, in the order shown.
    pub rows: Vec<ListRow>,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRow {
    /// The id that the reply carries.
    pub id: String,
    /// The title that contacts see.
    pub title: String,
    /// A second line below the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl ContentMessage {
    /// Returns a text message.
    pub fn text(body: impl Into<String>) -> Self {
        Self::Text { text: TextBody { body: body.into() } }
    }

    /// Returns the `type` of the message.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Interactive { .. } => "interactive",
            Self::Image { .. } => "image",
            Self::Audio { .. } => "audio",
            Self::Video { .. } => "video",
            Self::Document { .. } => "document",
            Self::Template { .. } => "template",
        }
    }

    /// Returns the main text with the titles of the buttons or rows; empty for a file without a caption.
    pub(crate) fn summary(&self) -> String {
        let mut text = self.body().unwrap_or_default().to_owned();
        for (_, title) in self.choices() {
            text.extend([" [", title, "]"]);
        }
        text
    }

    /// Returns the main text: the body of a text, of buttons or of a list, the caption of a file.
    pub fn body(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(&text.body),
            Self::Image { image: media }
            | Self::Audio { audio: media }
            | Self::Video { video: media }
            | Self::Document { document: media } => media.caption.as_deref(),
            Self::Interactive {
                interactive: Interactive::Button { body, .. } | Interactive::List { body, .. },
            } => Some(&body.text),
            Self::Template { template } => template.text.as_deref(),
        }
    }

    /// Returns the buttons or rows that a contact can choose from, in order.
    pub fn options(&self) -> Vec<Reply> {
        let reply = |(id, title): (&str, &str)| Reply { id: id.to_owned(), title: title.to_owned() };
        self.choices().into_iter().map(reply).collect()
    }

    /// Returns the ids and titles of the buttons or rows, in order.
    fn choices(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Interactive { interactive: Interactive::Button { action, .. } } => action
                .buttons
                .iter()
                .map(|ReplyButton::Reply { reply }| (reply.id.as_str(), reply.title.as_str()))
                .collect(),
            Self::Interactive { interactive: Interactive::List { action, .. } } => action
                .sections
                .iter()
                .flat_map(|section| &section.rows)
                .map(|row| (row.id.as_str(), row.title.as_str()))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Applies `rewrite` to every text that people see and to every address, as interpolation does.
    pub fn map_texts(&self, mut rewrite: impl FnMut(&str) -> String) -> Self {
        let mut copy = self.clone();
        for text in copy.texts_mut() {
            *text = rewrite(text);
        }
        copy
    }

    /// Returns every text that people see and every address.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Text { text } => vec![&mut text.body],
            Self::Image { image: media }
            | Self::Audio { audio: media }
            | Self::Video { video: media }
            | Self::Document { document: media } => std::iter::once(&mut media.link)
                .chain(media.caption.as_mut())
                .chain(media.filename.as_mut())
                .collect(),
            Self::Interactive { interactive } => interactive.texts_mut(),
            Self::Template { template } => template.text.as_mut().into_iter().collect(),
        }
    }

    /// Returns every text that people see and every address, for validation.
    pub fn texts(&self) -> Vec<String> {
        let mut copy = self.clone();
        copy.texts_mut().into_iter().map(std::mem::take).collect()
    }
}

impl Interactive {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let (header, body, footer, mut own): (_, _, _, Vec<&mut String>) = match self {
            Self::Button { header, body, footer, action } => {
                let buttons = action.buttons.iter_mut().map(|ReplyButton::Reply { reply }| &mut reply.title);
                (header, body, footer, buttons.collect())
            }
            Self::List { header, body, footer, action } => {
                let mut own = vec![&mut action.button];
                for section in &mut action.sections {
                    own.extend(section.title.as_mut());
                    for row in &mut section.rows {
                        own.push(&mut row.title);
                        own.extend(row.description.as_mut());
                    }
                }
                (header, body, footer, own)
            }
        };
        own.extend(header.as_mut().map(|Header::Text { text }| text));
        own.push(&mut body.text);
        own.extend(footer.as_mut().map(|footer| &mut footer.text));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_is_phone_shaped() {
        let json = serde_json::json!({ "type": "interactive", "interactive": {
            "type": "button", "body": { "text": "Oi" },
            "action": { "buttons": [{ "type": "reply", "reply": { "id": "a", "title": "A" } }] } } });
        let message: ContentMessage = serde_json::from_value(json.clone()).expect("parses");
        assert_eq!(serde_json::to_value(&message).expect("serialises"), json);
        assert_eq!(message.map_texts(|t| format!("<{t}>")).texts(), ["<A>", "<Oi>"]);
    }
}
