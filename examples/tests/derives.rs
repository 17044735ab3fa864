//! Types of another crate derive with `flowsdk-core` alone: this crate has no feature `schema`, and neither serde nor
//! utoipa beside it.

#![deny(unexpected_cfgs)]

use std::sync::Arc;

use flowsdk_core::cell::{Named, TextCell as _, TextType};
use flowsdk_core::derive::utoipa::ToSchema;
use flowsdk_core::id::Id;

/// How urgent a ticket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Named)]
#[serde(rename_all = "snake_case")]
enum Priority {
    VeryHigh,
    Normal,
}

/// Identifier of a ticket.
#[derive(Debug, PartialEq, Eq, Id)]
struct TicketId(Arc<str>);

#[derive(Debug, PartialEq, Eq)]
struct NotDigits;

impl std::fmt::Display for NotDigits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("must be digits")
    }
}

impl std::error::Error for NotDigits {}

/// The number of an order.
#[derive(Debug, PartialEq, Eq, TextType)]
#[text(rule = is_digits, error = NotDigits, pattern = "^[0-9]+$")]
struct OrderNumber(String);

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[test]
fn they_are_names_ids_and_texts() {
    assert_eq!(Priority::parse("very_high"), Some(Priority::VeryHigh));
    assert_eq!(Priority::Normal.name(), "normal");
    assert_eq!(TicketId::parse("t1").map(|id| id.to_string()).as_deref(), Ok("t1"));
    assert_eq!(OrderNumber::parse("a"), Err(NotDigits));
    let number: OrderNumber = serde_json::from_value("1027".into()).expect("a number");
    assert_eq!(number.as_text(), "1027");
    assert_eq!(serde_json::to_value(&number).expect("JSON"), "1027");
}

// The server beside the examples has the schemas of `flowsdk-core`, and these types have theirs with them.
#[test]
fn they_have_schemas_when_the_core_has() {
    assert_eq!(<Priority as ToSchema>::name(), "PriorityName");
    assert_eq!(<TicketId as ToSchema>::name(), "Id");
    let schema = serde_json::to_value(<OrderNumber as flowsdk_core::derive::utoipa::PartialSchema>::schema());
    assert_eq!(schema.expect("JSON")["pattern"], "^[0-9]+$");
}
