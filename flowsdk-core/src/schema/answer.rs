//! The schemas of the field `ok` in answers of sockets, for `#[schema(schema_with = ..)]`.

use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

/// Returns the schema of `ok` where an event was taken: always true.
pub fn taken() -> Object {
    always(true)
}

/// Returns the schema of `ok` where an event was refused: always false.
pub fn refused() -> Object {
    always(false)
}

fn always(value: bool) -> Object {
    ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([value])).build()
}
