//! How what turns have done is saved, and what goes out after the commit.

use std::collections::HashMap;

use flowsdk_core::conversation::say_all;
use flowsdk_core::event::{AgentEvent, Notice, OutgoingEvent};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::session::{Channel, HasSessions as _, Session, SessionId, SessionWrite};
use flowsdk_core::store::Store;
use flowsdk_core::stream::outbox::HasOutbox as _;
use serde_json::{Map, Value};

use super::acting::Outside;
use super::handing_on::Handing;
use super::writing::Taken;
use super::{Executor, ExecutorTx};
use crate::guardrail::Violation;
use crate::inbox::{HasInbox as _, Letter};
use crate::ledger::{AgentTurn, HasAgentTurns as _};
use crate::usage::{HasModelUsage as _, ModelCall};

/// What a step changes.
pub(super) struct WorkedOut {
    pub(super) record: AgentTurn,
    /// The session; `None` if the agent has lost it.
    pub(super) session: Option<SessionAfter>,
    /// The variables of the contact.
    pub(super) contact: Map<String, Value>,
    /// The call that is made after the commit.
    pub(super) outside: Option<Outside>,
    /// The rule that a call broke.
    pub(super) blocked: Option<Violation>,
}

/// A locked session after what was done with it.
pub(super) struct SessionAfter {
    pub(super) session: Session,
    /// Whether its row has to be written.
    pub(super) is_changed: bool,
    /// What it sends.
    pub(super) handing: Handing,
}

impl SessionAfter {
    /// A session that was changed.
    pub(super) fn changed(session: Session, handing: Handing) -> Self {
        Self { session, is_changed: true, handing }
    }
}

/// What was written of a step.
pub(super) struct Written {
    pub(super) record: AgentTurn,
    /// The session as it is now; `None` if the agent has lost it.
    pub(super) session: Option<Session>,
    pub(super) contact: Map<String, Value>,
    pub(super) outside: Option<Outside>,
    pub(super) sent: Sent,
    /// The rule that a call broke.
    pub(super) blocked: Option<Violation>,
}

/// What goes out after a commit.
#[derive(Default)]
pub(super) struct Sent {
    said: Vec<OutgoingEvent>,
    notices: Vec<Notice>,
    /// Whether another agent goes on.
    is_passed_on: bool,
}

/// The epoch of a message that no change of owner overtakes.
const NO_OWNER: i64 = 0;

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Saves steps of turns, what the answers and other calls of models since the step before used, and the sessions with what
    /// they send.
    pub(super) async fn save_steps(
        &self,
        tx: &mut S::Tx,
        group: &[Taken],
        worked_out: Vec<Option<WorkedOut>>,
    ) -> Result<Vec<Option<Written>>, StorageError> {
        let records: Vec<&AgentTurn> = worked_out.iter().flatten().map(|step| &step.record).collect();
        tx.agent_turns().save_many(&records).await?;
        let steps = group.iter().zip(&worked_out);
        let calls = steps.filter_map(|(taken, step)| {
            let answers = ModelCall::of(&step.as_ref()?.record, taken.turn.noted, self.cx.now());
            Some(answers.into_iter().chain(taken.turn.beside.iter().cloned()))
        });
        let calls: Vec<ModelCall> = calls.flatten().collect();
        if !calls.is_empty() {
            tx.model_usage().note(&calls).await?;
        }
        let (mut steps, mut sessions) = (worked_out, Vec::new());
        for step in steps.iter_mut().flatten() {
            sessions.extend(step.session.take());
        }
        let mut saved = self.save(tx, sessions).await?;
        let mut written = |WorkedOut { record, contact, outside, blocked, .. }: WorkedOut| {
            let (session, sent) = saved.remove(&record.session_id).unzip();
            Written { record, session, contact, outside, sent: sent.unwrap_or_default(), blocked }
        };
        Ok(steps.into_iter().map(|step| step.map(&mut written)).collect())
    }

    /// Saves the sessions that were changed, each once, and publishes what goes with them. Returns each by its id as it is now,
    /// with what goes out after the commit.
    pub(super) async fn save(
        &self,
        tx: &mut S::Tx,
        mut sessions: Vec<SessionAfter>,
    ) -> Result<HashMap<SessionId, (Session, Sent)>, StorageError> {
        let changed = sessions.iter_mut().filter(|after| after.is_changed);
        let writes = changed.map(|SessionAfter { session, .. }| {
            let expected = session.version;
            session.version += 1;
            SessionWrite { session, expected: Some(expected) }
        });
        tx.sessions().save_many(&writes.collect::<Vec<_>>()).await?;
        let parts = sessions.into_iter().map(|SessionAfter { session, handing, .. }| (session, handing));
        let (saved, mut handings): (Vec<Session>, Vec<Handing>) = parts.unzip();
        let mut said: Vec<(&RouterId, OutgoingEvent)> = Vec::new();
        for (session, handing) in saved.iter().zip(&mut handings) {
            let epoch = if handing.is_given_away { NO_OWNER } else { session.epoch };
            let of_session = std::mem::take(&mut handing.said).into_iter();
            said.extend(of_session.map(|event| (&session.router_id, OutgoingEvent { epoch, ..event })));
        }
        say_all(tx, &mut said, &self.handover).await?;
        let mut said: Vec<OutgoingEvent> = said.into_iter().map(|(_, event)| event).collect();
        let (mut entries, mut letters, mut sent) = (Vec::new(), Vec::new(), Vec::new());
        for (session, handing) in saved.iter().zip(handings) {
            let said = said.extract_if(.., |event| event.session_id == session.id).collect();
            let mut of_session = Sent { said, ..Sent::default() };
            entries.extend(handing.entries);
            if session.id.channel() == Channel::Webchat {
                let notice = |kind| Notice { session_id: session.id.clone(), timestamp: self.cx.now(), kind };
                of_session.notices = handing.notices.into_iter().map(notice).collect();
                entries.extend(of_session.notices.iter().filter_map(|notice| self.handover.entry(notice)));
            }
            if let Some(event) = handing.passed_on {
                // Not by the stream: what the contact has written meanwhile is answered by whoever knows why they have it.
                let id = self.cx.ids().next_id();
                letters.push(Letter::of(AgentEvent::Turn(event), id, self.cx.ids(), self.cx.now()));
                of_session.is_passed_on = true;
            }
            sent.push(of_session);
        }
        if !entries.is_empty() {
            tx.outbox().push_many(&entries).await?;
        }
        if !letters.is_empty() {
            tx.inbox().put(&letters).await?;
        }
        let ids: Vec<SessionId> = saved.iter().map(|session| session.id.clone()).collect();
        Ok(ids.into_iter().zip(saved.into_iter().zip(sent)).collect())
    }

    /// Passes on what goes out after a commit.
    pub(super) fn pass_on(&self, sent: Sent) {
        for event in sent.said {
            self.handover.hand_over(event);
        }
        for notice in sent.notices {
            self.handover.pass_on(notice);
        }
        if sent.is_passed_on {
            self.arrived.notify_one();
        }
    }
}
