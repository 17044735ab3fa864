//! Texts and values that mean harm.

use proptest::prelude::*;
use serde_json::json;

use super::{World, object};

#[test]
fn hostile_texts_are_parsed_in_linear_time() {
    let world = World::new();
    for text in [
        "{".repeat(400_000),
        "}".repeat(400_000),
        "{{".repeat(100_000) + &"}}".repeat(100_000),
        "{{a}}".repeat(100_000),
        "{{{a}}".repeat(60_000),
        "{ {{a}} ".repeat(60_000) + &"} }".repeat(60_000),
        format!("{{{{{}}}}}", "a.".repeat(100_000)),
    ] {
        world.render(&text);
    }
}

/// Returns whether a well-formed token stands in `text`.
fn has_token(text: &str) -> bool {
    let pattern = regex::Regex::new(r"\{\{[^{}]*\}\}").expect("is an expression");
    pattern.is_match(text)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_literal_token_survives(
        text in "([{}]{1,3}|[{}]{2}|name|absent|router[.]brand|input|session[.]x|ticket|[a-z .é]{0,4}){0,24}",
        value in "[^{}]{0,6}",
    ) {
        let mut world = World::new().hearing(json!({ "type": "text", "text": { "body": value.clone() } }));
        world.session.variables = object(json!({ "name": value }));
        let rendered = world.render(&text);
        prop_assert!(!has_token(&rendered), "{text:?} became {rendered:?}");
    }

    #[test]
    fn any_text_and_any_value_render(text in "\\PC{0,200}", value in "\\PC{0,50}") {
        let mut world = World::new().hearing(json!({ "type": "text", "text": { "body": value.clone() } }));
        world.session.variables = object(json!({ "name": value }));
        world.render(&text);
        world.render(&format!("{{{{{text}}}}}"));
    }

    #[test]
    fn what_has_no_double_braces_is_unchanged(text in "[^{}]{0,40}([{}][^{}]{1,5}){0,5}") {
        prop_assert_eq!(World::new().render(&text), text);
    }
}
