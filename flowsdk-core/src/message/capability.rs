//! What each channel can carry: kinds of content, counts, lengths, and for how long contacts can be answered.
//!
//! Checks of flows, their warnings and the adapters of channels are fed from this one table.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ContentMessage, Interactive};
use crate::cell::Named;
use crate::session::Channel;

/// A kind of content, as channels tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum ContentKind {
    Text,
    Buttons,
    List,
    LinkButton,
    Form,
    Image,
    Audio,
    Video,
    Document,
    Sticker,
    Location,
    Contacts,
    Reaction,
    Template,
    QuickReplies,
    Carousel,
}

/// What a channel can carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The kinds of content.
    pub kinds: &'static [ContentKind],
    /// How much of each.
    pub limits: Limits,
    /// For how long a contact can be answered freely after each of their messages; `None`, where always.
    pub window: Option<Duration>,
}

/// The most of each part of a content: characters of texts, numbers of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Limits {
    pub text: usize,
    pub caption: usize,
    pub body: usize,
    pub header: usize,
    pub footer: usize,
    pub buttons: usize,
    pub button_title: usize,
    pub button_id: usize,
    pub sections: usize,
    pub section_title: usize,
    pub rows: usize,
    pub row_title: usize,
    pub row_id: usize,
    pub row_description: usize,
    pub link_label: usize,
    pub form_label: usize,
    pub contacts: usize,
    pub quick_replies: usize,
    pub quick_reply_title: usize,
    pub cards: usize,
    pub card_text: usize,
    pub card_buttons: usize,
}

impl Limits {
    /// Those of every flow, whatever its channels (spec B 8; WhatsApp Cloud API, "Messages"): what is beyond them is an
    /// error of the flow.
    pub const OF_FLOWS: Self = Self {
        text: 4_096,
        caption: 1_024,
        body: 1_024,
        header: 60,
        footer: 60,
        buttons: 3,
        button_title: 20,
        button_id: 256,
        sections: 10,
        section_title: 24,
        rows: 10,
        row_title: 24,
        row_id: 256,
        row_description: 72,
        link_label: 20,
        form_label: 30,
        contacts: 5,
        quick_replies: 13,
        quick_reply_title: 20,
        cards: 10,
        card_text: 80,
        card_buttons: 3,
    };
}

use ContentKind::{
    Audio, Buttons, Carousel, Contacts, Document, Form, Image, LinkButton, List, Location, QuickReplies,
    Reaction, Sticker, Template, Text, Video,
};

/// A day, the window of both providers (WhatsApp Business Platform, "Customer service windows"; Instagram Platform,
/// "Messaging window").
const DAY: Option<Duration> = Some(Duration::from_hours(24));

const PHONE: Capabilities = Capabilities {
    kinds: &[
        Text, Buttons, List, LinkButton, Form, Image, Audio, Video, Document, Sticker, Location, Contacts,
        Reaction, Template,
    ],
    limits: Limits { row_id: 200, ..Limits::OF_FLOWS },
    window: DAY,
};

const WEBCHAT: Capabilities = Capabilities {
    kinds: &[Text, Buttons, List, LinkButton, Image, Audio, Video, Document, Sticker, Location, Contacts],
    limits: Limits::OF_FLOWS,
    window: None,
};

/// Buttons become quick replies there.
const SOCIAL: Capabilities = Capabilities {
    kinds: &[Text, Buttons, Image, Audio, Video, Document, QuickReplies, Carousel],
    limits: Limits { text: 1_000, body: 1_000, ..Limits::OF_FLOWS },
    window: DAY,
};

impl Capabilities {
    /// Returns whether a kind of content can be carried.
    pub fn carry(&self, kind: ContentKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns whether contacts can be written to by template when they cannot be answered freely.
    pub fn have_templates(&self) -> bool {
        self.carry(Template)
    }
}

impl Channel {
    /// Returns what the channel can carry.
    pub const fn capabilities(self) -> &'static Capabilities {
        match self {
            Self::Phone => &PHONE,
            Self::Webchat => &WEBCHAT,
            Self::Social => &SOCIAL,
        }
    }
}

impl ContentMessage {
    /// Returns the kind of the content.
    pub fn content_kind(&self) -> ContentKind {
        match self {
            Self::Text { .. } => Text,
            Self::Interactive { interactive } => match interactive {
                Interactive::Button { .. } => Buttons,
                Interactive::List { .. } => List,
                Interactive::CtaUrl { .. } => LinkButton,
                Interactive::Flow { .. } => Form,
            },
            Self::Image { .. } => Image,
            Self::Audio { .. } => Audio,
            Self::Video { .. } => Video,
            Self::Document { .. } => Document,
            Self::Sticker { .. } => Sticker,
            Self::Location { .. } => Location,
            Self::Contacts { .. } => Contacts,
            Self::Reaction { .. } => Reaction,
            Self::Template { .. } => Template,
            Self::QuickReplies { .. } => QuickReplies,
            Self::Carousel { .. } => Carousel,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_channel_carries_a_kind_once_and_answers_with_text() {
        for channel in Channel::ALL {
            let Capabilities { kinds, window, .. } = channel.capabilities();
            assert!(kinds.iter().enumerate().all(|(at, kind)| !kinds[..at].contains(kind)), "{channel:?}");
            assert!(channel.capabilities().carry(Text));
            // Who has a window needs a way out of it, or is lost after a day.
            assert_eq!(window.is_none(), channel == Channel::Webchat);
        }
        assert!(Channel::Phone.capabilities().have_templates());
        assert!(
            ContentKind::ALL.iter().all(|kind| Channel::ALL.iter().any(|c| c.capabilities().carry(*kind)))
        );
    }
}
