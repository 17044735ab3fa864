//! What a model is told first: what the contact said, or why the agent has the conversation (spec B 4.9, step 5).

use flowsdk_core::event::AgentStreamEvent;
use flowsdk_core::message::{IncomingContent, IncomingMedia, IncomingMessage, Known, MediaKind};
use serde_json::Value;

use crate::model::Item;

/// Most bytes of a recording that is transcribed.
const MAX_AUDIO: u64 = 5 << 20;

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
            Some((MediaKind::Image, image)) => Heard::Image(
                image,
                with_caption("[Imagem: a interpretação de imagens ainda não está disponível]"),
            ),
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

/// Why there is no transcription. The turn goes on without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AudioFault {
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
pub fn transcribed(transcription: Result<&str, AudioFault>) -> String {
    let megabytes = |bytes: u64| format!("{}.{} MB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20);
    match transcription {
        Ok(text) => format!("[Áudio transcrito]: \"{}\"", text.trim()),
        Err(AudioFault::NoCredentials) => {
            "[Áudio recebido, mas o canal não tem credenciais para buscá-lo]".to_owned()
        }
        Err(AudioFault::NoAddress) => "[Áudio recebido, mas o endereço do arquivo não foi obtido]".to_owned(),
        Err(AudioFault::NotFetched) => "[Áudio recebido, mas o download falhou]".to_owned(),
        Err(AudioFault::TooLarge(bytes)) => {
            format!(
                "[Áudio recebido, mas o arquivo tem {} e o limite é {}]",
                megabytes(bytes),
                megabytes(MAX_AUDIO)
            )
        }
        Err(AudioFault::Unexpected) => "[Áudio recebido, mas ocorreu um erro ao transcrevê-lo]".to_owned(),
    }
}

/// Returns the first input of a turn: `heard` has the texts of its messages. Before them stands why the agent has the
/// conversation, if another agent handed it over or gave it back.
pub fn first_input(event: &AgentStreamEvent, heard: &[String]) -> Item {
    let said = heard.join("\n");
    let context = event.handoff_context.as_deref().map(str::trim);
    let why = match (&event.last_user_input, context) {
        (Some(last), context) => format!(
            "[The conversation was handed to you by another agent]\nContext: {}\nLast message of the customer: {}",
            context.unwrap_or_default(),
            last.trim()
        ),
        (None, Some(context)) => format!("[The specialist has ended its part]\nContext: {context}"),
        (None, None) => return Item::user(said),
    };
    Item::user(if said.is_empty() { why } else { format!("{why}\n[The customer writes]\n{said}") })
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
    fn a_recording_is_a_text_whatever_became_of_it() {
        assert_eq!(transcribed(Ok(" bom dia ")), "[Áudio transcrito]: \"bom dia\"");
        let large = transcribed(Err(AudioFault::TooLarge(6 * (1 << 20) + (1 << 19))));
        assert!(large.contains("6.5 MB") && large.contains("5.0 MB"), "{large}");
        let faults = [
            AudioFault::NoCredentials,
            AudioFault::NoAddress,
            AudioFault::NotFetched,
            AudioFault::Unexpected,
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
    }
}
