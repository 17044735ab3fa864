//! Tests of the engine.

mod stage;
mod turns;
