//! A channel as it is shown alone.

use flowsdk_channels::webchat::channels::{ShownChannel, WebchatChannelView};
use flowsdk_core::admin::flow::NoOpening;
use flowsdk_core::text::Language;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::request;

/// A channel of the web chat, and what its visitors lack.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ShownWebchatChannel)]
pub(super) struct ShownView {
    #[serde(flatten)]
    channel: WebchatChannelView,
    /// What keeps visitors from being answered, although the settings are valid.
    warnings: Vec<WarningView>,
}

/// Something that is probably not meant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebchatChannelWarning)]
struct WarningView {
    /// `no_initial_flow` or `initial_flow_not_published`.
    #[schema(example = "no_initial_flow")]
    code: &'static str,
    /// For people, in the language of `Accept-Language`.
    message: String,
}

impl WarningView {
    fn of(reason: NoOpening, language: Language) -> Self {
        Self { code: reason.code(), message: reason.text().into_language(language).into_owned() }
    }
}

impl From<&ShownChannel> for ShownView {
    fn from(shown: &ShownChannel) -> Self {
        let (_, language) = request::facts();
        let warnings = shown.no_opening.map(|reason| WarningView::of(reason, language));
        Self { channel: WebchatChannelView::from(&shown.channel), warnings: warnings.into_iter().collect() }
    }
}
