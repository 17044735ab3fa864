//! What visitors of a web chat may send beside texts.

use serde::{Deserialize, Serialize};

use crate::media::MediaKind;
use crate::schema::SchemaAttributes;

/// Most bytes of a file, where a channel says nothing else.
const MOST: u64 = 16 << 20;

/// What visitors may send beside texts. What a file is, its first bytes say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Attachments {
    /// The kinds of files: images (JPEG, PNG, GIF, WebP), audio (AAC, MP3, M4A, Ogg, WebM, WAV), video (MP4, WebM), and
    /// documents of any other type but programs and pages.
    #[schema(min_items = 1, max_items = 4, example = json!(["image", "audio", "document"]))]
    pub kinds: Vec<MediaKind>,
    /// Most bytes of a file; 16 MiB without it.
    #[serde(default = "most")]
    #[schema(required = false, minimum = 1, maximum = 16_777_216, default = 16_777_216)]
    pub max_bytes: u64,
}

const fn most() -> u64 {
    MOST
}
