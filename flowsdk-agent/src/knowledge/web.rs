//! Addresses of the web, and the port of whoever reads them.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::cell::TextType;
use flowsdk_core::media::Claim;
use reqwest::Url;

use super::{Content, Unfit};

/// Most bytes of an address.
const MAX_LEN: usize = 2_048;

/// A text that is not an address of the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an http or https address without user and fragment")]
pub struct InvalidWebAddress;

/// An address of the web. It names no user, because addresses are shown.
#[derive(Debug, Clone, PartialEq, Eq, TextType)]
#[text(
    rule = is_web_address,
    error = InvalidWebAddress,
    schema = "WebAddress",
    pattern = r"^https?://[^\s/?#@\\]+([/?][^\s#\\]*)?$",
    max_length = MAX_LEN,
    example = "https://shop.example.com/returns?lang=pt",
    description = "Without user and fragment."
)]
pub struct WebAddress(String);

fn is_web_address(text: &str) -> bool {
    let has_scheme = text.starts_with("https://") || text.starts_with("http://");
    let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"#\\".contains(&byte));
    let url = Url::parse(text).ok().filter(|url| url.username().is_empty() && url.password().is_none());
    // Behind two slashes more a library would still find a server.
    let is_named = url.is_some_and(|url| url.has_host()) && !text.contains(":///");
    text.len() <= MAX_LEN && has_scheme && is_visible && is_named
}

impl WebAddress {
    /// Returns the name of the file that stands there, if it has one.
    fn filename(&self) -> Option<String> {
        let path = self.0.split(['?', '#']).next().unwrap_or_default();
        path.rsplit('/').next().filter(|name| name.contains('.')).map(str::to_owned)
    }
}

/// What stands at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebPage {
    /// The header `Content-Type`.
    pub content_type: Option<String>,
    /// The body.
    pub bytes: Vec<u8>,
}

/// Why an address cannot be read. Documents show the reason, so it says nothing of the network around the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// It may be read later.
    #[error("the address cannot be read now: {reason}")]
    Passing {
        /// What happened.
        reason: String,
        /// How long its server wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// No time mends it.
    #[error("the address cannot be read: {reason}")]
    Lasting {
        /// What happened.
        reason: String,
    },
}

impl From<Unfit> for WebError {
    fn from(unfit: Unfit) -> Self {
        Self::Lasting { reason: unfit.to_string() }
    }
}

/// Reads addresses of the web. Whoever writes an address may mean the network around the server, so a reader looks where each
/// leads, and each redirect.
#[async_trait]
pub trait Web: Debug + Send + Sync {
    /// Returns what stands at an address, of at most `most` bytes.
    ///
    /// # Errors
    /// [`WebError`].
    async fn read(&self, address: &WebAddress, most: usize) -> Result<WebPage, WebError>;
}

/// Reads none: each fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWeb;

#[async_trait]
impl Web for NoWeb {
    async fn read(&self, _address: &WebAddress, _most: usize) -> Result<WebPage, WebError> {
        Err(WebError::Lasting { reason: "this program reads no addresses".to_owned() })
    }
}

/// Returns what stands at an address as a content.
///
/// # Errors
/// [`Unfit`].
pub(super) fn content_of(address: &WebAddress, page: WebPage) -> Result<Content, Unfit> {
    Content::of(&Claim { mime_type: page.content_type, filename: address.filename() }, page.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_server_and_no_user() {
        for (text, filename) in [
            ("https://a.example", None),
            ("http://127.0.0.1:8080/v1/", None),
            ("https://[2001:db8::1]/x/menu.pdf?a=b@c/d.txt", Some("menu.pdf")),
            ("https://a.example?lang=pt", None),
            ("https://a.example/d%20e.md", Some("d%20e.md")),
        ] {
            let address = WebAddress::parse(text).expect(text);
            let found = address.filename().filter(|name| name != "a.example");
            assert_eq!(found.as_deref(), filename, "{text}");
        }
        for bad in [
            "",
            "a.example",
            "ftp://a.example",
            "file:///etc/passwd",
            "https://",
            "https:///a",
            "https://user@a.example",
            "https://user:secret@a.example/",
            "https://a.example/#x",
            "https://a b",
            "https://a.example/é",
            "https://a.example\\b",
            "https://a.example\n",
            "HTTPS://a.example",
        ] {
            assert!(WebAddress::parse(bad).is_err(), "{bad}");
        }
        assert!(WebAddress::parse(format!("https://a.example/{}", "a".repeat(MAX_LEN))).is_err());
    }
}
