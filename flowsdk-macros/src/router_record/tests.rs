//! What is written, and how a mistake is told.

use super::derive;

/// The written code without blanks, or the message of the error, for a record with these keys and two more fields.
fn of_keys(keys: &str) -> Result<String, String> {
    let fields = "id: RuleId, router_id: RouterId, created_at: Timestamp, updated_at: Timestamp";
    written(&format!(
        "#[router_record({keys})] struct Rule {{ {fields}, name: String, queue_id: Option<QueueId> }}"
    ))
}

fn written(input: &str) -> Result<String, String> {
    let input = syn::parse_str(input).expect("Rust");
    match derive(&input) {
        Ok(tokens) => Ok(tokens.to_string().split_whitespace().collect()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_plain_record_has_the_usual_parts() {
    let written = of_keys("kind = QueueRule, error = RuleError, search = name").expect("a record");
    for part in [
        "impl::flowsdk_core::page::SearchedforRule",
        "::std::borrow::Cow::Borrowed(self.name.as_str())",
        "::flowsdk_core::page::Cursor::of(self.created_at,&self.id)",
        "impl::flowsdk_core::change::RecordedforRule",
        "kind:::flowsdk_core::change::EntityKind::QueueRule,id:self.id.as_str(),",
        "::flowsdk_core::change::public_json(self)",
        "impl::flowsdk_core::record::RouterRecordforRule",
        "typeId=RuleId;",
        "typeFilter=::core::option::Option<::flowsdk_core::id::RouterId>;",
        "typeError=RuleError;",
        "fnnot_found()->RuleError{RuleError::NotFound}",
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
    for method in ["secrets", "not_stored", "may_be_deleted"] {
        assert!(!written.contains(&format!("fn{method}(")), "{method} is the trait's: {written}");
    }
}

#[test]
fn every_other_key_has_its_place() {
    let unique = "::flowsdk_core::fault::StorageError::Unique{..}=>error::RuleError::NameTaken,";
    let gone = "error=>::flowsdk_core::router::router_gone(error),";
    for (key, part) in [
        (
            "search(name, name)",
            "::std::borrow::Cow::Owned([self.name.as_str(),self.name.as_str()].join(\"\"))",
        ),
        ("search = name, filter = RuleFilter", "typeFilter=RuleFilter;"),
        ("search = name, not_found = RuleNotFound", "{error::RuleError::RuleNotFound}"),
        ("search = name, unique = NameTaken", &format!("matcherror{{{unique}{gone}}}")),
        (
            "search = name, orphan = UserUnknown",
            &format!(
                "{{::flowsdk_core::fault::StorageError::Orphan{{..}}=>error::RuleError::UserUnknown,{gone}}}"
            ),
        ),
        (
            "search = name, orphan(queue_id = QueueUnknown), unique = NameTaken",
            &format!(
                "{{{unique}::flowsdk_core::fault::StorageError::Orphan{{..}}ifself.queue_id.is_some()\
                 =>error::RuleError::QueueUnknown,{gone}}}"
            ),
        ),
        (
            "search = name, view = RuleView",
            "public_json(&<RuleViewas::core::convert::From<&Self>>::from(self))",
        ),
        (
            "search = name, secrets = Rule::stored",
            "fnsecrets(&self)->::std::vec::Vec<(&'staticstr,::core::option::Option<&str>)>{Rule::stored(self)}",
        ),
        (
            "search = name, may_be_deleted = is_unused",
            "fnmay_be_deleted(&self)->::core::result::Result<(),error::RuleError>{is_unused(self)}",
        ),
    ] {
        let written = of_keys(&format!("kind = QueueRule, error = error::RuleError, {key}")).expect(key);
        assert!(written.contains(part), "{key}: no {part} in {written}");
    }
}

#[test]
fn mistakes_in_the_keys_are_named() {
    for (keys, message) in [
        ("error = E, search = name", "Rule needs #[router_record(kind = ..)]"),
        ("kind = Rule, search = name", "Rule needs #[router_record(error = ..)]"),
        ("kind = Rule, error = E", "Rule needs #[router_record(search = ..)]"),
        ("kind = Rule, kind = Rule", "a second `kind`"),
        (
            "unick = NameTaken",
            "unknown key `unick`: expected kind, error, search, filter, not_found, unique, orphan, view, secrets or \
             may_be_deleted",
        ),
        ("unique", "expected `=`"),
        ("unique = errors::NameTaken, error = E", "expected `,`"),
        ("search()", "unexpected end of input, expected nested attribute"),
        ("orphan()", "unexpected end of input, expected nested attribute"),
        ("orphan(queue_id)", "expected `=`"),
        ("kind = Rule, error = E, search(name, text)", "Rule has no field `text`"),
        (
            "kind = Rule, error = E, search = name, orphan(flow_id = FlowUnknown)",
            "Rule has no field `flow_id`",
        ),
    ] {
        let error = of_keys(keys).expect_err(keys);
        assert_eq!(error, message, "{keys}");
    }
}

#[test]
fn mistakes_in_the_struct_are_named() {
    let keys = "#[router_record(kind = Rule, error = E, search = id)]";
    for (item, message) in [
        ("struct Rule { router_id: R, created_at: T, updated_at: T }", "Rule has no field `id`"),
        ("struct Rule { id: I, created_at: T, updated_at: T }", "a record has a field `router_id`"),
        ("struct Rule { id: I, router_id: R, updated_at: T }", "a record has a field `created_at`"),
        ("struct Rule { id: I, router_id: R, created_at: T }", "a record has a field `updated_at`"),
        ("struct Rule(u8);", "a record has named fields"),
        ("enum Rule { A }", "a record is a struct"),
    ] {
        assert_eq!(written(&format!("{keys} {item}")).expect_err(item), message, "{item}");
    }
    let no_keys = "struct Rule { id: I, router_id: R, created_at: T, updated_at: T }";
    assert_eq!(written(no_keys).expect_err("no keys"), "Rule needs #[router_record(kind = ..)]");
}
