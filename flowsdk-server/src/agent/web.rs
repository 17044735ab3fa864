//! Reads addresses of the web for the knowledge of AI agents, behind the guard of the outside.

use async_trait::async_trait;
use flowsdk_agent::knowledge::{Web, WebAddress, WebError, WebPage};
use flowsdk_outside::http::GuardedHttp;

/// Reads public addresses, and those that are allowed.
#[derive(Debug)]
pub(crate) struct GuardedWeb(pub(crate) GuardedHttp);

#[async_trait]
impl Web for GuardedWeb {
    async fn read(&self, address: &WebAddress, most: usize) -> Result<WebPage, WebError> {
        match self.0.page(address.as_str(), most).await {
            Ok(page) => Ok(WebPage { content_type: page.content_type, bytes: page.bytes }),
            Err(failure) if failure.is_passing => {
                Err(WebError::Passing { reason: failure.reason, retry_after: failure.retry_after })
            }
            Err(failure) => Err(WebError::Lasting { reason: failure.reason }),
        }
    }
}
