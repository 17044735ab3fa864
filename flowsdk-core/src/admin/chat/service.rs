//! Shows chats and messages.

use std::collections::HashMap;
use std::sync::Arc;

use super::{ChatError, ChatMessage};
use crate::chat::{Chat, ChatFilter, HasChatCatalog};
use crate::fault::StorageError;
use crate::id::{ChatId, MessageId};
use crate::media::{HasMedia, MediaFile, MediaKind, MediaLinks, ShownMedia};
use crate::message::{Direction, HasMessages, HistoryQuery, Message};
use crate::page::{Cursor, Page, PageRequest};
use crate::router::{Admitted, Reach};
use crate::store::Store;

/// Shows chats and their messages.
#[derive(Debug)]
pub struct Chats<S> {
    store: Arc<S>,
    links: Arc<MediaLinks>,
}

impl<S: Store> Chats<S>
where
    S::Tx: HasChatCatalog + HasMessages + HasMedia,
{
    /// Creates a service over `store`, which shows files by `links`.
    pub fn new(store: Arc<S>, links: Arc<MediaLinks>) -> Self {
        Self { store, links }
    }

    /// Returns a chat. One of no router is within the reach of those alone who are confined to none (spec A 2.4).
    ///
    /// # Errors
    /// [`ChatError::NotFound`], also for one out of reach.
    pub async fn get(&self, reach: Reach<'_>, id: &ChatId) -> Result<Chat, ChatError> {
        let chat = self.store.read().await?.chat_catalog().find(id).await?;
        chat.filter(|chat| reach.contains_record(chat.router_id.as_ref())).ok_or(ChatError::NotFound)
    }

    /// Returns a page of chats, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<ChatFilter>,
        page: &PageRequest,
    ) -> Result<Page<Chat>, StorageError> {
        self.store.read().await?.chat_catalog().list(filter, reach.routers(), page).await
    }

    /// Returns a page of a chat's messages, newest first.
    ///
    /// # Errors
    /// [`ChatError::NotFound`]; [`ChatError::Cursor`] for a cursor of something else.
    pub async fn messages(
        &self,
        reach: Reach<'_>,
        id: &ChatId,
        page: &PageRequest,
    ) -> Result<Page<ChatMessage>, ChatError> {
        // The last of the page before is named by its number; its time says nothing.
        let before = page.after.as_ref().map(|cursor| cursor.id.parse().map_err(|_| ChatError::Cursor));
        let before = before.transpose()?;
        let mut tx = self.store.read().await?;
        let chat = tx.chat_catalog().find(id).await?;
        let chat = chat.filter(|chat| reach.contains_record(chat.router_id.as_ref()));
        let chat = chat.ok_or(ChatError::NotFound)?;
        let query = HistoryQuery { chat_id: id, before, limit: page.limit };
        let found = tx.messages().history(&query).await?;
        let last = found.items.last().map(|last| last.created_at).unwrap_or_default();
        let next = found.next.map(|seq| Cursor { at: last, id: seq.to_string() });
        let brings = |message: &&Message| {
            message.direction == Direction::In
                && MediaKind::ALL.iter().any(|kind| kind.name() == message.kind)
        };
        let bringing: Vec<MessageId> =
            found.items.iter().filter(brings).map(|message| message.id.clone()).collect();
        let files = if bringing.is_empty() { Vec::new() } else { tx.media().of_messages(&bringing).await? };
        let mut files: HashMap<MessageId, MediaFile> =
            files.into_iter().filter_map(|file| Some((file.message_id.clone()?, file))).collect();
        let shown = |mut message: Message| {
            if let Some(router) = &chat.router_id {
                self.links.show(router, &mut message.content);
            }
            let media = files.remove(&message.id).map(|file| ShownMedia::of(file, &self.links));
            ChatMessage { message, media }
        };
        Ok(Page { items: found.items.into_iter().map(shown).collect(), next })
    }

    /// Returns a message.
    ///
    /// # Errors
    /// [`ChatError::MessageNotFound`], also for one of a chat out of reach (rulings H11).
    pub async fn message(&self, reach: Reach<'_>, id: &MessageId) -> Result<Message, ChatError> {
        let found = self.store.read().await?.chat_catalog().find_message(id).await?;
        let found = found.filter(|(_, router)| reach.contains_record(router.as_ref()));
        found.map(|(message, _)| message).ok_or(ChatError::MessageNotFound)
    }
}
