//! The HTTP client of this program's own requests.

use std::time::Duration;

use flowsdk_outside::http::build_trusting;
use reqwest::Client;
use reqwest::redirect::Policy;

/// How long a connection may take. Without a limit of its own a connection that hangs looks like an answer that was lost.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A client that follows no redirect: what it sends would go to whom nobody configured.
pub(crate) fn client(timeout: Duration) -> reqwest::Result<Client> {
    build_trusting(|| {
        Client::builder().timeout(timeout).connect_timeout(CONNECT_TIMEOUT).redirect(Policy::none())
    })
}
