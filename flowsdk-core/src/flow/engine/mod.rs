//! The engine: one turn of a session through its flow, as a pure function.
//!
//! It reads no clock, waits for nothing and sends nothing: what must happen outside comes back as
//! [`Effect`]s, and the caller commits them together with the session.

mod action;
mod answer;
pub(crate) mod compare;
mod condition;
mod scene;
mod trace;
mod turn;
mod view;
mod wait;

pub use scene::{Effect, Outcome, Scene, Trigger, TurnEnd};
pub use trace::{ActionResult, TraceStep};

use crate::contact::Contact;
use crate::session::Session;
use turn::Turn;

/// Runs one turn. It never panics and always ends: waiting, ended or frozen.
///
/// - [`Trigger::Start`] and a message to a session that does not wait enter the block the session
///   stands on, or the start block; the message is not the answer to it, but it is `{{input}}`.
/// - A message to a session that waits is the answer.
/// - [`Trigger::InputTimeout`] before the deadline changes nothing but the wake-up time.
pub fn run(scene: &Scene<'_>, session: Session, contact: Contact, trigger: Trigger<'_>) -> Outcome {
    match trigger {
        Trigger::Start(message) => {
            Turn::new(scene, session, contact, Some(&message.content)).play(Turn::start)
        }
        Trigger::Message(message) => {
            Turn::new(scene, session, contact, Some(&message.content)).play(Turn::message)
        }
        Trigger::InputTimeout => match session.deadline() {
            Some(deadline) if deadline <= scene.now => {
                Turn::new(scene, session, contact, None).play(Turn::timeout)
            }
            _ => still_waiting(scene, session, contact),
        },
    }
}

/// A timer that came too early, or after the contact answered.
fn still_waiting(scene: &Scene<'_>, mut session: Session, contact: Contact) -> Outcome {
    session.arm(scene.now);
    Outcome {
        session,
        contact,
        contact_changed: false,
        effects: Vec::new(),
        end: TurnEnd::Waiting,
        trace: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::stage;
