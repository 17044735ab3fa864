//! The clocks of a ticket: whether its contact is answered, and it is resolved, in time.

use flowsdk_core::cell::Named;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::{Deserialize, Serialize};

/// What a service level promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum ServiceTarget {
    /// An agent answers the contact.
    FirstResponse,
    /// The ticket is resolved.
    Resolution,
}

/// How far a promise is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum ServiceStatus {
    /// There is time.
    Running,
    /// Most of the time is over.
    Warned,
    /// It was kept.
    Met,
    /// It was not kept.
    Breached,
}

/// What became of a promise by itself, as whoever watches is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceChange {
    /// What was promised.
    pub target: ServiceTarget,
    /// [`ServiceStatus::Warned`] or [`ServiceStatus::Breached`].
    pub status: ServiceStatus,
}

/// One promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceClock {
    /// When it is warned of.
    pub warn_at: Timestamp,
    /// When it is broken.
    pub due_at: Timestamp,
    /// How far it is. That it was broken is noted by [`ServiceClocks::pass_time`] only, so that it is told once.
    pub status: ServiceStatus,
    /// When what was promised happened, in time or late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_at: Option<Timestamp>,
}

impl ServiceClock {
    /// Returns a clock that runs.
    pub fn new(warn_at: Timestamp, due_at: Timestamp) -> Self {
        Self { warn_at, due_at, status: ServiceStatus::Running, reached_at: None }
    }

    /// Notes that what was promised happens.
    fn reach(&mut self, now: Timestamp) {
        if self.reached_at.is_some() {
            return;
        }
        self.reached_at = Some(now);
        if self.status != ServiceStatus::Breached && now < self.due_at {
            self.status = ServiceStatus::Met;
        }
    }

    /// Returns what happened to it by itself until `now`, and notes that.
    fn pass_time(&mut self, now: Timestamp) -> Option<ServiceStatus> {
        let status = match self.status {
            ServiceStatus::Met | ServiceStatus::Breached => return None,
            _ if self.due_at <= now => ServiceStatus::Breached,
            ServiceStatus::Running if self.reached_at.is_none() && self.warn_at <= now => {
                ServiceStatus::Warned
            }
            _ => return None,
        };
        self.status = status;
        Some(status)
    }

    /// Returns when something happens to it by itself next.
    fn next_at(&self) -> Option<Timestamp> {
        match self.status {
            ServiceStatus::Met | ServiceStatus::Breached => None,
            ServiceStatus::Running if self.reached_at.is_none() => Some(self.warn_at.min(self.due_at)),
            ServiceStatus::Running | ServiceStatus::Warned => Some(self.due_at),
        }
    }

    /// Returns whether it is decided at `now` whether the promise was kept.
    fn is_decided(&self, now: Timestamp) -> bool {
        self.reached_at.is_some() || self.due_at <= now
    }

    /// Returns its status at `now`.
    fn status_at(&self, now: Timestamp) -> ServiceStatus {
        let mut clock = *self;
        clock.pass_time(now);
        clock.status
    }
}

/// The promises of a ticket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceClocks {
    /// That an agent answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_response: Option<ServiceClock>,
    /// That it is resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<ServiceClock>,
}

impl ServiceClocks {
    /// Notes that an agent answers.
    pub(super) fn answer(&mut self, now: Timestamp) {
        if let Some(clock) = &mut self.first_response {
            clock.reach(now);
        }
    }

    /// Notes that the ticket is resolved. Whoever resolves without an answer has seen to the contact all the same.
    pub(super) fn resolve(&mut self, now: Timestamp) {
        for clock in [&mut self.first_response, &mut self.resolution].into_iter().flatten() {
            clock.reach(now);
        }
    }

    /// Takes the clocks out that are not decided at `now`, and returns them.
    pub(super) fn split_undecided(&mut self, now: Timestamp) -> Self {
        let undecided = |clock: &mut Option<ServiceClock>| clock.take_if(|clock| !clock.is_decided(now));
        Self {
            first_response: undecided(&mut self.first_response),
            resolution: undecided(&mut self.resolution),
        }
    }

    /// Returns what happened by itself until `now`, and notes that: each change once.
    pub fn pass_time(&mut self, now: Timestamp) -> Vec<ServiceChange> {
        let clocks = [
            (ServiceTarget::FirstResponse, &mut self.first_response),
            (ServiceTarget::Resolution, &mut self.resolution),
        ];
        let change = |(target, clock): (ServiceTarget, &mut Option<ServiceClock>)| {
            let status = clock.as_mut()?.pass_time(now)?;
            Some(ServiceChange { target, status })
        };
        clocks.into_iter().filter_map(change).collect()
    }

    /// Returns when something happens by itself next; `None` if nothing does.
    pub fn next_at(&self) -> Option<Timestamp> {
        [self.first_response, self.resolution].iter().flatten().filter_map(ServiceClock::next_at).min()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One promise of a service level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ServiceClock)]
pub struct ServiceClockView {
    /// How far it is.
    pub status: ServiceStatus,
    /// When it is warned of.
    pub warn_at: IsoTime,
    /// When it is broken, unless what was promised happens before.
    pub due_at: IsoTime,
    /// When what was promised happened, in time or late; null if it has not.
    #[schema(required = true)]
    pub reached_at: Option<IsoTime>,
}

/// The promises that the service level of its queue made for a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TicketService)]
pub struct ServiceClocksView {
    /// That an agent answers; null is no promise.
    #[schema(required = true)]
    pub first_response: Option<ServiceClockView>,
    /// That it is resolved; null is no promise.
    #[schema(required = true)]
    pub resolution: Option<ServiceClockView>,
}

impl ServiceClocks {
    /// Returns its public form; `None` where nothing was promised.
    pub(super) fn view(&self) -> Option<ServiceClocksView> {
        (!self.is_empty()).then(|| ServiceClocksView {
            first_response: self.first_response.map(ServiceClockView::from),
            resolution: self.resolution.map(ServiceClockView::from),
        })
    }
}

impl From<ServiceClock> for ServiceClockView {
    /// A clock whose end came late is broken, whether or not that was noted yet.
    fn from(clock: ServiceClock) -> Self {
        let status = clock.reached_at.map_or(clock.status, |at| clock.status_at(at));
        Self {
            status,
            warn_at: IsoTime(clock.warn_at),
            due_at: IsoTime(clock.due_at),
            reached_at: clock.reached_at.map(IsoTime),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);

    fn at(seconds: u64) -> Timestamp {
        NOW + Duration::from_secs(seconds)
    }

    fn clocks() -> ServiceClocks {
        ServiceClocks {
            first_response: Some(ServiceClock::new(at(8), at(10))),
            resolution: Some(ServiceClock::new(at(80), at(100))),
        }
    }

    fn told(changes: &[ServiceChange]) -> Vec<(&'static str, &'static str)> {
        changes.iter().map(|change| (change.target.name(), change.status.name())).collect()
    }

    #[test]
    fn a_promise_is_warned_of_and_broken_once() {
        let mut clocks = clocks();
        let mut all = Vec::new();
        for second in [0, 7, 8, 9, 10, 11, 80, 99, 100, 101, 1_000] {
            let changes = clocks.pass_time(at(second));
            all.extend(told(&changes).into_iter().map(|(target, status)| (second, target, status)));
        }
        assert_eq!(
            all,
            [
                (8, "first_response", "warned"),
                (10, "first_response", "breached"),
                (80, "resolution", "warned"),
                (100, "resolution", "breached"),
            ]
        );
        assert_eq!(clocks.next_at(), None);
    }

    #[test]
    fn a_promise_that_is_kept_is_told_of_no_more() {
        let mut clocks = clocks();
        clocks.answer(at(3));
        clocks.answer(at(50));
        let first = clocks.first_response.expect("a clock");
        assert_eq!((first.status, first.reached_at), (ServiceStatus::Met, Some(at(3))));
        assert_eq!(clocks.next_at(), Some(at(80)));
        assert_eq!(told(&clocks.pass_time(at(20))), []);
        assert_eq!(told(&clocks.pass_time(at(85))), [("resolution", "warned")]);
        clocks.resolve(at(90));
        assert_eq!(clocks.resolution.map(|clock| clock.status), Some(ServiceStatus::Met));
        assert_eq!((told(&clocks.pass_time(at(500))), clocks.next_at()), (vec![], None));
    }

    #[test]
    fn what_comes_late_is_broken_and_told_of() {
        let mut clocks = clocks();
        clocks.resolve(at(200));
        let view = clocks.view().expect("promises");
        for clock in [view.first_response, view.resolution] {
            assert_eq!(clock.map(|clock| clock.status), Some(ServiceStatus::Breached), "before it is told");
        }
        assert_eq!(clocks.next_at(), Some(at(10)));
        let changes = clocks.pass_time(at(201));
        assert_eq!(told(&changes), [("first_response", "breached"), ("resolution", "breached")]);
        assert_eq!(clocks.next_at(), None);
    }

    #[test]
    fn what_is_undecided_goes_on_elsewhere() {
        let mut clocks = clocks();
        let on = clocks.split_undecided(at(20));
        assert_eq!((on.first_response, on.resolution.is_some()), (None, true));
        assert_eq!((clocks.first_response.is_some(), clocks.resolution), (true, None));
        assert_eq!(told(&clocks.pass_time(at(20))), [("first_response", "breached")]);
    }

    proptest! {
        /// However often time is looked at: each target is warned of once at most, and broken unless it is met in time.
        #[test]
        fn each_promise_ends_one_way(
            mut looks in prop::collection::vec(0_u64..150, 0..20),
            answered in prop::option::of(0_u64..150),
            resolved in prop::option::of(0_u64..150),
        ) {
            looks.sort_unstable();
            let (mut clocks, mut all) = (clocks(), Vec::new());
            for second in 0..=151 {
                if answered == Some(second) {
                    clocks.answer(at(second));
                }
                if resolved == Some(second) {
                    clocks.resolve(at(second));
                }
                if looks.contains(&second) || second == 151 {
                    let is_due = clocks.next_at().is_some_and(|next| next <= at(second));
                    let changes = clocks.pass_time(at(second));
                    prop_assert_eq!(is_due, !changes.is_empty());
                    all.extend(told(&changes));
                }
            }
            let answered = [answered, resolved].into_iter().flatten().min();
            for (target, reached, due) in [("first_response", answered, 10), ("resolution", resolved, 100)] {
                let count = |status| all.iter().filter(|change| **change == (target, status)).count();
                let is_late = reached.is_none_or(|reached| reached >= due);
                prop_assert_eq!(count("breached"), usize::from(is_late));
                prop_assert!(count("warned") <= 1);
            }
            prop_assert_eq!(clocks.next_at(), None);
        }
    }
}
