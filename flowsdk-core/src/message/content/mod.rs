//! Outgoing content, phone-shaped on every channel (spec B 2.5; provider shapes of the phone
//! channel's Cloud API).

mod card;
mod file;
mod interactive;
mod location;
mod native;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Reply;

pub use card::{CardAddress, CardEmail, CardName, CardOrganisation, CardPhone, CardUrl, ContactCard};
pub use file::FileSource;
pub use interactive::{
    ButtonAction, ButtonReply, FormAction, FormMode, FormOpening, FormParameters, FormPayload, Frame, Header,
    HeaderFile, Interactive, LinkAction, LinkParameters, ListAction, ListRow, ListSection, ReplyButton, Text,
};
pub use location::Location;
pub use native::{Carousel, CarouselButton, CarouselCard, QuickReplies, QuickReply};

/// One outgoing message: `{ "type": "text", "text": { "body": ".." } }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(missing_docs, reason = "the fields say it")]
pub enum ContentMessage {
    /// A text without buttons or files.
    Text { text: TextBody },
    /// Buttons, a list, a link or a form.
    Interactive { interactive: Interactive },
    /// An image.
    Image { image: Media },
    /// A sound.
    Audio { audio: Media },
    /// A video.
    Video { video: Media },
    /// Any other file.
    Document { document: Media },
    /// A sticker.
    Sticker { sticker: Media },
    /// A place on the map.
    Location { location: Location },
    /// Cards of people.
    Contacts { contacts: Vec<ContactCard> },
    /// A reaction to a message of the contact.
    Reaction { reaction: Reaction },
    /// A message template of the provider.
    Template { template: TemplateMessage },
    /// A text with replies to tap, of social channels.
    #[serde(rename = "igQuickReply")]
    QuickReplies {
        #[serde(rename = "igQuickReply")]
        quick_replies: QuickReplies,
    },
    /// Cards side by side, of social channels.
    #[serde(rename = "igCarousel")]
    Carousel {
        #[serde(rename = "igCarousel")]
        carousel: Carousel,
    },
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TextBody {
    /// The text, interpolated before it is sent.
    pub body: String,
}

/// The node of a media message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Where the file is.
    #[serde(flatten)]
    pub source: FileSource,
    /// Text shown with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
    /// File name, for documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// The node of a reaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    /// The channel's id of the message that is reacted to.
    pub message_id: String,
    /// The emoji; an empty text takes the reaction back.
    pub emoji: String,
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
            Self::Sticker { .. } => "sticker",
            Self::Location { .. } => "location",
            Self::Contacts { .. } => "contacts",
            Self::Reaction { .. } => "reaction",
            Self::Template { .. } => "template",
            Self::QuickReplies { .. } => "igQuickReply",
            Self::Carousel { .. } => "igCarousel",
        }
    }

    /// Returns the main text with what can be tapped; empty for a file without a caption.
    pub(crate) fn summary(&self) -> String {
        let mut text = self.body().unwrap_or_default().to_owned();
        let opener = if let Self::Interactive { interactive } = self { interactive.opener() } else { None };
        for title in self.choices().into_iter().map(|(_, title)| title).chain(opener) {
            text.extend([" [", title, "]"]);
        }
        text
    }

    /// Returns the main text: the body, the caption of a file, the name of a place or person, an emoji.
    pub fn body(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(&text.body),
            Self::Image { image: media }
            | Self::Audio { audio: media }
            | Self::Video { video: media }
            | Self::Document { document: media }
            | Self::Sticker { sticker: media } => media.caption.as_deref(),
            Self::Interactive { interactive } => Some(&interactive.frame().body.text),
            Self::Location { location } => location.name.as_deref().or(location.address.as_deref()),
            Self::Contacts { contacts } => contacts.first().map(|card| card.name.formatted_name.as_str()),
            Self::Reaction { reaction } => Some(&reaction.emoji),
            Self::Template { template } => template.text.as_deref(),
            Self::QuickReplies { quick_replies } => Some(&quick_replies.body),
            Self::Carousel { carousel } => carousel.elements.first().map(|card| card.title.as_str()),
        }
    }

    /// Returns the buttons or rows that a contact can choose from, in order.
    pub fn options(&self) -> Vec<Reply> {
        let reply = |(id, title): (&str, &str)| Reply { id: id.to_owned(), title: title.to_owned() };
        self.choices().into_iter().map(reply).collect()
    }

    /// Returns the ids and titles of what can be chosen, in order.
    fn choices(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Interactive { interactive } => interactive.choices(),
            Self::QuickReplies { quick_replies } => quick_replies.choices(),
            Self::Carousel { carousel } => carousel.choices(),
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
            | Self::Document { document: media }
            | Self::Sticker { sticker: media } => std::iter::once(media.source.text_mut())
                .chain(media.caption.as_mut())
                .chain(media.filename.as_mut())
                .collect(),
            Self::Interactive { interactive } => interactive.texts_mut(),
            Self::Location { location } => location.texts_mut(),
            Self::Contacts { contacts } => contacts.iter_mut().flat_map(ContactCard::texts_mut).collect(),
            Self::Reaction { reaction } => vec![&mut reaction.message_id, &mut reaction.emoji],
            Self::Template { template } => template.text.as_mut().into_iter().collect(),
            Self::QuickReplies { quick_replies } => quick_replies.texts_mut(),
            Self::Carousel { carousel } => carousel.texts_mut(),
        }
    }

    /// Returns the ids of the uploaded files that the message names. Ids of providers are digits.
    pub fn own_files(&self) -> Vec<String> {
        let mut copy = self.clone();
        let own = |file: &mut FileSource| match file {
            FileSource::Id(id) if !id.bytes().all(|byte| byte.is_ascii_digit()) => Some(std::mem::take(id)),
            _ => None,
        };
        copy.files_mut().into_iter().filter_map(own).collect()
    }

    /// Returns where the files of the message are.
    pub(crate) fn files_mut(&mut self) -> Vec<&mut FileSource> {
        match self {
            Self::Image { image: media }
            | Self::Audio { audio: media }
            | Self::Video { video: media }
            | Self::Document { document: media }
            | Self::Sticker { sticker: media } => vec![&mut media.source],
            Self::Interactive { interactive } => interactive.file_mut().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns every text that people see and every address, for validation.
    pub fn texts(&self) -> Vec<String> {
        let mut copy = self.clone();
        copy.texts_mut().into_iter().map(std::mem::take).collect()
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
