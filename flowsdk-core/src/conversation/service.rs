//! The conversation service: a batch of events of different sessions, in one transaction.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use secrecy::SecretString;

use super::flows::{FlowCache, Flows};
use super::opening::{Opened, open_many};
use super::turn::{After, Run, Stage, incoming_row, outgoing_row};
use super::{ConversationError, ConversationEvent, StoredMessage, TurnReport};
use crate::contact::Contact;
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::fault::StorageError;
use crate::id::{ChatId, ContactId, FlowId, FlowVersionId, MessageId, RouterId};
use crate::message::Message;
use crate::router::{Router, StaticVariables, VariableOwner};
use crate::session::{FrozenSession, Mode, Session, SessionId, SessionWrite};
use crate::store::{ConversationTx, OutboxTx as _, Store, Transaction as _};
use crate::stream::broker::NewEntry;
use crate::stream::event::{FlowEvent, HelpdeskEvent, HelpdeskMessageEvent, IncomingEvent, OutgoingEvent};
use crate::stream::topic::{Helpdesk, OutgoingChat, OutgoingPhone, OutgoingSocial, TopicName};
use crate::time::Timestamp;

/// Takes outgoing webchat messages in the process that ran the turn, after its commit.
pub trait OutgoingSink: Send + Sync + fmt::Debug {
    /// Must not block; events of one session are in order.
    fn deliver(&self, events: Vec<OutgoingEvent>);
}

/// Where outgoing webchat messages go after the commit.
#[derive(Debug, Clone)]
pub enum Handover {
    /// To the gateway in this process. Rows that are still `pending` at the next start are handed over
    /// then, so nothing is lost in between.
    Direct(Arc<dyn OutgoingSink>),
    /// Through the outbox to `stream:outgoing-chat`.
    Stream,
}

/// The orchestrator and the engine, in one transaction a batch.
#[derive(Debug)]
pub struct Conversations<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    flows: FlowCache,
    handover: Handover,
}

/// Everything read for a batch.
struct Facts {
    sessions: HashMap<SessionId, (Session, bool)>,
    contacts: HashMap<ContactId, Contact>,
    routers: HashMap<RouterId, Router>,
    statics: HashMap<VariableOwner, Arc<BTreeMap<String, SecretString>>>,
    flows: Flows,
    duplicates: HashMap<String, MessageId>,
}

/// What the owner of a session did with an event.
enum Progress {
    /// Nothing that changes the session.
    Nothing(TurnReport),
    /// A turn.
    Ran(TurnReport, Box<Run>),
}

/// Everything to be written for a batch.
#[derive(Default)]
struct Writes {
    messages: Vec<Message>,
    /// Their keys: a message may come twice within a batch too.
    stored: HashMap<String, MessageId>,
    sessions: Vec<(Session, Option<i64>)>,
    ended: Vec<SessionId>,
    /// In ascending order, in which their rows are locked.
    contacts: BTreeMap<ContactId, Contact>,
    closed_chats: Vec<ChatId>,
    frozen: Vec<FrozenSession>,
    kept: Vec<(SessionId, serde_json::Value)>,
    entries: Vec<NewEntry>,
}

impl<S: Store> Conversations<S>
where
    S::Tx: ConversationTx,
{
    /// A service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, master_key: Arc<MasterKey>, handover: Handover) -> Self {
        Self {
            store,
            cx,
            master_key,
            flows: FlowCache::default(),
            handover,
        }
    }

    /// Handles events, no two of one session, in one commit; one report each, in order.
    ///
    /// Idempotent: a message that was stored before is reported as such and runs no turn.
    ///
    /// # Errors
    /// Nothing of the batch was committed.
    pub async fn handle(&self, events: &[&ConversationEvent]) -> Result<Vec<TurnReport>, ConversationError> {
        let reports = match self.attempt(events, false).await {
            // A repetition breaks the unique key of its message. It is rare, so only then is it looked for.
            Err(ConversationError::Storage(StorageError::Unique { .. })) => self.attempt(events, true).await,
            other => other,
        }?;
        if let Handover::Direct(sink) = &self.handover {
            for report in &reports {
                let chat = |event: &&OutgoingEvent| {
                    TopicName::outgoing(&event.session_id) == TopicName::OutgoingChat
                };
                let events: Vec<_> = report.outgoing.iter().filter(chat).cloned().collect();
                if !events.is_empty() {
                    sink.deliver(events);
                }
            }
        }
        Ok(reports)
    }

    /// Freezes a session whose event failed for good; the event is kept for a replay (rulings S5).
    pub async fn freeze(
        &self,
        session_id: SessionId,
        entry: serde_json::Value,
        code: &str,
        message: &str,
    ) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        let error = crate::session::FrozenError {
            code: code.to_owned(),
            message: message.to_owned(),
        };
        let frozen = FrozenSession {
            session_id,
            error,
            entry,
            frozen_at: self.cx.now(),
        };
        tx.sessions().freeze(&frozen).await?;
        tx.commit().await
    }

    async fn attempt(
        &self,
        events: &[&ConversationEvent],
        look_for_duplicates: bool,
    ) -> Result<Vec<TurnReport>, ConversationError> {
        let now = self.cx.now();
        let mut tx = self.store.begin().await?;
        let mut facts = self.read_facts(&mut tx, events, look_for_duplicates).await?;
        let first: Vec<&IncomingEvent> = events
            .iter()
            .filter(|event| !facts.sessions.contains_key(event.session_id()))
            .filter_map(|event| event.incoming())
            .collect();
        let mut opened = HashMap::new();
        if !first.is_empty() {
            let outcomes = open_many(&mut tx, &self.cx, &self.flows, &mut facts.flows, now, &first).await?;
            opened.extend(first.iter().map(|event| event.session_id.clone()).zip(outcomes));
        }
        self.read_flow_facts(&mut tx, &mut facts, &opened).await?;

        let mut writes = Writes::default();
        let mut reports = Vec::with_capacity(events.len());
        for event in events {
            reports.push(self.decide(
                event,
                &mut facts,
                opened.remove(event.session_id()),
                now,
                &mut writes,
            )?);
        }
        self.write(&mut tx, writes).await?;
        tx.commit().await?;
        Ok(reports)
    }

    async fn read_facts(
        &self,
        tx: &mut S::Tx,
        events: &[&ConversationEvent],
        look_for_duplicates: bool,
    ) -> Result<Facts, ConversationError> {
        let mut ids: Vec<SessionId> = events.iter().map(|event| event.session_id().clone()).collect();
        ids.sort_unstable();
        let stored = tx.sessions().find_many_for_update(&ids).await?;
        let contact_ids: Vec<ContactId> = stored.iter().map(|s| s.session.contact_id.clone()).collect();
        let contacts = if contact_ids.is_empty() {
            Vec::new()
        } else {
            tx.contacts().find_many(&contact_ids).await?
        };
        let mut duplicates = HashMap::new();
        if look_for_duplicates {
            let keys: Vec<String> = events
                .iter()
                .filter_map(|event| event.incoming())
                .flat_map(|event| {
                    event
                        .messages
                        .iter()
                        .map(|message| message.dedupe_key(&event.session_id))
                })
                .collect();
            duplicates.extend(tx.messages().find_by_channel_ids(&keys).await?);
        }
        Ok(Facts {
            sessions: stored
                .into_iter()
                .map(|s| (s.session.id.clone(), (s.session, s.frozen)))
                .collect(),
            contacts: contacts
                .into_iter()
                .map(|contact| (contact.id.clone(), contact))
                .collect(),
            routers: HashMap::new(),
            statics: HashMap::new(),
            flows: Flows::default(),
            duplicates,
        })
    }

    /// Reads what the flows of the batch need: their versions, the flows they point to, the routers
    /// and, where a flow uses them, the static variables.
    async fn read_flow_facts(
        &self,
        tx: &mut S::Tx,
        facts: &mut Facts,
        opened: &HashMap<SessionId, Opened>,
    ) -> Result<(), ConversationError> {
        let sessions: Vec<&Session> = facts
            .sessions
            .values()
            .map(|(session, _)| session)
            .chain(opened.values().filter_map(|opened| match opened {
                Opened::Session(session, _) => Some(&**session),
                _ => None,
            }))
            .collect();
        let versions: Vec<FlowVersionId> = sessions
            .iter()
            .filter_map(|s| s.position.as_ref())
            .map(|p| p.version_id.clone())
            .collect();
        self.flows.load(tx.flows(), &mut facts.flows, &versions).await?;

        let mut owners: Vec<VariableOwner> = Vec::new();
        let in_use = versions.iter().filter_map(|id| facts.flows.version(id));
        let referenced: Vec<FlowId> = in_use.flat_map(|flow| flow.referenced_flows()).collect();
        self.flows
            .load_reachable(tx.flows(), &mut facts.flows, referenced)
            .await?;
        for session in &sessions {
            let flow = session
                .position
                .as_ref()
                .and_then(|p| facts.flows.version(&p.version_id));
            if let Some(flow) = flow.filter(|flow| flow.uses_static_variables()) {
                owners.push(VariableOwner::Router(session.router_id.clone()));
                owners.push(VariableOwner::Flow(flow.flow_id().clone()));
            }
        }
        let mut routers: Vec<RouterId> = sessions.iter().map(|s| s.router_id.clone()).collect();
        routers.sort_unstable();
        routers.dedup();
        if !routers.is_empty() {
            let found = tx.routers().find_many(&routers).await?;
            facts.routers = found
                .into_iter()
                .map(|router| (router.id.clone(), router))
                .collect();
        }
        if !owners.is_empty() {
            facts.statics = self.statics(tx, &owners).await?;
        }
        Ok(())
    }

    /// The decrypted static variables of `owners`. One that no key opens is left out: the engine sees an
    /// empty text, and the log names it.
    async fn statics(
        &self,
        tx: &mut S::Tx,
        owners: &[VariableOwner],
    ) -> Result<HashMap<VariableOwner, Arc<BTreeMap<String, SecretString>>>, StorageError> {
        let mut maps: HashMap<VariableOwner, BTreeMap<String, SecretString>> = HashMap::new();
        for variable in tx.routers().static_variables(owners).await? {
            let value = match (&variable.value, &variable.encrypted) {
                (Some(clear), _) => Some(SecretString::from(clear.clone())),
                (None, Some(encrypted)) => self.master_key.decrypt(encrypted).ok(),
                (None, None) => None,
            };
            match value {
                Some(value) => drop(
                    maps.entry(variable.owner)
                        .or_default()
                        .insert(variable.key, value),
                ),
                None => tracing::error!(key = variable.key, "a static variable cannot be read"),
            }
        }
        Ok(maps
            .into_iter()
            .map(|(owner, map)| (owner, Arc::new(map)))
            .collect())
    }

    /// Decides one event; nothing is read or written.
    fn decide(
        &self,
        event: &ConversationEvent,
        facts: &mut Facts,
        opened: Option<Opened>,
        now: Timestamp,
        writes: &mut Writes,
    ) -> Result<TurnReport, ConversationError> {
        let id = event.session_id();
        let (session, contact, expected) = match (facts.sessions.remove(id), opened) {
            (Some((session, true)), _) => {
                let at = now.max(session.last_interaction_at);
                let report = self.store_only(event, &session.chat_id, facts, at, writes);
                if report.stored.iter().any(|message| !message.duplicate) || event.incoming().is_none() {
                    writes.kept.push((id.clone(), event.to_json()));
                }
                return Ok(report);
            }
            (Some((session, false)), _) => {
                // Another session of this contact may have changed it in the same batch.
                let contact = writes
                    .contacts
                    .get(&session.contact_id)
                    .or_else(|| facts.contacts.get(&session.contact_id))
                    .cloned()
                    .ok_or_else(|| StorageError::Corrupt {
                        entity: "session",
                        reason: "its contact is not there".to_owned(),
                    })?;
                let version = session.version;
                (session, contact, Some(version))
            }
            (None, Some(Opened::Session(session, contact))) => {
                let contact = writes.contacts.get(&contact.id).cloned().unwrap_or(*contact);
                (*session, contact, None)
            }
            (None, Some(Opened::ChatOnly(chat_id))) => {
                return Ok(self.store_only(event, &chat_id, facts, now, writes));
            }
            (None, Some(Opened::Frozen)) => {
                writes.kept.push((id.clone(), event.to_json()));
                return Ok(TurnReport::default());
            }
            // A timer or a redirect of a session that has ended since has nothing to do.
            (None, Some(Opened::Dropped) | None) => return Ok(TurnReport::default()),
        };
        let entry = session.position.clone();
        match self.run(event, Run::new(session, contact), facts, entry, now, writes)? {
            Progress::Nothing(report) => Ok(report),
            Progress::Ran(mut report, run) => {
                report.outgoing.clone_from(&run.outgoing);
                self.collect(event, *run, expected, now, writes);
                Ok(report)
            }
        }
    }

    /// Stores the messages of an event that no flow answers.
    fn store_only(
        &self,
        event: &ConversationEvent,
        chat_id: &ChatId,
        facts: &Facts,
        now: Timestamp,
        writes: &mut Writes,
    ) -> TurnReport {
        let mut report = TurnReport::default();
        for (event, message) in event
            .incoming()
            .iter()
            .flat_map(|e| e.messages.iter().map(move |m| (e, m)))
        {
            self.store(event, message, chat_id, facts, now, writes, &mut report);
        }
        report
    }

    /// Stores one message; whether it is new.
    #[allow(clippy::too_many_arguments, reason = "one step of `decide`, on its locals")]
    fn store(
        &self,
        event: &IncomingEvent,
        message: &crate::message::IncomingMessage,
        chat_id: &ChatId,
        facts: &Facts,
        now: Timestamp,
        writes: &mut Writes,
        report: &mut TurnReport,
    ) -> bool {
        let key = message.dedupe_key(&event.session_id);
        if let Some(id) = facts.duplicates.get(&key).or_else(|| writes.stored.get(&key)) {
            report.stored.push(StoredMessage {
                id: id.clone(),
                duplicate: true,
            });
            return false;
        }
        let id = message
            .internal_id
            .clone()
            .unwrap_or_else(|| MessageId::generate(self.cx.ids()));
        writes.stored.insert(key, id.clone());
        writes
            .messages
            .push(incoming_row(id.clone(), &event.session_id, chat_id, message, now));
        report.stored.push(StoredMessage { id, duplicate: false });
        true
    }

    /// Gives the event to the owner of the session.
    fn run(
        &self,
        event: &ConversationEvent,
        mut run: Run,
        facts: &Facts,
        entry: Option<crate::session::Position>,
        now: Timestamp,
        writes: &mut Writes,
    ) -> Result<Progress, ConversationError> {
        let chat_id = run.session.chat_id.clone();
        let mut report = TurnReport::default();
        let router = facts
            .routers
            .get(&run.session.router_id)
            .ok_or_else(|| StorageError::Corrupt {
                entity: "session",
                reason: "its router is not there".to_owned(),
            })?;
        let stage = Stage {
            cx: &self.cx,
            now: now.max(run.session.last_interaction_at),
            flows: &facts.flows,
            router,
            statics: statics_of(facts, &run.session),
        };
        match (event, run.session.mode) {
            (ConversationEvent::Flow(FlowEvent::InputTimeout(_)), Mode::Flow) => run = stage.timeout(run),
            (ConversationEvent::Flow(FlowEvent::InputTimeout(_)), Mode::Human) => {
                return Ok(Progress::Nothing(report));
            }
            (
                ConversationEvent::Incoming(event) | ConversationEvent::Flow(FlowEvent::Message(event)),
                mode,
            ) => {
                let mut fresh = Vec::new();
                for message in &event.messages {
                    if self.store(event, message, &chat_id, facts, stage.now, writes, &mut report) {
                        fresh.push(message);
                    }
                }
                if fresh.is_empty() {
                    return Ok(Progress::Nothing(report));
                }
                match mode {
                    Mode::Flow => {
                        for message in fresh {
                            if let After::Ended = run.after {
                                run = restart(run, entry.clone(), stage.now);
                            }
                            if run.live() {
                                run = stage.message(run, message);
                            }
                        }
                    }
                    Mode::Human => {
                        run.session.last_interaction_at = stage.now;
                        let event = HelpdeskMessageEvent {
                            session_id: event.session_id.clone(),
                            chat_id,
                            router_id: run.session.router_id.clone(),
                            messages: fresh.into_iter().cloned().collect(),
                            timestamp: stage.now,
                        };
                        writes
                            .entries
                            .push(NewEntry::of::<Helpdesk>(&HelpdeskEvent::Message(event)));
                    }
                    Mode::Agent => return Err(ConversationError::Unsupported("a message to an AI agent")),
                }
            }
            (ConversationEvent::Flow(FlowEvent::InputTimeout(_)), Mode::Agent) => {
                return Err(ConversationError::Unsupported("the inactivity of an AI agent"));
            }
            (ConversationEvent::Flow(FlowEvent::ExternalJump(_)), _) => {
                return Err(ConversationError::Unsupported("externalJump"));
            }
            (
                ConversationEvent::Flow(FlowEvent::AgentSessionEnded(_) | FlowEvent::HumanSessionEnded(_)),
                _,
            ) => {
                return Err(ConversationError::Unsupported("a hand-back"));
            }
        }
        Ok(Progress::Ran(report, Box::new(run)))
    }

    /// Turns a run into rows.
    fn collect(
        &self,
        event: &ConversationEvent,
        run: Run,
        expected: Option<i64>,
        now: Timestamp,
        writes: &mut Writes,
    ) {
        let Run {
            mut session,
            contact,
            contact_changed,
            close_chat,
            outgoing,
            after,
        } = run;
        for event in &outgoing {
            writes.messages.push(outgoing_row(event, &session.chat_id));
            writes.entries.extend(self.entry_of(event));
        }
        if contact_changed {
            writes.contacts.insert(contact.id.clone(), contact);
        }
        if close_chat {
            writes.closed_chats.push(session.chat_id.clone());
        }
        if let Some(version) = expected {
            session.version = version + 1;
        }
        match after {
            After::Live => writes.sessions.push((session, expected)),
            After::Ended if expected.is_some() => writes.ended.push(session.id),
            After::Ended => {}
            After::Frozen(error) => {
                tracing::warn!(session = %session.id, code = error.code, "a session froze");
                metrics::counter!("flowsdk_sessions_frozen").increment(1);
                writes.frozen.push(FrozenSession {
                    session_id: session.id.clone(),
                    error,
                    entry: event.to_json(),
                    frozen_at: now,
                });
                writes.sessions.push((session, expected));
            }
        }
    }

    /// The stream entry of an outgoing event, unless it is handed over in this process.
    fn entry_of(&self, event: &OutgoingEvent) -> Option<NewEntry> {
        match (TopicName::outgoing(&event.session_id), &self.handover) {
            (TopicName::OutgoingChat, Handover::Direct(_)) => None,
            (TopicName::OutgoingChat, Handover::Stream) => Some(NewEntry::of::<OutgoingChat>(event)),
            (TopicName::OutgoingSocial, _) => Some(NewEntry::of::<OutgoingSocial>(event)),
            _ => Some(NewEntry::of::<OutgoingPhone>(event)),
        }
    }

    async fn write(&self, tx: &mut S::Tx, writes: Writes) -> Result<(), StorageError> {
        if !writes.messages.is_empty() {
            tx.messages().insert_many(&writes.messages).await?;
        }
        if !writes.sessions.is_empty() {
            let rows: Vec<SessionWrite<'_>> = writes
                .sessions
                .iter()
                .map(|(session, expected)| SessionWrite {
                    session,
                    expected: *expected,
                })
                .collect();
            tx.sessions().save_many(&rows).await?;
        }
        if !writes.ended.is_empty() {
            tx.sessions()
                .delete_many(&writes.ended.iter().collect::<Vec<_>>())
                .await?;
        }
        if !writes.contacts.is_empty() {
            tx.contacts()
                .save_many(&writes.contacts.values().collect::<Vec<_>>())
                .await?;
        }
        if !writes.closed_chats.is_empty() {
            tx.chats().close_many(&writes.closed_chats).await?;
        }
        for frozen in &writes.frozen {
            tx.sessions().freeze(frozen).await?;
        }
        for (id, entry) in &writes.kept {
            tx.sessions().keep_entry(id, entry).await?;
        }
        if !writes.entries.is_empty() {
            tx.outbox().push_many(&writes.entries).await?;
        }
        Ok(())
    }
}

fn statics_of(facts: &Facts, session: &Session) -> StaticVariables {
    let flow = session
        .position
        .as_ref()
        .map(|position| VariableOwner::Flow(position.flow_id.clone()));
    StaticVariables {
        router: facts
            .statics
            .get(&VariableOwner::Router(session.router_id.clone()))
            .cloned()
            .unwrap_or_default(),
        flow: flow
            .and_then(|owner| facts.statics.get(&owner))
            .cloned()
            .unwrap_or_default(),
    }
}

/// A session that ended within an event begins again with the next message of the same event.
fn restart(mut run: Run, entry: Option<crate::session::Position>, now: Timestamp) -> Run {
    let old = run.session;
    let mut session = Session::begin(old.id, old.router_id, old.contact_id, old.chat_id, now);
    session.position = entry.map(|position| crate::session::Position {
        block_id: None,
        waiting: None,
        ..position
    });
    run.session = session;
    run.after = After::Live;
    run
}
