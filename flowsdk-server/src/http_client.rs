//! The HTTP client of this program's own requests.

use std::time::Duration;

use flowsdk_outside::http::build_trusting;
use reqwest::Client;
use reqwest::redirect::Policy;

/// A client that follows no redirect: what it sends would go to whom nobody configured.
pub(crate) fn client(timeout: Duration) -> reqwest::Result<Client> {
    build_trusting(|| Client::builder().timeout(timeout).redirect(Policy::none()))
}
