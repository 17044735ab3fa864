//! What contacts receive where nothing else answers them (rulings S20).

use serde::{Deserialize, Serialize};

use crate::schema::SchemaAttributes;
use crate::text::Language;

/// Why nothing else answers a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// An error has stopped the session.
    Failed,
    /// Neither the channel nor its router has a published flow.
    Unanswered,
    /// A flow has handed over to people, and the router has no queue for it (rulings D4).
    StuckHandoff,
}

/// Texts for contacts whom nothing else answers. Absent or null, a channel has those of its router and a router those of
/// the server; an empty text says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FallbackTexts {
    /// Said once when an error stops the session.
    #[schema(
        required = false,
        max_length = 1_024,
        example = "Something went wrong. We will answer you by e-mail."
    )]
    pub failed: Option<String>,
    /// Said when no flow answers, at most once a day in a chat.
    #[schema(required = false, max_length = 1_024, example = "We are on holiday until Monday.")]
    pub unanswered: Option<String>,
    /// Said once when a conversation is handed to people and the router has no active queue.
    #[schema(
        required = false,
        max_length = 1_024,
        example = "Nobody is here yet. We will write to you on Monday."
    )]
    pub stuck_handoff: Option<String>,
}

impl FallbackTexts {
    /// Returns whether no text is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn get(&self, fallback: Fallback) -> Option<&str> {
        match fallback {
            Fallback::Failed => self.failed.as_deref(),
            Fallback::Unanswered => self.unanswered.as_deref(),
            Fallback::StuckHandoff => self.stuck_handoff.as_deref(),
        }
    }
}

/// The texts that hold for a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    /// `phoneNumberId` of the channel's incoming events.
    pub phone_number_id: String,
    /// The texts of the channel.
    pub channel: FallbackTexts,
    /// The texts of its router.
    pub router: FallbackTexts,
    /// The language that the channel speaks, such as `pt-BR`, if it names one.
    pub language: Option<String>,
}

impl Wording {
    /// Returns the text to say; `None` where nothing is to be said. Of the server's own texts it is the one in the
    /// language of the channel, otherwise in `default`.
    pub fn text(&self, fallback: Fallback, default: Language) -> Option<&str> {
        let set = self.channel.get(fallback).or_else(|| self.router.get(fallback));
        let text = set.unwrap_or_else(|| own(fallback, self.language.as_deref(), default));
        Some(text).filter(|text| !text.is_empty())
    }
}

/// The server's own text, in the languages of the chat page.
fn own(fallback: Fallback, language: Option<&str>, default: Language) -> &'static str {
    let default = match default {
        Language::Portuguese => "pt",
        Language::English => "en",
    };
    let primary = language.and_then(|tag| tag.split('-').next());
    let known = primary.filter(|tag| ["pt", "en", "es", "fr", "de"].contains(tag));
    match (fallback, known.unwrap_or(default)) {
        (Fallback::Failed, "en") => "Sorry, something went wrong on our side. What you write is kept.",
        (Fallback::Failed, "es") => {
            "Lo sentimos, algo ha fallado por nuestra parte. Lo que escriba queda guardado."
        }
        (Fallback::Failed, "fr") => {
            "Désolé, une erreur est survenue de notre côté. Ce que vous écrivez est conservé."
        }
        (Fallback::Failed, "de") => {
            "Bei uns ist leider ein Fehler aufgetreten. Was Sie schreiben, bleibt gespeichert."
        }
        (Fallback::Failed, _) => {
            "Desculpe, algo deu errado do nosso lado. O que você escrever fica guardado."
        }
        (Fallback::Unanswered, "en") => "We have your message, but nobody can answer it right now.",
        (Fallback::Unanswered, "es") => "Hemos recibido su mensaje, pero ahora nadie puede responderlo.",
        (Fallback::Unanswered, "fr") => {
            "Nous avons votre message, mais personne ne peut y répondre pour le moment."
        }
        (Fallback::Unanswered, "de") => {
            "Wir haben Ihre Nachricht, aber zurzeit kann sie niemand beantworten."
        }
        (Fallback::Unanswered, _) => "Recebemos sua mensagem, mas ninguém pode respondê-la agora.",
        (Fallback::StuckHandoff, "en") => {
            "Nobody can attend to you right now. What you write is kept, and people will answer it."
        }
        (Fallback::StuckHandoff, "es") => {
            "Ahora nadie puede atenderle. Lo que escriba queda guardado y se responderá."
        }
        (Fallback::StuckHandoff, "fr") => {
            "Personne ne peut s’occuper de vous pour le moment. Ce que vous écrivez est conservé et recevra une réponse."
        }
        (Fallback::StuckHandoff, "de") => {
            "Zurzeit ist niemand für Sie da. Was Sie schreiben, bleibt gespeichert und wird beantwortet."
        }
        (Fallback::StuckHandoff, _) => {
            "Ninguém pode atender você agora. O que você escrever fica guardado e será respondido."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(failed: Option<&str>, unanswered: Option<&str>) -> FallbackTexts {
        let stuck_handoff = None;
        FallbackTexts {
            failed: failed.map(str::to_owned),
            unanswered: unanswered.map(str::to_owned),
            stuck_handoff,
        }
    }

    fn wording(channel: FallbackTexts, router: FallbackTexts, language: Option<&str>) -> Wording {
        let language = language.map(str::to_owned);
        Wording { phone_number_id: "wc-c1".to_owned(), channel, router, language }
    }

    #[test]
    fn the_channel_is_asked_before_its_router_and_the_server_last() {
        let (none, ours) = (texts(None, None), texts(Some("router"), Some("router too")));
        let silent = texts(Some(""), None);
        for (channel, router, failed, unanswered) in [
            (texts(Some("channel"), None), ours.clone(), Some("channel"), Some("router too")),
            (none.clone(), ours.clone(), Some("router"), Some("router too")),
            (silent.clone(), ours, None, Some("router too")),
            (none, silent, None, Some("We have your message, but nobody can answer it right now.")),
        ] {
            let wording = wording(channel, router, None);
            let said = |fallback| wording.text(fallback, Language::English);
            assert_eq!((said(Fallback::Failed), said(Fallback::Unanswered)), (failed, unanswered));
        }
        let ours = FallbackTexts { stuck_handoff: Some("soon".to_owned()), ..FallbackTexts::default() };
        let wording = wording(FallbackTexts::default(), ours, None);
        assert_eq!(wording.text(Fallback::StuckHandoff, Language::English), Some("soon"));
    }

    #[test]
    fn the_servers_own_texts_are_in_the_language_of_the_channel() {
        let begin = |language, default| {
            let wording = wording(FallbackTexts::default(), FallbackTexts::default(), language);
            let first = |fallback| wording.text(fallback, default)?.split(' ').next().map(str::to_owned);
            [Fallback::Failed, Fallback::Unanswered, Fallback::StuckHandoff]
                .map(first)
                .map(Option::unwrap_or_default)
        };
        use Language::{English, Portuguese};
        for (language, default, words) in [
            (None, Portuguese, ["Desculpe,", "Recebemos", "Ninguém"]),
            (None, English, ["Sorry,", "We", "Nobody"]),
            (Some("tlh"), English, ["Sorry,", "We", "Nobody"]),
            (Some("pt-BR"), English, ["Desculpe,", "Recebemos", "Ninguém"]),
            (Some("en"), Portuguese, ["Sorry,", "We", "Nobody"]),
            (Some("es"), Portuguese, ["Lo", "Hemos", "Ahora"]),
            (Some("fr"), Portuguese, ["Désolé,", "Nous", "Personne"]),
            (Some("de"), Portuguese, ["Bei", "Wir", "Zurzeit"]),
        ] {
            assert_eq!(begin(language, default), words, "{language:?}");
        }
    }
}
