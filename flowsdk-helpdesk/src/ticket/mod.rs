//! Tickets: their states and every change of them (spec B 2.3, 3.2).

mod ai;
mod clock;
mod error;
mod model;
mod repository;
mod sentiment;
pub(crate) mod stored;
mod survey;
mod transition;
mod within;

pub use ai::HANDOFF_TAKES;
pub use clock::{
    ServiceChange, ServiceClock, ServiceClockView, ServiceClocks, ServiceClocksView, ServiceStatus,
    ServiceTarget,
};
pub use error::TicketError;
pub use model::{
    CloseKind, OpenReason, OpenedByKind, Pass, Ticket, TicketFilter, TicketKind, TicketStatus, TicketView,
};
pub use repository::{HasTickets, TicketRepository};
pub use sentiment::{SentimentItemView, SentimentView};
pub use survey::{AskedSurvey, AskedSurveyView, SurveyStatus};
pub use transition::{Closing, NotOffered, NotOpen, PASSED_FOR, TransferTarget};
pub(crate) use within::find_within;
