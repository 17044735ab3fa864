//! Limits on how often something may be tried, shared by every process (rulings H10).

mod counter;
mod window;

use std::net::IpAddr;

use flowsdk_core::place::Place;

pub(crate) use counter::{Attempts, Limit};

/// Returns the place of callers with this address. A text that is not an address is a place of its own.
pub(crate) fn place(ip: &str) -> String {
    ip.parse::<IpAddr>().map_or_else(|_| ip.to_owned(), |address| Place::of(address).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_a_place_of_its_own() {
        for (ip, expected) in [("", ""), ("unix", "unix"), ("2001:DB8:1:2::1", "2001:db8:1:2::/64")] {
            assert_eq!(place(ip), expected, "{ip}");
        }
    }
}
