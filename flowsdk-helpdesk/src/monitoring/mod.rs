//! The figures that supervisors watch (spec B 2.3, 2.4: `MonitoringSnapshot`).

mod model;
mod repository;
mod service;

pub use model::{
    AgentFigures, AgentStatusFigures, DetailedFigures, MonitoringSnapshot, QueueFigures, RealtimeFigures,
    TodayFigures, TodayTickets,
};
pub use repository::{HasMonitoring, MonitoringRepository, OpenInQueue, Today};
pub(crate) use service::midnight;
pub use service::{Monitoring, SNAPSHOT_LIFETIME};
