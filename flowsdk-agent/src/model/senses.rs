//! The ports of models that turn texts into vectors, and speech into text.

use std::fmt::Debug;

use async_trait::async_trait;

use super::ModelError;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Debug + Send + Sync {
    /// Returns the vector of each text, in their order. None of the texts is empty.
    ///
    /// # Errors
    /// [`ModelError`]: there are vectors of all texts, or of none.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// Turns speech into text.
#[async_trait]
pub trait Transcriber: Debug + Send + Sync {
    /// Returns what is said.
    ///
    /// # Errors
    /// [`ModelError`].
    async fn transcribe(&self, speech: Speech) -> Result<String, ModelError>;
}

/// A recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speech {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Its media type, such as `audio/ogg`.
    pub mime_type: String,
}
