//! What serde says of JSON that cannot be read, in Portuguese. Its own words are the English twin.

use crate::text::Text;

/// Beginnings of serde's messages (`serde::de::Error`), and what they say.
const BEGINNINGS: [(&str, &str); 8] = [
    ("missing field ", "falta o campo "),
    ("duplicate field ", "campo repetido "),
    ("unknown field ", "campo desconhecido "),
    ("unknown variant ", "valor desconhecido "),
    ("invalid type: ", "tipo inválido: "),
    ("invalid value: ", "valor inválido: "),
    ("invalid length ", "tamanho inválido "),
    ("not an identifier", "não é um identificador"),
];

/// Parts in the rest of them. They stand outside of what the author wrote, which serde puts into quotes of its own.
const PARTS: [(&str, &str); 19] = [
    (", expected one of ", ", esperado um de "),
    (", expected ", ", esperado "),
    ("there are no fields", "não há campos"),
    ("string ", "texto "),
    ("a string", "um texto"),
    ("a boolean", "verdadeiro ou falso"),
    ("boolean ", "booleano "),
    ("integer ", "inteiro "),
    ("floating point ", "número "),
    ("sequence", "lista"),
    ("a sequence", "uma lista"),
    ("a map", "um objeto"),
    ("map", "objeto"),
    ("internally tagged enum", "objeto com `type`"),
    ("adjacently tagged enum", "objeto com `type`"),
    ("struct ", "objeto "),
    ("enum ", "um valor de "),
    ("unit", "nulo"),
    (" or ", " ou "),
];

/// The message of `error` in both languages.
pub(super) fn malformed(error: &serde_json::Error) -> Text {
    let english = error.to_string();
    Text::of(translated(&english), english)
}

fn translated(english: &str) -> String {
    if english == super::target::WHAT_IT_IS {
        return "um destino é { blockId }, { flowId, blockId? } ou { end: true }".to_owned();
    }
    match BEGINNINGS.iter().find_map(|(from, to)| Some((to, english.strip_prefix(from)?))) {
        Some((beginning, rest)) => format!("{beginning}{}", outside_quotes(rest)),
        None => format!("não pode ser lido: {english}"),
    }
}

/// `text` with [`PARTS`] translated where they are not quoted.
fn outside_quotes(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if (first == '`' || first == '"')
            && let Some(length) = quoted(rest, first)
        {
            done.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some((from, to)) = PARTS.iter().find(|(from, _)| rest.starts_with(from)) {
            done.push_str(to);
            rest = &rest[from.len()..];
        } else {
            done.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    done
}

/// How long the quoted text is with which `text` begins. A text between `"` is written as `Debug` writes it.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            letter if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::FlowDefinition;

    #[test]
    fn what_serde_says_is_said_in_portuguese_too() {
        for (english, portuguese) in [
            ("missing field `defaultOutput`", "falta o campo `defaultOutput`"),
            (
                "unknown field `a string`, expected one of `blockId`, `end`",
                "campo desconhecido `a string`, esperado um de `blockId`, `end`",
            ),
            ("unknown field `x`, expected `a` or `b`", "campo desconhecido `x`, esperado `a` ou `b`"),
            (
                "invalid type: string \"a \\\" map\", expected u64",
                "tipo inválido: texto \"a \\\" map\", esperado u64",
            ),
            ("invalid type: null, expected a string", "tipo inválido: null, esperado um texto"),
            ("invalid type: map, expected a sequence", "tipo inválido: objeto, esperado uma lista"),
            ("strange", "não pode ser lido: strange"),
            ("invalid type: string \"open", "tipo inválido: texto \"open"),
        ] {
            assert_eq!(translated(english), portuguese);
        }
    }

    #[test]
    fn a_target_says_what_it_is() {
        let definition = json!({ "schemaVersion": 1, "startBlockId": "a",
            "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true, "blockId": "a" } }] });
        let found = FlowDefinition::parse(&definition).expect_err("two targets in one");
        assert!(found[0].message.portuguese().starts_with("um destino é "), "{:?}", found[0].message);
        assert!(found[0].message.english().starts_with("a target is "), "{:?}", found[0].message);
    }
}
