//! The HTTP client of this program's own requests.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
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

/// Returns an address at which this machine reaches a server that listens at `address`.
pub(crate) fn near(address: SocketAddr) -> SocketAddr {
    let ip = if address.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    SocketAddr::new(ip, address.port())
}
