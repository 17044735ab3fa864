//! Queues, in which tickets wait, and the agents who work them (spec B 2.4).

mod error;
mod model;
mod repository;
mod service;

pub use error::QueueError;
pub use model::{DistributionStrategy, NewQueue, Queue, QueueChange};
pub use repository::{HasQueues, QueueRepository};
pub use service::Queues;
