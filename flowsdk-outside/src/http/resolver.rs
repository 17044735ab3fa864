//! Names to addresses, of which only the public ones are given on.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::{AllowedHosts, is_public};

/// The addresses of a name are not public.
#[derive(Debug, thiserror::Error)]
#[error("the server's address is not public")]
pub(super) struct NotPublic;

/// The system's resolver behind the guard. A connection goes to an address that it gave, and to no other: a
/// name that changes its address between a check and a connection gains nothing.
#[derive(Debug)]
pub(super) struct GuardedResolver {
    pub(super) allowed: AllowedHosts,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.allowed.contains(name.as_str());
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.filter(|address| allowed || is_public(address.ip())).collect();
            if found.is_empty() {
                tracing::warn!(
                    name = name.as_str(),
                    "a name leads to an address that is not public: refused (the server allows those in FLOW_HTTP_ALLOWED_HOSTS)"
                );
                return Err(NotPublic.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
