//! A channel as it is shown alone.

use flowsdk_channels::webchat::channels::{ShownChannel, WebchatChannelView};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::opening::OpeningWarning;

/// A channel of the web chat, and what its visitors lack.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ShownWebchatChannel)]
pub(super) struct ShownView {
    #[serde(flatten)]
    channel: WebchatChannelView,
    /// What keeps visitors from being answered, although the settings are valid.
    warnings: Vec<OpeningWarning>,
}

impl From<&ShownChannel> for ShownView {
    fn from(shown: &ShownChannel) -> Self {
        Self {
            channel: WebchatChannelView::from(&shown.channel),
            warnings: OpeningWarning::all(shown.no_opening),
        }
    }
}
