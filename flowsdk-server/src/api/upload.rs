//! What the head of an upload says of its file, wherever files are uploaded.

use flowsdk_core::media::{Claim, MAX_FILENAME};
use flowsdk_core::text::Text;
use http::header;
use http::request::Parts;

use super::query::{FromQuery, QueryReader};

/// The parameter `filename`. An empty one is none.
#[derive(Debug)]
pub(crate) struct Filename(pub(crate) Option<String>);

impl FromQuery for Filename {
    fn read(query: &mut QueryReader) -> Self {
        let name = query.text("filename").filter(|name| !name.is_empty());
        if name.as_ref().is_some_and(|name| name.chars().count() > MAX_FILENAME) {
            let must = Text::of(
                format!("No máximo {MAX_FILENAME} caracteres"),
                format!("At most {MAX_FILENAME} characters"),
            );
            query.problem("filename", must);
        }
        Self(name)
    }
}

impl Filename {
    /// Returns what the client says of the file: its name, and its media type by `Content-Type`.
    pub(crate) fn claim(self, head: &Parts) -> Claim {
        let mime_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Claim { mime_type: mime_type.map(str::to_owned), filename: self.0 }
    }
}
