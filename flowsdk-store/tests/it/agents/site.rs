//! A site of the web that answers as it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::knowledge::{Web, WebAddress, WebError, WebPage};
use tokio::sync::Semaphore;

/// What it answers next, one after the other; and what it was asked.
#[derive(Debug)]
pub(crate) struct Site {
    answers: Mutex<VecDeque<Result<WebPage, WebError>>>,
    asked: Mutex<Vec<String>>,
    /// Each request takes a permit.
    pub(crate) gate: Semaphore,
}

impl Default for Site {
    fn default() -> Self {
        Self { answers: Mutex::default(), asked: Mutex::default(), gate: Semaphore::new(1_000) }
    }
}

impl Site {
    pub(crate) fn says(&self, content_type: &str, bytes: impl Into<Vec<u8>>) {
        let page = WebPage { content_type: Some(content_type.to_owned()), bytes: bytes.into() };
        self.answers.lock().expect("a lock").push_back(Ok(page));
    }

    pub(crate) fn is_busy(&self, seconds: Option<u64>) {
        let retry_after = seconds.map(Duration::from_secs);
        let busy = WebError::Passing { reason: "its server answers with status 503".to_owned(), retry_after };
        self.answers.lock().expect("a lock").push_back(Err(busy));
    }

    pub(crate) fn refuses(&self) {
        let gone = WebError::Lasting { reason: "its server answers with status 404".to_owned() };
        self.answers.lock().expect("a lock").push_back(Err(gone));
    }

    /// The addresses that it was asked for since the last look.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("a lock"))
    }

    pub(crate) fn is_asked(&self) -> bool {
        !self.asked.lock().expect("a lock").is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Visited(pub(crate) Arc<Site>);

#[async_trait]
impl Web for Visited {
    async fn read(&self, address: &WebAddress, _most: usize) -> Result<WebPage, WebError> {
        self.0.asked.lock().expect("a lock").push(address.as_str().to_owned());
        let _permit = self.0.gate.acquire().await.expect("it is never closed");
        let answer = self.0.answers.lock().expect("a lock").pop_front();
        // Without an order it says this.
        let page = WebPage { content_type: Some("text/plain".to_owned()), bytes: b"Green tea".to_vec() };
        answer.unwrap_or(Ok(page))
    }
}
