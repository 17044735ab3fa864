//! The certificates that a client trusts.

use reqwest::{Certificate, Client, ClientBuilder};

/// Builds a client that trusts the certificates of the system, or those of Mozilla where the system has none.
///
/// No client is built without certificates, not even one for `http://` addresses. Minimal containers have none.
///
/// # Errors
/// When TLS cannot be set up, or when what `builder` asks for cannot be had.
pub fn build_trusting(builder: impl Fn() -> ClientBuilder) -> reqwest::Result<Client> {
    builder().build().or_else(|_| builder().tls_certs_only(mozilla_roots()).build())
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
