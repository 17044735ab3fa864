//! `stream:helpdesk` becomes tickets (spec B 3.2, 4.7).

mod ai_tickets;
mod consumer;
mod handoffs;
mod repository;
mod stuck;
mod targets;

pub use consumer::{FORGOTTEN_AFTER, HELPDESK_GROUP, HelpdeskIntake};
pub use handoffs::IntakeTx;
pub(crate) use handoffs::point;
pub use repository::{HasStuckHandoffs, StuckHandoff, StuckHandoffRepository};
pub use stuck::{StuckHandoffView, StuckHandoffs};
