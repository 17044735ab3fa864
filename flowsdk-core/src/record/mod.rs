//! Records that belong to a router: one service that lists, shows, creates, changes and deletes them.
//!
//! A record derives [`RouterRecord`]; its commands implement [`NewRecord`] and [`RecordChange`]; its service is
//! [`RouterRecords`]. A record whose use cases do more has a service of its own, made of the [steps] of these.

mod model;
mod repository;
mod service;
pub mod steps;

pub use flowsdk_macros::RouterRecord;
pub use model::{NewRecord, RecordChange, RecordFilter, RouterRecord};
pub use repository::{HasRecords, RecordRepository};
pub use service::RouterRecords;
