//! The document of the sockets (AsyncAPI 3.0): each socket describes its events where it handles them, and the schemas are
//! those of the types that it reads and sends.

mod objects;
mod schemas;
mod socket;

pub use objects::Document;
pub(crate) use schemas::Schemas;
pub(crate) use socket::{Received, Sent, Socket};

use objects::Components;

/// Returns the document.
pub fn document() -> Document {
    let mut schemas = Schemas::default();
    let sockets = [crate::desk::describe(&mut schemas), crate::webchat::describe(&mut schemas)];
    let mut document = Document::new();
    for socket in sockets {
        let (name, channel, operations) = socket.finish();
        document.operations.extend(operations);
        document.channels.insert(name, channel);
    }
    document.components = Components { schemas: schemas.referred_to(&document.channels) };
    document
}

/// Returns the document as it is committed: indented, with the sockets, events and schemas in the order of the alphabet.
///
/// # Errors
/// It cannot be written as JSON.
pub fn document_text() -> serde_json::Result<String> {
    serde_json::to_string_pretty(&document())
}

#[cfg(test)]
mod tests;
