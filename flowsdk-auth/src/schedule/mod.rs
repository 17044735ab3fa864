//! When a helpdesk agent may log in to the desk (rulings A8).

mod model;
mod repository;
pub mod rules;

pub use flowsdk_core::login_schedule::{InvalidSchedule, LoginRange, LoginSchedule};
pub use model::AgentSchedule;
pub use repository::{HasLoginSchedules, LoginScheduleRepository};
