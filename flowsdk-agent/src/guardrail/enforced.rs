//! Rules as they are enforced: what breaks one is not sent.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use flowsdk_core::message::ContentMessage;
use regex::Regex;
use serde::Serialize;
use serde_json::{Map, Value};

use super::GuardrailRules;
use super::links::{HostPattern, host_of, hosts_in, plain};
use super::rules::compiled;

/// A rule that is broken. The text tells a model what to avoid, and nothing of the rule itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// There are words that match a forbidden pattern.
    #[error("it has words that are forbidden here")]
    ForbiddenPattern,
    /// There is a link to a host that is not listed.
    #[error("it has a link, or what looks like one, to a host that is not allowed")]
    LinkHost,
    /// The texts of a message have more characters than this together.
    #[error("its texts have more than {0} characters")]
    TooLong(u32),
}

impl Violation {
    /// Returns the name of the rule on the wire.
    pub fn rule(self) -> &'static str {
        match self {
            Self::ForbiddenPattern => "forbiddenPatterns",
            Self::LinkHost => "allowedLinkHosts",
            Self::TooLong(_) => "maxLength",
        }
    }
}

/// Rules that are ready to be enforced.
#[derive(Debug, Default)]
pub struct EnforcedRules {
    /// A pattern that does not compile forbids everything.
    patterns: Vec<Option<Regex>>,
    hosts: Option<Vec<HostPattern>>,
    max_length: Option<u32>,
}

/// A string of a message that reaches the contact.
enum Shown<'a> {
    Text(&'a str),
    Address(&'a str),
}

impl EnforcedRules {
    /// Compiles rules.
    pub fn new(rules: &GuardrailRules) -> Self {
        let hosts = |hosts: &Vec<String>| hosts.iter().filter_map(|host| HostPattern::parse(host)).collect();
        Self {
            patterns: rules.forbidden_patterns.iter().map(|pattern| compiled(pattern).ok()).collect(),
            hosts: rules.allowed_link_hosts.as_ref().map(hosts),
            max_length: rules.max_length,
        }
    }

    /// Checks a message before it is sent: all that the contact reads or opens.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check_message(&self, content: &ContentMessage) -> Result<(), Violation> {
        if self.patterns.is_empty() && self.hosts.is_none() && self.max_length.is_none() {
            return Ok(());
        }
        let content = written(content)?;
        let mut shown = Vec::new();
        collect(&content, "", &mut shown);
        let mut length = 0;
        for part in shown {
            let (Shown::Text(text) | Shown::Address(text)) = part;
            self.check_text(text)?;
            if let Shown::Text(text) = part {
                length += text.chars().count();
            }
            self.check_links(&part)?;
        }
        match self.max_length {
            Some(most) if length > most as usize => Err(Violation::TooLong(most)),
            _ => Ok(()),
        }
    }

    /// Checks a text that has an effect by forbidden patterns.
    ///
    /// # Errors
    /// [`Violation::ForbiddenPattern`].
    pub fn check_text(&self, text: &str) -> Result<(), Violation> {
        if self.patterns.is_empty() {
            return Ok(());
        }
        let plain = plain(text);
        let is_broken = |pattern: &Option<Regex>| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(text) || pattern.is_match(&plain))
        };
        if self.patterns.iter().any(is_broken) { Err(Violation::ForbiddenPattern) } else { Ok(()) }
    }

    /// Checks a value that has an effect, with all that is in it, by forbidden patterns.
    ///
    /// # Errors
    /// [`Violation::ForbiddenPattern`].
    pub fn check_value(&self, value: &Value) -> Result<(), Violation> {
        match value {
            Value::String(text) => self.check_text(text),
            Value::Array(items) => items.iter().try_for_each(|item| self.check_value(item)),
            Value::Object(fields) => self.check_fields(fields),
            Value::Null => Ok(()),
            Value::Bool(_) | Value::Number(_) => self.check_text(&value.to_string()),
        }
    }

    /// Checks a text that a flow may say to the contact, by forbidden patterns and hosts of links.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check_text_of_flows(&self, text: &str) -> Result<(), Violation> {
        self.check_text(text)?;
        self.check_links(&Shown::Text(text))
    }

    /// Checks a value that a flow may say to the contact, with all that is in it, by forbidden patterns and hosts of links.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check_value_of_flows(&self, value: &Value) -> Result<(), Violation> {
        match value {
            Value::String(text) => self.check_text_of_flows(text),
            Value::Array(items) => items.iter().try_for_each(|item| self.check_value_of_flows(item)),
            // A flow that says an object says its keys too.
            Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
                self.check_text_of_flows(key)?;
                self.check_value_of_flows(value)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.check_value(value),
        }
    }

    /// Checks arguments by forbidden patterns.
    ///
    /// # Errors
    /// [`Violation::ForbiddenPattern`].
    pub fn check_fields(&self, fields: &Map<String, Value>) -> Result<(), Violation> {
        fields.iter().try_for_each(|(key, value)| {
            self.check_text(key)?;
            self.check_value(value)
        })
    }

    fn check_links(&self, part: &Shown<'_>) -> Result<(), Violation> {
        let Some(allowed) = &self.hosts else { return Ok(()) };
        let is_allowed =
            |host: Option<String>| host.is_some_and(|host| allowed.iter().any(|pattern| pattern.has(&host)));
        let is_kept = match part {
            Shown::Text(text) => hosts_in(text).into_iter().all(is_allowed),
            Shown::Address(address) => is_allowed(host_of(address)),
        };
        if is_kept { Ok(()) } else { Err(Violation::LinkHost) }
    }
}

/// Returns a message as it is written. One that cannot be written cannot be checked, and so breaks the first rule.
fn written(content: &impl Serialize) -> Result<Value, Violation> {
    serde_json::to_value(content).map_err(|_| Violation::ForbiddenPattern)
}

/// Collects what the contact reads or opens. Ids of buttons and rows come back to us only.
fn collect<'a>(value: &'a Value, key: &str, shown: &mut Vec<Shown<'a>>) {
    match value {
        Value::String(text) => match key {
            "type" | "id" | "payload" | "content_type" => {}
            "link" | "url" | "imageUrl" => shown.push(Shown::Address(text)),
            _ => shown.push(Shown::Text(text)),
        },
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, shown)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| collect(value, key, shown)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// So many patterns are kept ready, and so many rules without one. A pattern takes up to about a megabyte.
const KEPT: usize = 500;

/// Rules that were compiled before, by what they were compiled of.
#[derive(Debug, Default)]
pub struct KnownRules(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_rules: HashMap<Arc<GuardrailRules>, Arc<EnforcedRules>>,
    /// All of them, the oldest first.
    in_order: VecDeque<Arc<GuardrailRules>>,
    weight: usize,
}

impl KnownRules {
    /// Returns rules, compiled.
    pub fn of(&self, rules: &GuardrailRules) -> Arc<EnforcedRules> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).by_rules.get(rules) {
            return Arc::clone(known);
        }
        let made = Arc::new(EnforcedRules::new(rules));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(rules, &made);
        made
    }
}

impl Known {
    /// Keeps rules, and drops the oldest ones for which there is no room beside them.
    fn keep(&mut self, rules: &GuardrailRules, made: &Arc<EnforcedRules>) {
        let rules = Arc::new(rules.clone());
        if self.by_rules.insert(Arc::clone(&rules), Arc::clone(made)).is_some() {
            return;
        }
        self.weight += weight(&rules);
        self.in_order.push_back(rules);
        while self.weight > KEPT && self.in_order.len() > 1 {
            let Some(oldest) = self.in_order.pop_front() else { return };
            self.weight -= weight(&oldest);
            self.by_rules.remove(&oldest);
        }
    }
}

/// Returns how much room rules take, in patterns.
fn weight(rules: &GuardrailRules) -> usize {
    rules.forbidden_patterns.len().max(1)
}

#[cfg(test)]
mod tests {
    use flowsdk_core::session::Channel;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::tool::{Command, NativeTool, read};

    fn rules(value: Value) -> EnforcedRules {
        EnforcedRules::new(&serde_json::from_value(value).expect("rules"))
    }

    fn message(channel: Channel, tool: NativeTool, arguments: &Value) -> ContentMessage {
        match read(tool, &arguments.to_string(), channel.capabilities()).expect("a command") {
            Command::Send(content) => content,
            other => panic!("{other:?}"),
        }
    }

    fn text(text: &str) -> ContentMessage {
        message(Channel::Phone, NativeTool::SendTextMessage, &json!({ "text": text }))
    }

    #[test]
    fn nothing_that_the_contact_reads_is_left_out() {
        use NativeTool as T;
        let rules = rules(json!({ "forbiddenPatterns": ["lottery"] }));
        let link = "https://a.example/f";
        let button = |title: &str| json!({ "id": "b", "title": title });
        let list = |body: &str, open: &str, section: &str, title: &str, more: &str| {
            json!({ "body": body, "buttonText": open, "sections": [{ "title": section,
                "rows": [{ "id": "r", "title": title, "description": more }] }] })
        };
        for (channel, tool, arguments) in [
            (Channel::Phone, T::SendTextMessage, json!({ "text": "The LOTTERY!" })),
            (Channel::Phone, T::SendTextMessage, json!({ "text": "The lot\u{200b}tery" })),
            (Channel::Phone, T::SendTextMessage, json!({ "text": "The ｌｏｔｔｅｒｙ" })),
            (Channel::Phone, T::SendButtonMessage, json!({ "body": "lottery", "buttons": [button("B")] })),
            (
                Channel::Phone,
                T::SendButtonMessage,
                json!({ "body": "x", "buttons": [button("B"), { "id": "c", "title": "Lottery" }] }),
            ),
            (Channel::Social, T::SendButtonMessage, json!({ "body": "x", "buttons": [button("Lottery")] })),
            (Channel::Social, T::SendButtonMessage, json!({ "body": "lottery", "buttons": [button("B")] })),
            (Channel::Phone, T::SendListMessage, list("lottery", "o", "s", "t", "m")),
            (Channel::Phone, T::SendListMessage, list("b", "lottery", "s", "t", "m")),
            (Channel::Phone, T::SendListMessage, list("b", "o", "lottery", "t", "m")),
            (Channel::Phone, T::SendListMessage, list("b", "o", "s", "lottery", "m")),
            (Channel::Phone, T::SendListMessage, list("b", "o", "s", "t", "lottery")),
            (Channel::Phone, T::SendImageMessage, json!({ "url": link, "caption": "lottery" })),
            (Channel::Phone, T::SendVideoMessage, json!({ "url": "https://lottery.example/f" })),
            (Channel::Phone, T::SendDocumentMessage, json!({ "url": link, "filename": "lottery.pdf" })),
            (
                Channel::Social,
                T::SendCarouselMessage,
                json!({ "elements": [{ "title": "t", "subtitle": "lottery" }] }),
            ),
            (
                Channel::Social,
                T::SendCarouselMessage,
                json!({ "elements": [{ "title": "t",
                "buttons": [{ "title": "lottery", "payload": "p" }] }] }),
            ),
        ] {
            let checked = rules.check_message(&message(channel, tool, &arguments));
            assert_eq!(checked, Err(Violation::ForbiddenPattern), "{arguments}");
        }
        assert_eq!(rules.check_message(&text("A lot of tea")), Ok(()));
    }

    #[test]
    fn links_lead_to_listed_hosts_only() {
        let rules_of = |hosts: Value| rules(json!({ "allowedLinkHosts": hosts }));
        let some = rules_of(json!(["shop.example", "*.cdn.example"]));
        for (content, is_kept) in [
            (text("See https://shop.example/tea, or write to ana@x.example"), true),
            (text("See shop.example"), true),
            (text("https://a.cdn.example/x"), true),
            (text("https://cdn.example/x"), false),
            (text("https://shop.example.evil.example"), false),
            (text("https://shop.example@evil.example"), false),
            (text("https:\\\\evil.example"), false),
            (text("www.evil.example"), false),
            (text("https://shop.example and evil.com"), false),
            (
                message(
                    Channel::Phone,
                    NativeTool::SendImageMessage,
                    &json!({ "url": "https://a.cdn.example/i.png" }),
                ),
                true,
            ),
            (
                message(
                    Channel::Phone,
                    NativeTool::SendImageMessage,
                    &json!({ "url": "https://evil.example/i.png" }),
                ),
                false,
            ),
            (
                message(
                    Channel::Phone,
                    NativeTool::SendDocumentMessage,
                    &json!({ "url": "https://shop.example/f", "filename": "menu.pdf", "caption": "evil.com" }),
                ),
                false,
            ),
            (
                message(
                    Channel::Social,
                    NativeTool::SendCarouselMessage,
                    &json!({ "elements": [{ "title": "t", "imageUrl": "https://evil.example/i.png" }] }),
                ),
                false,
            ),
            (
                message(
                    Channel::Social,
                    NativeTool::SendCarouselMessage,
                    &json!({ "elements": [{ "title": "t", "buttons": [{ "title": "b", "url": "https://evil.example" }] }] }),
                ),
                false,
            ),
        ] {
            assert_eq!(some.check_message(&content).is_ok(), is_kept, "{content:?}");
        }
        assert_eq!(rules_of(json!([])).check_message(&text("shop.example")), Err(Violation::LinkHost));
        assert_eq!(rules_of(json!(null)).check_message(&text("evil.com")), Ok(()));
    }

    #[test]
    fn texts_are_as_long_together_as_they_may_be() {
        let rules = rules(json!({ "maxLength": 10 }));
        let buttons = |title: &str| {
            let arguments = json!({ "body": "ação?", "buttons": [{ "id": "a-long-id", "title": title }] });
            message(Channel::Phone, NativeTool::SendButtonMessage, &arguments)
        };
        assert_eq!(rules.check_message(&text("ááááéééé10")), Ok(()));
        assert_eq!(rules.check_message(&text("ááááéééé 11")), Err(Violation::TooLong(10)));
        assert_eq!(rules.check_message(&buttons("12345")), Ok(()));
        assert_eq!(rules.check_message(&buttons("123456")), Err(Violation::TooLong(10)));
        let image = json!({ "url": "https://a.example/long", "caption": "short" });
        assert_eq!(
            rules.check_message(&message(Channel::Phone, NativeTool::SendImageMessage, &image)),
            Ok(())
        );
    }

    #[test]
    fn arguments_are_checked_with_all_that_is_in_them() {
        let rules = rules(json!({ "forbiddenPatterns": ["secret", r"\b666\b"] }));
        for (value, is_kept) in [
            (json!({ "a": 1, "b": [null, true, "fine"] }), true),
            (json!({ "a": { "b": ["x", { "c": "a SECRET" }] } }), false),
            (json!({ "secret": 1 }), false),
            (json!({ "n": 666 }), false),
            (json!({ "n": 6660 }), true),
        ] {
            assert_eq!(rules.check_value(&value).is_ok(), is_kept, "{value}");
        }
    }

    #[test]
    fn rules_are_compiled_once() {
        let known = KnownRules::default();
        let of = |most: u32| GuardrailRules { max_length: Some(most), ..GuardrailRules::default() };
        let first = known.of(&of(1));
        assert!(Arc::ptr_eq(&first, &known.of(&of(1))) && !Arc::ptr_eq(&first, &known.of(&of(2))));
        for most in 3..1_000 {
            known.of(&of(most));
        }
        assert_eq!(known.0.lock().expect("a lock").by_rules.len(), KEPT);
        let (kept, gone) = (known.of(&of(999)), known.of(&of(1)));
        assert!(Arc::ptr_eq(&kept, &known.of(&of(999))), "only the oldest are dropped");
        assert!(!Arc::ptr_eq(&first, &gone));
    }

    #[test]
    fn room_is_counted_in_patterns() {
        let known = KnownRules::default();
        let of = |first: usize| {
            let forbidden_patterns = (first..first + 100).map(|at| format!("a{at}")).collect();
            GuardrailRules { forbidden_patterns, ..GuardrailRules::default() }
        };
        for first in 0..8 {
            known.of(&of(first));
        }
        let known = known.0.into_inner().expect("a lock");
        assert_eq!((known.weight, known.by_rules.len(), known.in_order.len()), (500, 5, 5));
    }

    #[test]
    fn what_cannot_be_written_breaks_a_rule() {
        let unwritable = HashMap::from([(vec![1], 1)]);
        assert_eq!(written(&unwritable), Err(Violation::ForbiddenPattern));
    }

    #[test]
    fn letters_are_one_however_they_are_composed() {
        for pattern in ["promoção", "promoc\u{327}a\u{303}o"] {
            let rules = rules(json!({ "forbiddenPatterns": [pattern] }));
            for written in ["A promoção!", "A PROMOC\u{327}A\u{303}O!"] {
                assert_eq!(
                    rules.check_text(written),
                    Err(Violation::ForbiddenPattern),
                    "{pattern} {written}"
                );
            }
        }
    }

    #[test]
    fn links_in_what_flows_may_say_are_checked() {
        let rules = rules(json!({ "allowedLinkHosts": ["shop.example"], "maxLength": 5 }));
        for (value, is_kept) in [
            (json!("See https://shop.example, and a lot more"), true),
            (json!({ "a": [1.5, null, "shop.example"] }), true),
            (json!("evil.com"), false),
            (json!({ "a": ["x", { "b": "https://evil.com" }] }), false),
            (json!({ "evil.com": 1 }), false),
        ] {
            assert_eq!(rules.check_value_of_flows(&value).is_ok(), is_kept, "{value}");
        }
    }

    #[test]
    fn a_pattern_that_does_not_compile_forbids_everything() {
        let rules = rules(json!({ "forbiddenPatterns": ["("] }));
        assert_eq!(rules.check_message(&text("hi")), Err(Violation::ForbiddenPattern));
    }

    proptest! {
        /// No text with a forbidden match passes, whatever stands around it and whatever its case.
        #[test]
        fn no_forbidden_match_passes(
            before in r"[ -~à-ú\n]{0,40}", found in "[Rr][Ee]fund(ed)? [0-9]{1,5}", after in r"[ -~à-ú\n]{0,40}",
            noise in prop::sample::select(vec!["", "\u{200b}", "\u{ad}", "\u{feff}"]),
        ) {
            let rules = rules(json!({ "forbiddenPatterns": ["never", r"refund(ed)?\s+\d+"] }));
            let (start, end) = found.split_at(3);
            let written = format!("{before}{start}{noise}{end}{after}");
            prop_assert_eq!(rules.check_text(&written), Err(Violation::ForbiddenPattern));
            prop_assert!(rules.check_message(&text(&written)).is_err());
            let arguments = json!({ "a": [written] });
            prop_assert!(rules.check_value(&arguments).is_err());
        }
    }
}
