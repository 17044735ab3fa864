//! AI agents on the databases of this crate (spec B 3.3, 3.4, 4.9).

mod addresses;
mod budgets;
mod crashes;
mod groups;
mod guardrails;
mod injections;
mod knowledge;
mod library;
mod reading;
mod searches;
pub(crate) mod senses;
mod site;
mod summaries;
mod tickets;
mod turns;
mod usage;
mod vectors;
mod works;
mod world;
