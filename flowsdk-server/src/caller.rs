//! The address that a request comes from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use http::{Extensions, HeaderMap};

/// Returns the address of the peer, or the one that the outermost of the trusted proxies has seen
/// (`TRUSTED_PROXIES`). A client can write the entries further left in `X-Forwarded-For` itself.
pub(crate) fn address(headers: &HeaderMap, extensions: &Extensions, trusted_proxies: u32) -> IpAddr {
    forwarded(headers, trusted_proxies).unwrap_or_else(|| {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>();
        peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip())
    })
}

fn forwarded(headers: &HeaderMap, trusted_proxies: u32) -> Option<IpAddr> {
    let hops = usize::try_from(trusted_proxies).ok()?.checked_sub(1)?;
    let values = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let seen: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    parse(seen.iter().rev().nth(hops)?)
}

/// An address, perhaps in brackets and perhaps with a port, as some proxies write it.
fn parse(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(bracketed).or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_proxies_write_them() {
        for (text, address) in [
            ("3.3.3.3", Some("3.3.3.3")),
            ("3.3.3.3:1234", Some("3.3.3.3")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:99", Some("2001:db8::1")),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(parse(text).map(|address| address.to_string()).as_deref(), address, "{text:?}");
        }
    }

    #[test]
    fn only_what_trusted_proxies_have_seen_counts() {
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "1.1.1.1, 2.2.2.2".parse().expect("a value"));
        headers.append("x-forwarded-for", "3.3.3.3".parse().expect("a value"));
        for (proxies, seen) in [(0, None), (1, Some("3.3.3.3")), (2, Some("2.2.2.2")), (4, None)] {
            assert_eq!(forwarded(&headers, proxies).map(|a| a.to_string()).as_deref(), seen, "{proxies}");
        }
    }
}
