//! The components of a template, in the provider's shape: they are sent to it as they stand here.

use flowsdk_core::message::FormOpening;
use flowsdk_core::schema::SchemaAttributes;
use serde::{Deserialize, Serialize};

/// One part of a template, in the provider's shape. There is one `BODY`, and at most one of each other type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TemplateComponent)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
pub enum Component {
    /// The line or medium above the body.
    Header {
        /// The kind of its content.
        format: HeaderFormat,
        /// With `TEXT`: at most 60 characters, perhaps with `{{1}}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = String, required = false)]
        text: Option<String>,
        /// A sample, for the provider's review.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = HeaderExample, required = false)]
        example: Option<HeaderExample>,
    },
    /// The text of the message.
    Body {
        /// At most 1,024 characters; placeholders are `{{1}}`, `{{2}}` … without a gap, none at either end.
        text: String,
        /// Samples, for the provider's review.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = BodyExample, required = false)]
        example: Option<BodyExample>,
    },
    /// The line below the body.
    Footer {
        /// At most 60 characters, without placeholders.
        text: String,
    },
    /// The buttons below the message.
    Buttons {
        /// 1 to 10 buttons, in the order of display.
        buttons: Vec<Button>,
    },
}

/// Kinds of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TemplateHeaderFormat)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs, reason = "the names are the provider's")]
pub enum HeaderFormat {
    Text,
    Image,
    Video,
    Gif,
    Document,
    Location,
}

/// A sample of a header.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TemplateHeaderExample)]
#[serde(deny_unknown_fields)]
pub struct HeaderExample {
    /// The value of its placeholder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub header_text: Vec<String>,
    /// Handles of media that were uploaded to the provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub header_handle: Vec<String>,
}

/// Samples of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TemplateBodyExample)]
#[serde(deny_unknown_fields)]
pub struct BodyExample {
    /// Rows of values, one for each placeholder.
    pub body_text: Vec<Vec<String>>,
}

/// A button of a template; texts have at most 25 characters and no placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TemplateButton)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
pub enum Button {
    /// Answers with its text.
    QuickReply {
        /// The label of the button.
        text: String,
    },
    /// Opens a page.
    Url {
        /// The label of the button.
        text: String,
        /// The page. `{{1}}` at its end is filled in when the template is sent.
        url: String,
        /// A sample of the whole address.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        example: Vec<String>,
    },
    /// Calls a number.
    PhoneNumber {
        /// The label of the button.
        text: String,
        /// The number that a tap calls.
        phone_number: String,
    },
    /// Copies a code to the clipboard.
    CopyCode {
        /// A sample of the code.
        example: String,
    },
    /// Copies or fills in a one-time code.
    Otp {
        /// `COPY_CODE`, `ONE_TAP` or `ZERO_TAP`.
        otp_type: String,
        /// The label of the button; the provider has a default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = String, required = false)]
        text: Option<String>,
    },
    /// Opens an interactive form.
    Flow {
        /// The label of the button.
        text: String,
        /// The provider's id of the form.
        flow_id: String,
        /// Where its first screen comes from; the provider's default is `navigate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = FormOpening, required = false)]
        flow_action: Option<FormOpening>,
        /// Its first screen with `navigate`; that of the form otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = String, required = false)]
        navigate_screen: Option<String>,
    },
    /// Opens the catalogue.
    Catalog {
        /// The label of the button.
        text: String,
    },
    /// Shows products.
    Mpm {
        /// The label of the button.
        text: String,
    },
}

impl Button {
    /// Its text, where it has one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::QuickReply { text }
            | Self::Url { text, .. }
            | Self::PhoneNumber { text, .. }
            | Self::Flow { text, .. }
            | Self::Catalog { text }
            | Self::Mpm { text } => Some(text),
            Self::Otp { text, .. } => text.as_deref(),
            Self::CopyCode { .. } => None,
        }
    }
}
