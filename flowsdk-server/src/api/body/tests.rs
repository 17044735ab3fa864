use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::*;
use crate::api::error::Problem;
use crate::strict_json;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "only its form counts")]
struct Order {
    #[schema(min_length = 1, max_length = 5)]
    name: String,
    #[schema(format = "email")]
    e_mail: Option<String>,
    #[schema(pattern = r"\S")]
    note: Option<String>,
    #[schema(pattern = "^[0-9]{1,32}$")]
    number: Option<String>,
    #[schema(pattern = "^a+$")]
    letter: Option<String>,
    #[schema(minimum = 1, maximum = 10)]
    count: Option<u32>,
    #[serde(default)]
    #[schema(max_items = 2)]
    items: Vec<Item>,
    side: Option<Item>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only its form counts")]
struct Item {
    kind: Kind,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Small,
    Large,
}

#[derive(Debug, Deserialize, ToSchema)]
#[allow(dead_code, reason = "only its form counts")]
struct Page {
    #[serde(default)]
    parts: Vec<Part>,
    first: Option<Part>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(dead_code, reason = "only its form counts")]
enum Part {
    Text {
        text: String,
    },
    Row {
        #[schema(no_recursion)]
        parts: Vec<Part>,
    },
}

fn details(bytes: &[u8]) -> Vec<(String, String)> {
    details_of::<Order>(bytes)
}

fn details_of<T: ToSchema + DeserializeOwned + std::fmt::Debug + 'static>(
    bytes: &[u8],
) -> Vec<(String, String)> {
    let error = decode::<T>(bytes).expect_err("refused");
    assert_eq!((error.status().as_u16(), error.code()), (400, "validation_failed"));
    let shown = |one: &Problem| (one.field().to_owned(), one.message().portuguese().to_owned());
    error.details().iter().map(shown).collect()
}

fn of(value: &Value) -> Vec<(String, String)> {
    details(value.to_string().as_bytes())
}

fn entry(field: &str, message: &str) -> Vec<(String, String)> {
    vec![(field.to_owned(), message.to_owned())]
}

#[test]
fn what_fits_is_decoded() {
    let order = decode::<Order>(br#"{"name":"a","items":[{"kind":"small"}],"side":null}"#).expect("fits");
    assert_eq!((order.name.as_str(), order.items.len()), ("a", 1));
}

#[test]
fn what_has_another_form_is_told_the_one_that_is_expected() {
    for (field, message) in [
        ("note", "Não pode ser vazio"),
        ("number", "Formato inválido: esperado de 1 a 32 dígitos"),
        ("letter", "Formato inválido: esperado ^a+$"),
    ] {
        assert_eq!(of(&json!({ "name": "a", field: " " })), entry(field, message));
    }
}

#[test]
fn every_field_is_told_once_and_no_value() {
    let secret = "hunter2-hunter2";
    let found = of(
        &json!({ "name": secret, "eMail": secret, "count": 11, "items": [{ "kind": secret }], secret: 1 }),
    );
    let of = |field: &str, message: &str| (field.to_owned(), message.to_owned());
    for one in [
        of("name", "Pode ter no máximo 5 caracteres"),
        of("eMail", "E-mail inválido"),
        of("count", "Deve ser no máximo 10"),
        of("items[0].kind", "Deve ser um de: small, large"),
        of(secret, "Campo desconhecido"),
    ] {
        assert!(found.contains(&one), "{one:?} in {found:?}");
    }
    assert_eq!(found.len(), 5);
    assert!(found.iter().all(|(_, message)| !message.contains(secret)), "{found:?}");
}

#[test]
fn the_place_of_a_problem() {
    assert_eq!(of(&json!({})), entry("name", "Campo obrigatório"));
    assert_eq!(of(&json!([])), entry("", "Deve ser um objeto"));
    assert_eq!(of(&json!({ "name": "" })), entry("name", "Não pode ser vazio"));
    assert_eq!(of(&json!({ "name": null })), entry("name", "Deve ser um texto"));
    assert_eq!(
        of(&json!({ "name": "a", "count": 1.5 })),
        entry("count", "Deve ser nulo ou um número inteiro")
    );
    assert_eq!(of(&json!({ "name": "a", "items": [{}] })), entry("items[0].kind", "Campo obrigatório"));
    assert_eq!(of(&json!({ "name": "a", "side": {} })), entry("side.kind", "Campo obrigatório"));
    let three = json!([{ "kind": "small" }, { "kind": "small" }, { "kind": "small" }]);
    assert_eq!(of(&json!({ "name": "a", "items": three })), entry("items", "Pode ter no máximo 2 itens"));
}

#[test]
fn what_has_a_tag_is_told_what_that_kind_lacks() {
    let of = |value: &Value| details_of::<Page>(value.to_string().as_bytes());
    let row = |part: Value| json!({ "parts": [{ "type": "row", "parts": [{ "type": "text", "text": "a" }, part] }] });
    for (value, field, message) in [
        (row(json!({ "type": "text" })), "parts[0].parts[1].text", "Campo obrigatório"),
        (row(json!({ "type": "text", "text": 1 })), "parts[0].parts[1].text", "Deve ser um texto"),
        (row(json!({ "type": "picture" })), "parts[0].parts[1].type", "Deve ser um de: text, row"),
        (json!({ "parts": [{ "type": "row" }] }), "parts[0].parts", "Campo obrigatório"),
        (json!({ "first": { "type": "text" } }), "first.text", "Campo obrigatório"),
    ] {
        assert_eq!(of(&value), entry(field, message), "{value}");
    }
}

#[test]
fn what_readers_see_differently_is_refused() {
    assert_eq!(details(br#"{"name":"a","name":"b"}"#), entry("name", "Campo repetido"));
    assert_eq!(
        details(br#"{"name":"a","side":{"kind":"small","kind":"large"}}"#),
        entry("side.kind", "Campo repetido")
    );
    assert_eq!(details(br#"{"name":"a\u0000"}"#), entry("name", "Não pode conter o caractere NUL"));
    assert_eq!(
        details(br#"{"name":"a","items":[{"ki\u0000nd":1}]}"#)[0].1,
        "Não pode conter o caractere NUL"
    );
}

#[test]
fn bad_syntax_tells_its_place_only() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for bad in ["", "{", "nonsense", r#"{"name":"a"} x"#, r#"{"name":1e999}"#, r#"{"name":"\ud800"}"#, &deep]
    {
        let error = decode::<Order>(bad.as_bytes()).expect_err("refused");
        assert_eq!((error.status().as_u16(), error.code()), (400, "validation_failed"), "{bad:.20}");
        assert!(error.text().portuguese().starts_with("JSON inválido na linha 1, coluna"), "{error:?}");
    }
    assert!(decode::<Order>(b"{\"name\":\"\xff\"}").is_err());
}

#[test]
fn whole_numbers_beyond_their_type_are_a_problem_of_their_field() {
    for number in ["99999999999999999999", "-1", "4294967296"] {
        let body = format!(r#"{{"name":"a","count":{number}}}"#);
        assert_eq!(details(body.as_bytes())[0].0, "count", "{number}");
    }
}

#[test]
fn fields_that_nobody_knows_are_named_and_not_kept() {
    let body = br#"{"name":"a","x":[{"kind":"small"},"text",[1]],"y":"z"}"#;
    let read = schema::read::<Order>(body).expect("JSON");
    assert_eq!(read, json!({ "name": "a", "x": [], "y": null }));
    let unknown = || "Campo desconhecido".to_owned();
    assert_eq!(details(body), [("x".to_owned(), unknown()), ("y".to_owned(), unknown())]);
    assert_eq!(
        details(br#"{"name":"a","x":[{"k":"\u0000"}]}"#)[0].0,
        "x[0].k",
        "looked through all the same"
    );
}

#[test]
fn a_body_has_so_many_values_and_no_more() {
    let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    assert!(strict_json::parse(list(199_999).as_bytes()).is_ok(), "with the list itself");
    let error = refused(strict_json::parse(list(200_000).as_bytes()).expect_err("refused"));
    assert!(error.details()[0].message().english().contains("200000 values"));
}
