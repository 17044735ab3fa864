//! Events that are handled before every message that comes after them (rulings S21).
//!
//! A redirect and a message come on different ways, and nothing on these ways tells which was first. So the transaction
//! that publishes such an event also leaves it with the session. Whichever event of the session is handled next, its
//! turn handles those first. The published event then finds that it is done; it sees to it that a turn comes at all.

use super::turn::{After, Run, Stage};
use crate::event::FlowEvent;
use crate::fault::StorageError;
use crate::flow::Trigger;
use crate::session::HasSessions;
use crate::stream::broker::NewEntry;
use crate::stream::outbox::HasOutbox;
use crate::stream::topic::Flow;

/// Publishes an event of a session, ahead of every message that comes after the commit. It may come from the stream
/// long after it was handled: a redirect is marked for that, a hand-back needs its epoch.
///
/// # Errors
/// [`StorageError::Stale`] if the session is gone. [`StorageError::Contention`] if it has too many of them.
pub async fn publish_ahead<T: HasSessions + HasOutbox>(
    tx: &mut T,
    mut event: FlowEvent,
) -> Result<(), StorageError> {
    if let FlowEvent::ExternalJump(jump) = &mut event {
        jump.ahead = true;
    }
    if !tx.sessions().put_ahead(&event).await? {
        let id = std::slice::from_ref(event.session_id());
        return Err(match tx.sessions().find_many_for_update(id).await?.pop() {
            Some(_) => {
                StorageError::Contention("too many events stand ahead of the session's next one".into())
            }
            None => StorageError::Stale { entity: "session" },
        });
    }
    tx.outbox().push_many(&[NewEntry::of::<Flow>(&event)]).await
}

/// Handles the events that stand ahead of the one that came. Returns those behind the one at which an error stopped the
/// session.
pub(super) fn lead(stage: &Stage<'_>, mut run: Run, ahead: Vec<FlowEvent>) -> (Run, Vec<FlowEvent>) {
    let mut ahead = ahead.into_iter();
    for event in ahead.by_ref() {
        let Some(trigger) = trigger(&event) else { continue };
        if let Some(reason) = stage.ignored(&run.session, &trigger) {
            tracing::info!(session = %run.session.id, reason, "an event does nothing");
            continue;
        }
        run = follow(stage, run, trigger);
        if run.is_frozen() {
            run.stopped_at = Some(event);
            break;
        }
        if let After::Ended = run.after {
            break;
        }
    }
    (run, ahead.collect())
}

/// One turn of an event that is no message.
pub(super) fn follow(stage: &Stage<'_>, mut run: Run, trigger: Trigger<'_>) -> Run {
    // A session that stands nowhere, because a human had it from the start, has nowhere to go back to.
    if run.session.position.is_none() && is_end_without_jump(trigger) {
        run.after = After::Ended;
        return run;
    }
    stage.step(run, trigger)
}

fn trigger(event: &FlowEvent) -> Option<Trigger<'_>> {
    match event {
        FlowEvent::ExternalJump(jump) => Some(Trigger::Jump(jump)),
        FlowEvent::AgentSessionEnded(event) => Some(Trigger::AgentEnded(event)),
        FlowEvent::HumanSessionEnded(event) => Some(Trigger::HumanEnded(event)),
        FlowEvent::Message(_)
        | FlowEvent::InputTimeout(_)
        | FlowEvent::EffectDone(_)
        | FlowEvent::Resume(_) => None,
    }
}

fn is_end_without_jump(trigger: Trigger<'_>) -> bool {
    match trigger {
        Trigger::AgentEnded(event) | Trigger::HumanEnded(event) => event.jump_target.is_none(),
        _ => false,
    }
}
