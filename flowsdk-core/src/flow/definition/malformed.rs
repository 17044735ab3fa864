//! The messages of serde on JSON that cannot be read, in both languages and without the words of Rust.

use super::target::WHAT_IT_IS;
use crate::text::Text;

/// A part of serde's messages, in Portuguese and in English.
type Part = (&'static str, [&'static str; 2]);

/// How the messages of `serde::de::Error` begin.
const BEGINNINGS: [Part; 8] = [
    ("missing field ", ["falta o campo ", "missing field "]),
    ("duplicate field ", ["campo repetido ", "duplicate field "]),
    ("unknown field ", ["campo desconhecido ", "unknown field "]),
    ("unknown variant ", ["valor desconhecido ", "unknown value "]),
    ("invalid type: ", ["tipo inválido: ", "invalid type: "]),
    ("invalid value: ", ["valor inválido: ", "invalid value: "]),
    ("invalid length ", ["tamanho inválido ", "invalid length "]),
    ("not an identifier", ["não é um identificador", "not an identifier"]),
];

/// The other parts of the messages, outside of the author's text, which serde puts into quotes of its own. A longer
/// part stands before a part with which it begins.
const PARTS: [Part; 24] = [
    (", expected one of ", [", esperado um de ", ", expected one of "]),
    (", expected ", [", esperado ", ", expected "]),
    ("there are no fields", ["não há campos", "there are no fields"]),
    ("a string", ["um texto", "a text"]),
    ("string ", ["texto ", "text "]),
    ("a boolean", ["verdadeiro ou falso", "true or false"]),
    ("boolean ", ["booleano ", "boolean "]),
    ("integer ", ["inteiro ", "integer "]),
    ("floating point ", ["número ", "number "]),
    ("a sequence", ["uma lista", "a list"]),
    ("sequence", ["lista", "list"]),
    ("a map", ["um objeto", "an object"]),
    ("map", ["objeto", "object"]),
    ("unit", ["nulo", "null"]),
    ("null", ["nulo", "null"]),
    ("u8", NATURAL),
    ("u16", NATURAL),
    ("u32", NATURAL),
    ("u64", NATURAL),
    ("usize", NATURAL),
    ("i64", ["um inteiro", "an integer"]),
    ("f64", ["um número", "a number"]),
    (" or ", [" ou ", " or "]),
    (" with ", [" com ", " with "]),
];
const NATURAL: [&str; 2] = ["um inteiro a partir de 0", "an integer of at least 0"];

/// Parts after which the name of a type of ours follows.
const NAMED: [Part; 4] = [
    ("internally tagged enum ", ["um objeto com seu `type`", "an object with its `type`"]),
    ("adjacently tagged enum ", ["um objeto com seu `type`", "an object with its `type`"]),
    ("struct ", ["um objeto", "an object"]),
    ("enum ", ["um texto", "a text"]),
];

/// Returns the message of `error` in both languages.
pub fn malformed(error: &serde_json::Error) -> Text {
    worded(&error.to_string())
}

fn worded(message: &str) -> Text {
    if message == WHAT_IT_IS {
        return Text::new("um destino é { blockId }, { flowId, blockId? } ou { end: true }", WHAT_IT_IS);
    }
    // A list is read as the fields of an object, one after the other.
    if message.starts_with("invalid length ") && message.contains(", expected struct ") {
        return Text::new(
            "tipo inválido: lista, esperado um objeto",
            "invalid type: list, expected an object",
        );
    }
    match BEGINNINGS.iter().find_map(|(from, to)| Some((to, message.strip_prefix(from)?))) {
        Some((beginning, rest)) => {
            let [portuguese, english] =
                [0, 1].map(|language| format!("{}{}", beginning[language], outside_quotes(rest, language)));
            Text::of(portuguese, english)
        }
        None => Text::of(format!("não pode ser lido: {message}"), message.to_owned()),
    }
}

/// `text` with [`PARTS`] and [`NAMED`] in a language where they are not quoted.
fn outside_quotes(text: &str, language: usize) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if (first == '`' || first == '"')
            && let Some(length) = quoted(rest, first)
        {
            done.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some((to, after)) = part_of(&NAMED, rest) {
            done.push_str(to[language]);
            rest = after.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == ':');
        } else if let Some((to, after)) = part_of(&PARTS, rest) {
            done.push_str(to[language]);
            rest = after;
        } else {
            done.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    done
}

/// Returns the part with which `text` begins, and the rest.
fn part_of<'t>(parts: &[Part], text: &'t str) -> Option<([&'static str; 2], &'t str)> {
    parts.iter().find_map(|(from, to)| Some((*to, text.strip_prefix(from)?)))
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
    fn what_serde_says_is_said_in_both_languages() {
        for (serde, portuguese, english) in [
            (
                "missing field `defaultOutput`",
                "falta o campo `defaultOutput`",
                "missing field `defaultOutput`",
            ),
            (
                "unknown field `a string`, expected one of `blockId`, `end`",
                "campo desconhecido `a string`, esperado um de `blockId`, `end`",
                "unknown field `a string`, expected one of `blockId`, `end`",
            ),
            (
                "unknown field `x`, expected `a` or `b`",
                "campo desconhecido `x`, esperado `a` ou `b`",
                "unknown field `x`, expected `a` or `b`",
            ),
            (
                "invalid type: string \"a \\\" map\", expected u64",
                "tipo inválido: texto \"a \\\" map\", esperado um inteiro a partir de 0",
                "invalid type: text \"a \\\" map\", expected an integer of at least 0",
            ),
            (
                "invalid type: null, expected a string",
                "tipo inválido: nulo, esperado um texto",
                "invalid type: null, expected a text",
            ),
            (
                "invalid type: map, expected a sequence",
                "tipo inválido: objeto, esperado uma lista",
                "invalid type: object, expected a list",
            ),
            (
                "invalid type: integer `5`, expected struct RawTarget",
                "tipo inválido: inteiro `5`, esperado um objeto",
                "invalid type: integer `5`, expected an object",
            ),
            (
                "invalid type: sequence, expected internally tagged enum Block",
                "tipo inválido: lista, esperado um objeto com seu `type`",
                "invalid type: list, expected an object with its `type`",
            ),
            (
                "unknown variant `song`, expected `flow` or `tool`",
                "valor desconhecido `song`, esperado `flow` ou `tool`",
                "unknown value `song`, expected `flow` or `tool`",
            ),
            ("strange", "não pode ser lido: strange", "strange"),
            ("invalid type: string \"open", "tipo inválido: texto \"open", "invalid type: text \"open"),
        ] {
            let text = worded(serde);
            assert_eq!((text.portuguese(), text.english()), (portuguese, english));
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
