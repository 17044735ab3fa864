//! A router in memory, with the agents of a file, and customers who write. Nothing runs beside a call: each returns when all that
//! follows from it has happened.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flowsdk_agent::executor::{Executor, OneModel, Settings};
use flowsdk_agent::inbox::{AGENT_GROUP, AgentInbox, Delivered, HasInbox as _};
use flowsdk_agent::knowledge::{Ingest, OfflineEmbedders};
use flowsdk_agent::ledger::{AgentTurnFilter, AgentTurnId, HasAgentTurns as _};
use flowsdk_agent::model::{ModelProvider, Patience};
use flowsdk_channels::webchat::{HasWebchat as _, WebchatChannel};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{
    CONVERSATION_GROUP, ConversationEvent, Conversations, Handover, OutgoingSink, ToolCalls,
};
use flowsdk_core::credential::{HasLlmCredentials as _, LlmCredential};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{FlowEvent, IncomingEvent, OutgoingEvent};
use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::{CompiledFlow, Flow, FlowVersion, HasFlows as _, Written};
use flowsdk_core::id::{ChannelId, Cuids, FlowVersionId, LlmCredentialId, RouterId, VisitorId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::page::{MAX_PAGE, PageRequest};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::Broker as _;
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::time::ManualClock;
use flowsdk_outside::http::{AllowedHosts, GuardedHttp};
use flowsdk_outside::script::NoScripts;
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlBroker, SqlStore};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::file::AgentFile;
use super::scene::{Scene, shown};

/// When the conversations are: noon of 1 January 2026 in UTC. Recordings have the same time whenever they are replayed.
const BEGIN: i64 = 1_767_268_800_000;
/// How much time passes until the customer writes again.
const PAUSE: Duration = Duration::from_secs(30);
/// How often agents and flow may pass the conversation on until the customer writes again.
const MOST_ROUNDS: usize = 100;

/// The router, and the customer who writes.
pub(super) struct Stage {
    store: Arc<SqlStore>,
    clock: ManualClock,
    cx: OpContext,
    conversations: Conversations<SqlStore>,
    inbox: AgentInbox<SqlStore>,
    executor: Executor<SqlStore>,
    said: Arc<Said>,
    channel: ChannelId,
    customers: usize,
    session: Option<SessionId>,
    /// The turns that were seen already.
    seen: BTreeSet<AgentTurnId>,
}

/// Keeps what flow and agents say.
#[derive(Debug, Default)]
struct Said(Mutex<Vec<OutgoingEvent>>);

impl OutgoingSink for Said {
    fn deliver(&self, events: Vec<OutgoingEvent>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
    }
}

impl Said {
    fn take(&self) -> Vec<OutgoingEvent> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Stage {
    /// Makes the router, and has the agents read their documents.
    ///
    /// # Errors
    /// The flow is not valid, or storage failed.
    pub(super) async fn new(
        file: &AgentFile,
        model: Arc<dyn ModelProvider>,
        patience: Patience,
    ) -> Result<Self, BoxError> {
        let clock = ManualClock::at(BEGIN);
        let cx = OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock.clone())));
        let reads = [(TopicName::Agent, AGENT_GROUP), (TopicName::Flow, CONVERSATION_GROUP)];
        let store = SqlStore::connect(&DatabaseUrl::SqliteMemory, OutboxRoutes::embedded(reads)).await?;
        let store = Arc::new(store.with_context(cx.clone()));
        let (router, channel): (RouterId, ChannelId) = ("router".parse()?, "chat".parse()?);
        furnish(&store, &cx, file, &router, &channel).await?;
        let ingest = Ingest::new(Arc::clone(&store), cx.clone(), Arc::new(OfflineEmbedders));
        while ingest.round().await? > 0 {}
        let said = Arc::new(Said::default());
        let handover = Handover::Direct(Arc::clone(&said) as _);
        let key = Arc::new(MasterKey::random());
        let http = Arc::new(GuardedHttp::new(AllowedHosts::default())?);
        let tools =
            ToolCalls::new(Arc::clone(&store), cx.clone(), Arc::clone(&key), http, Arc::new(NoScripts));
        let executor = Executor::new(
            Arc::clone(&store),
            cx.clone(),
            Arc::new(OneModel(model)),
            tools,
            handover.clone(),
            Settings { patience, ..Settings::default() },
            Arc::new(Notify::new()),
        );
        Ok(Self {
            conversations: Conversations::new(Arc::clone(&store), cx.clone(), key, handover),
            inbox: AgentInbox::new(Arc::clone(&store), cx.clone(), Arc::default()),
            store,
            clock,
            cx,
            executor,
            said,
            channel,
            customers: 0,
            session: None,
            seen: BTreeSet::new(),
        })
    }

    /// Another customer comes, whom nobody knows.
    ///
    /// # Errors
    /// Storage failed.
    pub(super) async fn next_customer(&mut self) -> Result<(), BoxError> {
        self.customers += 1;
        let visitor = VisitorId::parse(format!("customer-{}", self.customers))?;
        let session = SessionId::webchat(&self.channel, &visitor, None)?;
        let identity = session.contact_identity();
        let mut tx = self.store.begin().await?;
        let contact = Contact::create(&self.cx, identity, "Customer".to_owned(), Channel::Webchat);
        tx.contacts().insert_or_get(&contact).await?;
        tx.commit().await?;
        self.session = Some(session);
        Ok(())
    }

    /// The customer writes. Returns what follows from it.
    ///
    /// # Errors
    /// Storage failed, or it does not end.
    pub(super) async fn say(&mut self, text: &str) -> Result<Scene, BoxError> {
        let session = self.session.clone().ok_or("no customer has come")?;
        self.clock.advance(PAUSE);
        let mut scene = Scene::default();
        let message = IncomingMessage::text(self.cx.ids().next_id(), text);
        let event = ConversationEvent::Incoming(IncomingEvent {
            channel_type: Channel::Webchat,
            phone_number_id: session.phone_number_id().to_owned(),
            from: Some(session.party().to_owned()),
            aliases: Vec::new(),
            contact_name: "Customer".to_owned(),
            session_id: session.clone(),
            messages: vec![message],
            timestamp: self.cx.now(),
            context: None,
            flow_id: None,
            opened_after: None,
        });
        self.handle(event, &mut scene).await?;
        for _ in 0..MOST_ROUNDS {
            if !self.round(&session, &mut scene).await? {
                return Ok(scene);
            }
        }
        Err(format!("agents and flow passed the conversation on {MOST_ROUNDS} times").into())
    }

    /// Passes on what was published, and lets the agents work. Returns whether anything was to be done.
    async fn round(&mut self, session: &SessionId, scene: &mut Scene) -> Result<bool, BoxError> {
        let for_agents = self.published(TopicName::Agent, AGENT_GROUP).await?;
        let delivered: Vec<Delivered> =
            for_agents.iter().map(|payload| Delivered::read(payload)).collect::<Result<_, _>>()?;
        self.inbox.put(delivered).await?;
        let for_flow = self.published(TopicName::Flow, CONVERSATION_GROUP).await?;
        for payload in &for_flow {
            let event: FlowEvent = serde_json::from_str(payload)?;
            if let FlowEvent::AgentSessionEnded(back) = &event {
                scene.end_reason.clone_from(&back.agent_end_reason);
            }
            self.handle(ConversationEvent::Flow(event), scene).await?;
        }
        let waits =
            !self.store.read().await?.inbox().of_sessions(std::slice::from_ref(session)).await?.is_empty();
        if waits {
            self.executor.serve(session, &CancellationToken::new()).await?;
            self.note_said(scene);
            self.note_turns(session, scene).await?;
        }
        Ok(waits || !for_agents.is_empty() || !for_flow.is_empty())
    }

    async fn handle(&self, event: ConversationEvent, scene: &mut Scene) -> Result<(), BoxError> {
        for report in self.conversations.handle(&[&event]).await? {
            if report.frozen {
                scene.errors.push("the flow failed, and its session is frozen".to_owned());
            }
        }
        self.note_said(scene);
        Ok(())
    }

    fn note_said(&self, scene: &mut Scene) {
        scene.texts.extend(self.said.take().iter().map(|event| shown(&event.content)));
    }

    /// Returns what was published on a stream since the last look.
    async fn published(&self, topic: TopicName, group: &str) -> Result<Vec<String>, BoxError> {
        let broker = SqlBroker::new((*self.store).clone());
        let stream = StreamPartition { topic, index: 0 };
        let mut reader = broker.open(stream, group, "evaluation").await?;
        let entries = reader.read(1_000, Duration::ZERO).await?;
        let ids: Vec<String> = entries.iter().map(|entry| entry.id.clone()).collect();
        broker.ack(stream, group, &ids).await?;
        Ok(entries.into_iter().map(|entry| entry.payload).collect())
    }

    /// Notes the turns that were not there at the last look.
    async fn note_turns(&mut self, session: &SessionId, scene: &mut Scene) -> Result<(), BoxError> {
        let filter = AgentTurnFilter { session_id: Some(session.clone()), ..AgentTurnFilter::default() };
        let page = PageRequest { limit: MAX_PAGE, after: None };
        let mut tx = self.store.read().await?;
        let mut new = tx.agent_turns().list(&filter, None, &page).await?.items;
        new.retain(|digest| !self.seen.contains(&digest.id));
        // The list has the newest first.
        for digest in new.into_iter().rev() {
            if let Some(turn) = tx.agent_turns().find(&digest.id).await? {
                scene.note_turn(turn);
            }
            self.seen.insert(digest.id);
        }
        Ok(())
    }
}

/// Makes the records.
async fn furnish(
    store: &SqlStore,
    cx: &OpContext,
    file: &AgentFile,
    router: &RouterId,
    channel: &ChannelId,
) -> Result<(), BoxError> {
    let flow = Flow::new("flow".parse()?, router.clone(), "Flow", cx.now());
    let version = FlowVersion {
        id: FlowVersionId::generate(cx.ids()),
        flow_id: flow.id.clone(),
        router_id: router.clone(),
        flow_name: flow.name.clone(),
        number: 1,
        definition: file.flow.clone().unwrap_or_else(|| alone(file)),
        created_at: cx.now(),
    };
    CompiledFlow::compile(&version).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(|problem| problem.message.english()).collect();
        format!("the flow is not valid: {}", problems.join("; "))
    })?;
    let id: LlmCredentialId = "model".parse()?;
    let credential = LlmCredential::of_own_model(id.clone(), "Model", cx.now());
    let mut tx = store.begin().await?;
    tx.routers().insert(&Router::new(router.clone(), "Evaluation", cx.now())).await?;
    tx.llm_credentials().insert(&credential).await?;
    file.set.install(&mut tx, cx, router, &id).await?;
    tx.flows().insert(&flow).await?;
    tx.flows().publish(&version).await?;
    tx.routers().set_initial_flow(router, Some(&flow.id)).await?;
    let channel = WebchatChannel::new(channel.clone(), router.clone(), "Chat", cx.now());
    tx.webchat().insert_channel(&channel).await?;
    tx.commit().await?;
    Ok(())
}

/// Returns a flow that gives the first agent the conversation from its beginning.
fn alone(file: &AgentFile) -> Written {
    let agent = file.set.agents.first().map(|agent| agent.id.to_string());
    json!({ "schemaVersion": 1, "startBlockId": "agent", "blocks": [
        { "id": "agent", "type": "agent", "agentId": agent, "maxMessages": 100, "outputConditions": [],
            "defaultOutput": { "end": true } }] })
    .into()
}
