//! What models used, in turns and in any other work: every call is noted with the answer that it gave, and counted a little
//! later by day.
//!
//! Notes are rows of their own, so that turns of one router wait for no row in common. [`fold_some`] takes notes and adds
//! them up by router, work, agent, model and day, with their cost by the prices of that moment.

mod day;
mod error;
mod fold;
mod model;
mod repository;
mod service;

pub use day::{Day, InvalidDay};
pub use error::UsageError;
pub(crate) use fold::note_alone;
pub use fold::{fold, fold_some, spending};
pub use model::{
    ModelCall, ModelUsage, ModelWork, UsageFigures, UsageFilter, UsageGroup, UsageGrouping, UsageKey,
    UsagePart, UsageReport, UsageWanted,
};
pub use repository::{HasModelUsage, ModelUsageRepository};
pub use service::{MOST_DAYS, MOST_GROUPS, ModelUsages};
