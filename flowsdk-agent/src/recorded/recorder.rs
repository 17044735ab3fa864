//! The provider that keeps what is said.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{Asked, Exchange, Recording};
use crate::model::{Answer, ModelError, ModelProvider, ModelRequest};

/// Asks another provider, and keeps its answers. A request that failed is not kept: it is asked again, or nothing comes of it.
#[derive(Debug)]
pub struct Recorder {
    provider: Arc<dyn ModelProvider>,
    recording: Mutex<Recording>,
}

impl Recorder {
    /// Creates a recorder of what `provider` answers.
    pub fn new(provider: Arc<dyn ModelProvider>) -> Self {
        Self { provider, recording: Mutex::default() }
    }

    /// Returns what was said so far.
    pub fn recording(&self) -> Recording {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ModelProvider for Recorder {
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError> {
        let answer = self.provider.answer(request).await?;
        let exchange = Exchange { asked: Asked::of(&request), answer: answer.clone() };
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).exchanges.push(exchange);
        Ok(answer)
    }
}
