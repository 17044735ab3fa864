use std::fs;
use std::path::Path;

use flowsdk_core::event::DeliveryStatus;
use flowsdk_core::message::{IncomingContent, StatusError};
use flowsdk_core::time::Timestamp;
use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/phone");

/// Returns what a change of the field `messages` with this value tells.
fn told(value: &Value) -> Vec<News> {
    let body = json!({ "object": "whatsapp_business_account",
        "entry": [{ "id": "1", "changes": [{ "field": "messages", "value": value }] }] });
    let body = body.to_string();
    let delivery = Delivery::read(body.as_bytes()).expect("a delivery");
    let told = delivery.told().expect("what it tells");
    told.into_iter().flat_map(|told| told.news).collect()
}

fn one(value: &Value) -> News {
    let [news] = <[News; 1]>::try_from(told(value)).expect("one thing");
    news
}

fn message(value: &Value) -> PhoneMessage {
    match one(value) {
        News::Message(message) => *message,
        other => panic!("no message: {other:?}"),
    }
}

/// Returns how many things a delivery holds: entries of lists, or a change of another field.
fn things(body: &Value) -> usize {
    let length = |value: &Value| value.as_array().map_or(0, Vec::len);
    let changes =
        body["entry"].as_array().into_iter().flatten().filter_map(|entry| entry["changes"].as_array());
    changes
        .flatten()
        .map(|change| match change["field"].as_str() {
            Some("messages") => {
                ["messages", "statuses", "errors"].iter().map(|list| length(&change["value"][list])).sum()
            }
            // By the number and by the former id.
            Some("user_id_update") => 2 * length(&change["value"]["user_id_update"]),
            _ => 1,
        })
        .sum()
}

#[test]
fn nothing_of_a_real_delivery_is_dropped() {
    let (mut files, mut messages, mut unsupported, mut others) = (0, 0, 0, [0, 0]);
    for file in fs::read_dir(Path::new(FIXTURES).join("webhooks")).expect("fixtures") {
        let path = file.expect("a file").path();
        let body = fs::read(&path).expect("a body");
        let delivery = Delivery::read(&body).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let told = delivery.told().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let json: Value = serde_json::from_slice(&body).expect("JSON");
        let count: usize = told.iter().map(|told| told.news.len()).sum();
        assert_eq!(count, things(&json), "{}", path.display());
        files += 1;
        for (told, news) in told.iter().flat_map(|told| told.news.iter().map(move |news| (told, news))) {
            if let News::Account { field, value } = news {
                for news in AccountNews::read(field, value) {
                    others[usize::from(matches!(news, AccountNews::Preference(_)))] += 1;
                }
            }
            let News::Message(message) = news else { continue };
            assert!(
                told.phone_number_id.is_some() && message.sender.identity().is_some(),
                "{}",
                path.display()
            );
            messages += 1;
            unsupported += usize::from(matches!(message.message.content, IncomingContent::Unsupported(_)));
        }
    }
    assert_eq!((files, others), (107, [4, 4]), "files, and news of templates and of preferences");
    assert!(messages > 60 && unsupported < 15, "{messages} messages, {unsupported} of unknown types");
}

#[test]
fn a_signature_is_of_the_bytes() {
    let known: Value =
        serde_json::from_slice(&fs::read(Path::new(FIXTURES).join("signatures.json")).expect("a file"))
            .expect("JSON");
    let secret = SecretString::from(known["app_secret"].as_str().expect("a secret"));
    let cases = known["cases"].as_array().expect("cases");
    assert!(cases.len() > 4);
    for case in cases {
        let (body, header) =
            (case["body"].as_str().expect("a body"), case["header"].as_str().expect("a header"));
        let good = case.get("must_fail").is_none();
        let is_signed = |secret: &SecretString, header: &str| {
            Signature::parse(header).is_some_and(|signature| signature.is_of(secret, body.as_bytes()))
        };
        assert_eq!(is_signed(&secret, header), good, "{}", case["name"]);
        for bad in ["", "sha256=", "sha256=zz", &header[..header.len() - 2]] {
            assert!(!is_signed(&secret, bad), "{bad}");
        }
        assert!(!is_signed(&SecretString::from("another"), header));
    }
}

#[test]
fn senders_have_the_identities_that_came() {
    let text = |more: Value| {
        let mut message = json!({ "id": "wamid.1", "type": "text", "text": { "body": "oi" } });
        message.as_object_mut().expect("an object").extend(more.as_object().expect("fields").clone());
        message
    };
    let profile = json!({ "name": "Ana" });
    for (contacts, from, expected) in [
        (
            json!([{ "wa_id": "5511987654321", "profile": profile }]),
            json!({ "from": "5511987654321" }),
            (Some("5511987654321"), None, Some("5511987654321"), Some("Ana")),
        ),
        // The provider rewrites the number.
        (
            json!([{ "wa_id": "551187654321", "profile": profile }]),
            json!({ "from": "5511987654321" }),
            (Some("5511987654321"), None, Some("551187654321"), Some("Ana")),
        ),
        // No number at all.
        (
            json!([{ "user_id": "BR.1", "profile": profile }]),
            json!({ "from_user_id": "BR.1" }),
            (None, Some("BR.1"), None, Some("Ana")),
        ),
        (json!([{ "user_id": "BR.1" }]), json!({}), (None, Some("BR.1"), None, None)),
        // Several contacts: each its own.
        (
            json!([{ "wa_id": "1", "profile": { "name": "Bia" } }, { "wa_id": "2", "profile": profile }]),
            json!({ "from": "2" }),
            (Some("2"), None, Some("2"), Some("Ana")),
        ),
        (json!([{ "wa_id": "1" }, { "wa_id": "3" }]), json!({ "from": "2" }), (Some("2"), None, None, None)),
        // Numbers as numbers, no contacts.
        (Value::Null, json!({ "from": 5_511_987_654_321_i64 }), (Some("5511987654321"), None, None, None)),
    ] {
        let sender = message(&json!({ "contacts": contacts, "messages": [text(from.clone())] })).sender;
        let found = (
            sender.number.as_deref(),
            sender.user_id.as_deref(),
            sender.wa_id.as_deref(),
            sender.name.as_deref(),
        );
        assert_eq!(found, expected, "{contacts} {from}");
    }
    // Of nobody: told, and no message.
    assert!(
        matches!(one(&json!({ "messages": [text(json!({}))] })), News::Other { field, .. } if field == "messages.messages")
    );
}

#[test]
fn messages_keep_what_came_beside_them() {
    let read =
        message(&json!({ "messages": [{ "from": "5511987654321", "id": "wamid.1", "timestamp": "1749416383",
        "type": "voice", "voice": { "id": "7", "mime_type": "audio/ogg" },
        "context": { "id": "wamid.0" }, "internalId": "forged" }] }));
    assert_eq!(read.at.map(|at| at.as_millis()), Some(1_749_416_383_000));
    assert_eq!(read.message.internal_id, None);
    assert_eq!(
        serde_json::to_value(&read.message).expect("JSON"),
        json!({ "id": "wamid.1", "type": "audio", "audio": { "id": "7", "mime_type": "audio/ogg" },
            "context": { "id": "wamid.0" } })
    );
    let early = message(&json!({ "messages": [{ "from": "1", "id": "m", "timestamp": "-5" }] }));
    assert_eq!(early.at, None, "no time is before 1970");
    let order = message(
        &json!({ "messages": [{ "from": "1", "id": "m", "type": "order", "order": { "text": "x" } }] }),
    );
    assert_eq!(order.message.content.kind(), "order");
    let untyped =
        message(&json!({ "messages": [{ "from": "1", "id": "m", "errors": [{ "code": 131_051 }] }] }));
    assert_eq!(untyped.message.content.kind(), "unsupported");
}

#[test]
fn contacts_change_their_identities() {
    let system = |system: Value| {
        one(&json!({ "messages": [{ "from": "1", "id": "m", "timestamp": "1749416383", "type": "system",
            "system": system }] }))
    };
    let change = |number: Option<&str>, user_id: Option<&str>| {
        News::Number(NumberChange {
            from: Some("1".to_owned()),
            number: number.map(str::to_owned),
            user_id: user_id.map(str::to_owned),
            at: Some(Timestamp::from_millis(1_749_416_383_000)),
        })
    };
    assert_eq!(system(json!({ "type": "user_changed_number", "wa_id": "2" })), change(Some("2"), None));
    assert_eq!(system(json!({ "type": "user_changed_number", "new_wa_id": 2 })), change(Some("2"), None));
    assert_eq!(
        system(json!({ "type": "user_changed_user_id", "user_id": "US.2" })),
        change(None, Some("US.2"))
    );
    // Without a sender only the words for people say who it was.
    for (words, before) in [
        ("User Ana changed from US.1 to US.2", Some("US.1")),
        // A name is anything.
        ("User changed from US.9 to US.8 changed from US.1 to US.2", Some("US.1")),
        ("User US.9 changed from US.1 to US.2 ", Some("US.1")),
        ("User Ana changed from US.1 to US.3", None),
        ("User US.9 has another id", None),
        ("changed from nobody to US.2", None),
    ] {
        let message = json!({ "id": "m", "type": "system",
            "system": { "type": "user_changed_user_id", "user_id": "US.2", "body": words } });
        let News::Number(found) = one(&json!({ "messages": [message] })) else { panic!("no change") };
        assert_eq!((found.from.as_deref(), found.user_id.as_deref()), (before, Some("US.2")), "{words}");
    }
    for odd in
        [json!({ "type": "user_changed_number" }), json!({ "type": "customer_identity_changed" }), json!(7)]
    {
        assert!(matches!(system(odd), News::Other { .. }));
    }
}

#[test]
fn statuses_have_the_id_and_the_error_that_came() {
    let id = "cmi7w0q2p00000qx1b3k9z5ra";
    let News::Status(status) = one(
        &json!({ "statuses": [{ "id": "wamid.1", "status": "failed", "timestamp": 1_749_416_383,
        "recipient_id": "5511987654321", "biz_opaque_callback_data": id,
        "errors": [{ "code": "131026", "title": "Undeliverable", "error_data": { "details": "no account" } }] }] }),
    ) else {
        panic!("no status")
    };
    assert_eq!(
        (status.status, status.internal_id.as_ref().map(|id| id.as_str())),
        (DeliveryStatus::Failed, Some(id))
    );
    assert_eq!(status.error, Some(StatusError { code: 131_026, title: Some("no account".to_owned()) }));
    for (name, expected) in [
        ("sent", Some(DeliveryStatus::Sent)),
        ("delivered", Some(DeliveryStatus::Delivered)),
        ("read", Some(DeliveryStatus::Read)),
        ("played", Some(DeliveryStatus::Played)),
        ("deleted", None),
    ] {
        let found = match one(&json!({ "statuses": [{ "id": "wamid.1", "status": name }] })) {
            News::Status(status) => Some(status.status),
            _ => None,
        };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn what_is_no_delivery_is_refused() {
    for body in [
        "",
        "{",
        "[]",
        "7",
        "{}",
        r#"{"object":"instagram","entry":[]}"#,
        r#"["whatsapp_business_account",[]]"#,
        r#"{"object":"whatsapp_business_account"} {}"#,
    ] {
        assert!(Delivery::read(body.as_bytes()).is_err(), "{body}");
    }
    for nothing in ["", r#","entry":7"#, r#","entry":[7,{},{"changes":[[]]}]"#] {
        let body = format!(r#"{{"object":"whatsapp_business_account"{nothing}}}"#);
        let delivery = Delivery::read(body.as_bytes()).expect("a delivery");
        assert_eq!((delivery.signer(), delivery.told().expect("read")), (None, Vec::new()), "{nothing}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let names = "(id|type|from|text|body|messages|statuses|errors|contacts|wa_id|profile|name|system|status|code|voice)";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "(text|system|voice|unsupported|failed|wamid\\.1|[0-9]{0,13})".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(names, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_read_without_a_loss(value in any_json()) {
        let objects = |list: &str| value[list].as_array().map_or(0, |list| list.iter().filter(|one| one.is_object()).count());
        let expected = objects("messages") + objects("statuses") + objects("errors");
        prop_assert_eq!(told(&value).len(), expected);
    }
}
