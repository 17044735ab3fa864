//! Schemas of types, for an OpenAPI document, behind the feature `schema`.

#[cfg(feature = "schema")]
pub use definition::{FlowDraft, FlowMessage, PublishedDefinition};
pub use flowsdk_macros::SchemaAttributes;
#[cfg(feature = "schema")]
pub use texts::{AnyId, Origin, SecureAddress, WebAddress};

#[cfg(feature = "schema")]
mod definition;
#[cfg(feature = "schema")]
mod texts;
