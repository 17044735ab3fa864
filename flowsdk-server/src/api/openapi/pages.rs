//! Schemas of pages.

use utoipa::openapi::schema::{ArrayItems, Schema};
use utoipa::openapi::{OpenApi, Ref, RefOr};

/// Lets pages refer to the schemas of their items. The derived ones, `Page_User` and the like, repeat them.
pub(in crate::api) fn refer_to_items(document: &mut OpenApi) {
    for (name, schema) in document.components.iter_mut().flat_map(|components| &mut components.schemas) {
        if let Some(item) = name.strip_prefix("Page_")
            && let RefOr::T(Schema::Object(page)) = schema
            && let Some(RefOr::T(Schema::Array(items))) = page.properties.get_mut("items")
        {
            items.items = ArrayItems::RefOrSchema(Box::new(RefOr::Ref(Ref::from_schema_name(item))));
        }
    }
}
