//! The adapter for the WhatsApp Cloud API and its management of templates: the bodies of calls, and what answers mean.

mod body;
mod class;
mod client;
mod facts;
mod keys;
mod media;
mod sending;
mod templates;

/// The version of the provider's API that the bodies and codes are written for.
pub const API_VERSION: &str = "v24.0";

pub use body::{body_of, recipient_of};
pub use class::class_of;
pub use client::GraphApi;
pub use facts::NumberFacts;
pub use media::{GraphMedia, MediaHosts, NotAMediaHost};
