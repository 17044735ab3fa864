//! The looks of a web chat channel (spec B 2.1: colours, avatar, texts).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema::SchemaAttributes;

/// The looks of the chat page. What is absent or null is left to the page. `/docs/appearance` shows looks before they are
/// stored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Appearance {
    /// Of the header, of buttons and of the visitor's messages. The page bends it where nobody could read on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, pattern = "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", example = "#0a7d4f")]
    pub primary_color: Option<String>,
    /// Behind the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, pattern = "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", example = "#f4f6f5")]
    pub background_color: Option<String>,
    /// The letters of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub font: Option<Font>,
    /// How round the corners of messages are, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, maximum = 28, example = 16)]
    pub radius: Option<u8>,
    /// A picture beside the title. The page shows it over `https` or from its own origin only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 2_048, example = "https://shop.example/avatar.png")]
    pub avatar_url: Option<String>,
    /// The language of the page, as a tag: `pt-BR`, `en`, `es`, `fr` or `de`. It is the visitor's for any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        max_length = 35,
        pattern = "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        example = "en"
    )]
    pub language: Option<String>,
    /// In the header; the name of the channel without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Shop")]
    pub title: Option<String>,
    /// Below the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "We answer in minutes")]
    pub subtitle: Option<String>,
    /// In the empty field for messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Your question")]
    pub placeholder: Option<String>,
    /// Above the first message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 1_024, example = "Hello! How can we help?")]
    pub welcome_text: Option<String>,
    /// The button that the widget puts into a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub launcher: Option<Launcher>,
    /// Texts for visitors who see the page in another language than the texts above have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub texts: Option<AppearanceTexts>,
    /// For clients of your own. The page reads none of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Option<Object>, additional_properties = true)]
    pub custom: Option<Map<String, Value>>,
}

impl Appearance {
    /// Returns it as it is stored.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns what the widget needs before the chat is opened: the launcher, its colour, its language and its texts.
    #[must_use]
    pub fn of_widget(self) -> Self {
        Self {
            launcher: self.launcher,
            primary_color: self.primary_color,
            language: self.language,
            texts: self
                .texts
                .map(|texts| texts.map(PageTexts::of_launcher))
                .filter(|texts| *texts != AppearanceTexts::default()),
            ..Self::default()
        }
    }
}

/// The launcher of the widget: the button in the corner of a page that opens the chat. Options of the page win.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, SchemaAttributes)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Launcher {
    /// The corner; the right one without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub position: Option<Side>,
    /// The background; `primaryColor` without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, pattern = "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", example = "#0a7d4f")]
    pub color: Option<String>,
    /// A text beside the launcher, until the visitor dismisses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Questions? We are here.")]
    pub greeting: Option<String>,
    /// The name of the launcher for screen readers, and its tooltip.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Chat with us")]
    pub label: Option<String>,
}

/// A side of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Side {
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// The letters of a page: families that devices have, so that nothing is loaded from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Font {
    /// That of the device.
    System,
    /// With serifs.
    Serif,
    /// With round ends, where the device has one.
    Rounded,
    /// Letters of one width.
    Mono,
}

/// Texts of the page by language.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, SchemaAttributes)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AppearanceTexts {
    /// Portuguese.
    #[serde(rename = "pt-BR", skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub pt_br: Option<PageTexts>,
    /// English.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub en: Option<PageTexts>,
    /// Spanish.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub es: Option<PageTexts>,
    /// French.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub fr: Option<PageTexts>,
    /// German.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub de: Option<PageTexts>,
}

impl AppearanceTexts {
    /// Returns the texts of each language changed; a language with none left is absent.
    fn map(self, change: impl Fn(PageTexts) -> PageTexts) -> Self {
        let of = |texts: Option<PageTexts>| texts.map(&change).filter(|texts| *texts != PageTexts::default());
        Self { pt_br: of(self.pt_br), en: of(self.en), es: of(self.es), fr: of(self.fr), de: of(self.de) }
    }
}

/// Texts of the page in one language.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PageTexts {
    /// In the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Boutique")]
    pub title: Option<String>,
    /// Below the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Nous répondons en quelques minutes")]
    pub subtitle: Option<String>,
    /// In the empty field for messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Votre question")]
    pub placeholder: Option<String>,
    /// Above the first message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 1_024, example = "Bonjour !")]
    pub welcome_text: Option<String>,
    /// Beside the launcher.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Une question ?")]
    pub greeting: Option<String>,
    /// The name of the launcher.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200, example = "Discuter avec nous")]
    pub label: Option<String>,
}

impl PageTexts {
    fn of_launcher(self) -> Self {
        Self { greeting: self.greeting, label: self.label, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_absent_is_not_stored() {
        let sent = json!({ "primaryColor": "#0a7d4f", "font": "rounded", "radius": 4, "custom": { "a": 1 },
            "texts": { "pt-BR": { "welcomeText": "Oi" } } });
        let appearance: Appearance = serde_json::from_value(sent.clone()).expect("looks");
        assert_eq!(appearance.to_json(), sent);
        assert_eq!(Appearance::default().to_json(), json!({}));
        assert!(serde_json::from_value::<Appearance>(json!({ "primarycolor": "#fff" })).is_err());
    }

    #[test]
    fn the_widget_gets_its_own_part() {
        let whole = json!({ "primaryColor": "#0a7d4f", "title": "Shop", "custom": { "a": 1 }, "language": "en",
            "launcher": { "position": "left", "greeting": "Hello" },
            "texts": { "fr": { "title": "Boutique", "greeting": "Bonjour" }, "de": { "title": "Laden" } } });
        let appearance: Appearance = serde_json::from_value(whole).expect("looks");
        let part = json!({ "primaryColor": "#0a7d4f", "language": "en",
            "launcher": { "position": "left", "greeting": "Hello" }, "texts": { "fr": { "greeting": "Bonjour" } } });
        assert_eq!(appearance.of_widget().to_json(), part);
        let plain: Appearance =
            serde_json::from_value(json!({ "texts": { "en": { "title": "Shop" } } })).expect("looks");
        assert_eq!(plain.of_widget(), Appearance::default());
    }
}
