//! The repositories that the cases use.

use crate::chat::{HasChatCatalog, HasChatTags, HasChats};
use crate::contact::{HasContactCatalog, HasContactInsights, HasContacts, HasOptInCatalog, HasOptIns};
use crate::credential::HasLlmCredentials;
use crate::flow::{HasFlowCatalog, HasFlows, HasTrackedEvents};
use crate::idempotency::HasIdempotency;
use crate::in_use::HasReferences;
use crate::integration::HasIntegrations;
use crate::media::HasMedia;
use crate::message::HasMessages;
use crate::observability::HasObservability;
use crate::router::{HasRouterCatalog, HasRouters};
use crate::session::{HasLiveSessions, HasSessionCatalog, HasSessions, HasTraces};
use crate::store::Transaction;
use crate::stream::dead_letter::HasDeadLetters;
use crate::stream::outbox::HasOutbox;
use crate::transfer::HasChannelTransfer;
use crate::variable::HasVariables;

/// A transaction with every repository of this crate. Every transaction with those accessors is one.
pub trait StoreTx:
    Transaction
    + HasContacts
    + HasContactCatalog
    + HasContactInsights
    + HasOptIns
    + HasOptInCatalog
    + HasChats
    + HasChatCatalog
    + HasChatTags
    + HasMessages
    + HasMedia
    + HasSessions
    + HasSessionCatalog
    + HasLiveSessions
    + HasTraces
    + HasRouters
    + HasRouterCatalog
    + HasFlows
    + HasFlowCatalog
    + HasTrackedEvents
    + HasVariables
    + HasChannelTransfer
    + HasLlmCredentials
    + HasIntegrations
    + HasObservability
    + HasIdempotency
    + HasReferences
    + HasOutbox
    + HasDeadLetters
{
}

impl<
    T: Transaction
        + HasContacts
        + HasContactCatalog
        + HasContactInsights
        + HasOptIns
        + HasOptInCatalog
        + HasChats
        + HasChatCatalog
        + HasChatTags
        + HasMessages
        + HasMedia
        + HasSessions
        + HasSessionCatalog
        + HasLiveSessions
        + HasTraces
        + HasRouters
        + HasRouterCatalog
        + HasFlows
        + HasFlowCatalog
        + HasTrackedEvents
        + HasVariables
        + HasChannelTransfer
        + HasLlmCredentials
        + HasIntegrations
        + HasObservability
        + HasIdempotency
        + HasReferences
        + HasOutbox
        + HasDeadLetters,
> StoreTx for T
{
}
