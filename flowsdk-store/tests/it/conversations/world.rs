//! A router with a flow and a web chat channel, and visitors who write.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowsdk_channels::webchat::{HasWebchat as _, WebchatChannel};
use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{
    ConversationError, ConversationEvent, Conversations, Handover, InputTimers, OutgoingSink, TurnReport,
};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{FlowEvent, IncomingEvent, InputTimeout, Notice, OutgoingEvent};
use flowsdk_core::flow::{CompiledFlow, Flow, FlowKind, FlowVersion, HasFlows as _};
use flowsdk_core::id::{ChatId, Cuids, FlowId, RouterId};
use flowsdk_core::message::{Direction, HasMessages as _, HistoryQuery, IncomingMessage, Message};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::session::{Channel, HasSessions as _, SessionId, StoredSession};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::{Broker as _, NewEntry};
use flowsdk_core::stream::outbox::HasOutbox as _;
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_core::time::{Clock as _, ManualClock};
use flowsdk_store::sql::{SqlBroker, SqlStore};
use serde_json::{Value, json};

use super::flows::{block, flow_of, main_flow};

pub(crate) const NOW: i64 = 1_795_085_820_050;
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
/// The words to a contact whose session froze.
pub(crate) const FAILED: &str = "Desculpe, algo deu errado do nosso lado. O que você escrever fica guardado.";
/// The words to a contact whom no flow answers.
pub(crate) const UNANSWERED: &str = "Recebemos sua mensagem, mas ninguém pode respondê-la agora.";
pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";

/// Remembers what is handed over.
#[derive(Debug, Default)]
pub(crate) struct Sink(pub(crate) Mutex<Vec<OutgoingEvent>>, Mutex<Vec<Notice>>);

impl Sink {
    /// The notices that sockets were told.
    pub(crate) fn told(&self) -> Vec<Notice> {
        self.1.lock().expect("a lock").clone()
    }
}

impl OutgoingSink for Sink {
    fn deliver(&self, events: Vec<OutgoingEvent>) {
        self.0.lock().expect("a lock").extend(events);
    }

    fn notify(&self, notice: Notice) {
        self.1.lock().expect("a lock").push(notice);
    }
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) clock: ManualClock,
    pub(crate) cx: OpContext,
    pub(crate) conversations: Arc<Conversations<SqlStore>>,
    pub(crate) sink: Arc<Sink>,
    pub(crate) router: RouterId,
}

impl World {
    pub(crate) async fn new(store: SqlStore) -> Self {
        let clock = ManualClock::at(NOW);
        let cx = OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock.clone())));
        let (store, sink) = (Arc::new(store.with_context(cx.clone())), Arc::new(Sink::default()));
        let conversations = Arc::new(conversations(&store, &cx, &sink));
        let router = "router1".parse().expect("an id");
        let world = Self { store, clock, cx, conversations, sink, router };
        world.add_router("router1", "c1").await;
        world.publish("router1", "main", main_flow()).await;
        let detour = flow_of(&[block("back", "Trip", &json!({ "flowId": "main", "blockId": "loop" }))]);
        world.publish("router1", "detour", detour).await;
        world.start_with("router1", "main").await;
        for visitor in ["ana", "bia", "caio"] {
            world.add_visitor(visitor).await;
        }
        world
    }

    /// Another service over the same store, which has compiled no flow yet.
    pub(crate) fn new_conversations(&self) -> Conversations<SqlStore> {
        conversations(&self.store, &self.cx, &self.sink)
    }

    pub(crate) async fn add_router(&self, router: &str, channel: &str) {
        let router = Router::new(router.parse().expect("an id"), router, self.cx.now());
        let id = channel.parse().expect("an id");
        let channel = WebchatChannel::new(id, router.id.clone(), "Chat", self.cx.now());
        let mut tx = self.store.begin().await.expect("begin");
        tx.routers().insert(&router).await.expect("a router");
        tx.webchat().insert_channel(&channel).await.expect("a channel");
        tx.commit().await.expect("commit");
    }

    pub(crate) async fn publish(&self, router: &str, id: &str, definition: Value) {
        let mut flow =
            Flow::new(id.parse().expect("an id"), router.parse().expect("an id"), id, self.cx.now());
        if definition["kind"] == "tool" {
            flow.kind = FlowKind::Tool;
        }
        let version = FlowVersion {
            id: format!("{id}-v1").parse().expect("an id"),
            flow_id: flow.id.clone(),
            router_id: flow.router_id.clone(),
            flow_name: flow.name.clone(),
            number: 1,
            definition: definition.into(),
            created_at: self.cx.now(),
        };
        CompiledFlow::compile(&version).expect("a flow without errors");
        let mut tx = self.store.begin().await.expect("begin");
        tx.flows().insert(&flow).await.expect("a flow");
        tx.flows().publish(&version).await.expect("a version");
        tx.commit().await.expect("commit");
    }

    pub(crate) async fn start_with(&self, router: &str, flow: &str) {
        let flow: FlowId = flow.parse().expect("an id");
        let mut tx = self.store.begin().await.expect("begin");
        tx.routers().set_initial_flow(&router.parse().expect("an id"), Some(&flow)).await.expect("set");
        tx.commit().await.expect("commit");
    }

    /// The contact that the gateway makes of a visitor of channel `c1`.
    pub(crate) async fn add_visitor(&self, visitor: &str) -> Contact {
        let identity = session(visitor).contact_identity();
        let contact = Contact::create(&self.cx, identity, "Flow Chat".to_owned(), Channel::Webchat);
        let mut tx = self.store.begin().await.expect("begin");
        let contact = tx.contacts().insert_or_get(&contact).await.expect("a contact");
        tx.commit().await.expect("commit");
        contact
    }

    pub(crate) async fn contact(&self, visitor: &str) -> Contact {
        let identity = session(visitor).contact_identity();
        let mut tx = self.store.read().await.expect("read");
        tx.contacts().find_by_phone_numbers(&[identity]).await.expect("find").remove(0)
    }

    pub(crate) fn event(&self, visitor: &str, messages: Vec<IncomingMessage>) -> IncomingEvent {
        let session_id = session(visitor);
        IncomingEvent {
            channel_type: Channel::Webchat,
            phone_number_id: session_id.phone_number_id().to_owned(),
            from: Some(session_id.party().to_owned()),
            aliases: Vec::new(),
            contact_name: "WebChat User".to_owned(),
            session_id,
            messages,
            timestamp: self.cx.now(),
            context: None,
            flow_id: None,
            opened_after: None,
        }
    }

    /// The event of one text message.
    pub(crate) fn text(&self, visitor: &str, id: &str, text: &str) -> ConversationEvent {
        ConversationEvent::Incoming(self.event(visitor, vec![IncomingMessage::text(id, text)]))
    }

    pub(crate) async fn try_handle(
        &self,
        events: &[ConversationEvent],
    ) -> Result<Vec<TurnReport>, ConversationError> {
        self.conversations.handle(&events.iter().collect::<Vec<_>>()).await
    }

    pub(crate) async fn handle(&self, event: ConversationEvent) -> TurnReport {
        self.try_handle(&[event]).await.expect("handled").remove(0)
    }

    /// A visitor writes; gives what is answered.
    pub(crate) async fn say(&self, visitor: &str, id: &str, text: &str) -> Vec<String> {
        bodies(&self.handle(self.text(visitor, id, text)).await)
    }

    /// Time passes, and whoever is due is rung for; gives what they are told.
    pub(crate) async fn wait(&self, step: Duration) -> Vec<String> {
        self.clock.advance(step);
        let due = InputTimers::new(Arc::clone(&self.store)).due(self.clock.now(), true).await.expect("due");
        let mut told = Vec::new();
        for session_id in due {
            let event = ConversationEvent::Flow(FlowEvent::InputTimeout(InputTimeout { session_id }));
            told.extend(bodies(&self.handle(event).await));
        }
        told
    }

    /// The events that were published on a stream since the last look.
    pub(crate) async fn published(&self, topic: TopicName) -> Vec<Value> {
        // Postgres shows entries only behind every running transaction, so they are read up to a last one.
        let last = NewEntry { topic, key: "last".to_owned(), payload: "\"last\"".to_owned() };
        let mut tx = self.store.begin().await.expect("begin");
        tx.outbox().push_many(&[last]).await.expect("published");
        tx.commit().await.expect("commit");
        let broker = SqlBroker::new((*self.store).clone());
        let stream = StreamPartition { topic, index: 0 };
        let mut reader = broker.open(stream, GROUPS[0], "test").await.expect("a reader");
        let mut found = Vec::new();
        while found.last() != Some(&json!("last")) {
            let entries = reader.read(1_000, Duration::from_secs(1)).await.expect("entries");
            let ids: Vec<String> = entries.iter().map(|entry| entry.id.clone()).collect();
            broker.ack(stream, GROUPS[0], &ids).await.expect("acknowledged");
            found.extend(
                entries.iter().map(|entry| serde_json::from_str::<Value>(&entry.payload).expect("JSON")),
            );
        }
        found.pop();
        found
    }

    /// The open chat of a visitor.
    pub(crate) async fn open_chat(&self, visitor: &str) -> ChatId {
        let contact = self.contact(visitor).await;
        let chat = Chat::open(&self.cx, contact.id, self.router.clone());
        let mut tx = self.store.begin().await.expect("begin");
        tx.chats().open_or_get_many(&[chat]).await.expect("open").remove(0).id
    }

    pub(crate) async fn stored(&self, visitor: &str) -> Option<StoredSession> {
        let mut tx = self.store.begin().await.expect("begin");
        tx.sessions().find_many_for_update(&[session(visitor)]).await.expect("find").pop()
    }

    pub(crate) async fn history(&self, chat: &ChatId) -> Vec<Message> {
        let query = HistoryQuery { chat_id: chat, before: None, limit: 10_000 };
        let mut tx = self.store.read().await.expect("read");
        let mut items = tx.messages().history(&query).await.expect("history").items;
        items.reverse();
        items
    }

    /// Both directions of a chat, oldest first.
    pub(crate) async fn transcript(&self, chat: &ChatId) -> Vec<String> {
        let line = |message: Message| {
            let mark = if message.direction == Direction::In { "> " } else { "< " };
            format!("{mark}{}", message.content["text"]["body"].as_str().unwrap_or_default())
        };
        self.history(chat).await.into_iter().map(line).collect()
    }

    /// The chat in which the visitor's live session is.
    pub(crate) async fn transcript_of(&self, visitor: &str) -> Vec<String> {
        let chat = self.stored(visitor).await.expect("a session").session.chat_id;
        self.transcript(&chat).await
    }
}

/// A service that hands over to `sink`. It waits for flows as long as they take, so that no test depends on the machine.
fn conversations(store: &Arc<SqlStore>, cx: &OpContext, sink: &Arc<Sink>) -> Conversations<SqlStore> {
    let key = Arc::new(MasterKey::new(KEY).expect("a key"));
    let handover = Handover::Direct(Arc::clone(sink) as Arc<dyn OutgoingSink>);
    Conversations::new(Arc::clone(store), cx.clone(), key, handover).waiting_for_flows(60 * MINUTE)
}

pub(crate) fn session(visitor: &str) -> SessionId {
    let channel = if visitor.starts_with("other-") { "c2" } else { "c1" };
    SessionId::parse(format!("wc-{channel}-{visitor}")).expect("a session id")
}

/// The texts a turn sent.
pub(crate) fn bodies(report: &TurnReport) -> Vec<String> {
    report.outgoing.iter().map(body).collect()
}

pub(crate) fn body(event: &OutgoingEvent) -> String {
    let content = serde_json::to_value(&event.content).expect("it serialises");
    content["text"]["body"].as_str().unwrap_or_default().to_owned()
}
