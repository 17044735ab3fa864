//! Schemas of types, for an OpenAPI document, behind the feature `schema`.

pub use flowsdk_macros::SchemaAttributes;
#[cfg(feature = "schema")]
pub use texts::{AnyId, Origin, SecureAddress, TimeZoneName, WebAddress};

#[cfg(feature = "schema")]
mod texts;
