//! What a file is to those who get it, and what it may be.

use serde::{Deserialize, Serialize};

use crate::cell::Named;

/// The kind of a file, as messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "MediaKind")]
pub enum MediaKind {
    /// An image.
    Image,
    /// A sound or a voice message.
    Audio,
    /// A video.
    Video,
    /// Any other file.
    Document,
    /// A small image.
    Sticker,
}

/// What a file of a kind may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Most bytes.
    pub bytes: u64,
    /// The media types; none is any.
    pub types: &'static [&'static str],
}

const MIB: u64 = 1 << 20;

impl MediaKind {
    /// Most bytes of any file.
    pub const MOST: u64 = 100 * MIB;

    /// Returns what a file of this kind may be that is sent to contacts: what every channel carries (WhatsApp Cloud API,
    /// "Media").
    pub const fn sent(self) -> FileLimits {
        match self {
            Self::Image => FileLimits { bytes: 5 * MIB, types: &["image/jpeg", "image/png"] },
            Self::Audio => FileLimits {
                bytes: 16 * MIB,
                types: &["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"],
            },
            Self::Video => FileLimits { bytes: 16 * MIB, types: &["video/mp4", "video/3gpp"] },
            Self::Document => FileLimits { bytes: Self::MOST, types: &[] },
            Self::Sticker => FileLimits { bytes: 500 << 10, types: &["image/webp"] },
        }
    }

    /// Returns what a file of this kind may be that a visitor of the web chat sends: what browsers show.
    pub const fn received(self) -> FileLimits {
        match self {
            Self::Image => {
                FileLimits { bytes: 16 * MIB, types: &["image/jpeg", "image/png", "image/gif", "image/webp"] }
            }
            Self::Audio => FileLimits {
                bytes: 16 * MIB,
                types: &["audio/aac", "audio/mpeg", "audio/mp4", "audio/ogg", "audio/webm", "audio/wav"],
            },
            Self::Video => FileLimits { bytes: 16 * MIB, types: &["video/mp4", "video/webm"] },
            Self::Document => FileLimits { bytes: 16 * MIB, types: &[] },
            Self::Sticker => FileLimits { bytes: 0, types: &[] },
        }
    }

    /// Returns the kind whose limits name the media type; a document, if none does.
    pub fn of_type(mime_type: &str, limits: fn(Self) -> FileLimits) -> Self {
        let kinds = [Self::Image, Self::Audio, Self::Video, Self::Sticker];
        let named = kinds.into_iter().find(|kind| limits(*kind).types.contains(&mime_type));
        named.unwrap_or(Self::Document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_one_kind() {
        for (mime, sent, received) in [
            ("image/png", MediaKind::Image, MediaKind::Image),
            ("image/webp", MediaKind::Sticker, MediaKind::Image),
            ("image/gif", MediaKind::Document, MediaKind::Image),
            ("audio/ogg", MediaKind::Audio, MediaKind::Audio),
            ("audio/webm", MediaKind::Document, MediaKind::Audio),
            ("video/3gpp", MediaKind::Video, MediaKind::Document),
            ("application/pdf", MediaKind::Document, MediaKind::Document),
        ] {
            assert_eq!(MediaKind::of_type(mime, MediaKind::sent), sent, "{mime}");
            assert_eq!(MediaKind::of_type(mime, MediaKind::received), received, "{mime}");
        }
        for limits in [MediaKind::sent, MediaKind::received] {
            let mut all: Vec<_> = MediaKind::ALL.iter().flat_map(|kind| limits(*kind).types).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
            assert!(MediaKind::ALL.iter().all(|kind| limits(*kind).bytes <= MediaKind::MOST));
        }
    }
}
