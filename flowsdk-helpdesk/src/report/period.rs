//! The period of a report, and its days.

use std::time::Duration;

use flowsdk_core::time::Timestamp;
use jiff::tz::TimeZone;

use super::ReportError;

/// Most days of 24 hours that a period has.
pub const MOST_DAYS: u32 = 366;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a period is whose beginning nobody has named.
const USUAL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A period that a report can be about: it begins before it ends, and has at most [`MOST_DAYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    begin: Timestamp,
    end: Timestamp,
}

impl Period {
    /// Returns the period between two moments, of which the second is no part of it. It ends now, and has 30 days, unless
    /// they are given.
    ///
    /// # Errors
    /// [`ReportError::Backwards`], [`ReportError::TooLong`].
    pub fn of(from: Option<Timestamp>, to: Option<Timestamp>, now: Timestamp) -> Result<Self, ReportError> {
        let end = to.unwrap_or(now);
        let begin = from.unwrap_or(end - USUAL);
        if begin >= end {
            return Err(ReportError::Backwards);
        }
        if end.since(begin) > DAY * MOST_DAYS {
            return Err(ReportError::TooLong { most: MOST_DAYS });
        }
        Ok(Self { begin, end })
    }

    /// Returns its first moment.
    pub fn begin(self) -> Timestamp {
        self.begin
    }

    /// Returns the first moment after it.
    pub fn end(self) -> Timestamp {
        self.end
    }

    /// Returns its days in a time zone, in order. The first and the last are as long as the period reaches into them.
    pub fn days(self, zone: &TimeZone) -> Vec<Day> {
        let mut days = Vec::new();
        let mut begin = self.begin;
        while begin < self.end {
            let date = begin.to_jiff().to_zoned(zone.clone()).date();
            let midnight = date.tomorrow().and_then(|next| next.to_zoned(zone.clone()));
            let midnight = midnight.map(|next| Timestamp::from_millis(next.timestamp().as_millisecond()));
            // Behind the end of the calendar there is no other day.
            let end = midnight.ok().filter(|next| *next > begin).map_or(self.end, |next| next.min(self.end));
            days.push(Day { date: date.to_string(), begin, end });
            begin = end;
        }
        days
    }
}

/// A day of a period, or the part of it that the period has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// Its date, as `YYYY-MM-DD`.
    pub date: String,
    /// Its first moment.
    pub begin: Timestamp,
    /// The first moment after it.
    pub end: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(iso: &str) -> Timestamp {
        let moment: jiff::Timestamp = iso.parse().expect("a moment");
        Timestamp::from_millis(moment.as_millisecond())
    }

    #[test]
    fn a_period_begins_before_it_ends_and_is_not_too_long() {
        let now = at("2026-11-30T12:00:00Z");
        for (from, to, expected) in [
            (None, None, Ok(("2026-10-31T12:00:00Z", "2026-11-30T12:00:00Z"))),
            (None, Some("2026-01-31T00:00:00Z"), Ok(("2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z"))),
            (
                Some("2026-11-30T11:59:59.999Z"),
                None,
                Ok(("2026-11-30T11:59:59.999Z", "2026-11-30T12:00:00Z")),
            ),
            (Some("2026-11-30T12:00:00Z"), None, Err("the period ends before it begins")),
            (Some("2026-12-01T00:00:00Z"), None, Err("the period ends before it begins")),
            (
                Some("2026-12-01T00:00:00Z"),
                Some("2027-12-02T00:00:00Z"),
                Ok(("2026-12-01T00:00:00Z", "2027-12-02T00:00:00Z")),
            ),
            (Some("2026-12-01T00:00:00Z"), Some("2027-12-02T00:00:00.001Z"), Err("more than 366 days")),
            (Some("-009000-01-01T00:00:00Z"), Some("9000-01-01T00:00:00Z"), Err("more than 366 days")),
        ] {
            let period = Period::of(from.map(at), to.map(at), now).map_err(|error| error.to_string());
            let expected = expected.map(|(begin, end)| Period { begin: at(begin), end: at(end) });
            assert_eq!(period, expected.map_err(str::to_owned), "{from:?} {to:?}");
        }
    }

    /// Days of a zone by their dates, and how many hours each has.
    fn hours(zone: &str, from: &str, to: &str) -> Vec<(String, u64)> {
        let zone = TimeZone::get(zone).expect("a zone");
        let period = Period::of(Some(at(from)), Some(at(to)), at(to)).expect("a period");
        let days = period.days(&zone);
        assert_eq!((days[0].begin, days[days.len() - 1].end), (period.begin, period.end));
        assert!(days.windows(2).all(|pair| pair[0].end == pair[1].begin), "{days:?}");
        days.into_iter().map(|day| (day.date, day.end.since(day.begin).as_secs() / 3_600)).collect()
    }

    #[test]
    fn days_are_those_of_the_zone() {
        for (zone, from, to, expected) in [
            ("UTC", "2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z", &[("2026-11-29", 24)][..]),
            (
                "UTC",
                "2026-11-28T22:00:00Z",
                "2026-11-30T01:00:00Z",
                &[("2026-11-28", 2), ("2026-11-29", 24), ("2026-11-30", 1)],
            ),
            (
                "America/Sao_Paulo",
                "2026-11-29T02:00:00Z",
                "2026-11-30T03:00:00Z",
                &[("2026-11-28", 1), ("2026-11-29", 24)],
            ),
            // Clocks go forward, and back.
            (
                "Europe/Berlin",
                "2026-03-28T23:00:00Z",
                "2026-03-30T22:00:00Z",
                &[("2026-03-29", 23), ("2026-03-30", 24)],
            ),
            (
                "Europe/Berlin",
                "2026-10-24T22:00:00Z",
                "2026-10-26T23:00:00Z",
                &[("2026-10-25", 25), ("2026-10-26", 24)],
            ),
            // A day without a midnight, and a date that nobody had.
            (
                "America/Sao_Paulo",
                "2018-11-03T03:00:00Z",
                "2018-11-05T02:00:00Z",
                &[("2018-11-03", 24), ("2018-11-04", 23)],
            ),
            (
                "Pacific/Apia",
                "2011-12-29T10:00:00Z",
                "2011-12-31T10:00:00Z",
                &[("2011-12-29", 24), ("2011-12-31", 24)],
            ),
        ] {
            let expected: Vec<(String, u64)> =
                expected.iter().map(|(date, hours)| ((*date).to_owned(), *hours)).collect();
            assert_eq!(hours(zone, from, to), expected, "{zone} {from}");
        }
    }

    #[test]
    fn the_longest_period_has_a_day_for_each_date() {
        let days = hours("America/Sao_Paulo", "2026-11-29T12:00:00Z", "2027-11-30T12:00:00Z");
        assert_eq!(days.len(), 367);
        assert_eq!((days[0].0.as_str(), days[366].0.as_str()), ("2026-11-29", "2027-11-30"));
    }
}
