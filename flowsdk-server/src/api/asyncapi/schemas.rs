//! The schemas of payloads.

use std::collections::{BTreeMap, BTreeSet};

use flowsdk_core::schema::FlowDraft;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AllOfBuilder, AnyOfBuilder};
use utoipa::openapi::{Components, Info, OpenApi, Paths, Ref, RefOr, Schema};

use crate::api::openapi::{allow_any_fields, describe_definitions};

/// Where schemas stand in the document.
const PLACE: &str = "#/components/schemas/";
/// The schemas of files in messages of flows. An author names a file by a link or by its id, and a message that is shown
/// has both.
const FILES: [&str; 2] = ["FlowMessageFile", "FlowMessageHeaderFile"];

/// Collects schemas.
#[derive(Default)]
pub(crate) struct Schemas(Vec<(String, RefOr<Schema>)>);

impl Schemas {
    /// Returns a reference to the schema of a type.
    pub(crate) fn of<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.named::<T>(&T::name(), T::schema())
    }

    /// Returns a reference to the schema of an object that has the fields of two types.
    pub(crate) fn both<A: ToSchema, B: ToSchema>(&mut self) -> RefOr<Schema> {
        let (one, other) = (self.of::<A>(), self.of::<B>());
        AllOfBuilder::new().item(one).item(other).into()
    }

    /// Returns a reference to the schema `name`: that of `T` with one more field, which names the record of a command.
    pub(crate) fn with_field<T: ToSchema, F: ToSchema>(&mut self, name: &str, field: &str) -> RefOr<Schema> {
        let (inner, mut whole) = (self.of::<F>(), T::schema());
        if let RefOr::T(Schema::Object(object)) = &mut whole {
            object.properties.insert(field.to_owned(), inner);
            object.required.push(field.to_owned());
        }
        self.named::<T>(name, whole)
    }

    fn named<T: ToSchema>(&mut self, name: &str, schema: RefOr<Schema>) -> RefOr<Schema> {
        T::schemas(&mut self.0);
        self.0.push((name.to_owned(), schema));
        Ref::from_schema_name(name).into()
    }

    /// Returns the schemas to which `root` refers, and those to which these do.
    pub(super) fn referred_to(mut self, root: &impl Serialize) -> BTreeMap<String, RefOr<Schema>> {
        // It stands for all schemas of definitions, of which messages have some.
        self.of::<FlowDraft>();
        let mut components = Components::new();
        components.schemas.extend(self.0);
        let mut document = OpenApi::new(Info::new("", ""), Paths::new());
        document.components = Some(components);
        describe_definitions(&mut document);
        allow_any_fields(&mut document);
        let mut all: BTreeMap<_, _> =
            document.components.into_iter().flat_map(|components| components.schemas).collect();
        for name in FILES {
            if let Some(schema) = all.get_mut(name) {
                take_several(schema);
            }
        }
        let (mut kept, mut wanted) = (BTreeMap::new(), BTreeSet::new());
        find_names(root, &mut wanted);
        while let Some(name) = wanted.pop_first() {
            if let Some((name, schema)) = all.remove_entry(&name) {
                find_names(&schema, &mut wanted);
                kept.insert(name, schema);
            }
        }
        kept
    }
}

/// Lets a value fit several of the variants of a schema.
fn take_several(schema: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::OneOf(one)) = schema {
        let variants = std::mem::take(&mut one.items);
        *schema = variants.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item).into();
    }
}

fn find_names(it: &impl Serialize, found: &mut BTreeSet<String>) {
    fn walk(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                let to = fields.get("$ref").and_then(Value::as_str);
                found.extend(to.and_then(|to| to.strip_prefix(PLACE)).map(str::to_owned));
                fields.values().for_each(|inner| walk(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| walk(inner, found)),
            _ => {}
        }
    }
    walk(&serde_json::to_value(it).unwrap_or_default(), found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_one_name_have_one_schema() {
        let mut schemas = Schemas::default();
        crate::desk::describe(&mut schemas);
        crate::webchat::describe(&mut schemas);
        let mut known = BTreeMap::new();
        for (name, schema) in schemas.0 {
            let other = known.insert(name.clone(), schema.clone());
            assert!(other.is_none_or(|other| other == schema), "{name}");
        }
    }
}
