//! The oldest glibc that the server for Linux runs with.

use anyhow::{Result, ensure};

use crate::version::Version;

/// That of RHEL 8, Debian 10 and Ubuntu 18.10, from 2018.
pub(super) const OLDEST: Version = Version { major: 2, minor: 28 };

/// Checks the table of dynamic symbols, as `objdump -T` prints it.
///
/// # Errors
/// When a symbol came with a newer glibc, or when the table names no version at all.
pub(super) fn check(symbols: &str) -> Result<()> {
    let newest = newest(symbols);
    ensure!(newest.is_some(), "no symbol of glibc is named in:\n{symbols}");
    ensure!(
        newest <= Some(OLDEST),
        "the program needs glibc {}, newer than {OLDEST}",
        newest.map(|version| version.to_string()).unwrap_or_default()
    );
    Ok(())
}

fn newest(symbols: &str) -> Option<Version> {
    symbols
        .split("GLIBC_")
        .skip(1)
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .filter_map(Version::find)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) free
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.28)  fcntl64
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.3.4) __snprintf_chk
0000000000000000  w   D  *UND*\t0000000000000000 (GLIBC_PRIVATE) __nothing
0000000000000000  w   D  *UND*\t0000000000000000  Base        __gmon_start__
";

    #[test]
    fn the_newest_symbol_decides() {
        assert_eq!(newest(TABLE), Some(OLDEST));
        assert!(check(TABLE).is_ok());
        let newer = TABLE.replace("GLIBC_2.3.4", "GLIBC_2.34");
        assert_eq!(
            check(&newer).expect_err("too new").to_string(),
            "the program needs glibc 2.34, newer than 2.28"
        );
    }

    #[test]
    fn a_table_without_versions_tells_nothing() {
        assert!(check("").is_err());
        assert!(check("(GLIBC_PRIVATE) x").is_err());
    }
}
