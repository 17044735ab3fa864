//! Streams: ordered per session, parallel across sessions, at least once (spec B 6, rulings S1, S2).
//!
//! [`topic`] names the streams, [`event`](crate::event) holds every payload, [`broker`] is the port that carries
//! them, [`lanes`] decides what may run now, [`consumer`] runs it, [`relay`] moves what a
//! transaction left in the outbox on to another broker.

pub mod broker;
pub mod consumer;
pub mod lanes;
pub mod outbox;
pub mod relay;
pub mod topic;
