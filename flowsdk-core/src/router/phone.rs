//! How the phone channel of a router behaves.

use serde::{Deserialize, Serialize};

use crate::schema::SchemaAttributes;
use crate::words::words;

/// Settings of the phone channel. Absent or null, all are off.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PhoneOptions {
    /// Contacts see that a message was read as soon as the flow or the AI agent takes it.
    #[schema(required = false)]
    pub read_receipts: bool,
    /// Contacts see that somebody types until the answer comes, for 25 seconds at most. The message is then shown as read,
    /// too: the provider knows no other way.
    #[schema(required = false)]
    pub typing_indicator: bool,
    /// A contact revokes their opt-in with a message that is one of these, whatever its capitals, accents and punctuation.
    /// The flow answers it as any other message.
    #[schema(required = false, max_items = 50, value_type = Vec<OptOutWord>, example = json!(["sair", "parar", "stop"]))]
    pub opt_out_words: Vec<String>,
}

/// A word, or some, that ends what a business sends.
#[cfg(feature = "schema")]
#[derive(utoipa::ToSchema)]
#[schema(min_length = 1, max_length = 64, pattern = r"[\p{L}\p{N}]", example = "sair")]
pub(super) struct OptOutWord(#[expect(dead_code, reason = "it only describes")] String);

impl PhoneOptions {
    /// Returns whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether a contact who writes `text` wants no more messages.
    pub fn is_opt_out(&self, text: &str) -> bool {
        if self.opt_out_words.is_empty() {
            return false;
        }
        let said = words(text);
        !said.is_empty() && self.opt_out_words.iter().any(|word| words(word) == said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_message_is_an_opt_out() {
        let words = ["SAIR", "não quero mais", "!!"].map(str::to_owned).to_vec();
        let options = PhoneOptions { opt_out_words: words, ..PhoneOptions::default() };
        for (text, expected) in [
            ("sair", true),
            (" Sair! ", true),
            ("*SAIR*", true),
            ("Nao  quero, mais.", true),
            ("quero sair", false),
            ("sair da conta", false),
            ("", false),
            ("!!", false),
            ("👍", false),
        ] {
            assert_eq!(options.is_opt_out(text), expected, "{text}");
        }
        assert!(!PhoneOptions::default().is_opt_out("sair"));
    }
}
