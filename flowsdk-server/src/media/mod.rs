//! The contents of files over HTTP, for whoever has a link.

mod content;
mod store;

pub(crate) use content::{operation, routes};
pub(crate) use store::blobs;
