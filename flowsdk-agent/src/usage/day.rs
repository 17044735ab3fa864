//! Days of the calendar.

use std::borrow::Cow;
use std::fmt;

use flowsdk_core::cell::{Cell, Kind, Value};
use flowsdk_core::fault::BoxError;
use flowsdk_core::time::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan as _};
use serde::{Serialize, Serializer};

/// A day in UTC, as `2026-11-30` on the wire and in columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

/// A text that is no day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a day is written as 2026-11-30")]
pub struct InvalidDay;

impl Day {
    /// Returns the day of a moment.
    pub fn of(moment: Timestamp) -> Self {
        Self(moment.to_jiff().to_zoned(TimeZone::UTC).date())
    }

    /// Reads a day.
    ///
    /// # Errors
    /// [`InvalidDay`].
    pub fn parse(text: &str) -> Result<Self, InvalidDay> {
        let day = text.parse().map(Self).map_err(|_| InvalidDay)?;
        // The calendar reads other forms, too.
        if day.to_string() == text { Ok(day) } else { Err(InvalidDay) }
    }

    /// Returns the day so many days before; the first day of the calendar at least.
    pub fn before(self, days: u32) -> Self {
        let span: Span = i64::from(days).days();
        Self(self.0.saturating_sub(span))
    }

    /// Returns its month, as `2026-11`.
    pub fn month(self) -> String {
        format!("{:04}-{:02}", self.0.year(), self.0.month())
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Cell for Day {
    const KIND: Kind = Kind::Text;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Text(Cow::Owned(self.to_string())))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(Self::parse(&value.into_text()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_in_one_way() {
        let day = Day::parse("2026-03-01").expect("a day");
        assert_eq!((day.to_string(), day.month()), ("2026-03-01".to_owned(), "2026-03".to_owned()));
        assert_eq!(day.before(1), Day::parse("2026-02-28").expect("a day"));
        for text in ["", "2026-3-1", "20260301", "2026-02-30", "2026-03-01T00:00", "x"] {
            assert_eq!(Day::parse(text), Err(InvalidDay), "{text}");
        }
    }

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let midnight = 1_772_323_200_000;
        for (millis, expected) in [(midnight - 1, "2026-02-28"), (midnight, "2026-03-01")] {
            assert_eq!(Day::of(Timestamp::from_millis(millis)).to_string(), expected);
        }
    }
}
