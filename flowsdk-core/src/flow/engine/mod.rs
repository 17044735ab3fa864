//! The engine: one turn of a session through its flow, as a pure function.
//!
//! It reads no clock, waits for nothing and sends nothing: work outside is returned as [`Effect`]s, and the caller
//! commits them together with the session.

mod action;
mod answer;
pub(crate) mod compare;
pub(crate) mod condition;
mod handover;
mod outside;
mod request;
mod scene;
mod stale;
mod store;
mod trace;
mod turn;
mod view;
mod wait;

pub use outside::{EffectRequest, EffectResult, HttpRequest, OutsideCall, ScriptRequest};
pub use scene::{Effect, FlowSource, NoFlows, Outcome, Scene, Trigger, TurnEnd};
pub use stale::ignored;
pub use trace::{ActionResult, FlowStep, TraceStep};

use crate::contact::Contact;
use crate::flow::{MAX_TURN_WORK, Work};
use crate::session::{Mode, Session};
use turn::Turn;

/// Runs one turn. It never panics and always ends: waiting, handed over, ended or frozen, or with an outside
/// request.
///
/// - [`Trigger::Start`] and a message to a session that does not wait enter the block the session
///   stands on, or the start block; the message is not the answer to it, but it is `{{input}}`.
/// - [`Trigger::Open`] does the same without a message: `{{input}}` is empty.
/// - A message to a session that waits is the answer.
/// - An event that no longer concerns the session changes nothing but the wake-up time. Such are a timer before the
///   deadline, a hand-back of an owner that lost it, a redirect or a result that came twice.
pub fn run(scene: &Scene<'_>, session: Session, contact: Contact, trigger: Trigger<'_>) -> Outcome {
    run_within(scene, session, contact, trigger, MAX_TURN_WORK)
}

/// As [`run`], with no more than `allowance` units of work. A turn that needs more ends with `turn_too_long`, as one
/// that has spent its budget does; [`Outcome::work`] tells them apart.
pub fn run_within(
    scene: &Scene<'_>,
    session: Session,
    contact: Contact,
    trigger: Trigger<'_>,
    allowance: u64,
) -> Outcome {
    if let Some(reason) = ignored(scene.now, &scene.router.id, scene.flows, &session, &trigger) {
        return unchanged(scene, session, contact, reason);
    }
    let turn = |message| Turn::new(scene, session, contact, message, Work::within(allowance));
    match trigger {
        Trigger::Start(message) => turn(Some(message)).play(Turn::start),
        Trigger::Message(message) => turn(Some(message)).play(Turn::hear),
        Trigger::Open => turn(None).play(Turn::start),
        Trigger::InputTimeout => turn(None).play(Turn::timeout),
        Trigger::Jump(jump) => turn(None).play(|turn| turn.jump(jump)),
        Trigger::AgentEnded(event) => turn(None).play(|turn| turn.hand_back(Mode::Agent, event)),
        Trigger::HumanEnded(event) => turn(None).play(|turn| turn.hand_back(Mode::Human, event)),
        Trigger::EffectDone { result, .. } => turn(None).play(|turn| turn.effect_done(result)),
        Trigger::EffectAgain { .. } => turn(None).play(Turn::effect_again),
    }
}

/// Returns the session as it is, with its wake-up time set.
fn unchanged(scene: &Scene<'_>, mut session: Session, contact: Contact, reason: &'static str) -> Outcome {
    session.arm(scene.now);
    Outcome {
        session,
        contact,
        contact_changed: false,
        effects: Vec::new(),
        end: TurnEnd::Waiting,
        trace: Vec::new(),
        work: 0,
        ignored: Some(reason),
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::stage;
