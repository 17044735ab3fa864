//! How long a contact waits in a queue, and what they are told of it.

use std::borrow::Cow;
use std::time::Duration;

use flowsdk_core::schema::SchemaAttributes;
use serde::{Deserialize, Serialize};

use crate::placeholders::fill;

/// The pace of a queue is how many of its tickets were taken within this time.
pub const PACE_PERIOD: Duration = Duration::from_hours(1);

/// A place among the waiting tickets of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// 1 for the ticket that is taken next.
    pub position: u32,
    /// How long the wait is expected to be, in minutes; at least 1. `None` where no ticket was taken within
    /// [`PACE_PERIOD`].
    pub wait_minutes: Option<u32>,
}

impl Place {
    /// Returns a place in a queue of which `taken` tickets were taken within [`PACE_PERIOD`]: the wait is as long as that
    /// pace needs for this ticket and those before it.
    pub fn at(position: u32, taken: i64) -> Self {
        let period = PACE_PERIOD.as_secs() / 60;
        let taken = u64::try_from(taken).ok().filter(|taken| *taken > 0);
        let minutes = taken.map(|taken| (u64::from(position) * period).div_ceil(taken).max(1));
        Self { position, wait_minutes: minutes.map(|minutes| u32::try_from(minutes).unwrap_or(u32::MAX)) }
    }
}

/// What contacts are told while their tickets wait in a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WaitingNotice {
    /// The message. `{{position}}` is the place of the ticket, and `{{waitMinutes}}` the expected wait in minutes.
    #[schema(
        min_length = 1,
        max_length = 1_024,
        pattern = r"\S",
        example = "You are number {{position}}. We answer in about {{waitMinutes}} minutes."
    )]
    pub text: String,
    /// Said instead while no wait can be expected, because nobody has taken a ticket within the last hour. Without it, a
    /// text with `{{waitMinutes}}` is not said then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1_024, pattern = r"\S", example = "You are number {{position}}.")]
    pub text_without_wait: Option<String>,
    /// How many seconds a ticket waits before its contact is told.
    #[serde(default = "default_delay")]
    #[schema(required = false, maximum = 3_600, example = 10)]
    pub after_seconds: u32,
    /// After how many minutes they are told again; absent or null is never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1_440, example = 5)]
    pub every_minutes: Option<u32>,
}

/// Long enough for an agent with room to take a ticket before anything is said.
fn default_delay() -> u32 {
    10
}

const POSITION: &str = "position";
const WAIT: &str = "waitMinutes";

impl WaitingNotice {
    /// Returns what to tell a contact; `None` where the wait cannot be told and no other text is given.
    pub fn words(&self, place: Place) -> Option<String> {
        let text = match (place.wait_minutes, &self.text_without_wait) {
            (None, Some(other)) => other,
            _ => &self.text,
        };
        let is_whole = std::cell::Cell::new(true);
        let filled = fill(text, |key| match key {
            POSITION => Some(Cow::Owned(place.position.to_string())),
            WAIT => {
                is_whole.set(is_whole.get() && place.wait_minutes.is_some());
                place.wait_minutes.map(|minutes| Cow::Owned(minutes.to_string()))
            }
            _ => None,
        });
        is_whole.get().then_some(filled)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_wait_follows_the_pace_of_the_queue() {
        for (position, taken, minutes) in [
            (1, 0, None),
            (1, -3, None),
            (1, 1, Some(60)),
            (3, 60, Some(3)),
            (1, 120, Some(1)),
            (3, 120, Some(2)),
            (1, 10_000, Some(1)),
            (u32::MAX, 1, Some(u32::MAX)),
        ] {
            assert_eq!(Place::at(position, taken).wait_minutes, minutes, "{position} at {taken} an hour");
        }
    }

    #[test]
    fn a_notice_says_what_is_known() {
        let notice = |text: &str, other: Option<&str>| WaitingNotice {
            text: text.to_owned(),
            text_without_wait: other.map(str::to_owned),
            after_seconds: 0,
            every_minutes: None,
        };
        let (known, unknown) = (Place::at(2, 30), Place::at(2, 0));
        for (text, other, place, said) in [
            ("No. {{position}}, {{ waitMinutes }} min", None, known, Some("No. 2, 4 min")),
            ("No. {{position}}, {{waitMinutes}} min", None, unknown, None),
            ("No. {{position}}, {{waitMinutes}} min", Some("No. {{position}}"), unknown, Some("No. 2")),
            ("No. {{position}}", Some("Soon"), unknown, Some("Soon")),
            ("No. {{position}}", Some("Soon"), known, Some("No. 2")),
            ("No. {{position}}", None, unknown, Some("No. 2")),
            ("Wait {{here}}", None, known, Some("Wait {{here}}")),
            ("Wait", Some("{{waitMinutes}}"), unknown, None),
        ] {
            assert_eq!(notice(text, other).words(place).as_deref(), said, "{text}");
        }
    }

    proptest! {
        /// Nobody waits longer behind fewer tickets, nor at a higher pace.
        #[test]
        fn the_wait_is_monotonous(position in 1_u32..100_000, taken in 1_i64..100_000) {
            let wait = |position, taken| Place::at(position, taken).wait_minutes.expect("a wait");
            prop_assert!(wait(position, taken) <= wait(position + 1, taken));
            prop_assert!(wait(position, taken) >= wait(position, taken + 1));
        }
    }
}
