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

use super::{CompiledFlow, ScriptRunner};

/// Plays `script` on `flow`; `others` are flows of the same router that it leads to. A script of the flow fails if the
/// test does not mock it.
///
/// It goes on after an expectation that was not met, and stops at an error of the script itself.
pub fn simulate(flow: &Arc<CompiledFlow>, others: &[Arc<CompiledFlow>], script: &Script) -> Report {
    let mut simulator = Simulator::new(flow, others, script);
    let mut report = Report::default();
    for step in &script.steps {
        report.add(step, simulator.play(&step.does));
    }
    report
}

/// As [`simulate`], but `scripts` runs the scripts of the flow that the test does not mock.
pub async fn simulate_with(
    flow: &Arc<CompiledFlow>,
    others: &[Arc<CompiledFlow>],
    script: &Script,
    scripts: &dyn ScriptRunner,
) -> Report {
    let mut simulator = Simulator::new(flow, others, script);
    let mut report = Report::default();
    for step in &script.steps {
        report.add(step, simulator.play_with(&step.does, scripts).await);
    }
    report
}

#[cfg(test)]
mod tests;
