//! A router whose flow hands over to an AI agent, with a model that answers by rules.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::agent::{AgentType, AiAgent};
use flowsdk_agent::executor::{Executor, Models, Settings};
use flowsdk_agent::inbox::{AgentInbox, Delivered, HasInbox as _};
use flowsdk_agent::knowledge::{Embedders, OfflineEmbedders};
use flowsdk_agent::ledger::{AgentTurn, HasAgentTurns as _};
use flowsdk_agent::model::{Answer, Item, ModelError, ModelProvider, ModelRequest, Patience, Transcriber};
use flowsdk_agent::prompt::SystemPrompt;
use flowsdk_agent::scripted::{Script, Scripted};
use flowsdk_agent::summary::Summarizer;
use flowsdk_core::conversation::{ConversationEvent, Handover, OutgoingSink, ToolCalls};
use flowsdk_core::credential::{HasLlmCredentials as _, LlmCredential, LlmProvider};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{AgentEvent, AgentManualHandoffEvent, FlowEvent};
use flowsdk_core::flow::{HttpAnswer, HttpCaller, HttpRequest, OutsideFailure, ScriptRequest, ScriptRunner};
use flowsdk_core::lease::Tenure;
use flowsdk_core::message::SenderKind;
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::router::{HasRouterCatalog as _, Router};
use flowsdk_core::session::{HasSessions as _, Session, SessionId, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox as _;
use flowsdk_core::stream::topic::{Agent, TopicName};
use flowsdk_store::sql::SqlStore;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use super::senses::{Cabinet, Ears};
use crate::conversations::flows::flow_of;
use crate::conversations::world::{KEY, World, bodies, body, session};
use crate::support::stepping::Stepping;

/// A model that answers by rules, and remembers what it was asked.
#[derive(Debug)]
pub(crate) struct Mind {
    script: Scripted,
    first: Mutex<VecDeque<Vec<Item>>>,
    pub(crate) asked: Mutex<Vec<Vec<Item>>>,
    /// The instructions beside them.
    pub(crate) instructed: Mutex<Vec<String>>,
    /// Each answer takes a permit.
    pub(crate) gate: Semaphore,
}

impl Mind {
    /// Answers with these items, before the rules.
    pub(crate) fn answer_first(&self, answers: impl IntoIterator<Item = Vec<Item>>) {
        self.first.lock().expect("a lock").extend(answers);
    }

    pub(crate) fn asks(&self) -> usize {
        self.asked.lock().expect("a lock").len()
    }
}

#[async_trait]
impl ModelProvider for Mind {
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError> {
        self.asked.lock().expect("a lock").push(request.items.to_vec());
        self.instructed.lock().expect("a lock").push(request.instructions.to_owned());
        self.gate.acquire().await.expect("it is never closed").forget();
        let first = self.first.lock().expect("a lock").pop_front();
        match first {
            Some(items) => Ok(Answer { items, ..Answer::default() }),
            None => self.script.answer(request).await,
        }
    }
}

#[derive(Debug)]
struct OneMind(Arc<Mind>, Arc<Ears>);

#[async_trait]
impl Models for OneMind {
    async fn open(&self, _: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError> {
        Ok(Arc::clone(&self.0) as Arc<dyn ModelProvider>)
    }

    async fn transcriber(&self, _: &LlmCredential) -> Result<Arc<dyn Transcriber>, ModelError> {
        Ok(Arc::clone(&self.1) as Arc<dyn Transcriber>)
    }
}

/// A shop that is asked by a tool. It counts its calls, and answers when it may.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) calls: Mutex<usize>,
    /// The addresses that were asked.
    pub(crate) asked: Mutex<Vec<String>>,
    pub(crate) gate: Semaphore,
}

#[async_trait]
impl HttpCaller for Shop {
    async fn call(&self, request: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        *self.calls.lock().expect("a lock") += 1;
        self.asked.lock().expect("a lock").push(request.url.expose_secret().to_owned());
        self.gate.acquire().await.expect("it is never closed").forget();
        Ok(HttpAnswer { status: 200, content_type: None, body: br#"{"price": 12}"#.to_vec() })
    }
}

/// No tool here has a script.
#[async_trait]
impl ScriptRunner for Shop {
    async fn run(&self, _: &ScriptRequest) -> Result<Value, OutsideFailure> {
        Err(OutsideFailure::new("script_error", "there are no scripts"))
    }
}

pub(crate) struct Agents {
    pub(crate) world: World,
    pub(crate) mind: Arc<Mind>,
    pub(crate) ears: Arc<Ears>,
    pub(crate) cabinet: Arc<Cabinet>,
    pub(crate) shop: Arc<Shop>,
    pub(crate) executor: Arc<Executor<Stepping>>,
    inbox: AgentInbox<Stepping>,
    pub(crate) stepping: Arc<Stepping>,
    embedders: Arc<dyn Embedders>,
}

/// Asks, hands over to the agent `sales` for five turns, and says how that ended.
fn attended() -> Value {
    let says = |text: &str| json!([{ "type": "text", "text": { "body": text } }]);
    flow_of(&[
        json!({ "id": "ask", "type": "content", "contents": says("Ask"), "input": { "variable": "subject" },
            "defaultOutput": { "blockId": "ai" } }),
        json!({ "id": "ai", "type": "agent", "agentId": "sales", "maxMessages": 5, "outputConditions": [],
            "defaultOutput": { "blockId": "bye" } }),
        json!({ "id": "bye", "type": "content", "contents": says("Bye {{agentEndReason}}"), "input": {},
            "defaultOutput": { "blockId": "ask" } }),
    ])
}

/// Returns the price of a product, for which it asks the shop.
pub(crate) fn price() -> Value {
    json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": "product", "required": true }], "returns": ["price"],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true }, "onEnter": [
            { "type": "httpRequest", "url": "https://shop.example/{{product}}",
                "response": [{ "path": "price", "variable": "price" }] }] }] })
}

impl Agents {
    /// A world whose model answers by these rules.
    pub(crate) async fn new(store: SqlStore, rules: &Value) -> Self {
        let world = World::new(store).await;
        world.publish("router1", "price", price()).await;
        world.publish("router1", "attended", attended()).await;
        world.start_with("router1", "attended").await;
        let script = Script::parse(&json!({ "rules": rules }).to_string()).expect("a script");
        let mind = Arc::new(Mind {
            script: Scripted::new(script),
            first: Mutex::default(),
            asked: Mutex::default(),
            instructed: Mutex::default(),
            gate: Semaphore::new(1_000),
        });
        let shop =
            Arc::new(Shop { calls: Mutex::default(), asked: Mutex::default(), gate: Semaphore::new(1_000) });
        let stepping = Arc::new(Stepping((*world.store).clone()));
        let embedders: Arc<dyn Embedders> = Arc::new(OfflineEmbedders);
        let (ears, cabinet) = (Arc::new(Ears::default()), Arc::new(Cabinet::default()));
        let models = Arc::new(OneMind(Arc::clone(&mind), Arc::clone(&ears)));
        let executor = executor(&world, &stepping, models, &shop, Settings::default());
        let executor = executor.with_embedders(Arc::clone(&embedders)).with_media(Arc::clone(&cabinet) as _);
        let agents = Self {
            executor: Arc::new(executor),
            ears,
            cabinet,
            inbox: AgentInbox::new(Arc::clone(&stepping), world.cx.clone(), Arc::default()),
            stepping,
            embedders,
            mind,
            shop,
            world,
        };
        let credential = LlmCredential {
            id: "credential".parse().expect("an id"),
            name: "Models".to_owned(),
            provider: LlmProvider::Openai,
            base_url: None,
            api_key: None,
            created_at: agents.world.cx.now(),
            updated_at: agents.world.cx.now(),
        };
        let mut tx = agents.world.store.begin().await.expect("begin");
        tx.llm_credentials().insert(&credential).await.expect("a credential");
        tx.commit().await.expect("commit");
        agents.add_agent("sales", |_| {}).await;
        agents.add_agent("care", |_| {}).await;
        agents
    }

    /// Another executor over the same database, as another process has it.
    pub(crate) fn another_executor(&self) -> Arc<Executor<Stepping>> {
        self.executor_with(Settings::default())
    }

    /// The executor of a process that has a lease, or had one.
    pub(crate) fn executor_within(&self, tenure: Tenure) -> Arc<Executor<Stepping>> {
        Arc::new(self.new_executor(Settings::default()).within(tenure))
    }

    /// An executor that waits for recordings and images for so long.
    pub(crate) fn executor_that_hears_for(&self, hearing_time: Duration) -> Arc<Executor<Stepping>> {
        self.executor_with(Settings { hearing_time, ..Settings::default() })
    }

    fn executor_with(&self, settings: Settings) -> Arc<Executor<Stepping>> {
        Arc::new(self.new_executor(settings))
    }

    fn new_executor(&self, settings: Settings) -> Executor<Stepping> {
        let executor = executor(&self.world, &self.stepping, self.models(), &self.shop, settings);
        let executor = executor.with_embedders(Arc::clone(&self.embedders));
        executor.with_media(Arc::clone(&self.cabinet) as _)
    }

    fn models(&self) -> Arc<OneMind> {
        Arc::new(OneMind(Arc::clone(&self.mind), Arc::clone(&self.ears)))
    }

    /// The agents may have as many turns of a visitor as at first.
    pub(crate) async fn renew_turns(&self, visitor: &str) {
        let mut stored = self.session(visitor).await;
        if let Some(state) = &mut stored.agent {
            state.turn_count = 0;
        }
        let expected = stored.version;
        stored.version += 1;
        let mut tx = self.world.store.begin().await.expect("begin");
        let write = SessionWrite { session: &stored, expected: Some(expected) };
        tx.sessions().save_many(&[write]).await.expect("saved");
        tx.commit().await.expect("commit");
    }

    /// The agents search by this model of vectors.
    pub(crate) fn learn(&mut self, embedders: Arc<dyn Embedders>) {
        self.embedders = embedders;
        self.executor = self.another_executor();
    }

    pub(crate) fn summarizer(&self) -> Summarizer<Stepping> {
        Summarizer::new(Arc::clone(&self.stepping), self.world.cx.clone(), self.models())
    }

    pub(crate) async fn add_agent(&self, id: &str, change: impl FnOnce(&mut AiAgent)) {
        let now = self.world.cx.now();
        let router_id = self.world.router.clone();
        let mut agent = AiAgent {
            id: id.parse().expect("an id"),
            router_id: router_id.clone(),
            agent_type: AgentType::Specialist,
            task: None,
            name: id.to_uppercase(),
            description: format!("Knows {id}"),
            model: "model".to_owned(),
            llm_credential_id: Some("credential".parse().expect("an id")),
            fallback_model: None,
            fallback_llm_credential_id: None,
            enabled_internal_tools: Vec::new(),
            native_tool_descriptions: std::collections::BTreeMap::new(),
            contact_variable_keys: None,
            rag_tags: Vec::new(),
            has_vision: false,
            max_output_tokens: None,
            is_active: true,
            created_at: now,
            updated_at: now,
        };
        change(&mut agent);
        let prompt = SystemPrompt {
            id: format!("{id}-prompt").parse().expect("an id"),
            router_id,
            agent_id: agent.id.clone(),
            name: "Task".to_owned(),
            text: format!("You are {id}."),
            order: 1,
            is_active: true,
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.records().insert(&agent).await.expect("an agent");
        tx.records().insert(&prompt).await.expect("a prompt");
        tx.commit().await.expect("commit");
    }

    /// Changes an agent in the store.
    pub(crate) async fn change_agent(&self, id: &str, change: impl FnOnce(&mut AiAgent)) {
        let mut tx = self.world.store.begin().await.expect("begin");
        let found: Option<AiAgent> = tx.records().find(&id.parse().expect("an id")).await.expect("find");
        let mut agent = found.expect("an agent");
        change(&mut agent);
        tx.records().save(&agent).await.expect("saved");
        tx.commit().await.expect("commit");
    }

    /// A visitor gets to the agent, and says this to it.
    pub(crate) async fn reach(&self, visitor: &str, text: &str) {
        self.world.add_visitor(visitor).await;
        self.world.say(visitor, &format!("{visitor}-hi"), "oi").await;
        self.say(visitor, text).await;
    }

    /// A visitor writes; what that leads to is in the inbox.
    pub(crate) async fn say(&self, visitor: &str, text: &str) {
        let id = self.world.cx.ids().next_id();
        self.world.say(visitor, &id, text).await;
        self.deliver().await;
    }

    /// Puts what was published for agents into the inbox.
    pub(crate) async fn deliver(&self) {
        let events = self.world.published(TopicName::Agent).await;
        let delivered = events.iter().map(|event| Delivered::read(&event.to_string()).expect("an event"));
        self.inbox.put(delivered).await.expect("put");
    }

    /// Publishes an event for agents, and puts it into the inbox.
    pub(crate) async fn publish(&self, event: &AgentEvent) {
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.outbox().push_many(&[NewEntry::of::<Agent>(event)]).await.expect("published");
        tx.commit().await.expect("commit");
        self.deliver().await;
    }

    /// The desk takes a session, for the queue `q1`.
    pub(crate) async fn take_by_desk(&self, id: &SessionId) {
        let session = self.world.stored(id.party()).await.expect("a session").session;
        let event = AgentManualHandoffEvent {
            session_id: session.id.clone(),
            chat_id: session.chat_id.clone(),
            to: session.id.party().to_owned(),
            phone_number_id: session.id.phone_number_id().to_owned(),
            queue_id: Some("q1".parse().expect("an id")),
            user_id: None,
            reason: Some("the desk takes it".to_owned()),
            requested_by: None,
            epoch: Some(session.epoch),
            timestamp: self.world.cx.now(),
        };
        self.publish(&AgentEvent::ManualHandoff(event)).await;
    }

    /// Works off what waits for a visitor, and what follows from it. Returns what they are told.
    pub(crate) async fn serve(&self, visitor: &str) -> Vec<String> {
        let session = session(visitor);
        loop {
            self.executor.serve(&session, &CancellationToken::new()).await.expect("served");
            let mut tx = self.world.store.read().await.expect("read");
            if tx.inbox().of_sessions(std::slice::from_ref(&session)).await.expect("events").is_empty() {
                break;
            }
        }
        self.told()
    }

    /// What the agents have said since the last look.
    pub(crate) fn told(&self) -> Vec<String> {
        let sent = std::mem::take(&mut *self.world.sink.0.lock().expect("a lock"));
        sent.iter().filter(|event| event.sender.kind == SenderKind::Ai).map(body).collect()
    }

    /// The flow goes on with what was handed back; gives what is said.
    pub(crate) async fn go_on(&self) -> Vec<String> {
        let mut said = Vec::new();
        for event in self.world.published(TopicName::Flow).await {
            let event: FlowEvent = serde_json::from_value(event).expect("an event");
            said.extend(bodies(&self.world.handle(ConversationEvent::Flow(event)).await));
        }
        said
    }

    pub(crate) async fn session(&self, visitor: &str) -> Session {
        self.world.stored(visitor).await.expect("a session").session
    }

    /// The handoffs to people since the last look.
    pub(crate) async fn handoffs(&self) -> Vec<Value> {
        let mut events = self.world.published(TopicName::Helpdesk).await;
        events.retain(|event| event["kind"] == "handoff");
        events
    }

    /// Changes the router in the store.
    pub(crate) async fn change_router(&self, change: impl FnOnce(&mut Router)) {
        let mut tx = self.world.store.begin().await.expect("begin");
        let found = tx.router_catalog().find_for_update(&self.world.router).await.expect("find");
        let mut router = found.expect("a router");
        change(&mut router);
        tx.router_catalog().save(&router).await.expect("saved");
        tx.commit().await.expect("commit");
    }

    /// The turns of a visitor's session in this epoch and activation.
    pub(crate) async fn turns(&self, visitor: &str, epoch: i64, activation: u32) -> Vec<AgentTurn> {
        let mut tx = self.world.store.read().await.expect("read");
        let found = tx.agent_turns().of_activation(&session(visitor), epoch, activation, 100).await;
        found.expect("turns")
    }
}

fn executor(
    world: &World,
    store: &Arc<Stepping>,
    models: Arc<OneMind>,
    shop: &Arc<Shop>,
    settings: Settings,
) -> Executor<Stepping> {
    let key = Arc::new(MasterKey::new(KEY).expect("a key"));
    let (http, scripts) =
        (Arc::clone(shop) as Arc<dyn HttpCaller>, Arc::clone(shop) as Arc<dyn ScriptRunner>);
    let tools = ToolCalls::new(Arc::clone(store), world.cx.clone(), key, http, scripts);
    let settings = Settings { patience: Patience { retries: 0, turn: Duration::from_mins(2) }, ..settings };
    Executor::new(
        Arc::clone(store),
        world.cx.clone(),
        models,
        tools,
        Handover::Direct(Arc::clone(&world.sink) as Arc<dyn OutgoingSink>),
        settings,
        Arc::new(Notify::new()),
    )
}
