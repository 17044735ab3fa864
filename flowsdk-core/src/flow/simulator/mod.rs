//! Plays a flow against a script: without channel, network, clock or database.
//!
//! The engine is the one that real sessions run on, so that the trace of a simulated turn is that of the real one.
//! The answers of the outside are written into the script.

mod report;
mod script;
mod world;

pub use report::{Report, StepReport};
pub use script::{Deflect, Does, Expect, HttpReply, Script, ScriptReply, Step, TestFile};
pub use world::Simulator;

use std::sync::Arc;

use super::CompiledFlow;

/// Plays `script` on `flow`; `others` are flows of the same router that it leads to.
///
/// It goes on after an expectation that was not met, and stops at an error of the script itself.
pub fn simulate(flow: &Arc<CompiledFlow>, others: &[Arc<CompiledFlow>], script: &Script) -> Report {
    let mut simulator = Simulator::new(flow, others, script);
    let mut report = Report::default();
    for (at, step) in script.steps.iter().enumerate() {
        let played = simulator.play(&step.does);
        let failures = played.compare(&step.expect);
        report.failures.extend(
            failures.into_iter().map(|failure| format!("step {at} ({}): {failure}", step.does.name())),
        );
        report.steps.push(played);
    }
    report
}

#[cfg(test)]
mod tests;
