//! Business hours: when people are there, by weekday, with holidays, in a time zone.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use flowsdk_core::cell::Named;
use flowsdk_core::router::TimeZoneName;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::text::Text;
use flowsdk_core::time::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};
use serde::{Deserialize, Serialize};

/// How many days ahead the next opening is looked for.
const LOOKED_AHEAD: i32 = 366;

/// How many days are counted ahead: ten years.
const COUNTED_AHEAD: i32 = 3_653;

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// A minute of the day, written `HH:MM`; `24:00` is the end of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay(u16);

/// A text that is no time of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a time of the day as HH:MM")]
pub struct InvalidTimeOfDay;

impl FromStr for TimeOfDay {
    type Err = InvalidTimeOfDay;

    fn from_str(text: &str) -> Result<Self, InvalidTimeOfDay> {
        let (hour, minute) = text.split_once(':').ok_or(InvalidTimeOfDay)?;
        let two = |digits: &str| {
            let is_two = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
            is_two.then(|| digits.parse::<u16>().ok()).flatten().ok_or(InvalidTimeOfDay)
        };
        let (hour, minute) = (two(hour)?, two(minute)?);
        let minutes = hour * 60 + minute;
        if minute < 60 && minutes <= DAY { Ok(Self(minutes)) } else { Err(InvalidTimeOfDay) }
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = InvalidTimeOfDay;

    fn try_from(text: String) -> Result<Self, InvalidTimeOfDay> {
        text.parse()
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> Self {
        time.to_string()
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    fn is_of(self, date: Date) -> bool {
        let number = date.weekday().to_monday_zero_offset();
        usize::try_from(number).is_ok_and(|number| Self::ALL.get(number) == Some(&self))
    }
}

/// A span of some weekdays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WeekSpan {
    /// The days of the week on which it is open.
    #[schema(min_items = 1, max_items = 7)]
    pub days: Vec<Weekday>,
    /// When it opens.
    #[schema(value_type = String, pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "09:00")]
    pub from: TimeOfDay,
    /// When it closes; later than `from`. `24:00` is the end of the day.
    #[schema(value_type = String, pattern = r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$", example = "18:00")]
    pub to: TimeOfDay,
}

/// A span of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DaySpan {
    /// When it opens.
    #[schema(value_type = String, pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "09:00")]
    pub from: TimeOfDay,
    /// When it closes; later than `from`. `24:00` is the end of the day.
    #[schema(value_type = String, pattern = r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$", example = "12:00")]
    pub to: TimeOfDay,
}

/// A day with hours of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Holiday {
    /// The day.
    #[schema(value_type = String, format = Date, pattern = r"^\d{4}-\d{2}-\d{2}$", example = "2027-12-25")]
    pub date: Date,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200, example = "Christmas")]
    pub name: Option<String>,
    /// When it is open all the same; nothing is closed all day.
    #[serde(default)]
    #[schema(required = false, max_items = 10)]
    pub spans: Vec<DaySpan>,
}

/// When people are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BusinessHours {
    /// The time zone of the hours; null is that of the router.
    #[serde(default)]
    #[schema(value_type = Option<TimeZoneName>)]
    pub time_zone: Option<TimeZoneName>,
    /// The hours of the week. A day may have several spans; one without any is closed.
    #[schema(max_items = 50)]
    pub spans: Vec<WeekSpan>,
    /// Days on which the hours of the week do not hold.
    #[serde(default)]
    #[schema(required = false, max_items = 500)]
    pub holidays: Vec<Holiday>,
}

impl BusinessHours {
    /// Returns whether a moment is within the hours. `tz` is the time zone of the router.
    pub fn is_open(&self, at: Timestamp, tz: &str) -> bool {
        let local = self.local(at, tz).datetime();
        let minute = minute_of(local);
        self.spans_of(local.date()).iter().any(|(from, to)| *from <= minute && minute < *to)
    }

    /// Returns the local time at which the hours begin next after a moment; `None` if that is over a year away.
    pub fn opens_after(&self, at: Timestamp, tz: &str) -> Option<DateTime> {
        let local = self.local(at, tz);
        let today = local.date();
        (0..=LOOKED_AHEAD).find_map(|day| {
            let date = today.checked_add(day.days()).ok()?;
            let mut openings: Vec<u16> = self.spans_of(date).into_iter().map(|(from, _)| from).collect();
            openings.sort_unstable();
            openings.into_iter().map(|minute| at_minute(date, minute)).find(|opening| {
                // A time that a change of the clocks leaves out comes later.
                let moment = opening.to_zoned(local.time_zone().clone());
                moment.is_ok_and(|moment| moment > local)
            })
        })
    }

    /// Returns the moment at which the hours have been open for a time since `at`; ten years later for one that does not come
    /// before. `tz` is the time zone of the router.
    pub fn after(&self, at: Timestamp, open: Duration, tz: &str) -> Timestamp {
        let local = self.local(at, tz);
        let zone = local.time_zone();
        let moment = |date, minute| {
            let zoned = at_minute(date, minute).to_zoned(zone.clone()).ok()?;
            Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
        };
        let mut left = open;
        let mut last = at;
        for day in 0..=COUNTED_AHEAD {
            let Ok(date) = local.date().checked_add(day.days()) else { break };
            let mut spans = self.spans_of(date);
            spans.sort_unstable();
            for (from, to) in spans {
                let (Some(from), Some(to)) = (moment(date, from), moment(date, to)) else { continue };
                // Spans may overlap, and what is over does not count.
                let from = from.max(last);
                let length = to.since(from);
                if to > from && left <= length {
                    return from + left;
                }
                left -= length;
                last = last.max(to);
            }
        }
        at + Duration::from_hours(24) * COUNTED_AHEAD.unsigned_abs()
    }

    /// Returns the fields that are wrong, each with the reason.
    pub(super) fn faults(&self) -> Vec<(String, Text)> {
        let is_wrong = |from: TimeOfDay, to: TimeOfDay| from >= to;
        let week = self.spans.iter().enumerate().filter(|(_, span)| is_wrong(span.from, span.to));
        let mut faults: Vec<(String, Text)> =
            week.map(|(at, _)| (format!("businessHours.spans[{at}].to"), ENDS_TOO_EARLY)).collect();
        for (day, holiday) in self.holidays.iter().enumerate() {
            let field = format!("businessHours.holidays[{day}]");
            let spans = holiday.spans.iter().enumerate().filter(|(_, span)| is_wrong(span.from, span.to));
            faults.extend(spans.map(|(at, _)| (format!("{field}.spans[{at}].to"), ENDS_TOO_EARLY)));
            if self.holidays.iter().take(day).any(|before| before.date == holiday.date) {
                faults.push((format!("{field}.date"), NAMED_TWICE));
            }
        }
        faults
    }

    fn local(&self, at: Timestamp, tz: &str) -> Zoned {
        let name = self.time_zone.as_ref().map_or(tz, TimeZoneName::as_str);
        let zone = TimeZone::get(name).unwrap_or_else(|error| {
            tracing::warn!(%name, %error, "business hours are read as those of UTC");
            TimeZone::UTC
        });
        at.to_jiff().to_zoned(zone)
    }

    /// Returns the spans of a day: the first minute of each, and the first one after it.
    fn spans_of(&self, date: Date) -> Vec<(u16, u16)> {
        match self.holidays.iter().find(|holiday| holiday.date == date) {
            Some(holiday) => holiday.spans.iter().map(|span| (span.from.0, span.to.0)).collect(),
            None => {
                let of_day = |span: &&WeekSpan| span.days.iter().any(|day| day.is_of(date));
                self.spans.iter().filter(of_day).map(|span| (span.from.0, span.to.0)).collect()
            }
        }
    }
}

const ENDS_TOO_EARLY: Text = Text::new("Deve ser depois de from", "Must be later than from");
const NAMED_TWICE: Text = Text::new("Feriado repetido", "The day is named twice");

fn minute_of(local: DateTime) -> u16 {
    u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs())
}

fn at_minute(date: Date, minute: u16) -> DateTime {
    date.at(0, 0, 0, 0).saturating_add(i64::from(minute).minutes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn hours(json: Value) -> BusinessHours {
        serde_json::from_value(json).expect("hours")
    }

    fn shop() -> BusinessHours {
        hours(json!({
            "timeZone": "America/Sao_Paulo",
            "spans": [
                { "days": ["monday", "tuesday", "wednesday", "thursday", "friday"], "from": "09:00", "to": "12:00" },
                { "days": ["monday", "tuesday", "wednesday", "thursday", "friday"], "from": "13:30", "to": "18:00" },
                { "days": ["saturday"], "from": "20:00", "to": "24:00" }
            ],
            "holidays": [
                { "date": "2026-12-25", "name": "Natal" },
                { "date": "2026-12-24", "spans": [{ "from": "09:00", "to": "11:00" }] }
            ]
        }))
    }

    fn at(iso: &str) -> Timestamp {
        let moment: jiff::Timestamp = iso.parse().expect("a moment");
        Timestamp::from_millis(moment.as_millisecond())
    }

    #[test]
    fn it_is_open_within_a_span_of_the_day() {
        for (moment, expected) in [
            ("2026-11-30T11:59:59-03:00", true),
            ("2026-11-30T12:00:00-03:00", false),
            ("2026-11-30T08:59:59-03:00", false),
            ("2026-11-30T09:00:00-03:00", true),
            ("2026-11-30T12:00:00Z", true),
            ("2026-12-05T23:59:59-03:00", true),
            ("2026-12-06T00:00:00-03:00", false),
            ("2026-12-24T10:00:00-03:00", true),
            ("2026-12-24T11:00:00-03:00", false),
            ("2026-12-25T10:00:00-03:00", false),
        ] {
            assert_eq!(shop().is_open(at(moment), "Asia/Tokyo"), expected, "{moment}");
        }
    }

    #[test]
    fn the_next_opening_is_the_first_span_after_a_moment() {
        for (moment, expected) in [
            ("2026-11-30T08:00:00-03:00", Some("2026-11-30T09:00:00")),
            ("2026-11-30T12:10:00-03:00", Some("2026-11-30T13:30:00")),
            ("2026-11-30T18:00:00-03:00", Some("2026-12-01T09:00:00")),
            ("2026-12-24T12:00:00-03:00", Some("2026-12-26T20:00:00")),
        ] {
            let next = shop().opens_after(at(moment), "UTC").map(|next| next.to_string());
            assert_eq!(next.as_deref(), expected, "{moment}");
        }
        assert_eq!(hours(json!({ "spans": [] })).opens_after(at("2026-11-30T08:00:00Z"), "UTC"), None);
    }

    #[test]
    fn the_time_zone_is_that_of_the_router_where_the_hours_name_none() {
        let hours = hours(json!({ "spans": [{ "days": ["monday"], "from": "09:00", "to": "10:00" }] }));
        assert!(hours.is_open(at("2026-11-30T00:30:00Z"), "Asia/Tokyo"));
        assert!(!hours.is_open(at("2026-11-30T00:30:00Z"), "UTC"));
        assert!(hours.is_open(at("2026-11-30T09:30:00Z"), "nowhere"), "UTC at last");
    }

    #[test]
    fn a_change_of_the_clocks_moves_an_opening_that_it_leaves_out() {
        let hours = hours(json!({ "timeZone": "Europe/Berlin",
            "spans": [{ "days": ["sunday"], "from": "02:30", "to": "05:00" }] }));
        // On 2027-03-28 the clocks go from 02:00 to 03:00.
        let next = hours.opens_after(at("2027-03-28T00:30:00+01:00"), "UTC");
        assert_eq!(next.expect("an opening").to_string(), "2027-03-28T02:30:00");
        assert!(hours.is_open(at("2027-03-28T03:10:00+02:00"), "UTC"));
    }

    #[test]
    fn times_of_the_day_are_read_as_they_are_written() {
        for text in ["00:00", "09:05", "23:59", "24:00"] {
            assert_eq!(text.parse::<TimeOfDay>().expect("a time").to_string(), text);
        }
        for text in ["", "9:00", "24:01", "12:60", "12", "12:0a", "-1:00", "+1:00", "12:00:00"] {
            assert_eq!(text.parse::<TimeOfDay>(), Err(InvalidTimeOfDay), "{text}");
        }
    }

    #[test]
    fn spans_end_after_they_begin_and_days_are_named_once() {
        let wrong = hours(json!({
            "spans": [{ "days": ["monday"], "from": "09:00", "to": "09:00" }],
            "holidays": [
                { "date": "2026-12-25", "spans": [{ "from": "10:00", "to": "09:00" }] },
                { "date": "2026-12-25" }
            ]
        }));
        let fields: Vec<String> = wrong.faults().into_iter().map(|(field, _)| field).collect();
        let expected = ["spans[0].to", "holidays[0].spans[0].to", "holidays[1].date"];
        assert_eq!(fields, expected.map(|field| format!("businessHours.{field}")));
        assert_eq!(shop().faults(), []);
    }

    #[test]
    fn time_stands_while_it_is_closed() {
        for (from, minutes, expected) in [
            ("2026-11-30T10:00:00-03:00", 30, "2026-11-30T10:30:00-03:00"),
            ("2026-11-30T10:00:00-03:00", 120, "2026-11-30T12:00:00-03:00"),
            ("2026-11-30T10:00:00-03:00", 121, "2026-11-30T13:31:00-03:00"),
            ("2026-11-30T12:30:00-03:00", 1, "2026-11-30T13:31:00-03:00"),
            ("2026-11-30T07:00:00-03:00", 450, "2026-11-30T18:00:00-03:00"),
            ("2026-12-04T17:59:00-03:00", 2, "2026-12-05T20:01:00-03:00"),
            ("2026-12-05T23:59:00-03:00", 2, "2026-12-07T09:01:00-03:00"),
            ("2026-12-23T17:00:00-03:00", 181, "2026-12-26T20:01:00-03:00"),
        ] {
            let found = shop().after(at(from), Duration::from_secs(minutes * 60), "UTC");
            assert_eq!(found.to_iso(), at(expected).to_iso(), "{minutes} minutes after {from}");
        }
        let overlapping = hours(json!({ "spans": [
            { "days": ["monday"], "from": "13:00", "to": "15:00" },
            { "days": ["monday"], "from": "09:00", "to": "14:00" },
            { "days": ["monday"], "from": "10:00", "to": "11:00" }
        ] }));
        let found = overlapping.after(at("2026-11-30T00:00:00Z"), Duration::from_hours(6), "UTC");
        assert_eq!(found.to_iso(), "2026-11-30T15:00:00.000Z", "no minute counts twice");
        let never =
            hours(json!({ "spans": [] })).after(at("2026-11-30T00:00:00Z"), Duration::from_secs(60), "UTC");
        assert_eq!(never.to_iso(), "2036-11-30T00:00:00.000Z");
    }

    proptest! {
        /// As many minutes are open before the moment as were asked for.
        #[test]
        fn the_minutes_before_it_are_those_that_are_open(from in 0_i64..(40 * 24 * 60), minutes in 1_u64..3_000) {
            let begin = at("2026-11-30T00:00:00Z").as_millis() + from * 60_000;
            let shop = shop();
            let end = shop.after(Timestamp::from_millis(begin), Duration::from_secs(minutes * 60), "UTC");
            let open = (begin..end.as_millis()).step_by(60_000);
            let open = open.filter(|minute| shop.is_open(Timestamp::from_millis(*minute), "UTC")).count();
            prop_assert_eq!(open as u64, minutes);
        }

        /// From closing time on it is closed until the next opening, and then it is open.
        #[test]
        fn it_is_open_when_it_opens(minutes in 0_i64..(400 * 24 * 60)) {
            let moment = Timestamp::from_millis(at("2026-11-30T00:00:00Z").as_millis() + minutes * 60_000);
            let shop = shop();
            let next = shop.opens_after(moment, "UTC").expect("an opening");
            let zone = TimeZone::get("America/Sao_Paulo").expect("a zone");
            let next = Timestamp::from_millis(
                next.to_zoned(zone).expect("a moment").timestamp().as_millisecond(),
            );
            prop_assert!(next > moment);
            prop_assert!(shop.is_open(next, "UTC"));
            if !shop.is_open(moment, "UTC") {
                let before = Timestamp::from_millis(next.as_millis() - 1);
                prop_assert!(!shop.is_open(before, "UTC"));
            }
        }
    }
}
