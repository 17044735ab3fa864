//! Words of texts as people search for them: without accents and capitals. Databases fold characters differently, so
//! words are folded here.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Most words of a query that count.
const MAX_TERMS: usize = 8;

/// `text` without accents, in lower case. Letters with a stroke, which are no accents to Unicode, lose it.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            'ł' => folded.push('l'),
            'ø' => folded.push('o'),
            'đ' => folded.push('d'),
            'ß' => folded.push_str("ss"),
            other => folded.push(other),
        }
    }
    folded
}

/// Returns the words of a text, folded.
pub(crate) fn words(text: &str) -> Vec<String> {
    let folded = folded(text);
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Words by which records are found: a text fits if it has a word that begins with each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameQuery(Vec<String>);

impl NameQuery {
    /// Reads what somebody typed; `None` if it is blank. A text without a word finds nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let terms = || words(text).into_iter().take(MAX_TERMS).collect();
        (!text.trim().is_empty()).then(|| Self(terms()))
    }

    /// Returns whether a text fits.
    pub fn fits(&self, text: &str) -> bool {
        let words = words(text);
        let is_there = |term: &String| words.iter().any(|word| word.starts_with(term.as_str()));
        !self.0.is_empty() && self.0.iter().all(is_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_with_a_stroke_lose_it() {
        assert_eq!(folded("Łódź Øre Đorđe Straße ẞ"), "lodz ore dorde strasse ss");
    }

    #[test]
    fn a_name_fits_by_the_beginnings_of_its_words() {
        let fits = |query: &str, name: &str| NameQuery::parse(query).map(|query| query.fits(name));
        for (query, name, expected) in [
            ("ATEND", "Atendimento São Paulo", Some(true)),
            ("paulo atend", "Atendimento São Paulo", Some(true)),
            ("sao", "Atendimento São Paulo", Some(true)),
            ("rio", "Atendimento São Paulo", Some(false)),
            ("imento", "Atendimento", Some(false)),
            ("!!!", "Atendimento", Some(false)),
            (" ", "Atendimento", None),
        ] {
            assert_eq!(fits(query, name), expected, "{query:?}");
        }
    }
}
