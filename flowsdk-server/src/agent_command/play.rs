//! A scenario, held against what is expected.

use flowsdk_agent::money::Money;
use flowsdk_core::fault::BoxError;

use super::file::{AgentFile, Scenario};
use super::stage::Stage;

/// What became of a scenario.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) name: String,
    /// What is not met, each with its place.
    pub(super) failures: Vec<String>,
    /// What was said and called, for whoever looks for the reason.
    pub(super) course: Vec<String>,
    pub(super) turns: usize,
    pub(super) cost: Money,
}

/// Why the agents' part ends when nothing was said.
const STUCK: &str = "fallback_stuck";

/// Plays a scenario. A turn that failed is a failure, unless the scenario expects it.
///
/// # Errors
/// Storage failed.
pub(super) async fn play(
    stage: &mut Stage,
    file: &AgentFile,
    scenario: &Scenario,
) -> Result<Outcome, BoxError> {
    let mut outcome = Outcome {
        name: scenario.name.clone(),
        failures: Vec::new(),
        course: Vec::new(),
        turns: 0,
        cost: Money::ZERO,
    };
    let may_be_stuck = scenario.end.as_ref().is_some_and(|end| end.reason == STUCK);
    let mut end_reason = None;
    let mut unpriced = None;
    stage.next_customer().await?;
    for (at, turn) in scenario.turns.iter().enumerate() {
        let scene = stage.say(&turn.customer).await?;
        outcome.course.push(format!("customer: {}", turn.customer));
        outcome.course.extend(scene.calls.iter().map(|call| format!("  calls {call}")));
        outcome.course.extend(scene.texts.iter().map(|text| format!("  tells {text:?}")));
        let place = |failure: String| format!("turn {}: {failure}", at + 1);
        if !may_be_stuck {
            let is_stuck = scene.end_reason.as_deref() == Some(STUCK) && scene.errors.is_empty();
            let silence = is_stuck.then(|| format!("the agent said nothing: {STUCK}"));
            outcome.failures.extend(scene.errors.iter().cloned().chain(silence).map(place));
        }
        outcome.failures.extend(turn.expect.failures(&scene).into_iter().map(place));
        outcome.turns += scene.turns;
        for answer in &scene.answers {
            match file.prices.get(&answer.model) {
                Some(rates) => outcome.cost = outcome.cost.plus(rates.cost_of(&answer.usage)),
                None => unpriced = Some(answer.model.clone()),
            }
        }
        end_reason = scene.end_reason.or(end_reason);
    }
    if let Some(end) = &scenario.end {
        let found = end_reason.as_deref();
        if found != Some(&end.reason) {
            let found = found.unwrap_or("the agents still have the conversation");
            outcome.failures.push(format!("end: expected {}; found: {found}", end.reason));
        }
    }
    if let Some(most) = scenario.max_turns.filter(|most| outcome.turns > *most) {
        outcome.failures.push(format!("maxTurns: expected at most {most}; found: {}", outcome.turns));
    }
    if let Some(most) = scenario.max_cost {
        if let Some(model) = unpriced {
            outcome.failures.push(format!("maxCost: prices has no model {model:?}"));
        }
        if outcome.cost > most {
            let (most, cost) = (most.as_units(), outcome.cost.as_units());
            outcome.failures.push(format!("maxCost: expected at most {most}; found: {cost}"));
        }
    }
    Ok(outcome)
}
