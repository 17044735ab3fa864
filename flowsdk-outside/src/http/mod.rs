//! HTTP requests of flows.

mod address;
mod caller;
mod resolver;

pub use address::is_public;
pub use caller::GuardedHttp;

use std::sync::Arc;

/// Servers that a flow may reach although their addresses are not public, by name or address as it stands in
/// the address of the request; lower case, without port.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Arc<[String]>);

impl AllowedHosts {
    /// Allows these hosts beside public servers.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        Self(hosts.into_iter().map(|host| host.trim().to_ascii_lowercase()).collect())
    }

    /// Returns whether `host` is one of them.
    pub fn contains(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        self.0.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}
