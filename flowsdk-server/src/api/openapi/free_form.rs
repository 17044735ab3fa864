//! Schemas of objects that may have any fields.

use utoipa::openapi::schema::{AdditionalProperties, ArrayItems, Object, Schema, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr};

/// Says of each object without fields that it may have any. Client generators make a type without fields of it otherwise.
pub(in crate::api) fn allow_any_fields(document: &mut OpenApi) {
    for schema in document.components.iter_mut().flat_map(|components| components.schemas.values_mut()) {
        complete(schema);
    }
}

fn complete(schema: &mut RefOr<Schema>) {
    let RefOr::T(schema) = schema else { return };
    match schema {
        Schema::Object(object) => {
            object.properties.values_mut().for_each(complete);
            if is_free(object) {
                object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(true)));
            }
        }
        Schema::Array(array) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                complete(items);
            }
        }
        Schema::OneOf(one) => one.items.iter_mut().for_each(complete),
        Schema::AllOf(all) => all.items.iter_mut().for_each(complete),
        Schema::AnyOf(any) => any.items.iter_mut().for_each(complete),
        _ => {}
    }
}

/// Returns whether it is an object whose fields are not named.
fn is_free(object: &Object) -> bool {
    let is_object = match &object.schema_type {
        SchemaType::Type(kind) => *kind == Type::Object,
        SchemaType::Array(kinds) => kinds.contains(&Type::Object),
        SchemaType::AnyValue => false,
    };
    is_object && object.properties.is_empty() && object.additional_properties.is_none()
}
