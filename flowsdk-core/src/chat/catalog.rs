//! Chats as they are administered.

use async_trait::async_trait;

use super::{Chat, ChatStatus};
use crate::fault::StorageError;
use crate::id::{ChatId, ContactId, MessageId, RouterId};
use crate::message::Message;
use crate::page::{Page, PageRequest};
use crate::router::{Reach, Reachable};

/// The chats that a page shows; an absent field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatFilter {
    /// Those with this router.
    pub router_id: Option<RouterId>,
    /// Those of this contact.
    pub contact_id: Option<ContactId>,
    /// Open or closed ones.
    pub status: Option<ChatStatus>,
}

impl Reachable for ChatFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// Chats and their messages of one transaction, for those who administer them.
#[async_trait]
pub trait ChatCatalog: Send {
    /// Returns a chat, open or closed.
    async fn find(&mut self, id: &ChatId) -> Result<Option<Chat>, StorageError>;

    /// Returns a page of chats, newest first; of the routers in `only`, if it is given.
    async fn list(
        &mut self,
        filter: &ChatFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Chat>, StorageError>;

    /// Returns a message with the router of its chat.
    async fn find_message(
        &mut self,
        id: &MessageId,
    ) -> Result<Option<(Message, Option<RouterId>)>, StorageError>;
}

/// A transaction with the administration of chats.
pub trait HasChatCatalog: Send {
    /// Returns the repository of this transaction.
    fn chat_catalog(&mut self) -> &mut dyn ChatCatalog;
}
