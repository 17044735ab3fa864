//! Streams: ordered per session, parallel across sessions, at least once (spec B 6, rulings S1, S2).
//!
//! [`topic`] names the streams, [`event`](crate::event) holds every payload, [`broker`] is the port that carries
//! them, [`lanes`] decides which work may run now, [`consumer`] runs it, [`dead_letter`] keeps entries that failed for
//! good, [`relay`] moves the outbox of the database on to another broker.

pub mod announce;
pub mod broker;
pub mod consumer;
pub mod dead_letter;
pub mod lanes;
pub mod outbox;
pub mod relay;
pub mod topic;
