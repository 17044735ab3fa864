//! The repositories that work over a transcript touches.

use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::message::HasMessages;
use flowsdk_core::router::HasRouters;
use flowsdk_core::store::Transaction;

use super::HasSummaries;
use crate::budget::HasBudgets;
use crate::configuration::HasAgentParts;
use crate::usage::HasModelUsage;

/// A transaction with every repository that a summary or a judgement of a conversation reads or writes. Every transaction
/// with those accessors is one.
pub trait TranscriptTx:
    Transaction
    + HasSummaries
    + HasMessages
    + HasRouters
    + HasLlmCredentials
    + HasAgentParts
    + HasBudgets
    + HasModelUsage
{
}

impl<
    T: Transaction
        + HasSummaries
        + HasMessages
        + HasRouters
        + HasLlmCredentials
        + HasAgentParts
        + HasBudgets
        + HasModelUsage,
> TranscriptTx for T
{
}
