//! What a model is told first: what the contact said, or why the agent has the conversation (spec B 4.9, step 5).

use flowsdk_core::event::AgentStreamEvent;
use flowsdk_core::media::MediaId;
use flowsdk_core::message::{IncomingContent, IncomingMedia, IncomingMessage, Known, MediaKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Item;

/// Most bytes of a recording that is transcribed, and of an image that a model sees.
pub const MAX_MEDIA: u64 = 5 << 20;

/// What a model without vision is told instead of an image.
pub const UNSEEN: &str = "[Imagem: a interpretação de imagens ainda não está disponível]";

/// What stands in the text of an input for an image that is beside it.
const SEEN: &str = "[Imagem]";

/// What there is to hear in a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard<'a> {
    /// A text for the model.
    Text(String),
    /// A recording, of which [`transcribed`] makes a text.
    Audio(&'a IncomingMedia),
    /// An image, with its caption. Without vision the model is told this text.
    Image(&'a IncomingMedia, String),
}

/// Returns what there is to hear in a message.
pub fn hear(message: &IncomingMessage) -> Heard<'_> {
    let content = &message.content;
    let with_caption = |placeholder: &str| match content.as_text() {
        "" => placeholder.to_owned(),
        caption => format!("{placeholder}\n{caption}"),
    };
    match content {
        IncomingContent::Known(Known::Text { .. } | Known::Interactive { .. } | Known::Button { .. }) => {
            Heard::Text(content.as_text().to_owned())
        }
        IncomingContent::Known(Known::Contacts { contacts }) => Heard::Text(shared(contacts)),
        _ => match content.file() {
            Some((MediaKind::Audio, audio)) => Heard::Audio(audio),
            Some((MediaKind::Image, image)) => Heard::Image(image, with_caption(UNSEEN)),
            Some((MediaKind::Document, _)) => {
                Heard::Text(with_caption("[Documento: a leitura de documentos não é suportada]"))
            }
            Some((MediaKind::Video, _)) => {
                Heard::Text(with_caption("[Vídeo: a leitura de vídeos não é suportada]"))
            }
            Some((MediaKind::Sticker, _)) => Heard::Text("[Sticker]".to_owned()),
            None => Heard::Text(format!("[{}]", content.kind())),
        },
    }
}

/// Returns the cards of people as a text.
fn shared(contacts: &Value) -> String {
    let card = |card: &Value| {
        let name = card["name"]["formatted_name"].as_str().unwrap_or("?");
        let phones = card["phones"].as_array().into_iter().flatten();
        let phones: Vec<&str> = phones.filter_map(|phone| phone["phone"].as_str()).collect();
        format!("{name} ({})", phones.join(", "))
    };
    let cards: Vec<String> = contacts.as_array().into_iter().flatten().map(card).collect();
    format!("[Contato compartilhado: {}]", cards.join("; "))
}

/// Returns the text of an image for a model that sees it.
pub fn seen(image: &IncomingMedia) -> String {
    match image.caption.as_deref() {
        None | Some("") => SEEN.to_owned(),
        Some(caption) => format!("{SEEN}\n{caption}"),
    }
}

/// Why a file of a contact is not heard or seen. The turn goes on without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaFault {
    /// The channel has no credentials with which to fetch it.
    NoCredentials,
    /// The provider does not say where it is.
    NoAddress,
    /// It cannot be fetched.
    NotFetched,
    /// It is of so many bytes, which is too large.
    TooLarge(u64),
    /// Anything else.
    Unexpected,
}

/// Returns the text of a recording: what is said in it, or why nobody knows.
pub fn transcribed(transcription: Result<&str, MediaFault>) -> String {
    let megabytes = |bytes: u64| format!("{}.{} MB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20);
    match transcription {
        Ok(text) => format!("[Áudio transcrito]: \"{}\"", text.trim()),
        Err(MediaFault::NoCredentials) => {
            "[Áudio recebido, mas o canal não tem credenciais para buscá-lo]".to_owned()
        }
        Err(MediaFault::NoAddress) => "[Áudio recebido, mas o endereço do arquivo não foi obtido]".to_owned(),
        Err(MediaFault::NotFetched) => "[Áudio recebido, mas o download falhou]".to_owned(),
        Err(MediaFault::TooLarge(bytes)) => {
            format!(
                "[Áudio recebido, mas o arquivo tem {} e o limite é {}]",
                megabytes(bytes),
                megabytes(MAX_MEDIA)
            )
        }
        Err(MediaFault::Unexpected) => "[Áudio recebido, mas ocorreu um erro ao transcrevê-lo]".to_owned(),
    }
}

/// Returns the first input of a turn: `heard` has the texts of its messages. Before them stands why the agent has the
/// conversation, if another agent handed it over or gave it back.
pub fn first_input(event: &AgentStreamEvent, heard: &[String]) -> Item {
    Item::user(input(why(event).as_deref(), heard))
}

/// Returns why the agent has the conversation, if another agent handed it over or gave it back.
fn why(event: &AgentStreamEvent) -> Option<String> {
    let context = event.handoff_context.as_deref().map(str::trim);
    match (&event.last_user_input, context) {
        (Some(last), context) => Some(format!(
            "[The conversation was handed to you by another agent]\nContext: {}\nLast message of the customer: {}",
            context.unwrap_or_default(),
            last.trim()
        )),
        (None, Some(context)) => Some(format!("[The specialist has ended its part]\nContext: {context}")),
        (None, None) => None,
    }
}

fn input(why: Option<&str>, heard: &[String]) -> String {
    let said = heard.join("\n");
    match why {
        None => said,
        Some(why) if said.is_empty() => why.to_owned(),
        Some(why) => format!("{why}\n[The customer writes]\n{said}"),
    }
}

/// A part of what a contact said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// A text for the model.
    Said(String),
    /// A recording, with the file that it is in, if there is one.
    Recording(Option<MediaId>),
}

impl Part {
    /// Returns its text. A recording has that of a failure until it is transcribed.
    pub fn text(&self) -> String {
        match self {
            Self::Said(text) => text.clone(),
            Self::Recording(_) => transcribed(Err(MediaFault::Unexpected)),
        }
    }
}

/// A first input with recordings that are not transcribed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unheard {
    /// Why the agent has the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What the contact said, in order.
    parts: Vec<Part>,
}

impl Unheard {
    /// Returns what there is to transcribe in the first input of [`first_input`]; `None` if there is nothing.
    pub fn of(event: &AgentStreamEvent, parts: &[Part]) -> Option<Self> {
        let has_recording = parts.iter().any(|part| matches!(part, Part::Recording(_)));
        has_recording.then(|| Self { why: why(event), parts: parts.to_vec() })
    }

    /// Returns the files of the recordings, in order.
    pub fn recordings(&self) -> impl Iterator<Item = Option<&MediaId>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Said(_) => None,
            Part::Recording(file) => Some(file.as_ref()),
        })
    }

    /// Returns the text of the input, and the characters of the last thing that the contact said. `transcriptions` are those
    /// of the recordings, in their order; one that is missing has failed.
    pub fn heard(&self, transcriptions: &[Result<String, MediaFault>]) -> (String, usize) {
        let mut transcriptions = transcriptions.iter();
        let mut length = 0;
        let mut texts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let text = match part {
                Part::Said(text) => text.clone(),
                Part::Recording(_) => {
                    let next = transcriptions.next().map(|one| one.as_deref().map_err(|fault| *fault));
                    transcribed(next.unwrap_or(Err(MediaFault::Unexpected)))
                }
            };
            length = text.chars().count();
            texts.push(text);
        }
        (input(self.why.as_deref(), &texts), length)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(fields: Value) -> IncomingMessage {
        let mut fields = fields;
        fields["id"] = "m1".into();
        serde_json::from_value(fields).expect("a message")
    }

    fn text(fields: Value) -> String {
        match hear(&message(fields)) {
            Heard::Text(text) | Heard::Image(_, text) => text,
            Heard::Audio(audio) => format!("audio {}", audio.id),
        }
    }

    #[test]
    fn every_kind_of_message_is_heard() {
        let media = json!({ "id": "f1" });
        let captioned = json!({ "id": "f1", "caption": "see" });
        let card =
            json!({ "name": { "formatted_name": "Eva" }, "phones": [{ "phone": "+1" }, { "phone": "+2" }] });
        let reply = json!({ "type": "button_reply", "button_reply": { "id": "a", "title": "Yes" } });
        let row = json!({ "type": "list_reply", "list_reply": { "id": "r", "title": "Tea" } });
        for (fields, expected) in [
            (json!({ "type": "text", "text": { "body": "oi" } }), "oi"),
            (json!({ "type": "interactive", "interactive": reply }), "Yes"),
            (json!({ "type": "interactive", "interactive": row }), "Tea"),
            (json!({ "type": "audio", "audio": media }), "audio f1"),
            (
                json!({ "type": "image", "image": captioned }),
                "[Imagem: a interpretação de imagens ainda não está disponível]\nsee",
            ),
            (
                json!({ "type": "document", "document": media }),
                "[Documento: a leitura de documentos não é suportada]",
            ),
            (json!({ "type": "video", "video": media }), "[Vídeo: a leitura de vídeos não é suportada]"),
            (json!({ "type": "sticker", "sticker": media }), "[Sticker]"),
            (json!({ "type": "contacts", "contacts": [card] }), "[Contato compartilhado: Eva (+1, +2)]"),
            (json!({ "type": "contacts", "contacts": "?" }), "[Contato compartilhado: ]"),
            (json!({ "type": "location", "location": {} }), "[location]"),
            (json!({ "type": "order", "order": {} }), "[order]"),
        ] {
            assert_eq!(text(fields.clone()), expected, "{fields}");
        }
    }

    #[test]
    fn an_image_that_is_seen_keeps_its_caption() {
        for (fields, expected) in [
            (json!({ "id": "f1" }), "[Imagem]"),
            (json!({ "id": "f1", "caption": "" }), "[Imagem]"),
            (json!({ "id": "f1", "caption": "see" }), "[Imagem]\nsee"),
        ] {
            assert_eq!(seen(&serde_json::from_value(fields).expect("an image")), expected);
        }
    }

    #[test]
    fn a_recording_is_a_text_whatever_became_of_it() {
        assert_eq!(transcribed(Ok(" bom dia ")), "[Áudio transcrito]: \"bom dia\"");
        let large = transcribed(Err(MediaFault::TooLarge(6 * (1 << 20) + (1 << 19))));
        assert!(large.contains("6.5 MB") && large.contains("5.0 MB"), "{large}");
        let faults = [
            MediaFault::NoCredentials,
            MediaFault::NoAddress,
            MediaFault::NotFetched,
            MediaFault::Unexpected,
        ];
        let mut texts: Vec<String> = faults.into_iter().map(|fault| transcribed(Err(fault))).collect();
        assert!(texts.iter().all(|text| text.starts_with("[Áudio recebido, mas ")), "{texts:?}");
        texts.dedup();
        assert_eq!(texts.len(), 4);
    }

    #[test]
    fn the_first_input_says_why_the_agent_has_the_conversation() {
        let event = |context: Option<&str>, last: Option<&str>| -> AgentStreamEvent {
            serde_json::from_value(json!({ "sessionId": "wc-c1-ana", "chatId": "c1", "to": "ana",
                "phoneNumberId": "wc-c1", "agentId": "a1", "maxMessages": 5, "messages": [],
                "handoffContext": context, "lastUserInput": last, "timestamp": 1 }))
            .expect("an event")
        };
        let heard = ["oi".to_owned(), "tudo bem?".to_owned()];
        assert_eq!(first_input(&event(None, None), &heard), Item::user("oi\ntudo bem?"));
        let Item::User { text, .. } = first_input(&event(Some("VIP"), Some("price?")), &[]) else {
            panic!("an input")
        };
        assert!(text.contains("Context: VIP") && text.ends_with("customer: price?"), "{text}");
        let Item::User { text, .. } = first_input(&event(Some("done"), None), &[]) else {
            panic!("an input")
        };
        assert!(text.contains("has ended") && text.ends_with("Context: done"), "{text}");

        let said = Part::Said("oi".to_owned());
        assert_eq!(Unheard::of(&event(None, None), std::slice::from_ref(&said)), None);
        let parts = [Part::Recording(None), said, Part::Recording(None)];
        let unheard = Unheard::of(&event(Some("done"), None), &parts).expect("recordings");
        assert_eq!(unheard.recordings().count(), 2);
        let stored = serde_json::to_value(&unheard).expect("JSON");
        let unheard: Unheard = serde_json::from_value(stored).expect("what was stored");
        let (text, length) = unheard.heard(&[Ok("bom dia".to_owned()), Err(MediaFault::NotFetched)]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        let failed = transcribed(Err(MediaFault::NotFetched));
        assert_eq!(lines, ["[The customer writes]", "[Áudio transcrito]: \"bom dia\"", "oi", &failed]);
        assert_eq!(length, failed.chars().count());
        assert!(unheard.heard(&[]).0.ends_with(&transcribed(Err(MediaFault::Unexpected))));
    }
}
