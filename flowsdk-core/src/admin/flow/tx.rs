//! The repositories that building flows touches.

use crate::flow::{HasFlowCatalog, HasFlows};
use crate::idempotency::HasIdempotency;
use crate::in_use::HasReferences;
use crate::media::HasMedia;
use crate::router::HasRouters;
use crate::session::HasLiveSessions;
use crate::store::Transaction;
use crate::variable::HasVariables;

/// A transaction with every repository that building flows touches. Every transaction with those accessors is one.
pub trait FlowsTx:
    Transaction
    + HasFlows
    + HasFlowCatalog
    + HasRouters
    + HasVariables
    + HasMedia
    + HasLiveSessions
    + HasReferences
    + HasIdempotency
{
}

impl<
    T: Transaction
        + HasFlows
        + HasFlowCatalog
        + HasRouters
        + HasVariables
        + HasMedia
        + HasLiveSessions
        + HasReferences
        + HasIdempotency,
> FlowsTx for T
{
}
