//! The repositories that exports and imports touch.

use super::HasChannelTransfer;
use crate::flow::{HasFlowCatalog, HasFlows};
use crate::idempotency::HasIdempotency;
use crate::router::{HasRouterCatalog, HasRouters};
use crate::store::Transaction;
use crate::variable::HasVariables;

/// A transaction with every repository that exports and imports touch. Every transaction with those accessors is one.
pub trait TransferTx:
    Transaction
    + HasFlows
    + HasFlowCatalog
    + HasRouters
    + HasRouterCatalog
    + HasVariables
    + HasChannelTransfer
    + HasIdempotency
{
}

impl<
    T: Transaction
        + HasFlows
        + HasFlowCatalog
        + HasRouters
        + HasRouterCatalog
        + HasVariables
        + HasChannelTransfer
        + HasIdempotency,
> TransferTx for T
{
}
