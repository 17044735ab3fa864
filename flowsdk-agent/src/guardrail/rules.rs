//! The rules of guardrails, as they are declared.

use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::text::Text;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::PersonalData;
use super::links::HostPattern;

/// Most bytes of a compiled pattern: `\w` takes 50,000 of them.
const PATTERN_SIZE: usize = 256 << 10;
/// Most bytes of what a pattern remembers of the texts that it has searched.
const PATTERN_CACHE: usize = 256 << 10;
/// Most patterns that hold for one agent. Any number of guardrails may hold for one, and each pattern takes memory.
const MOST_PATTERNS: usize = 200;
/// Most characters of a pattern, and of a host.
const LONGEST_PATTERN: usize = 200;
const LONGEST_HOST: usize = 255;

const NOT_A_PATTERN: Text = Text::new(
    "Não é uma expressão regular, ou é grande demais",
    "No regular expression, or one that is too large",
);
const FITS_EMPTY_TEXT: Text = Text::new("Corresponde ao texto vazio", "Matches the empty text");
const NOT_A_HOST: Text = Text::new(
    "Não é um host como example.com ou *.example.com",
    "No host such as example.com or *.example.com",
);

// An agent that hands a conversation on would tell the next one what that one is not to know.
const ONLY_OF_ROUTERS: Text = Text::new(
    "Só em guardrails de todos os agentes do roteador",
    "Only in guardrails of all agents of the router",
);

/// Rules that are enforced before anything is sent to a contact. A message that breaks one is not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GuardrailRules {
    /// Regular expressions of at most 200 characters that neither a message nor an argument of a tool may match. Whether
    /// letters are large does not matter.
    #[serde(default)]
    #[schema(required = false, max_items = 20, example = json!(["guaranteed (profit|return)s?"]))]
    pub forbidden_patterns: Vec<String>,
    /// The hosts to which messages may link, such as `example.com`, or `*.example.com` for all below it; empty is no link at
    /// all, and null is any.
    #[serde(default)]
    #[schema(max_items = 100, example = json!(["example.com", "*.example.com"]))]
    pub allowed_link_hosts: Option<Vec<String>>,
    /// Most characters of all texts of one message; null is as many as the channel takes.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100_000)]
    pub max_length: Option<u32>,
    /// Personal data that models are not told: they get placeholders, and what they do with these is done with the values.
    /// Only in guardrails of all agents of a router.
    #[serde(default)]
    #[schema(required = false, max_items = 3)]
    pub masked_data: Vec<PersonalData>,
}

impl GuardrailRules {
    /// Returns whether there is nothing to enforce.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what does not fit, each with its field below `rules`, in a guardrail of one agent or of all.
    pub(crate) fn flaws(&self, is_of_agent: bool) -> Vec<(String, Text)> {
        let mut flaws = Vec::new();
        if is_of_agent && !self.masked_data.is_empty() {
            flaws.push(("rules.maskedData".to_owned(), ONLY_OF_ROUTERS));
        }
        for (at, pattern) in self.forbidden_patterns.iter().enumerate() {
            if let Some(flaw) = flaw_of_pattern(pattern) {
                flaws.push((format!("rules.forbiddenPatterns[{at}]"), flaw));
            }
        }
        for (at, host) in self.allowed_link_hosts.iter().flatten().enumerate() {
            if host.len() > LONGEST_HOST || HostPattern::parse(host).is_none() {
                flaws.push((format!("rules.allowedLinkHosts[{at}]"), NOT_A_HOST));
            }
        }
        flaws
    }

    /// Returns the rules that hold where all of these hold.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        all.into_iter().fold(Self::default(), Self::and)
    }

    /// Drops the patterns behind the first 200. Returns how many these are.
    pub(crate) fn limit_patterns(&mut self) -> usize {
        let dropped = self.forbidden_patterns.len().saturating_sub(MOST_PATTERNS);
        self.forbidden_patterns.truncate(MOST_PATTERNS);
        dropped
    }

    fn and(mut self, other: &Self) -> Self {
        for pattern in &other.forbidden_patterns {
            if !self.forbidden_patterns.contains(pattern) {
                self.forbidden_patterns.push(pattern.clone());
            }
        }
        for kind in &other.masked_data {
            if !self.masked_data.contains(kind) {
                self.masked_data.push(*kind);
            }
        }
        self.allowed_link_hosts = match (self.allowed_link_hosts, &other.allowed_link_hosts) {
            (Some(ours), Some(theirs)) => Some(HostPattern::in_both(&ours, theirs)),
            (ours, theirs) => ours.or_else(|| theirs.clone()),
        };
        self.max_length = match (self.max_length, other.max_length) {
            (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self
    }
}

/// Compiles a pattern, which runs in linear time. It is composed as the texts are in which it is looked for.
///
/// # Errors
/// [`regex::Error`]: it is no regular expression, or one that is too large.
pub(super) fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    let pattern: String = pattern.nfc().collect();
    RegexBuilder::new(&pattern)
        .case_insensitive(true)
        .size_limit(PATTERN_SIZE)
        .dfa_size_limit(PATTERN_CACHE)
        .build()
}

fn flaw_of_pattern(pattern: &str) -> Option<Text> {
    let length = pattern.chars().count();
    if length == 0 || length > LONGEST_PATTERN {
        return Some(Text::of(
            format!("de 1 a {LONGEST_PATTERN} caracteres"),
            format!("1 to {LONGEST_PATTERN} characters"),
        ));
    }
    match compiled(pattern) {
        Err(_) => Some(NOT_A_PATTERN),
        Ok(pattern) => pattern.is_match("").then_some(FITS_EMPTY_TEXT),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(value: Value) -> GuardrailRules {
        serde_json::from_value(value).expect("rules")
    }

    #[test]
    fn rules_that_cannot_be_enforced_have_flaws() {
        for (value, expected) in [
            (json!({}), &[][..]),
            (
                json!({ "forbiddenPatterns": ["refund", r"\bR\$ ?\d+"], "allowedLinkHosts": ["a.example", "*.b.example"] }),
                &[],
            ),
            (json!({ "allowedLinkHosts": ["bücher.example", "192.0.2.1", "localhost"] }), &[]),
            (json!({ "allowedLinkHosts": [] }), &[]),
            (json!({ "forbiddenPatterns": ["a", "("] }), &["rules.forbiddenPatterns[1]"]),
            (json!({ "forbiddenPatterns": [r"(a)\1"] }), &["rules.forbiddenPatterns[0]"]),
            (json!({ "forbiddenPatterns": [r"(\w{900}){900}"] }), &["rules.forbiddenPatterns[0]"]),
            (
                json!({ "forbiddenPatterns": ["", "a*", "a|"] }),
                &["rules.forbiddenPatterns[0]", "rules.forbiddenPatterns[1]", "rules.forbiddenPatterns[2]"],
            ),
            (
                json!({ "forbiddenPatterns": ["a".repeat(200), "a".repeat(201)] }),
                &["rules.forbiddenPatterns[1]"],
            ),
            (
                json!({ "allowedLinkHosts": ["a.example", "https://a.example", "a.example/b", "a.example:80", "u@a.example",
                "*", "*.", "a.*.example", "*.192.0.2.1", "", "a b"] }),
                &[
                    "rules.allowedLinkHosts[1]",
                    "rules.allowedLinkHosts[2]",
                    "rules.allowedLinkHosts[3]",
                    "rules.allowedLinkHosts[4]",
                    "rules.allowedLinkHosts[5]",
                    "rules.allowedLinkHosts[6]",
                    "rules.allowedLinkHosts[7]",
                    "rules.allowedLinkHosts[8]",
                    "rules.allowedLinkHosts[9]",
                    "rules.allowedLinkHosts[10]",
                ],
            ),
        ] {
            let flaws = rules(value.clone()).flaws(false);
            let fields: Vec<&str> = flaws.iter().map(|(field, _)| field.as_str()).collect();
            assert_eq!(fields, expected, "{value}");
        }
    }

    #[test]
    fn patterns_are_as_large_as_usual_ones() {
        let long = ["ação".repeat(50), "garantido|".repeat(19) + "sim", format!("{}x", ".{0,9}".repeat(15))];
        let usual = [r"\b[\w.+-]+@[\w-]+\.[\w.]+\b", r"refund.{0,100}money", r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}"];
        for pattern in long.iter().map(String::as_str).chain(usual) {
            assert_eq!(flaw_of_pattern(pattern), None, "{pattern}");
        }
        for pattern in [r"\w{10}", r".{1,500}x", r"\w+ \w+ \w+ \w+ \w+ \w+"] {
            assert_eq!(flaw_of_pattern(pattern), Some(NOT_A_PATTERN), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_of_the_empty_text_is_called_nothing_more() {
        // It matches the empty text and no other.
        assert_eq!(
            flaw_of_pattern("^$"),
            Some(Text::new("Corresponde ao texto vazio", "Matches the empty text"))
        );
    }

    #[test]
    fn so_many_patterns_hold() {
        let of = |count: usize| {
            let patterns: Vec<String> = (0..count).map(|at| format!("a{at}")).collect();
            rules(json!({ "forbiddenPatterns": patterns }))
        };
        let (mut fitting, mut many) = (of(200), of(203));
        assert_eq!((fitting.limit_patterns(), many.limit_patterns()), (0, 3));
        assert_eq!((&fitting, &many), (&of(200), &of(200)));
    }

    #[test]
    fn data_are_masked_for_all_agents_of_a_router_or_for_none() {
        let rules = rules(json!({ "maskedData": ["cpf"] }));
        assert_eq!((rules.flaws(false).len(), rules.flaws(true).len()), (0, 1));
    }

    #[test]
    fn all_rules_hold_together() {
        let merged = |all: &[Value]| {
            let all: Vec<GuardrailRules> = all.iter().cloned().map(rules).collect();
            GuardrailRules::merged(&all)
        };
        assert!(merged(&[]).is_empty() && merged(&[json!({}), json!({})]).is_empty());
        let first = json!({ "forbiddenPatterns": ["a", "b"], "maxLength": 90, "allowedLinkHosts": ["*.x.example", "y.example"] });
        let second = json!({ "forbiddenPatterns": ["b", "c"], "maxLength": 70, "allowedLinkHosts": ["Shop.X.example", "z.example"] });
        let third = json!({ "maxLength": 80, "maskedData": ["cpf", "email"] });
        let fourth = json!({ "maskedData": ["email", "cardNumber"] });
        let expected = rules(json!({ "forbiddenPatterns": ["a", "b", "c"], "maxLength": 70,
            "allowedLinkHosts": ["shop.x.example"], "maskedData": ["cpf", "email", "cardNumber"] }));
        assert_eq!(merged(&[first.clone(), second.clone(), third.clone(), fourth]), expected);
        let none = json!({ "allowedLinkHosts": [] });
        assert_eq!(merged(&[first.clone(), none]).allowed_link_hosts, Some(Vec::new()));
        assert_eq!(merged(&[third, first]).allowed_link_hosts.map(|hosts| hosts.len()), Some(2));
    }
}
