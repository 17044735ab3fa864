//! The helpdesk: a session that a flow hands over becomes a ticket in a queue, people work it, and closing gives the
//! session back to its flow (spec B 1, 3.2).
//!
//! Nothing here names SQL or HTTP. [`ticket`] has the states of a ticket as pure functions; [`intake`] turns handoffs
//! into tickets; [`dispatch`] gives waiting tickets to agents; [`desk`] has what people do with them.

pub mod agent;
pub mod agent_group;
pub mod board;
pub mod close_reason;
pub mod desk;
pub mod dispatch;
pub mod intake;
pub mod monitoring;
pub mod names;
pub mod news;
pub mod note;
mod placeholders;
pub mod queue;
pub mod quick_reply;
pub mod report;
pub mod rule;
pub mod tag;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod ticket;
pub mod viewer;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
