//! Queues, in which tickets wait, and the agents who work them (spec B 2.4).

mod deflection;
mod error;
mod hours;
mod model;
mod repository;
mod service;
mod waiting;

pub use deflection::{DeflectReason, QueueLoad};
pub use error::QueueError;
pub use hours::{BusinessHours, DaySpan, Holiday, InvalidTimeOfDay, TimeOfDay, WeekSpan, Weekday};
pub use model::{DistributionStrategy, NewQueue, Queue, QueueChange};
pub use repository::{HasQueues, QueueRepository};
pub use service::Queues;
pub use waiting::{PACE_PERIOD, Place, WaitingNotice};

#[cfg(test)]
pub(crate) mod tests {
    use flowsdk_core::time::Timestamp;

    use super::{DistributionStrategy, Queue};

    /// Returns a queue with the settings of a new one.
    pub(crate) fn queue(id: &str) -> Queue {
        Queue {
            id: id.parse().expect("an id"),
            router_id: "router1".parse().expect("an id"),
            name: id.to_owned(),
            distribution_strategy: DistributionStrategy::LeastLoaded,
            max_concurrent_tickets_per_agent: 5,
            abandon_after_minutes: None,
            reassign_after_minutes: None,
            accept_within_seconds: None,
            business_hours: None,
            deflect_when: Vec::new(),
            max_waiting: None,
            waiting_notice: None,
            is_active: true,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }
}
