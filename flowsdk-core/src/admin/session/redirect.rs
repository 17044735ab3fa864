//! Redirects from outside (spec A 4.5 rules 3 and 4).

use super::SessionError;
use crate::flow::Flow;
use crate::id::{BlockId, FlowId};
use crate::session::{Mode, Session};
use crate::time::Timestamp;

/// Where a session is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectTo {
    /// The id of the flow.
    pub flow_id: FlowId,
    /// The id of the block.
    pub block_id: BlockId,
    /// Whether to run the block now or only to stand on it.
    pub execute_on_entry: bool,
}

/// A redirect that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Redirected {
    pub redirect: RedirectTo,
    /// Its id, `redirectId` of the event: the entry of the stream is known by it in every set-up.
    pub stream_entry_id: String,
    /// When the session began that it is of: the next one of the contact has the same id.
    pub session_started_at: Timestamp,
}

/// A flow with a published version, and whether that has the block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) flow: &'a Flow,
    pub(super) has_block: bool,
}

/// Decides whether `session` may go to `target`, in the order of spec A 4.5 rule 4.
pub(super) fn admit(session: &Session, target: Option<Target<'_>>) -> Result<(), SessionError> {
    let target = target.ok_or(SessionError::FlowNotPublished)?;
    if session.mode == Mode::Human {
        return Err(SessionError::InHumanAttendance);
    }
    if target.flow.router_id != session.router_id {
        return Err(SessionError::CrossRouter);
    }
    if target.has_block { Ok(()) } else { Err(SessionError::BlockNotFound) }
}
