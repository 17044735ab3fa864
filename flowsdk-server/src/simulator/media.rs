//! The files that phones send, and those that are uploaded to the provider.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::provider::Provider;

/// Most files that are kept, and most bytes of them.
const KEPT: usize = 200;
const KEPT_BYTES: usize = 256 << 20;
/// Most bytes of a file.
pub(super) const MOST: usize = 100 << 20;

/// What goes wrong with the next reading of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaFault {
    /// The content is not served: 503.
    Unavailable,
    /// The address has ended: 404.
    Expired,
    /// The content is another one than its digest says.
    Damaged,
    /// The content breaks off.
    Broken,
    /// The provider says that the file is at another host.
    ForeignHost,
}

/// A file that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptMedia {
    /// Its id.
    pub id: String,
    /// Its media type.
    pub mime_type: String,
    /// Its name.
    pub filename: Option<String>,
    /// The content.
    pub content: Bytes,
}

/// A file as a phone sends it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct SentFile {
    /// `image`, `audio`, `video`, `document` or `sticker`; its media type decides without it.
    #[serde(default)]
    pub kind: Option<String>,
    /// Its name.
    #[serde(default)]
    pub filename: Option<String>,
    /// The text below it.
    #[serde(default)]
    pub caption: Option<String>,
    /// The name of the phone's profile.
    #[serde(default)]
    pub name: Option<String>,
}

/// Files, newest last, and what goes wrong with them.
#[derive(Debug, Default)]
pub(super) struct Files {
    kept: VecDeque<Arc<KeptMedia>>,
    made: u64,
    faults: VecDeque<MediaFault>,
}

impl Files {
    /// Keeps a file, in place of the oldest ones where there are too many.
    fn keep(&mut self, media: KeptMedia) {
        self.kept.push_back(Arc::new(media));
        let bytes =
            |kept: &VecDeque<Arc<KeptMedia>>| kept.iter().map(|media| media.content.len()).sum::<usize>();
        while self.kept.len() > KEPT || bytes(&self.kept) > KEPT_BYTES && self.kept.len() > 1 {
            self.kept.pop_front();
        }
    }
}

impl KeptMedia {
    /// Returns the digest as the provider tells it.
    pub(super) fn sha256(&self) -> String {
        hex::encode(Sha256::digest(&self.content))
    }
}

impl Provider {
    /// Keeps a file, and returns its id.
    pub fn add_media(&self, mime_type: &str, filename: Option<String>, content: Bytes) -> String {
        let mut state = self.state();
        state.files.made += 1;
        // Digits, as the provider's are.
        let id = format!("{:010}{:06}", state.config.seed % 10_000_000_000, state.files.made);
        let media = KeptMedia { id: id.clone(), mime_type: mime_type.to_owned(), filename, content };
        state.files.keep(media);
        id
    }

    /// Returns a file.
    pub fn media(&self, id: &str) -> Option<Arc<KeptMedia>> {
        self.state().files.kept.iter().find(|media| media.id == id).cloned()
    }

    /// Deletes a file; returns whether it was there.
    pub fn delete_media(&self, id: &str) -> bool {
        let mut state = self.state();
        let before = state.files.kept.len();
        state.files.kept.retain(|media| media.id != id);
        state.files.kept.len() < before
    }

    /// A phone sends a file to a number. Returns the id of the message.
    pub fn say_file(
        &self,
        phone_number_id: &str,
        phone: &str,
        sent: SentFile,
        mime_type: &str,
        content: Bytes,
    ) -> String {
        let id = self.add_media(mime_type, sent.filename.clone(), content);
        let media = self.media(&id);
        let kind = sent.kind.unwrap_or_else(|| kind_of(mime_type).to_owned());
        let mut node =
            json!({ "id": id, "mime_type": mime_type, "sha256": media.map(|media| media.sha256()) });
        let parts = [("caption", sent.caption), ("filename", sent.filename)];
        for (name, text) in parts.into_iter().filter_map(|(name, text)| Some((name, text?))) {
            node[name] = text.into();
        }
        if kind == "audio" {
            node["voice"] = true.into();
        }
        let message: Value = json!({ "type": kind, kind: node });
        self.say(phone_number_id, phone, sent.name.as_deref().unwrap_or(phone), message)
    }

    /// Does something wrong with the next file that is read; further faults are for the readings after it.
    pub fn fail_media_next(&self, fault: MediaFault) {
        self.state().files.faults.push_back(fault);
    }

    /// Returns what is to go wrong now, if it is one of these.
    pub(super) fn media_fault(&self, of: &[MediaFault]) -> Option<MediaFault> {
        let mut state = self.state();
        state.files.faults.front().filter(|fault| of.contains(fault))?;
        state.files.faults.pop_front()
    }
}

/// Returns what a phone sends a file of a type as.
fn kind_of(mime_type: &str) -> &'static str {
    match mime_type.split('/').next().unwrap_or_default() {
        "image" if mime_type == "image/webp" => "sticker",
        "image" => "image",
        "audio" => "audio",
        "video" => "video",
        _ => "document",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_files_are_kept() {
        let mut files = Files::default();
        let file = |id: usize, bytes: usize| KeptMedia {
            id: id.to_string(),
            mime_type: "text/plain".to_owned(),
            filename: None,
            content: Bytes::from(vec![0; bytes]),
        };
        (0..=KEPT).for_each(|id| files.keep(file(id, 1)));
        assert_eq!((files.kept.len(), &*files.kept[0].id), (KEPT, "1"));
        files.keep(file(1_000, KEPT_BYTES - 1));
        assert_eq!(files.kept.len(), 2, "with the newest of the small ones");
        files.keep(file(1_001, 2));
        assert_eq!((files.kept.len(), &*files.kept[0].id), (1, "1001"));
    }
}
