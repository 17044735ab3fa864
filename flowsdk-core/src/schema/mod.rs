//! Schemas of types, for an OpenAPI document, behind the feature `schema`.

pub use flowsdk_macros::SchemaAttributes;
#[cfg(feature = "schema")]
pub use texts::{AnyId, Origin, SecureAddress, WebAddress};

#[cfg(feature = "schema")]
mod texts;
