//! Turns that take long are decided before the transaction that writes them (rulings S18).
//!
//! A turn is a pure function. One that is not done within a short allowance is given up, its transaction ends, and it
//! is decided on a thread of its own with all of its budget. The transaction then begins anew. Where it finds the
//! same session and contact, the outcome is theirs; where somebody has changed them, the turn is decided again.

use std::sync::Arc;

use super::flows::Flows;
use crate::aside::aside;
use crate::contact::Contact;
use crate::event::{ExternalJump, HandBack};
use crate::fault::StorageError;
use crate::flow::{CompiledFlow, EffectResult, MAX_TURN_WORK, Outcome, Scene, Trigger, run};
use crate::message::IncomingMessage;
use crate::router::{Router, StaticVariables};
use crate::session::Session;
use crate::time::Timestamp;

/// Units of work that a turn may take while the transaction is open: about a millisecond.
pub(super) const SHORT: u64 = MAX_TURN_WORK / 50;

/// A turn and everything that it reads.
#[derive(Debug)]
pub(super) struct Rehearsal {
    pub(super) flow: Arc<CompiledFlow>,
    pub(super) flows: Flows,
    pub(super) router: Router,
    pub(super) statics: StaticVariables,
    pub(super) now: Timestamp,
    pub(super) session: Session,
    pub(super) contact: Contact,
    pub(super) trigger: Cause,
}

/// A [`Trigger`] that lives on its own.
#[derive(Debug, PartialEq)]
pub(super) enum Cause {
    Start(IncomingMessage),
    Message(IncomingMessage),
    Open,
    InputTimeout,
    Jump(ExternalJump),
    AgentEnded(HandBack),
    HumanEnded(HandBack),
    EffectDone { seq: i64, result: EffectResult },
    EffectAgain { seq: i64 },
}

impl From<Trigger<'_>> for Cause {
    fn from(trigger: Trigger<'_>) -> Self {
        match trigger {
            Trigger::Start(message) => Self::Start(message.clone()),
            Trigger::Message(message) => Self::Message(message.clone()),
            Trigger::Open => Self::Open,
            Trigger::InputTimeout => Self::InputTimeout,
            Trigger::Jump(jump) => Self::Jump(jump.clone()),
            Trigger::AgentEnded(event) => Self::AgentEnded(event.clone()),
            Trigger::HumanEnded(event) => Self::HumanEnded(event.clone()),
            Trigger::EffectDone { seq, result } => Self::EffectDone { seq, result: result.clone() },
            Trigger::EffectAgain { seq } => Self::EffectAgain { seq },
        }
    }
}

impl Cause {
    fn trigger(&self) -> Trigger<'_> {
        match self {
            Self::Start(message) => Trigger::Start(message),
            Self::Message(message) => Trigger::Message(message),
            Self::Open => Trigger::Open,
            Self::InputTimeout => Trigger::InputTimeout,
            Self::Jump(jump) => Trigger::Jump(jump),
            Self::AgentEnded(event) => Trigger::AgentEnded(event),
            Self::HumanEnded(event) => Trigger::HumanEnded(event),
            Self::EffectDone { seq, result } => Trigger::EffectDone { seq: *seq, result },
            Self::EffectAgain { seq } => Trigger::EffectAgain { seq: *seq },
        }
    }
}

impl Rehearsal {
    fn run(&self) -> Outcome {
        let Self { flow, flows, router, statics, now, session, contact, trigger } = self;
        let scene = Scene { flow: Arc::clone(flow), router, statics, now: *now, flows };
        run(&scene, session.clone(), contact.clone(), trigger.trigger())
    }

    fn is_of(&self, flow: &CompiledFlow, session: &Session, contact: &Contact, trigger: Trigger<'_>) -> bool {
        self.flow.version_id() == flow.version_id()
            && self.contact == *contact
            && same(&self.session, session)
            && self.trigger == Cause::from(trigger)
    }
}

/// Returns whether a session is as it was. One that has not begun was opened anew, and only its times differ.
fn same(before: &Session, now: &Session) -> bool {
    let mut now = now.clone();
    let begins =
        |session: &Session| session.position.as_ref().is_some_and(|position| position.block_id.is_none());
    if begins(before) && begins(&now) {
        (now.version, now.epoch, now.effect_seq) = (before.version, before.epoch, before.effect_seq);
        (now.started_at, now.last_interaction_at) = (before.started_at, before.last_interaction_at);
    }
    *before == now
}

/// The turns of a batch that are decided.
#[derive(Debug, Default)]
pub(super) struct Rehearsed(Vec<(Rehearsal, Outcome)>);

impl Rehearsed {
    /// Decides turns, on a thread where that holds nobody up.
    pub(super) async fn add(&mut self, turns: Vec<Rehearsal>) -> Result<(), StorageError> {
        let decided = aside(move || {
            let decide = |turn: Rehearsal| {
                let outcome = turn.run();
                (turn, outcome)
            };
            turns.into_iter().map(decide).collect::<Vec<_>>()
        });
        self.0.extend(decided.await?);
        Ok(())
    }

    /// Returns the outcome of a turn that was decided.
    pub(super) fn find(
        &self,
        flow: &CompiledFlow,
        session: &Session,
        contact: &Contact,
        trigger: Trigger<'_>,
    ) -> Option<Outcome> {
        let found = self.0.iter().find(|(turn, _)| turn.is_of(flow, session, contact, trigger));
        found.map(|(_, outcome)| outcome.clone())
    }
}
