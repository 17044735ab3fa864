//! The repositories that a turn touches.

use crate::broadcast::HasIntents;
use crate::chat::{HasChatTags, HasChats};
use crate::contact::{HasContacts, HasOptIns};
use crate::flow::{HasFlows, HasTrackedEvents};
use crate::media::HasMedia;
use crate::message::HasMessages;
use crate::router::HasRouters;
use crate::session::{HasSessions, HasTraces};
use crate::store::Transaction;
use crate::stream::outbox::HasOutbox;

/// A transaction with every repository that a turn reads or writes. Every transaction with those accessors is one.
pub trait ConversationTx:
    Transaction
    + HasContacts
    + HasChats
    + HasMessages
    + HasMedia
    + HasSessions
    + HasRouters
    + HasFlows
    + HasOptIns
    + HasChatTags
    + HasTrackedEvents
    + HasTraces
    + HasOutbox
    + HasIntents
{
}

impl<
    T: Transaction
        + HasContacts
        + HasChats
        + HasMessages
        + HasMedia
        + HasSessions
        + HasRouters
        + HasFlows
        + HasOptIns
        + HasChatTags
        + HasTrackedEvents
        + HasTraces
        + HasOutbox
        + HasIntents,
> ConversationTx for T
{
}
