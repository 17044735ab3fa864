//! Personal data that models are not told.

use std::sync::LazyLock;

use flowsdk_core::cell::Named;
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::Item;

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    let letter = r"[\p{L}\p{M}\p{N}]";
    let label = format!(r"{letter}(?:[\p{{L}}\p{{M}}\p{{N}}-]*{letter})?");
    let name = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}._%+-]*";
    Regex::new(&format!(r"(?i){name}@(?:{label}\.)+(?:xn--[a-z0-9-]+|\p{{L}}{{2,}})")).expect("a pattern")
});

static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[(card|cpf|email) ([1-9][0-9]{0,8})\]").expect("a pattern"));

/// Digits of a CPF, the number of a person in Brazil.
const CPF_DIGITS: usize = 11;
/// Digits of the number of a card, at least and at most.
const CARD_DIGITS: (usize, usize) = (13, 19);
/// Most characters between two groups of digits of one number.
const LONGEST_GAP: usize = 3;

/// Personal data that can be hidden from models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "camelCase")]
pub enum PersonalData {
    /// Numbers of cards: 13 to 19 digits with a valid check digit.
    CardNumber,
    /// Numbers of persons in Brazil, with valid check digits.
    Cpf,
    /// E-mail addresses.
    Email,
}

impl PersonalData {
    /// Returns the word of its placeholders.
    fn word(self) -> &'static str {
        match self {
            Self::CardNumber => "card",
            Self::Cpf => "cpf",
            Self::Email => "email",
        }
    }
}

/// The placeholders of one request to a model, such as `[email 1]`, numbered in the order in which the values appear. A
/// request is masked as a whole, and what the model answers is read by the placeholders of its request. They are stored
/// nowhere.
#[derive(Debug, Clone, Default)]
pub struct Masking {
    kinds: Vec<PersonalData>,
    known: Vec<Known>,
}

/// A value with its placeholder.
#[derive(Debug, Clone)]
struct Known {
    kind: PersonalData,
    /// The value without what may differ between two forms of it.
    key: String,
    /// The value as it stood first. Nothing in it has to be escaped in JSON.
    written: String,
    placeholder: String,
}

impl Masking {
    /// Hides these kinds.
    pub fn new(kinds: &[PersonalData]) -> Self {
        Self { kinds: kinds.to_vec(), known: Vec::new() }
    }

    /// Returns whether anything is hidden.
    pub fn hides(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Returns a text with placeholders.
    pub fn mask(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        if self.kinds.contains(&PersonalData::Email) {
            text = self.replace(&text, &emails(&text));
        }
        if self.kinds.iter().any(|kind| *kind != PersonalData::Email) {
            text = self.replace(&text, &numbers(&text, &self.kinds));
        }
        text
    }

    /// Returns an item of a conversation with placeholders.
    pub fn mask_item(&mut self, item: &Item) -> Item {
        let mut item = item.clone();
        if self.hides() {
            let text = text_of(&mut item);
            *text = self.mask(text);
        }
        item
    }

    /// Returns variables with placeholders, in their names too.
    pub fn mask_fields(&mut self, fields: &Map<String, Value>) -> Map<String, Value> {
        fields.iter().map(|(key, value)| (self.mask(key), self.mask_value(value))).collect()
    }

    fn mask_value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.mask(text).into(),
            Value::Number(number) => {
                let (text, masked) = (number.to_string(), self.mask(&number.to_string()));
                if text == masked { value.clone() } else { masked.into() }
            }
            Value::Array(items) => items.iter().map(|item| self.mask_value(item)).collect(),
            Value::Object(fields) => self.mask_fields(fields).into(),
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    /// Returns a text of the model with the values for which its placeholders stand; of JSON, JSON.
    pub fn put_back(&self, text: &str) -> String {
        let value = |found: &Captures<'_>| {
            let known = self.known.iter().find(|known| known.placeholder == found[0]);
            known.map_or_else(|| found[0].to_owned(), |known| known.written.clone())
        };
        PLACEHOLDER.replace_all(text, value).into_owned()
    }

    /// Puts the values back into what a model has answered.
    pub fn put_back_all(&self, items: &mut [Item]) {
        if self.known.is_empty() {
            return;
        }
        for item in items {
            let text = text_of(item);
            *text = self.put_back(text);
        }
    }

    /// Replaces what was found, which comes in its order.
    fn replace(&mut self, text: &str, found: &[Found]) -> String {
        let (mut replaced, mut at) = (String::with_capacity(text.len()), 0);
        for Found { kind, start, end } in found {
            replaced.push_str(&text[at..*start]);
            replaced.push_str(&self.placeholder(*kind, &text[*start..*end]));
            at = *end;
        }
        replaced.push_str(&text[at..]);
        replaced
    }

    fn placeholder(&mut self, kind: PersonalData, written: &str) -> String {
        let key = match kind {
            PersonalData::Email => written.to_lowercase(),
            PersonalData::CardNumber | PersonalData::Cpf => digits_of(written),
        };
        let mut of_kind = 0;
        for known in self.known.iter().filter(|known| known.kind == kind) {
            if known.key == key {
                return known.placeholder.clone();
            }
            of_kind += 1;
        }
        let placeholder = format!("[{} {}]", kind.word(), of_kind + 1);
        self.known.push(Known { kind, key, written: written.to_owned(), placeholder: placeholder.clone() });
        placeholder
    }
}

/// Where personal data stand in a text.
struct Found {
    kind: PersonalData,
    start: usize,
    end: usize,
}

fn text_of(item: &mut Item) -> &mut String {
    match item {
        Item::User { text, .. } | Item::Assistant { text } => text,
        Item::ToolCall(call) => &mut call.arguments,
        Item::ToolResult { output, .. } => output,
    }
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn emails(text: &str) -> Vec<Found> {
    let found = EMAIL.find_iter(text).map(|found| {
        let start = found.start() + escaped(&text[..found.start()], found.as_str());
        Found { kind: PersonalData::Email, start, end: found.end() }
    });
    found.collect()
}

/// Returns how many bytes of an address belong to an escape of JSON, as in `"\nana@example.com"`.
fn escaped(before: &str, address: &str) -> usize {
    let backslashes = before.len() - before.trim_end_matches('\\').len();
    let is_escape = backslashes % 2 == 1 && address.starts_with(['b', 'f', 'n', 'r', 't']);
    usize::from(is_escape && !address[1..].starts_with('@'))
}

/// Finds the numbers of these kinds: whole groups of digits, with blanks, dashes or points between them.
fn numbers(text: &str, kinds: &[PersonalData]) -> Vec<Found> {
    let groups = groups(text);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = groups.get(at) {
        let (mut digits, mut longest) = (String::new(), None);
        for (index, group) in groups.iter().enumerate().skip(at) {
            let goes_on = index == at || group.goes_on;
            if !goes_on || digits.len() + (group.end - group.start) > CARD_DIGITS.1 {
                break;
            }
            digits.push_str(&text[group.start..group.end]);
            if let Some(kind) = kind_of(&digits).filter(|kind| kinds.contains(kind)) {
                longest = Some((index, Found { kind, start: first.start, end: group.end }));
            }
        }
        at = match longest {
            Some((last, number)) => {
                found.push(number);
                last + 1
            }
            None => at + 1,
        };
    }
    found
}

/// Digits that stand together.
struct Group {
    start: usize,
    end: usize,
    /// Whether it may belong to the number of the group before.
    goes_on: bool,
}

fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut gap = usize::MAX;
    for (at, character) in text.char_indices() {
        if !character.is_ascii_digit() {
            gap = if is_between(character) { gap.saturating_add(1) } else { usize::MAX };
            continue;
        }
        match groups.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => groups.push(Group { start: at, end: at + 1, goes_on: gap <= LONGEST_GAP }),
        }
        gap = 0;
    }
    groups
}

fn is_between(character: char) -> bool {
    matches!(character, ' ' | '\u{a0}' | '\u{202f}' | '-' | '.' | '/' | '\u{2010}'..='\u{2015}')
}

fn kind_of(digits: &str) -> Option<PersonalData> {
    let digits: Vec<u32> = digits.chars().filter_map(|digit| digit.to_digit(10)).collect();
    if digits.windows(2).all(|two| two.first() == two.last()) {
        return None;
    }
    if digits.len() == CPF_DIGITS && is_cpf(&digits) {
        return Some(PersonalData::Cpf);
    }
    ((CARD_DIGITS.0..=CARD_DIGITS.1).contains(&digits.len()) && is_card(&digits))
        .then_some(PersonalData::CardNumber)
}

/// Checks both check digits, each of which is over all digits before it.
fn is_cpf(digits: &[u32]) -> bool {
    [9, 10].into_iter().all(|place| {
        let weighed = digits.iter().take(place).zip((2..=11).rev().skip(10 - place));
        let sum: u32 = weighed.map(|(digit, weight)| digit * weight).sum();
        digits.get(place) == Some(&(sum * 10 % 11 % 10))
    })
}

/// Checks the sum of Luhn.
fn is_card(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match digit * 2 {
            _ if place % 2 == 0 => *digit,
            double if double > 9 => double - 9,
            double => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const ALL: [PersonalData; 3] = [PersonalData::CardNumber, PersonalData::Cpf, PersonalData::Email];

    fn masked(text: &str) -> String {
        Masking::new(&ALL).mask(text)
    }

    #[test]
    fn personal_data_have_placeholders() {
        for (text, expected) in [
            ("Pedido 12345 de 12/05/2026, R$ 1.234,56", "Pedido 12345 de 12/05/2026, R$ 1.234,56"),
            ("meu cpf é 529.982.247-25.", "meu cpf é [cpf 1]."),
            ("cpf52998224725,", "cpf[cpf 1],"),
            ("529.982.247-24 e 111.111.111-11", "529.982.247-24 e 111.111.111-11"),
            ("529 982 247 25 ou 529982247-25, 168.995.350-09", "[cpf 1] ou [cpf 1], [cpf 2]"),
            ("4111 1111 1111 1111", "[card 1]"),
            ("4111-1111-1111-1111 val. 10/27", "[card 1] val. 10/27"),
            ("4111111111111112", "4111111111111112"),
            ("378282246310005; 6011000990139424", "[card 1]; [card 2]"),
            ("14111111111111111111111", "14111111111111111111111"),
            (
                "Ana.Silva+x@Shop.com.br, ana.silva+X@shop.COM.BR; b@ç.example",
                "[email 1], [email 1]; [email 2]",
            ),
            ("<mailto:ana@x.example>", "<mailto:[email 1]>"),
            ("ana@localhost a@b @x.example", "ana@localhost a@b @x.example"),
            (
                r#"{"a":"x\nana@x.example","b":"\\nana@x.example"}"#,
                r#"{"a":"x\n[email 1]","b":"\\[email 2]"}"#,
            ),
            ("52998224725@x.example", "[email 1]"),
            ("[email 1] e [card 2]", "[email 1] e [card 2]"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn only_what_is_asked_for_is_hidden() {
        let text = "529.982.247-25 4111111111111111 ana@x.example";
        for (kinds, expected) in [
            (&[][..], text),
            (&[PersonalData::Cpf], "[cpf 1] 4111111111111111 ana@x.example"),
            (&[PersonalData::CardNumber], "529.982.247-25 [card 1] ana@x.example"),
            (&[PersonalData::Email], "529.982.247-25 4111111111111111 [email 1]"),
        ] {
            assert_eq!(Masking::new(kinds).mask(text), expected);
        }
    }

    #[test]
    fn placeholders_are_put_back() {
        let mut masking = Masking::new(&ALL);
        let items =
            [Item::user("ana@x.example, 529.982.247-25"), Item::result("c", r#"{"mail":"bob@x.example"}"#)];
        let told: Vec<Item> = items.iter().map(|item| masking.mask_item(item)).collect();
        assert_eq!(told[0], Item::user("[email 1], [cpf 1]"));
        assert_eq!(told[1], Item::result("c", r#"{"mail":"[email 2]"}"#));
        let values = json!({ "ana@x.example": { "cpf": 52_998_224_725_u64, "n": 7 }, "list": ["eva@x.example", null] });
        let told = masking.mask_fields(values.as_object().expect("fields"));
        let expected = json!({ "[email 1]": { "cpf": "[cpf 1]", "n": 7 }, "list": ["[email 3]", null] });
        assert_eq!(Value::Object(told), expected);
        let mut answer = [Item::Assistant { text: "To [email 2] of [cpf 1], not [email 9]".to_owned() }];
        masking.put_back_all(&mut answer);
        let text = "To bob@x.example of 529.982.247-25, not [email 9]";
        assert_eq!(answer, [Item::Assistant { text: text.to_owned() }]);
    }

    /// Returns a number of a person of nine digits.
    fn cpf(nine: &[u32]) -> Vec<u32> {
        let mut digits = nine.to_vec();
        for _ in 0..2 {
            let last = (0..10).find(|last| {
                let whole = [digits.as_slice(), &[*last]].concat();
                let weights = (2..=whole.len() as u32).rev();
                let sum: u32 = digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
                sum * 10 % 11 % 10 == *last
            });
            digits.push(last.expect("a check digit"));
        }
        digits
    }

    fn card(digits: &[u32]) -> Vec<u32> {
        let whole = |last: &u32| is_card(&[digits, &[*last]].concat());
        let last = (0..10).find(whole).expect("a check digit");
        [digits, &[last]].concat()
    }

    /// Writes digits in groups of this length.
    fn written(digits: &[u32], length: usize, between: &str) -> String {
        let group = |group: &[u32]| group.iter().map(u32::to_string).collect::<String>();
        digits.chunks(length).map(group).collect::<Vec<_>>().join(between)
    }

    fn digit() -> impl Strategy<Value = u32> {
        0_u32..10
    }

    fn personal() -> impl Strategy<Value = String> {
        let between = prop::sample::select(vec!["", " ", "-", ".", "\u{a0}"]);
        let email = "[a-zA-Z0-9_][a-z0-9._%+-]{0,8}@[a-z0-9]{1,6}(-[a-z0-9]{1,3})?(\\.[a-z]{2,4}){1,2}";
        prop_oneof![
            (prop::collection::vec(digit(), 9), 3_usize..12, between.clone())
                .prop_filter("no number of a person", |(nine, ..)| nine.iter().any(|digit| *digit != nine[0]))
                .prop_map(|(nine, length, between)| written(&cpf(&nine), length, between)),
            (prop::collection::vec(digit(), 12..19), 4_usize..20, between)
                .prop_filter("no number of a card", |(all, ..)| all.iter().any(|digit| *digit != all[0]))
                .prop_map(|(digits, length, between)| written(&card(&digits), length, between)),
            email,
        ]
    }

    proptest! {
        /// No value of a text stands in what the model is told; masking twice changes nothing; and what is put back is the
        /// text, up to the form in which a value was written.
        #[test]
        fn nothing_personal_is_told(
            values in prop::collection::vec((personal(), r"[A-Za-zà-ú,;:!?()\n ]{1,12}[a-z]"), 1..6),
        ) {
            let text: String = values.iter().map(|(value, after)| format!(": {value} ({after}")).collect();
            let mut masking = Masking::new(&ALL);
            let told = masking.mask(&text);
            for (value, _) in &values {
                prop_assert!(!told.contains(value.as_str()), "{} in {}", value, told);
            }
            prop_assert_eq!(&masking.mask(&told), &told);
            prop_assert_eq!(&Masking::new(&ALL).mask(&told), &told);
            let back = masking.put_back(&told);
            prop_assert_eq!(Masking::new(&ALL).mask(&back), told);
        }

        #[test]
        fn any_text_is_masked_once(text in any::<String>()) {
            let told = masked(&text);
            prop_assert_eq!(masked(&told), told);
        }
    }
}
