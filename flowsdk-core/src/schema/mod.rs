//! Schemas of types, for documents of the API and of sockets, behind the feature `schema`.

#[cfg(feature = "schema")]
pub use answer::{refused, taken};
#[cfg(feature = "schema")]
pub use definition::{FlowDraft, FlowMessage, PublishedDefinition};
pub use flowsdk_macros::SchemaAttributes;
#[cfg(feature = "schema")]
pub use texts::{AnyId, Origin, SecureAddress, WebAddress};

#[cfg(feature = "schema")]
mod answer;
#[cfg(feature = "schema")]
mod definition;
#[cfg(feature = "schema")]
mod texts;
