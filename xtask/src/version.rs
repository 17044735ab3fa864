//! Versions of the programs the tests need, as those programs print them.

use std::fmt;

/// Major and minor: all that a requirement is stated in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl Version {
    /// The first version number in the output of `PROGRAM --version`.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let start = text.find(|c: char| c.is_ascii_digit())?;
        let mut parts = text[start..].split('.');
        let major = leading_number(parts.next()?)?;
        let minor = parts.next().and_then(leading_number).unwrap_or(0);
        Some(Self { major, minor })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Version;

    fn version(text: &str) -> Option<(u32, u32)> {
        Version::find(text).map(|v| (v.major, v.minor))
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        assert_eq!(version("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)"), Some((15, 13)));
        assert_eq!(version("postgres (PostgreSQL) 17beta1"), Some((17, 0)));
        assert_eq!(version("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0"), Some((7, 0)));
        assert_eq!(version("v20.20.2\n"), Some((20, 20)));
        assert_eq!(version("Chromium 138.0.7204.157 built on Debian GNU/Linux 12"), Some((138, 0)));
        assert_eq!(version("10.9.2"), Some((10, 9)));
    }

    #[test]
    fn text_without_a_version_has_none() {
        assert_eq!(version("command not found"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn newer_is_greater() {
        assert!(Version { major: 10, minor: 0 } > Version { major: 9, minor: 6 });
    }
}
