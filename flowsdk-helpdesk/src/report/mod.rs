//! Reports on the tickets of a period: their figures in groups, and the tickets themselves.

mod error;
mod model;
mod period;
mod repository;
mod rows;
mod service;

pub use error::ReportError;
pub use model::{
    LevelFigures, ReportFilter, ReportGroup, Satisfaction, TicketFigures, TicketGrouping, TicketReport,
    TimeSpread,
};
pub use period::{Day, MOST_DAYS, Period};
pub use repository::{HasReports, ReportRepository};
pub use rows::{TicketRow, TicketRows};
pub use service::{MOST_GROUPS, Reports};
