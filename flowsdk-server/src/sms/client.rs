//! The HTTP client that the adapters share.

use std::time::Duration;

use flowsdk_auth::sms::SmsError;
use flowsdk_core::fault::BoxError;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, StatusCode};

/// How long a provider may take for one message, connection included.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// A client that follows no redirect: the code would go to whom nobody configured.
pub(super) fn client(timeout: Duration) -> Result<Client, BoxError> {
    let builder = || -> ClientBuilder { Client::builder().timeout(timeout).redirect(Policy::none()) };
    // Without certificates on the system the client is not built, not even for http:// addresses. Minimal
    // containers have none, so the roots of Mozilla stand in.
    match builder().build() {
        Ok(client) => Ok(client),
        Err(_) => Ok(builder().tls_certs_only(mozilla_roots()).build()?),
    }
}

fn mozilla_roots() -> Vec<Certificate> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|root| Certificate::from_der(root).ok())
        .collect()
}

/// A failure on the way. Addresses are left out: a webhook's may hold a token.
pub(super) fn unreachable(error: reqwest::Error) -> SmsError {
    SmsError::Unavailable(error.without_url().into())
}

/// An answer after which the same message may be accepted later.
pub(super) fn later(status: StatusCode) -> SmsError {
    SmsError::Unavailable(format!("HTTP {}", status.as_u16()).into())
}

/// The code of a refusal without a code of its own.
pub(super) fn http_code(status: StatusCode) -> String {
    format!("http_{}", status.as_u16())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_be_built_from_the_roots_alone() {
        let roots = mozilla_roots();
        assert_eq!(roots.len(), webpki_root_certs::TLS_SERVER_ROOT_CERTS.len());
        assert!(Client::builder().tls_certs_only(roots).build().is_ok());
    }
}
