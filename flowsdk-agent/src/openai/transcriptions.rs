//! Transcriptions.

use flowsdk_core::event::TokenUsage;
use serde_json::Value;

use super::lenient::count;
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

/// Returns the tokens that a transcription used; none where the provider counts its seconds.
pub(super) fn tokens(answer: &Value) -> TokenUsage {
    let usage = &answer["usage"];
    TokenUsage {
        input_tokens: count(&usage["input_tokens"]),
        output_tokens: count(&usage["output_tokens"]),
        ..TokenUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_transcription_uses_tokens_or_seconds() {
        for (usage, expected) in [
            (
                json!({ "type": "tokens", "input_tokens": 54, "output_tokens": 16, "total_tokens": 70 }),
                (54, 16),
            ),
            (json!({ "type": "duration", "seconds": 6 }), (0, 0)),
            (json!(null), (0, 0)),
        ] {
            let found = tokens(&json!({ "text": "a", "usage": usage }));
            assert_eq!((found.input_tokens, found.output_tokens), expected, "{usage}");
        }
    }

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
