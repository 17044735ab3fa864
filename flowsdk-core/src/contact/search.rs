//! How contacts are searched: by the beginnings of words, without accents and capitals.
//!
//! Databases fold characters differently, so the words are made here and stored.

use super::Contact;
use crate::words::{folded, words};

/// Longest word that is stored, in characters; longer ones are cut.
const MAX_WORD: usize = 64;
/// Most words of a name that are stored.
const MAX_WORDS: usize = 32;
/// Most words of a query that count.
const MAX_TERMS: usize = 8;

/// A word of a query: every stored word from `from` on and before `to` begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm {
    /// The beginning of a word, folded.
    pub from: String,
    /// The first text after all words that begin with it, byte by byte.
    pub to: String,
}

impl SearchTerm {
    fn new(from: String) -> Self {
        let to = format!("{from}\u{10ffff}");
        Self { from, to }
    }
}

fn cut(word: &str) -> String {
    word.chars().take(MAX_WORD).collect()
}

fn words_of(text: &str) -> Vec<String> {
    words(text).into_iter().take(MAX_WORDS).map(|word| cut(&word)).collect()
}

/// Returns whether `text` is a number as people write it.
fn is_number(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '(' | ')' | '.' | ' '))
}

/// Country codes of two digits. Those that begin with 1 or 7 have one digit, all others three (E.164).
const OF_TWO_DIGITS: [&str; 44] = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48",
    "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81",
    "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
];

/// Returns the part of a number in E.164 behind its country code.
fn national(digits: &str) -> Option<&str> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let code = match digits.get(..2)? {
        two if two.starts_with(['1', '7']) => 1,
        two if OF_TWO_DIGITS.contains(&two) => 2,
        _ => 3,
    };
    digits.get(code..).filter(|rest| !rest.is_empty())
}

/// Returns an identity as a whole, and the part of it that its channel gave; of a number the part without its country
/// code.
fn identity_words(identity: &str) -> impl Iterator<Item = String> {
    let identity = folded(identity);
    let parts = identity.starts_with("wc-").then_some(3).or(identity.starts_with("ig-").then_some(2));
    let own = parts.and_then(|parts| identity.splitn(parts, '-').last()).or_else(|| national(&identity));
    let own = own.map(cut);
    std::iter::once(cut(&identity)).chain(own)
}

/// Returns the words by which a contact with these aliases is found, each once.
pub fn search_words(contact: &Contact, aliases: &[String]) -> Vec<String> {
    let mut words = words_of(&contact.name);
    words.extend(identity_words(&contact.phone_number));
    words.extend(aliases.iter().flat_map(|alias| identity_words(alias)));
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the words of the name, joined: it changes when the stored words must, for an identity stays. Never empty.
pub fn search_text(contact: &Contact) -> String {
    let mut text = words_of(&contact.name).join(" ");
    text.push('|');
    text
}

/// Returns whether `text` can only be an identity, or the beginning of one: that of a channel, a user id of WhatsApp
/// (two letters of a country, a dot and digits), or one that an embedder made of a mail address.
fn is_identity(text: &str) -> bool {
    let of_a_country = |text: &[u8]| {
        matches!(text, [a, b, b'.', digit, ..]
            if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() && digit.is_ascii_digit())
    };
    let is_one_word = !text.contains(char::is_whitespace);
    let of_a_channel = text.starts_with("wc-") || text.starts_with("ig-");
    of_a_channel || is_one_word && (text.contains('@') || of_a_country(text.as_bytes()))
}

/// Returns the terms of a query: a contact must have all of them, and the one likely to be the rarest is first.
/// `None` when the query has no word.
pub fn search_terms(query: &str) -> Option<Vec<SearchTerm>> {
    let query = query.trim();
    let mut words = if is_number(query) {
        vec![query.chars().filter(char::is_ascii_digit).collect()]
    } else if is_identity(query) {
        vec![cut(&folded(query))]
    } else {
        words_of(query)
    };
    words.truncate(MAX_TERMS);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.dedup();
    (!words.is_empty()).then(|| words.into_iter().map(SearchTerm::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::OpContext;
    use crate::session::Channel;

    fn contact(name: &str, identity: &str) -> Contact {
        Contact::create(&OpContext::system(), identity.to_owned(), name.to_owned(), Channel::Phone)
    }

    fn terms(query: &str) -> Vec<String> {
        search_terms(query).unwrap_or_default().into_iter().map(|term| term.from).collect()
    }

    #[test]
    fn words_have_no_accents_and_no_capitals() {
        let words =
            search_words(&contact("José da SILVA-Conceição, Ǆ ﬁn", "5511999"), &["BR.abc".to_owned()]);
        assert_eq!(words, ["11999", "5511999", "br.abc", "conceicao", "da", "dz", "fin", "jose", "silva"]);
        assert_eq!(terms("  SÍLVA josé"), ["silva", "jose"]);
        assert_eq!(terms("İstanbul"), ["istanbul"]);
    }

    #[test]
    fn numbers_are_found_as_people_write_them() {
        assert_eq!(terms("+55 (11) 99999-0000"), ["5511999990000"]);
        assert_eq!(terms("Ana 2"), ["ana", "2"]);
    }

    #[test]
    fn numbers_are_found_without_their_country_code() {
        for (number, without) in [
            ("5511987654321", Some("11987654321")),
            ("16505550100", Some("6505550100")),
            ("79161234567", Some("9161234567")),
            ("351912345678", Some("912345678")),
            ("9811", Some("11")),
            ("wc-c1-u", None),
            ("5", None),
        ] {
            assert_eq!(national(number), without, "{number}");
        }
        let words = search_words(&contact("", "5511987654321"), &["351912345678".to_owned()]);
        assert_eq!(words, ["11987654321", "351912345678", "5511987654321", "912345678"]);
        assert_eq!(terms("(11) 98765-43"), ["119876543"]);
    }

    #[test]
    fn identities_are_found_whole_and_by_their_own_part() {
        let words = search_words(&contact("", "wc-c1-user-7"), &[]);
        assert_eq!(words, ["user-7", "wc-c1-user-7"]);
        assert_eq!(search_words(&contact("", "ig-42"), &[]), ["42", "ig-42"]);
        assert_eq!(terms("wc-C1-us"), ["wc-c1-us"]);
        assert_eq!(terms("br.000001993"), ["br.000001993"]);
        assert_eq!(terms("Ana@Customer.example"), ["ana@customer.example"]);
        assert_eq!(terms("Jr.Silva"), ["silva", "jr"]);
        assert_eq!(terms("Ana @ 2"), ["ana", "2"]);
    }

    #[test]
    fn a_query_without_words_finds_nothing() {
        for query in ["", " ", "!!!", "--", "\u{301}"] {
            assert_eq!(search_terms(query), None, "{query:?}");
        }
        assert_eq!(terms(&"a b c d e f g h i j".repeat(9)).len(), MAX_TERMS);
    }

    #[test]
    fn a_term_is_the_beginning_of_words() {
        let term = &search_terms("ana").expect("a term")[0];
        for word in ["ana", "anabela", "ana\u{ffff}", "anaç"] {
            assert!(*term.from <= *word && *word < *term.to, "{word}");
        }
        for word in ["an", "anb", "bana"] {
            assert!(!(*term.from <= *word && *word < *term.to), "{word}");
        }
    }

    #[test]
    fn what_is_stored_changes_with_the_name() {
        let (a, b) = (contact("Ana", "5511"), contact("Aná", "5511"));
        assert_eq!(search_text(&a), search_text(&b));
        assert_ne!(search_text(&a), search_text(&contact("Bia", "5511")));
    }
}
