//! Pages that are fetched: what stands at an address.

use std::time::Duration;

use flowsdk_core::flow::OutsideFailure;
use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Response, Url};

use super::GuardedHttp;
use super::caller::{MAX_REDIRECTS, bad_request, failure, forbidden, next_address};

/// What is asked for.
const WANTED: &str = "text/html, text/markdown, text/plain;q=0.9, application/pdf;q=0.8";

/// What stands at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The header `Content-Type`.
    pub content_type: Option<String>,
    /// The body.
    pub bytes: Vec<u8>,
}

/// Why a page cannot be fetched. The reason says nothing of the network around this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFailure {
    /// What happened.
    pub reason: String,
    /// Whether it may be had later.
    pub is_passing: bool,
    /// How long its server wants to be left alone.
    pub retry_after: Option<Duration>,
}

impl From<OutsideFailure> for PageFailure {
    fn from(failure: OutsideFailure) -> Self {
        let is_passing = matches!(failure.code, "http_unreachable" | "http_timeout");
        Self { reason: failure.message, is_passing, retry_after: None }
    }
}

impl PageFailure {
    fn of_status(response: &Response) -> Self {
        let status = response.status();
        let is_passing = status.is_server_error()
            || matches!(status.as_u16(), 408 | 425)
            || status == StatusCode::TOO_MANY_REQUESTS;
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = asked.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let reason = format!("its server answers with status {}", status.as_u16());
        Self { reason, is_passing, retry_after: retry_after.filter(|_| is_passing) }
    }

    fn too_large(most: usize) -> Self {
        Self { reason: format!("it has more than {most} bytes"), is_passing: false, retry_after: None }
    }
}

impl GuardedHttp {
    /// Returns what stands at an address, or where that leads, of at most `most` bytes. Each address on the way is checked. The
    /// caller bounds the time.
    ///
    /// # Errors
    /// [`PageFailure`], also for a status that is no success.
    pub async fn page(&self, address: &str, most: usize) -> Result<Page, PageFailure> {
        let mut url = Url::parse(address).map_err(|_| bad_request("not an address"))?;
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let call = self.client.get(url.clone()).header(ACCEPT, WANTED);
            let response = call.send().await.map_err(|error| failure(&error))?;
            match next_address(&url, &response) {
                Some(next) => url = next?,
                None if response.status().is_success() => return read(response, most).await,
                None => return Err(PageFailure::of_status(&response)),
            }
        }
        Err(forbidden(format!("more than {MAX_REDIRECTS} redirects")).into())
    }
}

async fn read(mut response: Response, most: usize) -> Result<Page, PageFailure> {
    if response.content_length().is_some_and(|announced| announced > most as u64) {
        return Err(PageFailure::too_large(most));
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let content_type = content_type.map(str::to_owned);
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
        if bytes.len() + chunk.len() > most {
            return Err(PageFailure::too_large(most));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Page { content_type, bytes })
}
