//! The components of a template, for the document: the provider's shape, as `flowsdk-core` reads it.
#![allow(dead_code, reason = "the document is made of it")]

use serde::Deserialize;
use utoipa::ToSchema;

/// One part of a template, in the provider's shape. There is one `BODY`, and at most one of each other type.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = TemplateComponent)]
pub(super) enum ComponentSchema {
    /// What stands above.
    Header {
        format: HeaderFormatSchema,
        /// With `TEXT`: at most 60 characters, perhaps with `{{1}}`.
        #[schema(value_type = String, required = false)]
        text: Option<String>,
        /// Samples for the provider's review.
        #[schema(value_type = HeaderExampleSchema, required = false)]
        example: Option<HeaderExampleSchema>,
    },
    /// The message itself.
    Body {
        /// At most 1,024 characters; placeholders are `{{1}}`, `{{2}}` … without a gap, none at either end.
        text: String,
        /// Samples for the provider's review.
        #[schema(value_type = BodyExampleSchema, required = false)]
        example: Option<BodyExampleSchema>,
    },
    /// What stands below.
    Footer {
        /// At most 60 characters, without placeholders.
        text: String,
    },
    /// What can be tapped.
    Buttons {
        /// 1 to 10.
        buttons: Vec<ButtonSchema>,
    },
}

/// Kinds of headers.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = TemplateHeaderFormat)]
pub(super) enum HeaderFormatSchema {
    Text,
    Image,
    Video,
    Gif,
    Document,
    Location,
}

/// A sample of a header.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TemplateHeaderExample)]
pub(super) struct HeaderExampleSchema {
    /// The value of its placeholder.
    #[schema(value_type = Vec<String>, required = false)]
    header_text: Vec<String>,
    /// Handles of media that were uploaded to the provider.
    #[schema(value_type = Vec<String>, required = false)]
    header_handle: Vec<String>,
}

/// Samples of a body.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TemplateBodyExample)]
pub(super) struct BodyExampleSchema {
    /// Rows of values, one for each placeholder.
    body_text: Vec<Vec<String>>,
}

/// A button; texts have at most 25 characters and no placeholders.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = TemplateButton)]
pub(super) enum ButtonSchema {
    QuickReply {
        text: String,
    },
    Url {
        text: String,
        /// Perhaps with `{{1}}` at its end.
        url: String,
        #[schema(value_type = Vec<String>, required = false)]
        example: Vec<String>,
    },
    PhoneNumber {
        text: String,
        phone_number: String,
    },
    CopyCode {
        /// A sample of the code.
        example: String,
    },
    Otp {
        /// `COPY_CODE`, `ONE_TAP` or `ZERO_TAP`.
        otp_type: String,
        #[schema(value_type = String, required = false)]
        text: Option<String>,
    },
    Flow {
        text: String,
        /// The provider's id of the form.
        flow_id: String,
    },
    Catalog {
        text: String,
    },
    Mpm {
        text: String,
    },
}
