//! A conversation, as the model that summarises it reads it.

use flowsdk_core::message::{Direction, Message, SenderKind};
use serde_json::Value;

use crate::guardrail::Masking;

/// Most characters of a transcript. What is older is left out.
const LONGEST: usize = 48_000;
/// Most characters of one message.
const LONGEST_LINE: usize = 2_000;

/// The lines of a conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript(String);

impl Transcript {
    /// Writes messages down, which come newest first, with placeholders for what is hidden; `None` where nobody said a word.
    pub fn of(newest_first: &[Message], masking: &mut Masking) -> Option<Self> {
        let (mut lines, mut length) = (Vec::new(), 0);
        for line in newest_first.iter().filter_map(|message| line_of(message, masking)) {
            length += line.len();
            if length > LONGEST {
                lines.push("[...]".to_owned());
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        (!lines.is_empty()).then(|| Self(lines.join("\n")))
    }

    /// Returns its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is hidden is so before the text is cut: of half a number nobody could tell what it was.
fn line_of(message: &Message, masking: &mut Masking) -> Option<String> {
    let text = masking.mask(text_of(&message.content));
    let text = match text.trim() {
        "" if message.kind == "text" => return None,
        "" => format!("[{}]", message.kind),
        text => text.chars().take(LONGEST_LINE).collect(),
    };
    let speaker = match (message.direction, &message.sender) {
        (Direction::In, _) => "Customer",
        (Direction::Out, Some(sender)) if sender.kind == SenderKind::Human => "Agent",
        (Direction::Out, Some(sender)) if sender.kind == SenderKind::Ai => "Assistant",
        (Direction::Out, _) => "Bot",
    };
    Some(format!("{speaker}: {text}"))
}

/// Returns the words of a phone-shaped content: its text, the body or the answer of an interactive message, or the caption
/// of a file.
fn text_of(content: &Value) -> &str {
    const PLACES: [&str; 9] = [
        "/text/body",
        "/interactive/body/text",
        "/interactive/button_reply/title",
        "/interactive/list_reply/title",
        "/button/text",
        "/image/caption",
        "/video/caption",
        "/document/caption",
        "/quickReplies/text",
    ];
    PLACES.iter().find_map(|place| content.pointer(place)?.as_str()).unwrap_or_default()
}
