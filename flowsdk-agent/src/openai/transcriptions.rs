//! Transcriptions.

use serde_json::Value;

use crate::model::ModelError;

/// Returns the name of a file of this media type: the provider goes by its extension.
pub(super) fn file_name(mime_type: &str) -> String {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    let extension = match essence {
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" | "audio/aac" => "m4a",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/webm" | "video/webm" => "webm",
        "audio/flac" => "flac",
        // What the phone records; a type that is not known is worth a try.
        _ => "ogg",
    };
    format!("audio.{extension}")
}

/// Reads what is said.
///
/// # Errors
/// [`ModelError::Unreadable`].
pub(super) fn read(answer: &Value) -> Result<String, ModelError> {
    let text = answer["text"].as_str().map(|text| text.trim().to_owned());
    text.ok_or_else(|| ModelError::Unreadable { reason: "a transcription without text".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_type() {
        for (mime_type, name) in [
            ("audio/ogg; codecs=opus", "audio.ogg"),
            ("audio/mpeg", "audio.mp3"),
            ("audio/mp4", "audio.m4a"),
            ("audio/amr", "audio.ogg"),
            ("", "audio.ogg"),
        ] {
            assert_eq!(file_name(mime_type), name, "{mime_type}");
        }
    }
}
