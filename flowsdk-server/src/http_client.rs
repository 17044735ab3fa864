//! The HTTP client of this program's own requests.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder};

/// A client that follows no redirect: what it sends would go to whom nobody configured.
pub(crate) fn client(timeout: Duration) -> reqwest::Result<Client> {
    let builder = || -> ClientBuilder { Client::builder().timeout(timeout).redirect(Policy::none()) };
    // Without certificates on the system the client is not built, not even for http:// addresses. Minimal
    // containers have none, so the roots of Mozilla stand in.
    match builder().build() {
        Ok(client) => Ok(client),
        Err(_) => builder().tls_certs_only(mozilla_roots()).build(),
    }
}

fn mozilla_roots() -> Vec<Certificate> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|root| Certificate::from_der(root).ok())
        .collect()
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
