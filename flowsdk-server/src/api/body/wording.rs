//! The findings of the schema, in words.

use std::fmt::Write as _;

use flowsdk_channels::template::{LANGUAGE_PATTERN, NAME_PATTERN};
use flowsdk_core::text::Text;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

use crate::api::error::Problems;

/// Adds the problems of `error`, without the value that it is about.
pub(super) fn explain(error: &ValidationError<'_>, problems: &mut Problems) {
    let field = field(error.instance_path());
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            problems.add(below(&field, name), Text::new("Campo obrigatório", "Required field"));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                problems.add(below(&field, name), Text::new("Campo desconhecido", "Unknown field"));
            }
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            // One of them is usually "null", or they are told apart by a tag; the reason why the value is not the one that it
            // names counts.
            let at = error.instance_path();
            let is_meant = |branch: &&Vec<ValidationError<'_>>| {
                !is_of_another_type(branch, at) && wrong_tag(branch, at).is_none()
            };
            let mut meant = context.iter().filter(is_meant);
            match (meant.next(), meant.next()) {
                (Some(branch), None) => branch.iter().for_each(|inner| explain(inner, problems)),
                (None, _) => match untagged(context, at) {
                    Some((tag, text)) => problems.add(below(&field, &tag), text),
                    None => problems.add(field, invalid()),
                },
                _ => problems.add(field, invalid()),
            }
        }
        kind => problems.add(field, text(kind)),
    }
}

/// Returns whether a value was refused as a whole for being of another type.
fn is_of_another_type(branch: &[ValidationError<'_>], at: &Location) -> bool {
    branch.iter().any(|error| matches!(error.kind(), Kind::Type { .. }) && error.instance_path() == at)
}

/// Returns the tag of a branch, and the only value that it may have, if the value at `at` has another one.
fn wrong_tag<'a>(branch: &'a [ValidationError<'_>], at: &Location) -> Option<(&'a str, &'a Value)> {
    branch.iter().find_map(|error| {
        let Kind::Enum { options } = error.kind() else { return None };
        let [only] = options.as_array()?.as_slice() else { return None };
        let tag = error.instance_path().as_str().strip_prefix(at.as_str())?.strip_prefix('/')?;
        (!tag.contains('/')).then_some((tag, only))
    })
}

/// Returns the tag that has a value of no branch, and the values that there are.
fn untagged(branches: &[Vec<ValidationError<'_>>], at: &Location) -> Option<(String, Text)> {
    let tags: Vec<(&str, &Value)> = branches.iter().filter_map(|branch| wrong_tag(branch, at)).collect();
    let (tag, _) = tags.first()?;
    let options: Value =
        tags.iter().filter(|(name, _)| name == tag).map(|(_, only)| (*only).clone()).collect();
    Some(((*tag).to_owned(), text(&Kind::Enum { options: options.into() })))
}

/// `/permissions/0/resource` as `permissions[0].resource`.
fn field(path: &Location) -> String {
    path.iter().fold(String::new(), |mut field, segment| match segment {
        LocationSegment::Property(name) => below(&field, &name),
        LocationSegment::Index(index) => {
            // Writing to a string cannot fail.
            let _infallible = write!(field, "[{index}]");
            field
        }
    })
}

fn below(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

fn invalid() -> Text {
    Text::new("Valor inválido", "Invalid value")
}

fn text(kind: &Kind) -> Text {
    let of = |portuguese: String, english: String| Text::of(portuguese, english);
    match kind {
        Kind::Type { kind } => {
            let names = types(kind);
            let join = |pick: fn(&(&'static str, &'static str)) -> &'static str, or: &str| {
                names.iter().map(pick).collect::<Vec<_>>().join(or)
            };
            of(format!("Deve ser {}", join(|n| n.0, " ou ")), format!("Must be {}", join(|n| n.1, " or ")))
        }
        Kind::Enum { options } => {
            let list = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let list = list.iter().map(shown).collect::<Vec<_>>().join(", ");
            of(format!("Deve ser um de: {list}"), format!("Must be one of: {list}"))
        }
        Kind::Constant { expected_value } => {
            of(format!("Deve ser {}", shown(expected_value)), format!("Must be {}", shown(expected_value)))
        }
        Kind::MinLength { limit: 1 } => Text::new("Não pode ser vazio", "May not be empty"),
        Kind::MinLength { limit } => of(
            format!("Deve ter ao menos {limit} caracteres"),
            format!("Must have at least {limit} characters"),
        ),
        Kind::MaxLength { limit } => of(
            format!("Pode ter no máximo {limit} caracteres"),
            format!("May have at most {limit} characters"),
        ),
        Kind::MinItems { limit } => {
            of(format!("Deve ter ao menos {limit} itens"), format!("Must have at least {limit} items"))
        }
        Kind::MaxItems { limit } => {
            of(format!("Pode ter no máximo {limit} itens"), format!("May have at most {limit} items"))
        }
        Kind::MinProperties { limit } => {
            of(format!("Deve ter ao menos {limit} campos"), format!("Must have at least {limit} fields"))
        }
        Kind::MaxProperties { limit } => {
            of(format!("Pode ter no máximo {limit} campos"), format!("May have at most {limit} fields"))
        }
        Kind::Minimum { limit } => {
            of(format!("Deve ser no mínimo {limit}"), format!("Must be at least {limit}"))
        }
        Kind::Maximum { limit } => {
            of(format!("Deve ser no máximo {limit}"), format!("Must be at most {limit}"))
        }
        Kind::ExclusiveMinimum { limit } => {
            of(format!("Deve ser maior que {limit}"), format!("Must be greater than {limit}"))
        }
        Kind::ExclusiveMaximum { limit } => {
            of(format!("Deve ser menor que {limit}"), format!("Must be less than {limit}"))
        }
        Kind::UniqueItems => Text::new("Não pode ter itens repetidos", "May not have repeated items"),
        Kind::Pattern { pattern } => by_pattern(pattern),
        Kind::Format { format } => by_format(format),
        _ => invalid(),
    }
}

/// Returns the requirement of a pattern of the document. A pattern without words is shown as it is.
fn by_pattern(pattern: &str) -> Text {
    if pattern == r"\S" {
        return Text::new("Não pode ser vazio", "May not be empty");
    }
    let (portuguese, english) = words_of(pattern).unwrap_or((pattern, pattern));
    Text::of(
        format!("Formato inválido: esperado {portuguese}"),
        format!("Invalid format: expected {english}"),
    )
}

/// Describes a pattern of the document, in Portuguese and in English.
fn words_of(pattern: &str) -> Option<(&str, &str)> {
    Some(match pattern {
        r"^[A-Za-z0-9_.@|:+-]+$" | r"^[A-Za-z0-9_.@|:+-]{1,128}$" => ("um id", "an id"),
        r"^(wa|wc|ig)-[!-~]+$" => ("o id de uma sessão", "the id of a session"),
        r"^\S(.*\S)?$" => (
            "um texto de uma linha, sem espaços nas pontas",
            "a text of one line, without blanks at its ends",
        ),
        r"^[0-9]{1,32}$" => ("de 1 a 32 dígitos", "1 to 32 digits"),
        r"^\s*\+?[0-9 ().-]{8,32}$" => (
            "um telefone de 8 a 15 dígitos com código do país",
            "a phone number of 8 to 15 digits with country code",
        ),
        r"^https?://[^/\s]+$" => {
            ("uma origem como https://loja.example", "an origin such as https://shop.example")
        }
        r"^https?://[^\s]+$" => ("um endereço http:// ou https://", "an address with http:// or https://"),
        r"^https?://[^\s/?#@\\]+(/[^\s?#\\]*)?$" => (
            "um endereço http:// ou https:// sem usuário, consulta nem fragmento",
            "an address with http:// or https:// without user, query and fragment",
        ),
        r"^https?://[^\s/?#@\\]+([/?][^\s#\\]*)?$" => (
            "um endereço http:// ou https:// sem usuário nem fragmento",
            "an address with http:// or https:// without user and fragment",
        ),
        r"^https://[^\s/?#@\\]+(/[^\s?#\\]*)?$" => (
            "um endereço https:// sem usuário, consulta nem fragmento",
            "an address with https:// without user, query and fragment",
        ),
        r"^[a-zA-Z_][a-zA-Z0-9_]*$" => (
            "letras, dígitos e sublinhados, sem dígito no início",
            "letters, digits and underscores, no digit in front",
        ),
        NAME_PATTERN => {
            ("letras minúsculas, dígitos e sublinhados", "lower case letters, digits and underscores")
        }
        r"^[a-z0-9_.-]+$" => (
            "letras minúsculas, dígitos, sublinhados, pontos e hifens",
            "lower case letters, digits, underscores, dots and hyphens",
        ),
        r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$" => ("um idioma como pt-BR", "a language such as pt-BR"),
        LANGUAGE_PATTERN => ("um idioma como pt_BR", "a language such as pt_BR"),
        "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$" => ("uma cor como #0a7d4f", "a colour such as #0a7d4f"),
        r"^[!-~]+$" => ("caracteres ASCII visíveis", "visible characters of ASCII"),
        r"^\S+$" => ("um texto sem espaços", "a text without blanks"),
        r"^([01][0-9]|2[0-3]):[0-5][0-9]$" => ("um horário como 09:00", "a time such as 09:00"),
        r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" => {
            ("um horário como 18:00, até 24:00", "a time such as 18:00, up to 24:00")
        }
        r"^\d{4}-\d{2}-\d{2}$" => ("uma data como 2026-12-25", "a date such as 2026-12-25"),
        r"^#[0-9a-fA-F]{6}$" => ("uma cor como #d0342c", "a colour such as #d0342c"),
        r"[\p{L}\p{N}]" => ("um texto com letras ou dígitos", "a text with letters or digits"),
        r"^[ -~]+$" => ("caracteres ASCII visíveis e espaços", "visible characters of ASCII and spaces"),
        pattern => {
            let constant = pattern.strip_prefix('^')?.strip_suffix('$')?;
            constant.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some((constant, constant))?
        }
    })
}

fn by_format(format: &str) -> Text {
    match format {
        "email" => Text::new("E-mail inválido", "Invalid e-mail address"),
        "date-time" => Text::new("Deve ser data e hora ISO 8601", "Must be an ISO 8601 date and time"),
        "time-zone" => Text::new("Deve ser um fuso horário IANA", "Must be an IANA time zone"),
        format => Text::of(
            format!("Formato inválido: esperado {format}"),
            format!("Invalid format: expected {format}"),
        ),
    }
}

fn types(kind: &TypeKind) -> Vec<(&'static str, &'static str)> {
    use jsonschema::JsonType as Json;
    let name = |kind: Json| match kind {
        Json::Array => ("uma lista", "a list"),
        Json::Boolean => ("verdadeiro ou falso", "true or false"),
        Json::Integer => ("um número inteiro", "a whole number"),
        Json::Null => ("nulo", "null"),
        Json::Number => ("um número", "a number"),
        Json::Object => ("um objeto", "an object"),
        Json::String => ("um texto", "a string"),
    };
    match kind {
        TypeKind::Single(kind) => vec![name(*kind)],
        TypeKind::Multiple(kinds) => kinds.iter().map(name).collect(),
    }
}

/// An option of the schema, without the quotes of JSON.
fn shown(option: &Value) -> String {
    option.as_str().map_or_else(|| option.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn patterns(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("pattern").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|field| patterns(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| patterns(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_pattern_of_the_document_has_words() {
        let mut found = Vec::new();
        patterns(&serde_json::to_value(crate::api::document().components).expect("json"), &mut found);
        assert!(found.len() > 20);
        for pattern in found.iter().filter(|pattern| *pattern != r"\S") {
            assert!(words_of(pattern).is_some(), "{pattern}");
        }
    }
}
