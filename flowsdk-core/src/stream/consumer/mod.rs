//! The consumer: reads partitions under a lease, keeps each key in order and runs the work of different keys side by
//! side.
//!
//! Three parts, each a task with an end: a [`PartitionWorker`] holds the lease of a partition and reads it; the
//! [`Dispatcher`] owns the [`Lanes`](super::lanes::Lanes) and is the only one to decide which work runs; batches run
//! beside it. Work also comes from inside the process through a [`Submitter`], into the same lanes.
//!
//! There are two shapes of handlers. A [`BatchHandler`] takes work of many keys in one call, for those who put it into
//! one commit. A [`Handler`] takes one piece of work a call, for work that is slow or external: each piece ends on its
//! own, can be cancelled, can be preempted, and can be several entries of its key at once. [`Each`] adapts it.
//!
//! Delivery is at least once: an entry is acknowledged after its handler said that it is done, that is, after the
//! commit. A key that fails is tried again with growing pauses, or after the pause that the handler names, and holds
//! only itself. After [`ConsumerConfig::max_attempts`] failures that are not transient the entry is set aside: as a
//! [dead letter](super::dead_letter), unless the handler keeps it elsewhere. An entry that cannot be read goes through
//! the lane of its key too.
//!
//! Each entry ends in one of four ways, and is acknowledged then:
//!
//! - **done**: [`Verdict::Done`];
//! - **set aside**: as a dead letter or by its handler;
//! - **dropped**: its work was preempted and said [`Verdict::Dropped`], and the entry that preempted it is done. Were
//!   that one set aside instead, the dropped work would run after all;
//! - **given up**, for submitted events only: the submitter is told so, and still has the event.
//!
//! When a partition is lost or left, entries that wait there for a moment are let go without an acknowledgement, with
//! all that stands behind them in their lanes. The next owner gets them in order.

mod aside;
mod backpressure;
mod config;
mod cost;
mod dispatcher;
mod each;
mod handler;
mod partition;
mod running;
mod submitter;
#[cfg(test)]
mod tests;
mod work;

pub use backpressure::Backpressure;
pub use config::ConsumerConfig;
pub use dispatcher::Dispatcher;
pub use each::{Each, Handler};
pub use handler::{BatchHandler, SetAside, Verdict};
pub use partition::{PartitionWorker, Subscription};
pub use submitter::{SubmitError, Submitter};
pub use work::Work;
