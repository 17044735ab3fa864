//! Checks JSON against the schema that the document publishes for a type, so that a constraint is written once.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use flowsdk_auth::user::Email;
use flowsdk_core::router::TimeZoneName;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::wording;
use crate::api::error::Problems;
use crate::strict_json::{self, Refused};

/// A rule that `format` names.
type Format = fn(&str) -> bool;

/// The meaning of the document's formats: the same as where values are parsed.
const FORMATS: [(&str, Format); 3] = [
    ("email", |text| Email::parse(text).is_ok()),
    ("time-zone", |text| TimeZoneName::parse(text).is_ok()),
    ("date-time", |text| text.parse::<jiff::Timestamp>().is_ok()),
];

/// The schema of a type, ready to check with.
struct Compiled {
    validator: Validator,
    /// The fields of an object that may have no others.
    fields: Option<HashSet<String>>,
}

/// The schemas compiled so far, one a type.
static COMPILED: RwLock<Option<HashMap<TypeId, Arc<Compiled>>>> = RwLock::new(None);

/// Reads JSON, of which only the fields that the schema of `T` names are kept where it allows no others.
pub(super) fn read<T: ToSchema + 'static>(bytes: &[u8]) -> Result<Value, Refused> {
    strict_json::parse_known(bytes, compiled::<T>().fields.as_ref())
}

/// Everything in `value` that does not fit the schema of `T`.
pub(super) fn check<T: ToSchema + 'static>(value: &Value) -> Result<(), Problems> {
    let compiled = compiled::<T>();
    let validator = &compiled.validator;
    if validator.is_valid(value) {
        return Ok(());
    }
    let mut problems = Problems::default();
    for error in validator.iter_errors(value) {
        wording::explain(&error, &mut problems);
    }
    Err(problems)
}

fn compiled<T: ToSchema + 'static>() -> Arc<Compiled> {
    let key = TypeId::of::<T>();
    let known = COMPILED.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = known.as_ref().and_then(|known| known.get(&key)) {
        return Arc::clone(compiled);
    }
    drop(known);
    let made = Arc::new(compile::<T>());
    let mut known = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(known.get_or_insert_default().entry(key).or_insert(made))
}

#[allow(
    clippy::expect_used,
    reason = "a schema that cannot be compiled is a slip that every test of its type shows"
)]
fn compile<T: ToSchema>() -> Compiled {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let parts: HashMap<String, _> = parts.into_iter().collect();
    let mut schema = serde_json::to_value(T::schema()).expect("a schema is JSON");
    let closed = schema["additionalProperties"] == json!(false);
    let fields = schema["properties"].as_object().filter(|_| closed);
    let fields = fields.map(|fields| fields.keys().cloned().collect());
    // Where the document has them, so that the same references lead there.
    schema["components"] = json!({ "schemas": parts });
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let options = FORMATS.iter().fold(options, |options, &(name, rule)| options.with_format(name, rule));
    let validator = options.build(&schema).expect("the schema of a request is a schema");
    Compiled { validator, fields }
}
