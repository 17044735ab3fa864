//! The ports of models that turn texts into vectors, and speech into text.

use std::fmt::Debug;

use async_trait::async_trait;
use flowsdk_core::event::TokenUsage;

use super::ModelError;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Debug + Send + Sync {
    /// Returns the vector of each text, in their order. None of the texts is empty.
    ///
    /// # Errors
    /// [`ModelError`]: there are vectors of all texts, or of none.
    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError>;
}

/// Turns speech into text.
#[async_trait]
pub trait Transcriber: Debug + Send + Sync {
    /// Returns what is said.
    ///
    /// # Errors
    /// [`ModelError`].
    async fn transcribe(&self, speech: Speech) -> Result<Transcribed, ModelError>;
}

/// A recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speech {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Its media type, such as `audio/ogg`.
    pub mime_type: String,
}

/// The vectors of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// The vector of each text, in their order.
    pub vectors: Vec<Vec<f32>>,
    /// What they used; `None` where no model was asked.
    pub used: Option<Used>,
}

/// What is said in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcribed {
    /// What is said.
    pub text: String,
    /// What it used; `None` where no model was asked.
    pub used: Option<Used>,
}

/// What a call of a model used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The provider's name of the model, by which it has a price.
    pub model: String,
    /// The tokens; zero where the provider does not say, or counts minutes.
    pub tokens: TokenUsage,
}
