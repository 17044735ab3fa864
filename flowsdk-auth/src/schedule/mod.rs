//! When a helpdesk agent may log in to the desk (rulings A8).

mod model;
mod repository;

pub use model::{AgentSchedule, LoginRange, LoginSchedule};
pub use repository::LoginScheduleRepository;
