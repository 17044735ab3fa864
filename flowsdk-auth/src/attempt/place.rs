//! Where attempts come from.

use std::net::{IpAddr, Ipv6Addr};

/// Bits of an IPv6 address that a provider gives one customer; the rest he chooses himself.
const CUSTOMER_BITS: u32 = 64;

/// What counts as one place of callers with this address: an IPv4 address, or the network of an IPv6 one, whose
/// holder has more addresses than anybody can count. What is no address is a place of its own.
pub(crate) fn place(ip: &str) -> String {
    match ip.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => address.to_string(),
        Ok(IpAddr::V6(address)) => {
            let network = address.to_bits() >> (128 - CUSTOMER_BITS) << (128 - CUSTOMER_BITS);
            format!("{}/{CUSTOMER_BITS}", Ipv6Addr::from_bits(network))
        }
        Err(_) => ip.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_one_customer_are_one_place() {
        for (ip, expected) in [
            ("10.0.0.1", "10.0.0.1"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:DB8:1:2::1", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
            ("::1", "::/64"),
            ("", ""),
            ("unix", "unix"),
        ] {
            assert_eq!(place(ip), expected, "{ip}");
        }
    }
}
