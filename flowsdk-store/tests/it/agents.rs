//! AI agents on the databases of this crate (spec B 3.3, 3.4, 4.9).

mod budgets;
mod crashes;
mod guardrails;
mod knowledge;
mod library;
mod reading;
mod searches;
pub(crate) mod senses;
mod summaries;
mod tickets;
mod turns;
mod usage;
mod world;
