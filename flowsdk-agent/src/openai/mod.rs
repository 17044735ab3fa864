//! Providers that speak like OpenAI: the Responses API, chat completions, embeddings and transcriptions.
//!
//! The modules read and write texts; only [`OpenAi`] makes requests.

mod client;
mod completions;
mod embeddings;
mod error;
mod lenient;
mod responses;
mod sse;
mod transcriptions;

pub use client::{OpenAi, Shape};
