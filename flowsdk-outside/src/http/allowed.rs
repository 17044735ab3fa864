//! The servers that flows may reach beside public ones.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use reqwest::Url;

use super::is_public;

/// Servers that a flow may reach although their addresses are not public, by name or address as it stands in
/// the address of the request; lower case, without port.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Arc<[String]>);

/// A word in a list of hosts is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be names or addresses of hosts with commas between, without scheme and port, such as localhost,127.0.0.1,[::1]: `{0}` is none"
)]
pub struct NotAHost(String);

impl AllowedHosts {
    /// Allows these hosts beside public servers.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        Self(hosts.into_iter().map(|host| host.trim().to_ascii_lowercase()).collect())
    }

    /// Returns whether a host may be asked as it stands in an address: it is one of them, a public address, or a name, which
    /// its resolver judges.
    pub fn permits(&self, host: &str) -> bool {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        address.map_or(true, is_public) || self.contains(host)
    }

    /// Returns whether `host` is one of them.
    pub fn contains(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        self.0.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

/// A list with commas between. Nothing between two commas counts for nothing.
impl FromStr for AllowedHosts {
    type Err = NotAHost;

    fn from_str(list: &str) -> Result<Self, NotAHost> {
        let hosts = list.split(',').map(str::trim).filter(|host| !host.is_empty());
        let hosts =
            hosts.map(|host| is_host(host).then(|| host.to_owned()).ok_or_else(|| NotAHost(host.to_owned())));
        Ok(Self::new(hosts.collect::<Result<Vec<_>, _>>()?))
    }
}

/// Returns whether an address could name its server so: anything else would never match one.
fn is_host(word: &str) -> bool {
    let url = Url::parse(&format!("http://{word}/"));
    url.is_ok_and(|url| {
        url.host_str().is_some_and(|host| host.eq_ignore_ascii_case(word)) && !word.contains('*')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_hosts_as_addresses_do() {
        let allowed: AllowedHosts =
            "localhost, 127.0.0.1,[::1],,Kitchen.Internal,my_host".parse().expect("hosts");
        for host in ["localhost", "127.0.0.1", "[::1]", "kitchen.internal", "kitchen.internal.", "MY_HOST"] {
            assert!(allowed.contains(host), "{host}");
        }
        assert!(!allowed.contains("") && !allowed.contains("example.com"));
        assert!("".parse::<AllowedHosts>().is_ok());
    }

    #[test]
    fn what_would_never_match_is_refused() {
        for word in [
            "127.0.0.1:8080",
            "http://localhost",
            "*",
            "*.internal",
            "localhost 127.0.0.1",
            "::1",
            "a/b",
            "u@h",
            "127.1",
        ] {
            assert_eq!(
                word.parse::<AllowedHosts>().expect_err("refused"),
                NotAHost(word.to_owned()),
                "{word}"
            );
            assert!(format!("localhost,{word}").parse::<AllowedHosts>().is_err(), "{word}");
        }
    }
}
