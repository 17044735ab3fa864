//! Placeholders in place of personal data, which models are not told.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::PersonalData;
use super::personal::{Found, emails, numbers};
use crate::model::Item;

static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[(card|cpf|email) ([1-9][0-9]{0,8})\]").expect("a pattern"));

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
    /// The placeholder of each value, by the value without what may differ between two forms of it.
    placeholders: HashMap<(PersonalData, String), String>,
    /// Each value as it stood first, by its placeholder.
    values: HashMap<String, String>,
    /// How many values of a kind have one.
    counts: HashMap<PersonalData, usize>,
}

impl Masking {
    /// Hides these kinds.
    pub fn new(kinds: &[PersonalData]) -> Self {
        Self { kinds: kinds.to_vec(), ..Self::default() }
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
            change(&mut item, &mut |text| self.mask(text));
        }
        item
    }

    /// Returns variables with placeholders, in their names too.
    pub fn mask_fields(&mut self, fields: &Map<String, Value>) -> Map<String, Value> {
        changed_fields(fields, &mut |text| self.mask(text))
    }

    /// Returns a text of the model with the values for which its placeholders stand.
    pub fn put_back(&self, text: &str) -> String {
        let value = |found: &Captures<'_>| {
            let value = self.values.get(&found[0]);
            value.map_or_else(|| found[0].to_owned(), Clone::clone)
        };
        PLACEHOLDER.replace_all(text, value).into_owned()
    }

    /// Puts the values back into what a model has answered.
    pub fn put_back_all(&self, items: &mut [Item]) {
        if self.values.is_empty() {
            return;
        }
        for item in items {
            change(item, &mut |text| self.put_back(text));
        }
    }

    /// Replaces what was found, which comes in its order.
    fn replace(&mut self, text: &str, found: &[Found]) -> String {
        let (mut replaced, mut end) = (String::with_capacity(text.len()), 0);
        for Found { kind, at } in found {
            replaced.push_str(&text[end..at.start]);
            replaced.push_str(self.placeholder(*kind, &text[at.clone()]));
            end = at.end;
        }
        replaced.push_str(&text[end..]);
        replaced
    }

    fn placeholder(&mut self, kind: PersonalData, written: &str) -> &str {
        let key = match kind {
            PersonalData::Email => written.to_lowercase(),
            PersonalData::CardNumber | PersonalData::Cpf => digits_of(written),
        };
        self.placeholders.entry((kind, key)).or_insert_with(|| {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            let placeholder = format!("[{} {count}]", kind.word());
            self.values.insert(placeholder.clone(), written.to_owned());
            placeholder
        })
    }
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Changes the texts of an item. Of arguments and results that are JSON they are the strings: what stands between these is no
/// text of anybody.
fn change(item: &mut Item, to: &mut dyn FnMut(&str) -> String) {
    match item {
        Item::User { text, .. } | Item::Assistant { text } => *text = to(text),
        Item::ToolCall(call) => change_json(&mut call.arguments, to),
        Item::ToolResult { output, .. } => change_json(output, to),
    }
}

fn change_json(text: &mut String, to: &mut dyn FnMut(&str) -> String) {
    let parsed = serde_json::from_str::<Value>(text);
    let Ok(before @ (Value::Object(_) | Value::Array(_))) = parsed else {
        *text = to(text);
        return;
    };
    let after = changed(&before, to);
    if after != before {
        *text = after.to_string();
    }
}

/// Returns a value with other strings. A number that is another one as a string becomes that string.
fn changed(value: &Value, to: &mut dyn FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => to(text).into(),
        Value::Number(number) => {
            let text = number.to_string();
            let after = to(&text);
            if text == after { value.clone() } else { after.into() }
        }
        Value::Array(items) => items.iter().map(|item| changed(item, to)).collect(),
        Value::Object(fields) => changed_fields(fields, to).into(),
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

fn changed_fields(fields: &Map<String, Value>, to: &mut dyn FnMut(&str) -> String) -> Map<String, Value> {
    fields.iter().map(|(key, value)| (to(key), changed(value, to))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::personal::is_card;
    use super::*;
    use crate::model::ToolCall;

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

    #[test]
    fn json_stays_json() {
        let mut masking = Masking::new(&ALL);
        let mut arguments = |arguments: &str| {
            let call = ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: arguments.to_owned() };
            let Item::ToolCall(call) = masking.mask_item(&Item::ToolCall(call)) else { panic!("a call") };
            call.arguments
        };
        for (written, told) in [
            (
                r#"{"a":"x\nana@x.example","b":"\\nana@x.example"}"#,
                r#"{"a":"x\n[email 1]","b":"\\[email 2]"}"#,
            ),
            (r#"{"text":"Mail \u003cana@x.example\u003e"}"#, r#"{"text":"Mail <[email 1]>"}"#),
            (r#"{"text":"\u0027529.982.247-25"}"#, r#"{"text":"'[cpf 1]"}"#),
            (r#"{ "n": 52998224725, "m": 1.50 }"#, r#"{"m":1.5,"n":"[cpf 1]"}"#),
            (r#"{ "m": 1.50 }"#, r#"{ "m": 1.50 }"#),
            ("ana@x.example, no JSON", "[email 1], no JSON"),
        ] {
            assert_eq!(arguments(written), told);
        }
        let answered = r#"{"text":"To \u005bemail 1\u005d"}"#.to_owned();
        let call = ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: answered };
        let mut answer = [Item::ToolCall(call)];
        masking.put_back_all(&mut answer);
        let [Item::ToolCall(call)] = &answer else { panic!("a call") };
        assert_eq!(call.arguments, r#"{"text":"To ana@x.example"}"#);
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

    fn number() -> impl Strategy<Value = String> {
        let between = prop::sample::select(vec!["", " ", "-", ".", "\u{a0}"]);
        prop_oneof![
            (prop::collection::vec(digit(), 9), 3_usize..12, between.clone())
                .prop_filter("no number of a person", |(nine, ..)| nine.iter().any(|digit| *digit != nine[0]))
                .prop_map(|(nine, length, between)| written(&cpf(&nine), length, between)),
            (prop::collection::vec(digit(), 12..19), 4_usize..20, between)
                .prop_filter("no number of a card", |(all, ..)| all.iter().any(|digit| *digit != all[0]))
                .prop_map(|(digits, length, between)| written(&card(&digits), length, between)),
        ]
    }

    fn personal() -> impl Strategy<Value = String> {
        let email = "[a-zA-Z0-9_][a-z0-9._%+-]{0,8}@[a-z0-9]{1,6}(-[a-z0-9]{1,3})?(\\.[a-z]{2,4}){1,2}";
        prop_oneof![2 => number(), 1 => email]
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

        /// Values that stand side by side hide each other's digits.
        #[test]
        fn no_digit_of_neighbours_is_told(values in prop::collection::vec(number(), 2..5), between in "[ ./-]") {
            let told = masked(&values.join(&between));
            let told = PLACEHOLDER.replace_all(&told, "");
            prop_assert!(!told.contains(|character: char| character.is_ascii_digit()), "{}", told);
        }

        #[test]
        fn any_text_is_masked_once(text in any::<String>()) {
            let told = masked(&text);
            prop_assert_eq!(masked(&told), told);
        }
    }
}
