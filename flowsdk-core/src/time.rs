//! Time as an argument: [`Timestamp`] values and the injected [`Clock`].

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::fmt::temporal::DateTimePrinter;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since the Unix epoch. The same number in both databases and in session state;
/// ISO 8601 with milliseconds where people read it ([`Timestamp::to_iso`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Returns the moment `millis` milliseconds after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// `2026-11-20T10:57:00.000Z`. A moment that no calendar can show is written as the epoch.
    pub fn to_iso(self) -> String {
        // Several times faster than a format string; an answer of the API has a few of them for each record.
        const MILLISECONDS: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
        MILLISECONDS.timestamp_to_string(&self.to_jiff())
    }

    /// The same moment for calendar arithmetic.
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }

    /// Time from `earlier` to `self`; zero when `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;
    fn add(self, rhs: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(rhs.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;
    fn sub(self, rhs: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(rhs.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_iso())
    }
}

/// A moment as people and documents write it: ISO 8601, in UTC with milliseconds. Streams and columns have the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsoTime(pub Timestamp);

impl From<Timestamp> for IsoTime {
    fn from(moment: Timestamp) -> Self {
        Self(moment)
    }
}

impl Serialize for IsoTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_iso())
    }
}

/// Serializes a moment as [`IsoTime`] does, for records that are their own public form.
///
/// ```
/// use flowsdk_core::time::{Timestamp, as_iso};
///
/// #[derive(serde::Serialize)]
/// struct Note {
///     #[serde(serialize_with = "as_iso")]
///     created_at: Timestamp,
/// }
///
/// let note = Note { created_at: Timestamp::from_millis(0) };
/// assert_eq!(serde_json::to_string(&note)?, r#"{"created_at":"1970-01-01T00:00:00.000Z"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// Those of the serializer.
pub fn as_iso<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    IsoTime(*moment).serialize(serializer)
}

impl<'de> Deserialize<'de> for IsoTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let moment = jiff::Timestamp::deserialize(deserializer)?;
        Ok(Self(Timestamp::from_millis(moment.as_millisecond())))
    }
}

#[cfg(feature = "schema")]
impl utoipa::PartialSchema for IsoTime {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples(["2026-11-20T10:57:00.000Z"])
            .build()
            .into()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for IsoTime {}

/// The present time; injected, so that tests own time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// A clock that moves only when told to. Clones share the time.
#[derive(Debug, Clone, Default)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Returns a clock that stands at `millis` after the epoch.
    pub fn at(millis: i64) -> Self {
        Self(Arc::new(AtomicI64::new(millis)))
    }

    /// Moves the clock to `moment`.
    pub fn set(&self, moment: Timestamp) {
        self.0.store(moment.0, Ordering::SeqCst);
    }

    /// Moves the clock on by `step`.
    pub fn advance(&self, step: Duration) {
        self.set(self.now() + step);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_times_always_show_milliseconds() {
        assert_eq!(Timestamp::from_millis(0).to_iso(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_millis(1_795_085_820_050).to_iso(), "2026-11-19T10:57:00.050Z");
        assert_eq!(Timestamp::from_millis(-1).to_iso(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_millis(i64::MAX).to_iso(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn arithmetic_saturates() {
        let end = Timestamp::from_millis(i64::MAX);
        assert_eq!(end + Duration::from_secs(1), end);
        assert_eq!(Timestamp::from_millis(5).since(end), Duration::ZERO);
    }
}
