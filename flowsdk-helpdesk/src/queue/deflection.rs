//! When a queue turns a handoff away, so that its flow goes on.

use flowsdk_core::cell::Named;
use flowsdk_core::event::HandoffDeflect;
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Place, Queue};

/// Why a queue turns a handoff away. Flows read it as `handoffDeflect.reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum DeflectReason {
    /// It is outside of the business hours of the queue.
    Closed,
    /// No agent of the queue is at the desk.
    NoAgent,
    /// As many tickets wait as may.
    Full,
}

/// How busy a queue is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueLoad {
    /// How many tickets wait in it.
    pub waiting: i64,
    /// How many of its agents are `online` or `busy`.
    pub present: i64,
    /// How many of its tickets were taken within [`PACE_PERIOD`](super::PACE_PERIOD).
    pub taken: i64,
}

impl QueueLoad {
    /// Returns the place of a ticket that comes next.
    fn next_place(self) -> Place {
        Place::at(u32::try_from(self.waiting).unwrap_or_default().saturating_add(1), self.taken)
    }
}

impl Queue {
    /// Returns why the queue turns a handoff away at a moment; `None` if it takes it. The detail of
    /// [`DeflectReason::Closed`] is when it opens next, as local time. `tz` is the time zone of the router.
    pub fn deflects(&self, at: Timestamp, tz: &str, load: QueueLoad) -> Option<HandoffDeflect> {
        let reason = self.deflect_when.iter().copied().find(|reason| match reason {
            DeflectReason::Closed => !self.is_open(at, tz),
            DeflectReason::NoAgent => load.present == 0,
            DeflectReason::Full => self.max_waiting.is_some_and(|most| load.waiting >= i64::from(most)),
        })?;
        let hours = self.business_hours.as_ref().filter(|_| reason == DeflectReason::Closed);
        let opening = hours.and_then(|hours| hours.opens_after(at, tz));
        let detail = opening.map(|opening| opening.strftime("%Y-%m-%d %H:%M").to_string());
        // While the queue is closed, nobody counts who waits.
        let place = (reason != DeflectReason::Closed).then(|| load.next_place());
        Some(HandoffDeflect {
            reason: reason.name().to_owned(),
            detail,
            position: place.map(|place| place.position),
            wait_minutes: place.and_then(|place| place.wait_minutes),
        })
    }

    /// Returns whether a moment is within the business hours; a queue without them is always open.
    pub fn is_open(&self, at: Timestamp, tz: &str) -> bool {
        self.business_hours.as_ref().is_none_or(|hours| hours.is_open(at, tz))
    }

    /// Returns whether [`Self::deflects`] depends on the load of the queue.
    pub(crate) fn weighs_load(&self) -> bool {
        self.deflect_when.iter().any(|reason| *reason != DeflectReason::Closed)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::queue::tests::queue;

    /// Monday, 10:00 in São Paulo.
    const OPEN: Timestamp = Timestamp::from_millis(1_796_043_600_000);
    /// Monday, 20:00 there.
    const CLOSED: Timestamp = Timestamp::from_millis(1_796_079_600_000);

    fn deflection(
        when: &[DeflectReason],
        at: Timestamp,
        waiting: i64,
        present: i64,
    ) -> Option<HandoffDeflect> {
        let hours = json!({ "spans": [{ "days": ["monday"], "from": "09:00", "to": "18:00" }] });
        let queue = Queue {
            deflect_when: when.to_vec(),
            max_waiting: Some(3),
            business_hours: serde_json::from_value(hours).expect("hours"),
            ..queue("q1")
        };
        queue.deflects(at, "America/Sao_Paulo", QueueLoad { waiting, present, taken: 30 })
    }

    #[test]
    fn a_queue_turns_handoffs_away_for_the_reasons_that_it_names() {
        use DeflectReason::{Closed, Full, NoAgent};
        let all = [Closed, NoAgent, Full];
        for (when, at, waiting, present, expected) in [
            (&all[..], OPEN, 2, 1, None),
            (&all, OPEN, 3, 1, Some(("full", None))),
            (&all, OPEN, 3, 0, Some(("no_agent", None))),
            (&all, CLOSED, 3, 0, Some(("closed", Some("2026-12-07 09:00")))),
            (&[], CLOSED, 9, 0, None),
            (&[Full], CLOSED, 2, 0, None),
            (&[NoAgent], CLOSED, 9, 1, None),
        ] {
            let found = deflection(when, at, waiting, present);
            let told = found.as_ref().map(|found| (found.reason.as_str(), found.detail.as_deref()));
            assert_eq!(told, expected, "{when:?} at {at}, {waiting} waiting, {present} present");
            let place = found.and_then(|found| Some((found.position?, found.wait_minutes?)));
            let is_counted = expected.is_some_and(|(reason, _)| reason != "closed");
            assert_eq!(place, is_counted.then_some((4, 8)), "{when:?}");
        }
    }

    #[test]
    fn a_queue_without_hours_or_limit_is_never_closed_or_full() {
        let queue = Queue { deflect_when: DeflectReason::ALL.to_vec(), ..queue("q1") };
        let load = QueueLoad { waiting: 1_000, present: 1, taken: 0 };
        assert_eq!(queue.deflects(CLOSED, "UTC", load), None);
    }
}
