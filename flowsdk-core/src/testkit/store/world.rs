//! The records that the cases put into a store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::StoreUnderTest;
use crate::chat::Chat;
use crate::contact::Contact;
use crate::context::OpContext;
use crate::flow::{Flow, FlowVersion};
use crate::id::{ChatId, ContactId, Cuids, FlowId, MessageId, RouterId};
use crate::message::{Direction, Message, MessageStatus, NewMessage, Sender};
use crate::prelude::*;
use crate::router::Router;
use crate::session::{Channel, Session, SessionId, SessionWrite};
use crate::store::Store;
use crate::testkit::store::StoreTx;
use crate::time::{ManualClock, Timestamp};

pub(in crate::testkit) const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);
/// Sizes of batches around those into which an adapter may cut a list.
pub(in crate::testkit) const SIZES: [usize; 12] = [1, 2, 3, 7, 31, 64, 65, 127, 128, 129, 255, 300];

/// A store with a router, a contact and its open chat.
pub(in crate::testkit) struct World<S> {
    pub(in crate::testkit) store: Arc<S>,
    pub(in crate::testkit) cx: OpContext,
    pub(in crate::testkit) router: RouterId,
    pub(in crate::testkit) contact: ContactId,
    pub(in crate::testkit) chat: ChatId,
}

pub(in crate::testkit) fn context() -> OpContext {
    let clock = ManualClock::at(NOW.as_millis());
    OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock)))
}

pub(in crate::testkit) fn session_id(n: usize) -> SessionId {
    SessionId::parse(format!("wc-c1-visitor{n:04}")).expect("a session id")
}

pub(in crate::testkit) fn router(id: &str) -> Router {
    Router::new(RouterId::parse(id).expect("an id"), format!("Router {id}"), NOW)
}

pub(in crate::testkit) fn flow(id: &str, router: &RouterId) -> Flow {
    Flow::new(FlowId::parse(id).expect("an id"), router.clone(), format!("Flow {id}"), NOW)
}

pub(in crate::testkit) fn version(flow: &Flow, number: i64, definition: Value) -> FlowVersion {
    FlowVersion {
        id: format!("{}-v{number}", flow.id).parse().expect("an id"),
        flow_id: flow.id.clone(),
        router_id: flow.router_id.clone(),
        flow_name: flow.name.clone(),
        number,
        definition: definition.into(),
        created_at: NOW,
    }
}

pub(in crate::testkit) fn contact(cx: &OpContext, n: usize) -> Contact {
    Contact::create(cx, session_id(n).contact_identity(), format!("Visitor {n}"), Channel::Webchat)
}

impl<S: Store> World<S>
where
    S::Tx: StoreTx,
{
    pub(in crate::testkit) async fn new(subject: &StoreUnderTest<S>) -> Self {
        let (store, cx) = (Arc::clone(&subject.store), context());
        let mut tx = store.begin().await.expect("begin");
        let router = router("router1");
        tx.routers().insert(&router).await.expect("a router");
        let contact = tx.contacts().insert_or_get(&contact(&cx, 0)).await.expect("a contact");
        let chat = Chat::open(&cx, contact.id.clone(), router.id.clone());
        tx.chats().open_or_get_many(std::slice::from_ref(&chat)).await.expect("a chat");
        tx.commit().await.expect("commit");
        Self { store, cx, router: router.id, contact: contact.id, chat: chat.id }
    }

    /// A session of the contact, not stored.
    pub(in crate::testkit) fn session(&self, n: usize) -> Session {
        let (contact, chat) = (self.contact.clone(), self.chat.clone());
        Session::begin(session_id(n), self.router.clone(), contact, chat, NOW)
    }

    /// A message of the chat, not stored.
    pub(in crate::testkit) fn message(&self, direction: Direction, session: usize, body: &str) -> NewMessage {
        let out = direction == Direction::Out;
        Message {
            id: MessageId::generate(self.cx.ids()),
            chat_id: self.chat.clone(),
            seq: (),
            session_id: session_id(session),
            direction,
            kind: "text".to_owned(),
            content: json!({ "type": "text", "text": { "body": body } }),
            sender: out.then_some(Sender::FLOW),
            status: out.then_some(MessageStatus::Pending),
            channel_message_id: None,
            provider_id: None,
            error: None,
            created_at: self.cx.now(),
            status_updated_at: self.cx.now(),
        }
    }

    /// Another open chat, of another contact.
    pub(in crate::testkit) async fn another_chat(&self) -> ChatId {
        let mut tx = self.store.begin().await.expect("begin");
        let contact = tx.contacts().insert_or_get(&contact(&self.cx, 99)).await.expect("a contact");
        let chat = Chat::open(&self.cx, contact.id, self.router.clone());
        tx.chats().open_or_get_many(std::slice::from_ref(&chat)).await.expect("a chat");
        tx.commit().await.expect("commit");
        chat.id
    }

    /// Stores messages.
    pub(in crate::testkit) async fn insert(&self, messages: &[NewMessage]) {
        let mut tx = self.store.begin().await.expect("begin");
        tx.messages().insert_many(messages).await.expect("messages");
        tx.commit().await.expect("commit");
    }

    /// All messages of the chat, oldest first.
    pub(in crate::testkit) async fn messages(&self) -> Vec<Message> {
        let query = crate::message::HistoryQuery { chat_id: &self.chat, before: None, limit: 10_000 };
        let mut tx = self.store.read().await.expect("read");
        let mut items = tx.messages().history(&query).await.expect("history").items;
        items.reverse();
        items
    }

    /// Writes sessions in a transaction of their own.
    pub(in crate::testkit) async fn save(
        &self,
        writes: &[(Session, Option<i64>)],
    ) -> Result<(), crate::fault::StorageError> {
        let mut tx = self.store.begin().await?;
        tx.sessions().save_many(&as_writes(writes)).await?;
        tx.commit().await
    }

    /// A stored session.
    pub(in crate::testkit) async fn stored(&self, n: usize) -> Option<crate::session::StoredSession> {
        let mut tx = self.store.begin().await.expect("begin");
        let mut found = tx.sessions().find_many_for_update(&[session_id(n)]).await.expect("find");
        found.pop()
    }
}

pub(in crate::testkit) fn as_writes(writes: &[(Session, Option<i64>)]) -> Vec<SessionWrite<'_>> {
    writes.iter().map(|(session, expected)| SessionWrite { session, expected: *expected }).collect()
}

pub(in crate::testkit) fn later(millis: u64) -> Timestamp {
    NOW + Duration::from_millis(millis)
}

/// The row of a message that its chat has numbered.
pub(in crate::testkit) fn row(message: &NewMessage, seq: i64) -> Message {
    let Message {
        id,
        chat_id,
        seq: (),
        session_id,
        direction,
        kind,
        content,
        sender,
        status,
        channel_message_id,
        provider_id,
        error,
        created_at,
        status_updated_at,
    } = message.clone();
    Message {
        id,
        chat_id,
        seq,
        session_id,
        direction,
        kind,
        content,
        sender,
        status,
        channel_message_id,
        provider_id,
        error,
        created_at,
        status_updated_at,
    }
}
