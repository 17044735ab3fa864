//! The hours in which agents may log in to the desk (rulings A8).

use serde::{Deserialize, Serialize};

use crate::schema::SchemaAttributes;

/// A range of a week, in the router's time zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LoginRange {
    /// The day it begins on: 0 is Sunday, 6 Saturday.
    #[schema(maximum = 6, example = 1)]
    pub weekday: u8,
    /// The first moment, as `HH:MM`.
    #[schema(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "08:00")]
    pub from: String,
    /// The first moment after it, as `HH:MM`; not after `from` means on the day after.
    #[schema(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "18:00")]
    pub to: String,
}

/// The ranges in which an agent may log in; none means always.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoginSchedule(pub Vec<LoginRange>);

/// A schedule that cannot be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("range {index}: {field} cannot be used")]
pub struct InvalidSchedule {
    /// The place of the range in the list.
    pub index: usize,
    /// `weekday`, `from` or `to`.
    pub field: &'static str,
}

impl LoginSchedule {
    /// Returns whether it has no ranges.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Validates that every range has a weekday from 0 to 6 and times `HH:MM` from `00:00` to `23:59`.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidSchedule> {
        self.0.iter().enumerate().try_for_each(|(index, range)| {
            range.bounds().map(drop).map_err(|field| InvalidSchedule { index, field })
        })
    }
}

/// A range that can be compared with. Times are minutes of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "as those of the range")]
pub struct LoginBounds {
    pub weekday: u8,
    pub from: u16,
    pub to: u16,
}

impl LoginRange {
    /// Returns its bounds.
    ///
    /// # Errors
    /// The name of the field that cannot be used.
    pub fn bounds(&self) -> Result<LoginBounds, &'static str> {
        let weekday = Some(self.weekday).filter(|day| *day <= 6).ok_or("weekday")?;
        let from = minute_of_day(&self.from).ok_or("from")?;
        let to = minute_of_day(&self.to).ok_or("to")?;
        Ok(LoginBounds { weekday, from, to })
    }
}

/// Reads exactly `HH:MM`; `None` for any other text.
fn minute_of_day(text: &str) -> Option<u16> {
    let &[h1, h0, b':', m1, m0] = text.as_bytes() else {
        return None;
    };
    let number = |tens: u8, ones: u8| {
        let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        digits.then(|| u16::from(tens - b'0') * 10 + u16::from(ones - b'0'))
    };
    let (hours, minutes) = (number(h1, h0)?, number(m1, m0)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_that_cannot_be_stored_names_the_field() {
        let range =
            |weekday, from: &str, to: &str| LoginRange { weekday, from: from.to_owned(), to: to.to_owned() };
        let good = range(6, "00:00", "23:59");
        assert_eq!(LoginSchedule::default().validate(), Ok(()));
        assert_eq!(LoginSchedule(vec![good.clone(), range(0, "22:00", "06:00")]).validate(), Ok(()));
        for (bad, field) in [
            (range(7, "08:00", "18:00"), "weekday"),
            (range(1, "8:00", "18:00"), "from"),
            (range(1, "24:00", "18:00"), "from"),
            (range(1, "08:60", "18:00"), "from"),
            (range(1, "08-00", "18:00"), "from"),
            (range(1, "+8:00", "18:00"), "from"),
            (range(1, "", "18:00"), "from"),
            (range(1, "08:00", "24:00"), "to"),
            (range(1, "08:00", "18:00:00"), "to"),
            (range(1, "08:00", "1é:00"), "to"),
        ] {
            let schedule = LoginSchedule(vec![good.clone(), bad.clone()]);
            assert_eq!(schedule.validate(), Err(InvalidSchedule { index: 1, field }), "{bad:?}");
        }
    }
}
