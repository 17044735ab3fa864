//! The use cases of conversations on real databases.

mod ahead;
mod backpressure;
mod beginnings;
mod clocks;
mod deletions;
mod duplicates;
mod endings;
mod files;
pub(crate) mod flows;
mod histories;
mod identities;
mod invariants;
mod long;
mod openings;
mod outbound;
mod outside;
mod partners;
mod patches;
mod resumption;
mod sender;
mod silence;
mod statuses;
mod tools;
mod twice;
mod variables;
pub(crate) mod world;
