//! Checks JSON against the schema that the document publishes for a type, so that a constraint is written once.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use flowsdk_auth::user::Email;
use flowsdk_core::router::TimeZoneName;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::wording;
use crate::api::error::Problems;

/// A rule that `format` names.
type Format = fn(&str) -> bool;

/// The meaning of the document's formats: the same as where values are parsed.
const FORMATS: [(&str, Format); 3] = [
    ("email", |text| Email::parse(text).is_ok()),
    ("time-zone", |text| TimeZoneName::parse(text).is_ok()),
    ("date-time", |text| text.parse::<jiff::Timestamp>().is_ok()),
];

/// The validators made so far, one a type.
static VALIDATORS: RwLock<Option<HashMap<TypeId, Arc<Validator>>>> = RwLock::new(None);

/// Everything in `value` that does not fit the schema of `T`.
pub(super) fn check<T: ToSchema + 'static>(value: &Value) -> Result<(), Problems> {
    let validator = validator::<T>();
    if validator.is_valid(value) {
        return Ok(());
    }
    let mut problems = Problems::default();
    for error in validator.iter_errors(value) {
        wording::explain(&error, &mut problems);
    }
    Err(problems)
}

fn validator<T: ToSchema + 'static>() -> Arc<Validator> {
    let key = TypeId::of::<T>();
    let known = VALIDATORS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(validator) = known.as_ref().and_then(|known| known.get(&key)) {
        return Arc::clone(validator);
    }
    drop(known);
    let made = Arc::new(compile::<T>());
    let mut known = VALIDATORS.write().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(known.get_or_insert_default().entry(key).or_insert(made))
}

#[allow(
    clippy::expect_used,
    reason = "a schema that cannot be compiled is a slip that every test of its type shows"
)]
fn compile<T: ToSchema>() -> Validator {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let parts: HashMap<String, _> = parts.into_iter().collect();
    let mut schema = serde_json::to_value(T::schema()).expect("a schema is JSON");
    // Where the document has them, so that the same references lead there.
    schema["components"] = json!({ "schemas": parts });
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let options = FORMATS.iter().fold(options, |options, &(name, rule)| options.with_format(name, rule));
    options.build(&schema).expect("the schema of a request is a schema")
}
