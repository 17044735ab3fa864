//! The repositories that a turn touches.

use flowsdk_core::chat::HasChatCatalog;
use flowsdk_core::contact::HasContactCatalog;
use flowsdk_core::conversation::ConversationTx;
use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::record::HasRecords;

use crate::agent::AiAgent;
use crate::configuration::HasAgentParts;
use crate::inbox::HasInbox;
use crate::ledger::HasAgentTurns;

/// A transaction with every repository that a turn reads or writes. Every transaction with those accessors is one.
pub trait ExecutorTx:
    ConversationTx
    + HasRecords<AiAgent>
    + HasAgentParts
    + HasInbox
    + HasAgentTurns
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
        + HasAgentTurns
        + HasLlmCredentials
        + HasContactCatalog
        + HasChatCatalog,
> ExecutorTx for T
{
}
