//! The reason of a freeze, for people. The stored form is the code and a message in English, which names the entity
//! at fault in backticks. The Portuguese text is made of them when it is read.

use super::FrozenError;
use crate::text::Text;

/// Returns the text for a code of the engine, of requests to the outside or of the consumers.
fn sentence(code: &str) -> Option<&'static str> {
    Some(match code {
        "flow_loop" => "O flow passou por blocos demais sem parar",
        "turn_too_large" => "Os textos do turno são grandes demais",
        "block_not_found" => "Bloco não encontrado na definição do flow",
        "flow_not_found" => "Flow não encontrado ou sem publicação ativa",
        "flow_is_tool" => "O flow é uma ferramenta",
        "flow_missing" => "A versão do flow da sessão não existe ou não pode ser executada",
        "call_depth" => "Subflows demais, um dentro do outro",
        "http_bad_request" => "A requisição a um servidor externo é inválida",
        "http_forbidden" => "O endereço de um servidor externo não é permitido",
        "http_timeout" => "Um servidor externo não respondeu a tempo",
        "http_too_large" => "A resposta de um servidor externo é grande demais",
        "http_unreachable" => "Um servidor externo não pôde ser alcançado",
        "script_error" => "Um script falhou",
        "script_timeout" => "Um script demorou demais",
        "script_too_large" => "O resultado de um script é grande demais",
        "unknown_outcome" => "Não se sabe no que deu uma requisição ou um script",
        "not_available" => "Nada aqui executa requisições ou scripts",
        "poison_entry" => "Um evento da sessão não pôde ser processado",
        "unreadable_entry" => "Um evento da sessão não pôde ser lido",
        "http_status" => "Um servidor externo respondeu com erro",
        _ => return None,
    })
}

/// Codes whose message comes from somewhere else, such as the error that a script threw.
const IN_THEIR_WORDS: [&str; 3] = ["script_error", "unreadable_entry", "http_status"];

impl FrozenError {
    /// Returns the message in both languages.
    pub fn text(&self) -> Text {
        let english = self.message.clone();
        let Some(sentence) = sentence(&self.code) else {
            return Text::of(english.clone(), english);
        };
        let portuguese = if IN_THEIR_WORDS.contains(&self.code.as_str()) {
            format!("{sentence}: {english}")
        } else {
            match self.message.split('`').nth(1) {
                Some(name) if !name.is_empty() => format!("{sentence}: `{name}`"),
                _ => sentence.to_owned(),
            }
        };
        Text::of(portuguese, english)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_in_both_languages() {
        for (code, message, portuguese) in [
            ("flow_loop", "more than 100 blocks without a stop", "O flow passou por blocos demais sem parar"),
            (
                "block_not_found",
                "the flow has no block `bye`",
                "Bloco não encontrado na definição do flow: `bye`",
            ),
            ("script_error", "x is not defined", "Um script falhou: x is not defined"),
            ("of_another_version", "something", "something"),
        ] {
            let text = FrozenError { code: code.to_owned(), message: message.to_owned() }.text();
            assert_eq!((text.portuguese(), text.english()), (portuguese, message));
        }
    }
}
