//! Events that no longer concern a session: delivered twice, or overtaken by a change of owner.

use super::scene::{FlowSource, Trigger};
use crate::flow::definition::FlowKind;
use crate::id::RouterId;
use crate::session::{Mode, Session};
use crate::time::Timestamp;

/// Why `trigger` does nothing to `session`, if so.
///
/// This is where `epoch` is compared (rulings S14): a hand-back names the epoch of its owner, and one of an
/// owner that lost the session does nothing.
pub fn ignored(
    now: Timestamp,
    router: &RouterId,
    flows: &dyn FlowSource,
    session: &Session,
    trigger: &Trigger<'_>,
) -> Option<&'static str> {
    match trigger {
        // Messages to an agent or a human are not the engine's.
        Trigger::Start(_) | Trigger::Message(_) if session.mode != Mode::Flow => Some("another owner"),
        Trigger::Start(_) | Trigger::Message(_) if session.pending.is_some() => Some("it waits for a result"),
        Trigger::Start(_) | Trigger::Message(_) | Trigger::Open => None,
        Trigger::InputTimeout => match session.deadline() {
            Some(deadline) if deadline <= now => None,
            _ => Some("not yet"),
        },
        Trigger::AgentEnded(event) if session.mode != Mode::Agent || is_old(session, event.epoch) => {
            Some("no agent has it")
        }
        Trigger::HumanEnded(event) if session.mode != Mode::Human || is_old(session, event.epoch) => {
            Some("no human has it")
        }
        Trigger::AgentEnded(_) | Trigger::HumanEnded(_) => None,
        Trigger::Jump(_) if session.mode == Mode::Human => Some("a human has it"),
        Trigger::Jump(jump) => {
            let twice = jump.redirect_id.is_some()
                && session.redirects.iter().any(|known| known.redirect_id == jump.redirect_id);
            if twice {
                return Some("followed before");
            }
            // An operator's mistake must not freeze a conversation that is well.
            let flow = flows.published(&jump.flow_id);
            let flow = flow.filter(|flow| flow.router_id() == router && flow.kind() == FlowKind::Flow);
            if flow.is_some_and(|flow| flow.has_block(&jump.block_id)) { None } else { Some("leads nowhere") }
        }
        Trigger::EffectDone { seq, .. } | Trigger::EffectAgain { seq } => {
            let waits_for = session.pending.as_ref().map(|pending| pending.seq);
            if waits_for == Some(*seq) { None } else { Some("not waited for") }
        }
    }
}

fn is_old(session: &Session, epoch: Option<i64>) -> bool {
    epoch.is_some_and(|epoch| epoch != session.epoch)
}
