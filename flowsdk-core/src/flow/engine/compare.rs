//! Comparing texts: folded, or as the numbers, dates and times that they write.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Ordering;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::router::DEFAULT_TZ;

/// `text` trimmed and without case and accents.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if !text.is_ascii() {
        let letters = text.nfd().filter(|c| !is_combining_mark(*c));
        return Cow::Owned(letters.flat_map(char::to_lowercase).collect());
    }
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

/// A number; integers are kept exact, so that two long document numbers are never taken for equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Decimal(f64),
}

impl Number {
    /// Reads digits with an optional sign and decimals after a point.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if !plain || !digits.bytes().next()?.is_ascii_digit() || digits.ends_with('.') {
            return None;
        }
        if digits.contains('.') {
            return text.parse().ok().filter(|n: &f64| n.is_finite()).map(Self::Decimal);
        }
        text.parse().ok().map(Self::Integer)
    }

    /// Returns the number, rounded to the precision of a float.
    #[allow(clippy::cast_precision_loss, reason = "limits of a validation are floats")]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(n) => n as f64,
            Self::Decimal(n) => n,
        }
    }

    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (a, b) => a.as_f64().partial_cmp(&b.as_f64()),
        }
    }
}

/// Reads `2026-11-20` or `20/11/2026`.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    let (year, month, day) = match *text.as_bytes() {
        [_, _, _, _, b'-', _, _, b'-', _, _] => (text.get(..4)?, text.get(5..7)?, text.get(8..)?),
        [_, _, b'/', _, _, b'/', _, _, _, _] => (text.get(6..)?, text.get(3..5)?, text.get(..2)?),
        _ => return None,
    };
    Date::new(digits(year)?, digits(month)?, digits(day)?).ok()
}

/// Reads `9:30`, `09:30` or `09:30:15`.
fn parse_time(text: &str) -> Option<Time> {
    let mut parts = text.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let second = parts.next().unwrap_or("00");
    if parts.next().is_some() || hour.len() > 2 || minute.len() != 2 || second.len() != 2 {
        return None;
    }
    Time::new(digits(hour)?, digits(minute)?, digits(second)?, 0).ok()
}

/// Returns a number without a sign.
fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The router's time zone, looked up when a condition first needs it.
pub(crate) struct Calendar<'a> {
    name: &'a str,
    zone: OnceCell<TimeZone>,
}

impl<'a> Calendar<'a> {
    /// Creates the calendar of the zone `name`, or of the default zone when there is none of that name.
    pub(crate) fn new(name: &'a str) -> Self {
        Self { name, zone: OnceCell::new() }
    }

    /// Returns the time zone of the router.
    pub(crate) fn zone(&self) -> &TimeZone {
        self.zone.get_or_init(|| {
            TimeZone::get(self.name).or_else(|_| TimeZone::get(DEFAULT_TZ)).unwrap_or(TimeZone::UTC)
        })
    }

    /// Reads a date (its midnight) or a date with a time, of this zone unless it names an offset.
    fn parse(&self, text: &str) -> Option<jiff::Timestamp> {
        let civil = match parse_date(text) {
            Some(date) => date.to_datetime(Time::midnight()),
            None if text.len() > 10 && text.as_bytes().get(4) == Some(&b'-') => {
                if let Ok(moment) = text.parse::<jiff::Timestamp>() {
                    return Some(moment);
                }
                text.parse::<DateTime>().ok()?
            }
            None => return None,
        };
        Some(self.zone().to_ambiguous_zoned(civil).compatible().ok()?.timestamp())
    }

    /// How `a` stands to `b` (both trimmed) as numbers, dates or times of day: `Ok(None)` when both
    /// are some and cannot be ordered, `Err` when they are not both of one kind.
    fn order(&self, a: &str, b: &str) -> Result<Ordering, Kinds> {
        let (left, right) = (self.read(a), self.read(b));
        let order = match (&left, &right) {
            (Read::Number(a), Read::Number(b)) => a.order(*b),
            (Read::Moment(a), Read::Moment(b)) => Some(a.cmp(b)),
            (Read::Time(a), Read::Time(b)) => Some(a.cmp(b)),
            _ => None,
        };
        order.ok_or(match (left, right) {
            (Read::Text, Read::Text) => Kinds::BothText,
            _ => Kinds::Different,
        })
    }

    fn read(&self, text: &str) -> Read {
        let starts_like_one = matches!(text.as_bytes().first(), Some(b'0'..=b'9' | b'+' | b'-'));
        // Nothing that is a number or a date is longer than this.
        if !starts_like_one || text.len() > 40 {
            return Read::Text;
        }
        Number::parse(text)
            .map(Read::Number)
            .or_else(|| self.parse(text).map(Read::Moment))
            .or_else(|| parse_time(text).map(Read::Time))
            .unwrap_or(Read::Text)
    }

    /// Returns whether two folded texts are the same, or write the same number, date or time.
    pub(crate) fn same(&self, a: &str, b: &str) -> bool {
        a == b || self.order(a, b) == Ok(Ordering::Equal)
    }

    /// How two folded texts stand to each other. Two plain texts are ordered as texts; a number and
    /// a word, or anything and nothing, are not ordered at all.
    pub(crate) fn compare(&self, a: &str, b: &str) -> Option<Ordering> {
        match self.order(a, b) {
            Ok(order) => Some(order),
            Err(Kinds::BothText) if !a.is_empty() && !b.is_empty() => Some(a.cmp(b)),
            Err(_) => None,
        }
    }
}

/// The value that a text writes.
enum Read {
    Number(Number),
    Moment(jiff::Timestamp),
    Time(Time),
    Text,
}

/// Why two texts are not ordered as numbers, dates or times.
#[derive(PartialEq)]
enum Kinds {
    BothText,
    Different,
}
