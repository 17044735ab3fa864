//! The names that serde gives to variants with `rename_all`.

/// The rules that [`rename`] supports.
pub(crate) const RULES: &str =
    "lowercase, UPPERCASE, camelCase, snake_case, SCREAMING_SNAKE_CASE or kebab-case";

/// Renames `variant` by the value `rule` of `rename_all`. Returns `None` if `rule` is not one of [`RULES`].
pub(crate) fn rename(rule: &str, variant: &str) -> Option<String> {
    Some(match rule {
        "lowercase" => variant.to_ascii_lowercase(),
        "UPPERCASE" => variant.to_ascii_uppercase(),
        "camelCase" => camel(variant),
        "snake_case" => snake(variant),
        "SCREAMING_SNAKE_CASE" => snake(variant).to_ascii_uppercase(),
        "kebab-case" => snake(variant).replace('_', "-"),
        _ => return None,
    })
}

fn camel(variant: &str) -> String {
    let mut letters = variant.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

fn snake(variant: &str) -> String {
    let mut name = String::with_capacity(variant.len() + 4);
    for (at, letter) in variant.char_indices() {
        if at > 0 && letter.is_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_renamed_as_serde_does() {
        for (rule, name) in [
            ("lowercase", "openaicompatible"),
            ("UPPERCASE", "OPENAICOMPATIBLE"),
            ("camelCase", "openaiCompatible"),
            ("snake_case", "openai_compatible"),
            ("SCREAMING_SNAKE_CASE", "OPENAI_COMPATIBLE"),
            ("kebab-case", "openai-compatible"),
        ] {
            assert_eq!(rename(rule, "OpenaiCompatible").as_deref(), Some(name), "{rule}");
        }
        assert_eq!(rename("Train-Case", "A"), None);
    }
}
