//! Language models: what they are asked, and what they answer.

mod conversation;
mod error;
mod patience;
mod provider;
mod senses;

pub use conversation::{Item, ToolCall};
pub use error::ModelError;
pub use patience::Patience;
pub(crate) use patience::jitter;
pub use provider::{Answer, Cut, Known, ModelProvider, ModelRequest, ToolDefinition};
pub use senses::{Embedded, Embedder, Speech, Transcribed, Transcriber, Used};
