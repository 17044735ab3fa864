//! The database of a round, the executor on it, and the contacts who write.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use async_trait::async_trait;
use flowsdk_agent::executor::{Executor, OneModel, Settings};
use flowsdk_agent::inbox::{AgentInbox, Delivered};
use flowsdk_agent::ledger::HasAgentTurns as _;
use flowsdk_agent::set::AgentSet;
use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{Handover, OutgoingSink, ToolCalls};
use flowsdk_core::credential::{HasLlmCredentials as _, LlmCredential};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{AgentEvent, AgentStreamEvent, Notice, OutgoingEvent};
use flowsdk_core::flow::{
    CompiledFlow, Flow, FlowKind, FlowVersion, HasFlows as _, HttpAnswer, HttpCaller, HttpRequest,
    OutsideFailure, ScriptRequest, ScriptRunner,
};
use flowsdk_core::id::{AgentId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::message::{ContentMessage, Direction, HasMessages as _, HistoryQuery, IncomingMessage};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::session::{AgentState, Channel, HasSessions as _, Mode, Session, SessionId, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::mind::{Mind, TOOL};
use super::{ANSWERS, Store};
use crate::services::{Addresses, Database};
use crate::webchat::seed::{CRYPTO_SECRET, sqlite};

/// Rows that are written in one transaction.
const AT_ONCE: usize = 500;
/// How long a round may take.
const LIMIT: Duration = Duration::from_mins(5);
/// Most turns of a session.
const MOST_TURNS: u32 = 1_000;

/// A database with sessions of an AI agent, and the executor that runs their turns.
pub(super) struct Stand {
    store: SqlStore,
    cx: OpContext,
    sessions: Vec<Session>,
    places: HashMap<SessionId, usize>,
    mind: Arc<Mind>,
    inbox: AgentInbox<SqlStore>,
    said: mpsc::UnboundedReceiver<OutgoingEvent>,
    running: JoinSet<()>,
    stop: CancellationToken,
    database: Option<Database>,
    // Goes last, with the database in it.
    _folder: TempDir,
}

/// Passes on what the agents say.
#[derive(Debug)]
struct Sink(mpsc::UnboundedSender<OutgoingEvent>);

impl OutgoingSink for Sink {
    fn deliver(&self, events: Vec<OutgoingEvent>) {
        for event in events {
            // Nobody listens any more once the round is over.
            let _ = self.0.send(event);
        }
    }

    fn notify(&self, _: Notice) {}
}

/// The tool asks nothing of the outside.
#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl HttpCaller for Nowhere {
    async fn call(&self, _: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        Err(OutsideFailure::new("not_available", "there is no outside"))
    }
}

#[async_trait]
impl ScriptRunner for Nowhere {
    async fn run(&self, _: &ScriptRequest) -> Result<Value, OutsideFailure> {
        Err(OutsideFailure::new("not_available", "there are no scripts"))
    }
}

/// A flow of kind `tool` that knows a price.
fn price() -> Value {
    json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": "product", "required": true }], "returns": ["price"],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true },
            "onEnter": [{ "type": "setVariable", "key": "price", "value": "12" }] }] })
}

impl Stand {
    /// Makes a database with `count` sessions that an agent has, whose model takes `answer_time` for each answer.
    pub(super) async fn build(
        services: &Addresses,
        store: Store,
        count: usize,
        answer_time: Duration,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let database = match store {
            Store::Sqlite => None,
            Store::Postgres => Some(services.database().await?),
        };
        let url: DatabaseUrl = match &database {
            None => sqlite(&folder.path().join("race.db")),
            Some(database) => database.url.parse()?,
        };
        let (store, cx) = (SqlStore::connect(&url, OutboxRoutes::relayed()).await?, OpContext::system());
        let (router, agent) = furnish(&store, &cx).await?;
        let sessions = admit(&store, &cx, &router, &agent, count).await?;
        let (sink, said) = mpsc::unbounded_channel();
        let (mind, arrived) = (Arc::new(Mind::new(answer_time)), Arc::new(Notify::new()));
        let shared = Arc::new(store.clone());
        let key = Arc::new(MasterKey::new(CRYPTO_SECRET)?);
        let tools =
            ToolCalls::new(Arc::clone(&shared), cx.clone(), key, Arc::new(Nowhere), Arc::new(Nowhere));
        let executor = Arc::new(Executor::new(
            Arc::clone(&shared),
            cx.clone(),
            Arc::new(OneModel(Arc::clone(&mind) as _)),
            tools,
            Handover::Direct(Arc::new(Sink(sink))),
            Settings { quiet: Duration::ZERO, ..Settings::default() },
            Arc::clone(&arrived),
        ));
        let (mut running, stop) = (JoinSet::new(), CancellationToken::new());
        let stopped = stop.clone();
        running.spawn(async move { executor.run(&stopped).await });
        let inbox = AgentInbox::new(shared, cx.clone(), arrived);
        let places = sessions.iter().enumerate().map(|(place, session)| (session.id.clone(), place));
        let places = places.collect();
        Ok(Self { store, cx, sessions, places, mind, inbox, said, running, stop, database, _folder: folder })
    }

    /// Every contact writes, one after the other `within` a time, and writes again when they are answered, `turns` times.
    /// Returns how long it took until everybody had the last answer, and how long a contact waited for theirs on average.
    pub(super) async fn talk(&mut self, turns: usize, within: Duration) -> Result<(Duration, Duration)> {
        let began = Instant::now();
        let talking = async {
            let count = self.sessions.len();
            let begins = |place: usize| within.mul_f64(place as f64 / count as f64);
            let mut written = vec![1_usize; count];
            let (mut begun, mut left, mut said) = (0, count, Vec::new());
            let mut waited = Duration::ZERO;
            while left > 0 {
                tokio::select! {
                    () = tokio::time::sleep_until((began + begins(begun)).into()), if begun < count => {}
                    _ = self.said.recv_many(&mut said, AT_ONCE) => {}
                }
                let due = (begun..count).take_while(|&place| begins(place) <= began.elapsed());
                let mut next: Vec<(usize, usize)> = due.take(AT_ONCE).map(|place| (place, 1)).collect();
                begun += next.len();
                for event in said.drain(..) {
                    let place = *self.places.get(&event.session_id).context("a session of nobody")?;
                    let number = &mut written[place];
                    let expected = format!("{number} is 12");
                    let ContentMessage::Text { text } = &event.content else {
                        anyhow::bail!("session {place} was told {:?}", event.content)
                    };
                    ensure!(text.body == expected, "session {place} was told {}, not {expected}", text.body);
                    if *number == turns {
                        left -= 1;
                        waited += began.elapsed().saturating_sub(begins(place));
                    } else {
                        *number += 1;
                        next.push((place, *number));
                    }
                }
                self.write(next.into_iter()).await?;
            }
            Ok((began.elapsed(), waited / u32::try_from(count)?))
        };
        tokio::time::timeout(LIMIT, talking).await.context("somebody is not answered")?
    }

    /// Puts a message of each of these sessions into the inbox, in one commit.
    async fn write(&self, messages: impl Iterator<Item = (usize, usize)>) -> Result<()> {
        let event = |(place, number): (usize, usize)| {
            let session = &self.sessions[place];
            let text = IncomingMessage::text(format!("m{place}-{number}"), format!("s{place} {number}"));
            let event = AgentStreamEvent {
                session_id: session.id.clone(),
                chat_id: session.chat_id.clone(),
                to: session.id.party().to_owned(),
                phone_number_id: session.id.phone_number_id().to_owned(),
                agent_id: agent()?,
                max_messages: MOST_TURNS,
                messages: vec![text],
                handoff_context: None,
                last_user_input: None,
                epoch: Some(session.epoch),
                timestamp: self.cx.now(),
            };
            Ok(Delivered::read(&serde_json::to_string(&AgentEvent::Turn(event))?)?)
        };
        let delivered: Vec<Delivered> = messages.map(event).collect::<Result<_>>()?;
        if !delivered.is_empty() {
            self.inbox.put(delivered).await?;
        }
        Ok(())
    }

    /// Waits for the turns to end. Returns why the rows are not those of `turns` turns of each session, all run to their end
    /// and answered once.
    pub(super) async fn fault(&mut self, turns: usize) -> Result<Option<String>> {
        let ended = async {
            while !self.store.read().await?.agent_turns().sessions_running(1).await?.is_empty() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok::<_, anyhow::Error>(())
        };
        tokio::time::timeout(LIMIT, ended).await.context("a turn does not end")??;
        let (answers, overlaps) = self.mind.counts();
        let wanted = self.sessions.len() * turns * ANSWERS as usize;
        if (answers, overlaps) != (wanted, 0) {
            return Ok(Some(format!(
                "{answers} answers, not {wanted}; {overlaps} of them at once with another"
            )));
        }
        let limit = u32::try_from(turns + 1)?;
        for session in &self.sessions {
            let mut tx = self.store.read().await?;
            let stored = tx.agent_turns().of_activation(&session.id, session.epoch, 0, limit).await?;
            let whole = stored.iter().filter(|turn| {
                !turn.is_running && turn.error.is_none() && turn.answers.len() == ANSWERS as usize
            });
            let whole = whole.count();
            let query = HistoryQuery { chat_id: &session.chat_id, before: None, limit: MOST_TURNS };
            let messages = tx.messages().history(&query).await?.items;
            let told = messages.iter().filter(|message| message.direction == Direction::Out).count();
            if (stored.len(), whole, told) != (turns, turns, turns) {
                let what = format!("{} turns, {whole} of them whole, {told} messages", stored.len());
                return Ok(Some(format!("{}: {what}, not {turns}", session.id)));
            }
        }
        Ok(None)
    }

    /// Ends the executor and takes the database away.
    pub(super) async fn finish(mut self) -> Result<()> {
        self.stop.cancel();
        while self.running.join_next().await.is_some() {}
        self.store.close().await;
        match self.database {
            Some(database) => database.remove().await,
            None => Ok(()),
        }
    }
}

fn agent() -> Result<AgentId> {
    Ok("sales".parse()?)
}

/// Makes the router with its agent, its tool and its credential.
async fn furnish(store: &SqlStore, cx: &OpContext) -> Result<(RouterId, AgentId)> {
    let set = json!({ "agents": [{ "id": agent()?, "prompt": "You sell tea. Be brief." }] });
    let set = AgentSet::from_json(&set.to_string())?;
    let router = Router::new(RouterId::generate(cx.ids()), "Race", cx.now());
    let credential = LlmCredential::of_own_model("model".parse()?, "Model", cx.now());
    let mut flow = Flow::new(FlowId::generate(cx.ids()), router.id.clone(), TOOL, cx.now());
    flow.kind = FlowKind::Tool;
    let version = FlowVersion {
        id: FlowVersionId::generate(cx.ids()),
        flow_id: flow.id.clone(),
        router_id: router.id.clone(),
        flow_name: flow.name.clone(),
        number: 1,
        definition: price().into(),
        created_at: cx.now(),
    };
    CompiledFlow::compile(&version).map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let mut tx = store.begin().await?;
    tx.routers().insert(&router).await?;
    tx.llm_credentials().insert(&credential).await?;
    tx.flows().insert(&flow).await?;
    tx.flows().publish(&version).await?;
    set.install(&mut tx, cx, &router.id, &credential.id).await?;
    tx.commit().await.context("the rows of the agent")?;
    Ok((router.id, agent()?))
}

/// Makes sessions that an agent has.
async fn admit(
    store: &SqlStore,
    cx: &OpContext,
    router: &RouterId,
    agent: &AgentId,
    count: usize,
) -> Result<Vec<Session>> {
    let mut admitted = Vec::with_capacity(count);
    let ids = (0..count).map(|number| SessionId::parse(format!("wc-race-v{number}")));
    let ids: Vec<SessionId> = ids.collect::<Result<_, _>>()?;
    for ids in ids.chunks(AT_ONCE) {
        let mut tx = store.begin().await?;
        let contact =
            |id: &SessionId| Contact::create(cx, id.contact_identity(), "Ana".to_owned(), Channel::Webchat);
        let contacts: Vec<Contact> = ids.iter().map(contact).collect();
        let contacts = tx.contacts().insert_or_get_many(&contacts).await?;
        let chats = contacts.iter().map(|contact| Chat::open(cx, contact.id.clone(), router.clone()));
        let chats = tx.chats().open_or_get_many(&chats.collect::<Vec<_>>()).await?;
        let sessions = ids.iter().zip(chats).map(|(id, chat)| {
            let mut session = Session::begin(id.clone(), router.clone(), chat.contact_id, chat.id, cx.now());
            session.give_to(Mode::Agent);
            session.agent = Some(Box::new(AgentState::begin(agent.clone(), MOST_TURNS, cx.now() + LIMIT)));
            session
        });
        let sessions: Vec<Session> = sessions.collect();
        let writes: Vec<_> =
            sessions.iter().map(|session| SessionWrite { session, expected: None }).collect();
        tx.sessions().save_many(&writes).await?;
        tx.commit().await.context("the sessions")?;
        admitted.extend(sessions);
    }
    Ok(admitted)
}
