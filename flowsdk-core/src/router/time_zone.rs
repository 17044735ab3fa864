//! The time zone of a router.

use jiff::tz::TimeZone;

use crate::cell::TextType;

/// Longest name of a time zone, in bytes.
const MAX_LEN: usize = 64;

/// A text that names no time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an IANA time zone")]
pub struct InvalidTimeZone;

fn is_time_zone(text: &str) -> bool {
    text.len() <= MAX_LEN && TimeZone::get(text).is_ok()
}

/// The name of a time zone that the IANA database knows. A router that is stored keeps the text, because a later
/// database may not know every name of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, TextType)]
#[text(
    rule = is_time_zone,
    error = InvalidTimeZone,
    format = "time-zone",
    max_length = MAX_LEN,
    example = "America/Sao_Paulo",
    description = "IANA time zone."
)]
pub struct TimeZoneName(String);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::DEFAULT_TZ;

    #[test]
    fn only_known_zones_have_a_name() {
        for known in [DEFAULT_TZ, "UTC", "Europe/Lisbon"] {
            assert_eq!(TimeZoneName::parse(known).map(String::from).as_deref(), Ok(known));
        }
        for unknown in ["", " ", "Mars/Olympus", "America/Sao_Paulo ", "-03:00", &"a".repeat(MAX_LEN + 1)] {
            assert_eq!(TimeZoneName::parse(unknown), Err(InvalidTimeZone), "{unknown:?}");
        }
    }
}
