//! Where a file of a message is.

use serde::{Deserialize, Serialize};

/// Where a file is: `{ "link": ".." }` at a public address, or `{ "id": ".." }` among the uploaded files of the router. An
/// id of digits is one of the provider's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub enum FileSource {
    /// A public address.
    Link(String),
    /// The id of an uploaded file.
    Id(String),
}

#[derive(Serialize, Deserialize)]
struct Fields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

impl TryFrom<Fields> for FileSource {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        match fields {
            Fields { link: Some(link), id: None } => Ok(Self::Link(link)),
            Fields { link: None, id: Some(id) } => Ok(Self::Id(id)),
            _ => Err("a file has a `link` or an `id`"),
        }
    }
}

impl From<FileSource> for Fields {
    fn from(source: FileSource) -> Self {
        match source {
            FileSource::Link(link) => Self { link: Some(link), id: None },
            FileSource::Id(id) => Self { link: None, id: Some(id) },
        }
    }
}

impl FileSource {
    /// Returns the name of the field, and its value.
    pub fn field(&self) -> (&'static str, &str) {
        match self {
            Self::Link(link) => ("link", link),
            Self::Id(id) => ("id", id),
        }
    }

    pub(super) fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Link(text) | Self::Id(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::message::Media;

    #[test]
    fn a_file_is_at_one_place() {
        for wire in [json!({ "link": "https://x.example/a.png", "caption": "a" }), json!({ "id": "c1" })] {
            let media: Media = serde_json::from_value(wire.clone()).expect("parses");
            assert_eq!(serde_json::to_value(&media).expect("JSON"), wire);
        }
        for wire in
            [json!({}), json!({ "caption": "a" }), json!({ "link": "a", "id": "b" }), json!({ "id": 7 })]
        {
            assert!(serde_json::from_value::<Media>(wire.clone()).is_err(), "{wire}");
        }
    }
}
