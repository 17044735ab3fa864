//! Queues, in which tickets wait, and the agents who work them (spec B 2.4).

mod deflection;
mod error;
mod hours;
mod level;
mod model;
mod repository;
mod service;
mod survey;
mod waiting;

pub use deflection::{DeflectReason, QueueLoad};
pub use error::QueueError;
pub use hours::{BusinessHours, DaySpan, Holiday, InvalidTimeOfDay, TimeOfDay, WeekSpan, Weekday};
pub use level::ServiceLevel;
pub use model::{DistributionStrategy, NewQueue, Queue, QueueChange};
pub use repository::{HasQueues, QueueRepository};
pub use service::Queues;
pub use survey::Survey;
pub use waiting::{PACE_PERIOD, Place, WaitingNotice};

#[cfg(test)]
pub(crate) mod tests {
    use flowsdk_core::id::Cuids;
    use flowsdk_core::record::NewRecord as _;
    use flowsdk_core::time::{ManualClock, Timestamp};

    use super::{NewQueue, Queue};

    /// Returns a queue with the settings of a new one.
    pub(crate) fn queue(id: &str) -> Queue {
        let new = NewQueue::named("router1".parse().expect("an id"), id.parse().expect("a name"));
        let ids = Cuids::new(ManualClock::at(0));
        Queue { id: id.parse().expect("an id"), ..new.into_record(&ids, Timestamp::from_millis(0)) }
    }
}
