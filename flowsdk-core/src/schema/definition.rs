//! The schemas of flow definitions in bodies.
//!
//! A draft may have any error, so a body that carries one is read as any object. A document for people and generators puts
//! the schema of [`json_schema`](crate::flow::definition::json_schema) in its place.

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The definition of a draft.
#[derive(Debug)]
pub enum FlowDraft {}

/// The definition of a published version.
#[derive(Debug)]
pub enum PublishedDefinition {}

/// What a flow says: a message of its definition, with its tokens filled in.
#[derive(Debug)]
pub enum FlowMessage {}

fn any_object() -> RefOr<Schema> {
    RefOr::T(Schema::Object(ObjectBuilder::new().build()))
}

impl PartialSchema for FlowDraft {
    fn schema() -> RefOr<Schema> {
        any_object()
    }
}

impl ToSchema for FlowDraft {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("FlowDraft")
    }
}

impl PartialSchema for PublishedDefinition {
    fn schema() -> RefOr<Schema> {
        any_object()
    }
}

impl ToSchema for PublishedDefinition {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("FlowDefinition")
    }
}

impl PartialSchema for FlowMessage {
    fn schema() -> RefOr<Schema> {
        any_object()
    }
}

impl ToSchema for FlowMessage {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("FlowMessage")
    }
}
