//! What social channels alone carry (spec B 4.5).

use serde::{Deserialize, Serialize};

/// A text with replies to tap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuickReplies {
    /// The text.
    pub body: String,
    /// The replies, in order.
    pub quick_replies: Vec<QuickReply>,
}

/// A reply to tap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickReply {
    /// The title that contacts see.
    pub title: String,
    /// The id that the reply carries.
    pub payload: String,
}

/// Cards side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carousel {
    /// The cards, in order.
    pub elements: Vec<CarouselCard>,
}

/// A card of a carousel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarouselCard {
    /// The title that contacts see.
    pub title: String,
    /// A second line below the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    /// Public address of an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// Its buttons, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<CarouselButton>,
}

/// A button of a card: with a `url` it opens the address, otherwise it answers with `payload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarouselButton {
    /// The title that contacts see.
    pub title: String,
    /// The address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The id that the reply carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

impl QuickReplies {
    pub(super) fn choices(&self) -> Vec<(&str, &str)> {
        self.quick_replies.iter().map(|reply| (reply.payload.as_str(), reply.title.as_str())).collect()
    }

    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        let titles = self.quick_replies.iter_mut().map(|reply| &mut reply.title);
        std::iter::once(&mut self.body).chain(titles).collect()
    }
}

impl Carousel {
    pub(super) fn choices(&self) -> Vec<(&str, &str)> {
        let buttons = self.elements.iter().flat_map(|card| &card.buttons);
        let answers = |button: &CarouselButton| button.url.is_none();
        buttons
            .filter(|button| answers(button))
            .filter_map(|button| Some((button.payload.as_deref()?, button.title.as_str())))
            .collect()
    }

    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = Vec::new();
        for CarouselCard { title, subtitle, image_url, buttons } in &mut self.elements {
            texts.push(title);
            texts.extend([subtitle, image_url].into_iter().flatten());
            for CarouselButton { title, url, .. } in buttons {
                texts.push(title);
                texts.extend(url);
            }
        }
        texts
    }
}
