//! The repositories that a turn touches.

use flowsdk_core::chat::HasChatCatalog;
use flowsdk_core::contact::HasContactCatalog;
use flowsdk_core::conversation::ConversationTx;
use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::record::HasRecords;

use crate::agent::AiAgent;
use crate::budget::HasBudgets;
use crate::configuration::HasAgentParts;
use crate::inbox::HasInbox;
use crate::knowledge::HasKnowledge;
use crate::ledger::HasAgentTurns;
use crate::price::HasModelPrices;
use crate::usage::HasModelUsage;

/// A transaction with every repository that a turn reads or writes. Every transaction with those accessors is one.
pub trait ExecutorTx:
    ConversationTx
    + HasRecords<AiAgent>
    + HasAgentParts
    + HasInbox
    + HasKnowledge
    + HasAgentTurns
    + HasModelUsage
    + HasModelPrices
    + HasBudgets
    + HasLlmCredentials
    + HasContactCatalog
    + HasChatCatalog
{
}

impl<
    T: ConversationTx
        + HasRecords<AiAgent>
        + HasAgentParts
        + HasInbox
        + HasKnowledge
        + HasAgentTurns
        + HasModelUsage
        + HasModelPrices
        + HasBudgets
        + HasLlmCredentials
        + HasContactCatalog
        + HasChatCatalog,
> ExecutorTx for T
{
}
