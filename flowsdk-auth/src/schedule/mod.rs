//! When a helpdesk agent may log in to the desk (rulings A8).

mod model;
mod repository;
pub mod rules;

pub use model::{AgentSchedule, InvalidSchedule, LoginRange, LoginSchedule};
pub use repository::{HasLoginSchedules, LoginScheduleRepository};
