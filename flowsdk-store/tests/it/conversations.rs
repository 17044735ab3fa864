//! The use cases of conversations on real databases.

mod beginnings;
mod duplicates;
mod endings;
mod flows;
mod invariants;
mod patches;
mod resumption;
mod variables;
mod world;
