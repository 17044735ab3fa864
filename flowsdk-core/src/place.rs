//! Where callers come from, as far as limits are concerned.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Bits of an IPv6 address that a provider assigns to one customer; the customer chooses the rest.
const CUSTOMER_BITS: u32 = 64;

/// One place of callers: an IPv4 address, or the network of an IPv6 one, whose holder has more addresses than
/// anybody can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place(IpAddr);

impl Place {
    /// Returns the place of an address. An IPv4 address that is written as an IPv6 one is that IPv4 address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> (128 - CUSTOMER_BITS) << (128 - CUSTOMER_BITS);
                Self(Ipv6Addr::from_bits(network).into())
            }
            address => Self(address),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => write!(f, "{address}"),
            IpAddr::V6(network) => write!(f, "{network}/{CUSTOMER_BITS}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_one_customer_are_one_place() {
        for (address, expected) in [
            ("10.0.0.1", "10.0.0.1"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:DB8:1:2::1", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
            ("::1", "::/64"),
        ] {
            let place = Place::of(address.parse().expect("an address"));
            assert_eq!(place.to_string(), expected, "{address}");
        }
    }
}
