//! The use cases of the helpdesk on real databases.

mod any_order;
mod close_reasons;
mod commands;
mod deflection;
pub(crate) mod desk;
mod dispatch;
mod failing_queue;
mod intake;
mod lock_order;
mod news;
mod offers;
mod races;
mod reports;
mod service_levels;
mod surveys;
mod sweep;
mod viewers;
mod waiting;
