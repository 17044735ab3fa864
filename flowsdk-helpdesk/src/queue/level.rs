//! Service levels: how soon a queue promises an answer and an end.

use std::time::Duration;

use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::text::Text;
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Queue;
use crate::ticket::{ServiceClock, ServiceClocks};

/// How soon the tickets of a queue are to be answered and resolved. Only time within the business hours counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ServiceLevel {
    /// Within how many minutes a contact is to get the first answer of an agent; absent or null is no target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 43_200, example = 15)]
    pub first_response_minutes: Option<u32>,
    /// Within how many minutes a ticket is to be resolved; absent or null is no target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 43_200, example = 480)]
    pub resolution_minutes: Option<u32>,
    /// After how much of the time, in percent, a ticket is warned of.
    #[serde(default = "default_warning")]
    #[schema(required = false, minimum = 1, maximum = 99, example = 80)]
    pub warn_at_percent: u8,
}

/// Early enough to act, late enough to matter.
fn default_warning() -> u8 {
    80
}

const NO_TARGET: Text = Text::new(
    "Informe firstResponseMinutes ou resolutionMinutes",
    "Give firstResponseMinutes or resolutionMinutes",
);

const ANSWER_AFTER_END: Text = Text::new(
    "firstResponseMinutes não pode ser maior que resolutionMinutes",
    "firstResponseMinutes cannot be more than resolutionMinutes",
);

impl ServiceLevel {
    /// Returns the field that is wrong, with the reason.
    pub(super) fn fault(&self) -> Option<(String, Text)> {
        match (self.first_response_minutes, self.resolution_minutes) {
            (None, None) => Some(("serviceLevel".to_owned(), NO_TARGET)),
            (Some(first_response), Some(resolution)) if first_response > resolution => {
                Some(("serviceLevel.firstResponseMinutes".to_owned(), ANSWER_AFTER_END))
            }
            _ => None,
        }
    }
}

impl Queue {
    /// Returns the clocks of a ticket that comes to the queue at a moment; `None` if the queue promises nothing. `tz` is
    /// the time zone of the router.
    pub fn service_clocks(&self, at: Timestamp, tz: &str) -> Option<ServiceClocks> {
        let level = self.service_level?;
        let clock = |minutes: u32| {
            let all = Duration::from_secs(u64::from(minutes) * 60);
            let first = all * u32::from(level.warn_at_percent) / 100;
            ServiceClock::new(self.open_time_after(at, first, tz), self.open_time_after(at, all, tz))
        };
        Some(ServiceClocks {
            first_response: level.first_response_minutes.map(clock),
            resolution: level.resolution_minutes.map(clock),
        })
    }

    fn open_time_after(&self, at: Timestamp, open: Duration, tz: &str) -> Timestamp {
        self.business_hours.as_ref().map_or(at + open, |hours| hours.after(at, open, tz))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::queue::tests::queue;

    /// Monday, 17:00 in São Paulo.
    const AT: Timestamp = Timestamp::from_millis(1_796_068_800_000);

    fn clocks(level: serde_json::Value) -> Option<ServiceClocks> {
        let hours = json!({ "spans": [{ "days": ["monday", "wednesday"], "from": "09:00", "to": "18:00" }] });
        let queue = Queue {
            business_hours: serde_json::from_value(hours).expect("hours"),
            service_level: serde_json::from_value(level).expect("a level"),
            ..queue("q1")
        };
        queue.service_clocks(AT, "America/Sao_Paulo")
    }

    fn times(clock: Option<ServiceClock>) -> Option<(String, String)> {
        clock.map(|clock| (clock.warn_at.to_iso(), clock.due_at.to_iso()))
    }

    #[test]
    fn the_time_that_a_queue_promises_stands_while_it_is_closed() {
        let both =
            clocks(json!({ "firstResponseMinutes": 30, "resolutionMinutes": 120, "warnAtPercent": 50 }));
        let both = both.expect("clocks");
        let time = |text: &str| text.to_owned();
        assert_eq!(
            times(both.first_response),
            Some((time("2026-11-30T20:15:00.000Z"), time("2026-11-30T20:30:00.000Z")))
        );
        assert_eq!(
            times(both.resolution),
            Some((time("2026-11-30T21:00:00.000Z"), time("2026-12-02T13:00:00.000Z"))),
            "an hour on Monday, and one on Wednesday"
        );
        let one = clocks(json!({ "resolutionMinutes": 10 })).expect("clocks");
        assert_eq!(one.first_response, None);
        assert_eq!(
            times(one.resolution),
            Some((time("2026-11-30T20:08:00.000Z"), time("2026-11-30T20:10:00.000Z")))
        );
        assert_eq!(clocks(json!(null)), None);
    }

    #[test]
    fn a_level_has_a_target_and_no_answer_after_the_end() {
        for (level, field) in [
            (json!({}), Some("serviceLevel")),
            (json!({ "firstResponseMinutes": 1 }), None),
            (json!({ "resolutionMinutes": 1 }), None),
            (json!({ "firstResponseMinutes": 5, "resolutionMinutes": 5 }), None),
            (
                json!({ "firstResponseMinutes": 6, "resolutionMinutes": 5 }),
                Some("serviceLevel.firstResponseMinutes"),
            ),
        ] {
            let read: ServiceLevel = serde_json::from_value(level.clone()).expect("a level");
            assert_eq!(read.fault().map(|(field, _)| field).as_deref(), field, "{level}");
        }
    }
}
