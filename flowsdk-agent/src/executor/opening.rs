//! The beginning of a turn, or the end of the agents' part without one.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::event::{AgentEvent, AgentManualHandoffEvent, AgentStreamEvent};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::MessageId;
use flowsdk_core::media::MediaId;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{AgentState, Mode, Session, SessionId, StoredSession};
use flowsdk_core::store::{Store, transact};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::time::Timestamp;

use super::budgets::NO_BUDGET;
use super::equipping::{Equipment, OpenTurn, Reading, snapshot};
use super::groups::GroupWriter;
use super::handing_on::{Handing, Handoff, end_by_force, hand_to_human};
use super::saving::{Sent, SessionAfter};
use super::seeing::{MOST_IMAGES, name_of};
use super::ticket::{close_lost_ticket, open_ticket};
use super::{Executor, ExecutorTx};
use crate::configuration;
use crate::inbox::{HasInbox as _, Letter, Urgency};
use crate::ledger::{AgentTurn, AgentTurnId, HasAgentTurns as _};
use crate::model::Item;
use crate::turn::{Course, Heard, Part, Unheard, first_input, hear, seen};

/// What became of the events of a session.
pub(super) enum Opened {
    /// A model is to be asked. What is beside the turn goes out before.
    Turn(Box<OpenTurn>, Sent),
    /// All is done, and this goes out.
    Over(Sent),
    /// Something stands before them.
    NotNow,
}

/// What is to be done for a session.
enum Attended {
    /// Something stands before it.
    NotNow,
    /// All is done.
    Over,
    /// A turn goes on.
    Turn(Box<Begun>),
}

/// A turn that goes on, before everything is read that it is run by.
struct Begun {
    /// The session, unless it is saved with the turn.
    session: Option<Session>,
    turn: AgentTurn,
    equipment: Arc<Equipment>,
}

/// What is to be written of the sessions of a group.
#[derive(Default)]
struct Writes {
    /// The ids of events that are taken out of the inbox.
    taken: Vec<String>,
    /// The ends of the tickets of sessions that their agents have lost.
    lost: Vec<NewEntry>,
    changed: Vec<AgentTurn>,
    begun: Vec<AgentTurn>,
    sessions: Vec<SessionAfter>,
}

impl Writes {
    /// Takes events out of the inbox. The tickets of sessions that agents have lost are closed.
    fn take(&mut self, letters: &[Letter]) {
        self.taken.extend(letters.iter().map(|letter| letter.id.clone()));
        self.lost.extend(letters.iter().filter_map(|letter| match &letter.event {
            AgentEvent::SessionLost(notice) => close_lost_ticket(notice),
            _ => None,
        }));
    }

    /// Ends a turn whose agent has lost the session.
    fn close(&mut self, turn: Option<AgentTurn>, now: Timestamp) {
        let Some(mut turn) = turn else { return };
        turn.fail("the session has moved on", None, now);
        turn.step += 1;
        self.changed.push(turn);
    }

    /// Writes everything but the sessions. A session has one turn that runs, so the one before ends first.
    async fn write_turns<T: ExecutorTx>(&self, tx: &mut T, now: Timestamp) -> Result<(), StorageError> {
        if !self.taken.is_empty() {
            tx.inbox().take(&self.taken, now).await?;
        }
        if !self.lost.is_empty() {
            tx.outbox().push_many(&self.lost).await?;
        }
        tx.agent_turns().save_many(&self.changed.iter().collect::<Vec<_>>()).await?;
        tx.agent_turns().insert_many(&self.begun).await
    }
}

/// Whose a session is.
pub(super) enum Standing {
    /// The agents have it.
    Theirs(Box<Session>),
    /// The agents have it, and something else comes first: its flow, or whoever thaws it.
    NotNow,
    /// It is somebody else's, or over.
    Lost,
}

/// The events of a session, by what they ask for.
#[derive(Default)]
struct Asked {
    handoff: Option<AgentManualHandoffEvent>,
    /// Whether the contact was found to be inactive.
    is_inactive: bool,
    turns: Vec<AgentStreamEvent>,
    /// Whether the session was taken from the agents in this epoch.
    is_lost: bool,
}

impl Asked {
    /// Sorts events. Those of another owner than that of `epoch` ask for nothing.
    fn of(letters: &[Letter], epoch: i64) -> Self {
        let mut asked = Self::default();
        for letter in letters {
            match &letter.event {
                AgentEvent::ManualHandoff(event) => {
                    if event.epoch.is_none_or(|of_event| of_event == epoch) {
                        asked.handoff = Some(event.clone());
                    }
                }
                AgentEvent::Inactivity(notice) => asked.is_inactive |= notice.epoch == epoch,
                AgentEvent::SessionLost(notice) => asked.is_lost |= notice.epoch == epoch,
                AgentEvent::Turn(event) => {
                    if event.epoch.is_none_or(|of_event| of_event == epoch) {
                        asked.turns.push(event.clone());
                    }
                }
            }
        }
        asked
    }

    /// Returns whether a turn that runs has to end.
    fn interrupts(&self) -> bool {
        self.handoff.is_some() || self.is_lost
    }

    /// Returns when the contact wrote last of what is asked here.
    fn heard_until(&self) -> Option<Timestamp> {
        self.turns.iter().filter(|event| !event.messages.is_empty()).map(|event| event.timestamp).max()
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Opens the turn of a session: the one that runs already, or one of what waits.
    pub(super) async fn open(&self, id: &SessionId) -> Result<Opened, StorageError> {
        let opened = self.openings.write(id.clone(), self.serving.gathering(), self).await;
        opened.map(|(_, opened)| opened)
    }

    /// Works out what is to be done for a session.
    async fn attend(
        &self,
        tx: &mut S::Tx,
        standing: Standing,
        (letters, running): (Vec<Letter>, Option<AgentTurn>),
        reading: &mut Reading,
        writes: &mut Writes,
    ) -> Result<Attended, StorageError> {
        let session = match standing {
            Standing::Theirs(session) => *session,
            Standing::NotNow => return Ok(Attended::NotNow),
            Standing::Lost => {
                writes.take(&letters);
                writes.close(running, self.cx.now());
                return Ok(Attended::Over);
            }
        };
        let asked = Asked::of(&letters, session.epoch);
        match running {
            Some(turn) if turn.epoch == session.epoch && !asked.interrupts() => {
                // What wants to end a turn, and may not, would want to again and again.
                let stale = letters.into_iter().filter(|letter| letter.urgency == Urgency::Interrupts);
                writes.take(&stale.collect::<Vec<_>>());
                return self.resume(tx, session, turn, reading, writes).await;
            }
            running => writes.close(running, self.cx.now()),
        }
        writes.take(&letters);
        self.answer(tx, session, asked, reading, writes).await
    }

    /// Does what events ask for.
    async fn answer(
        &self,
        tx: &mut S::Tx,
        mut session: Session,
        asked: Asked,
        reading: &mut Reading,
        writes: &mut Writes,
    ) -> Result<Attended, StorageError> {
        let mut handing = Handing::default();
        let heard_until = asked.heard_until();
        if let Some(event) = asked.handoff {
            let AgentManualHandoffEvent { reason, queue_id, user_id, requested_by, .. } = event;
            let asked = Handoff { reason, queue: queue_id, user: user_id, requested_by };
            hand_to_human(tx, &self.cx, &mut session, asked, &mut handing).await?;
            writes.sessions.push(SessionAfter::changed(session, handing));
            return Ok(Attended::Over);
        }
        let Some(last) = asked.turns.last().cloned() else {
            // Whoever wrote meanwhile, or got more time, has a deadline again.
            let is_silent = session.agent.as_ref().is_some_and(|state| state.deadline.is_none());
            if asked.is_inactive && is_silent {
                end_by_force(tx, &self.cx, &session, "inactivity").await?;
            }
            return Ok(Attended::Over);
        };
        let Some(state) = session.agent.as_deref() else { return Ok(Attended::Over) };
        if state.turn_count >= state.max_messages {
            end_by_force(tx, &self.cx, &session, "maxMessages").await?;
            return Ok(Attended::Over);
        }
        let agent = reading.agent(tx, &state.active_agent_id).await?;
        let sees = agent.as_ref().is_some_and(|agent| agent.has_vision);
        let said = said(tx, &asked.turns, sees).await?;
        let mut turn = self.begin(&session, state, &asked.turns, said, last);
        let agent =
            agent.filter(|agent| agent.router_id == session.router_id && configuration::is_in_service(agent));
        let refused = match &agent {
            _ if self.budgets.is_used_up(&session.router_id) => Some(NO_BUDGET),
            None => {
                tracing::warn!(session = %session.id, agent = %turn.agent_id, "an AI agent is not in service");
                Some("the agent is not in service")
            }
            Some(_) => None,
        };
        let (Some(agent), None) = (agent, refused) else {
            end_by_force(tx, &self.cx, &session, "fallback_stuck").await?;
            turn.fail(refused.unwrap_or(NO_BUDGET), Some("fallback_stuck"), self.cx.now());
            writes.begun.push(turn);
            return Ok(Attended::Over);
        };
        let equipment = reading.equipment(tx, &self.equipment, &agent).await?;
        let configuration = &equipment.configuration;
        let credential = reading.credential(tx, configuration.llm_credential_id.as_ref()).await?;
        if let Some(state) = &mut session.agent {
            state.turn_count = turn.number;
            state.heard_until = state.heard_until.max(heard_until);
            state.deadline = None;
            let provider = credential.map(|credential| credential.provider.name()).unwrap_or_default();
            state.config_snapshot = Some(snapshot(configuration, provider, state.max_messages));
        }
        turn.course.hide(&configuration.guardrail_rules.masked_data);
        handing.entries.extend(open_ticket(&self.cx, &mut session));
        session.arm(self.cx.now());
        writes.begun.push(turn.clone());
        handing.show_typing(self.cx.now());
        writes.sessions.push(SessionAfter::changed(session, handing));
        Ok(Attended::Turn(Box::new(Begun { session: None, turn, equipment })))
    }

    /// Returns a new turn that answers these events.
    fn begin(
        &self,
        session: &Session,
        state: &AgentState,
        turns: &[AgentStreamEvent],
        said: Said,
        last: AgentStreamEvent,
    ) -> AgentTurn {
        let heard: Vec<String> = said.parts.iter().map(Part::text).collect();
        let context = turns.iter().rev().find(|event| event.handoff_context.is_some()).cloned();
        let last_text = heard.last().or(last.last_user_input.as_ref());
        let mut course = Course::hearing(last_text.map_or(0, |text| text.chars().count()));
        let event = context.unwrap_or(last);
        course.has_to_hear(Unheard::of(&event, &said.parts));
        let mut input = first_input(&event, &heard);
        if let Item::User { images, .. } = &mut input {
            *images = said.images;
        }
        AgentTurn {
            id: AgentTurnId::generate(self.cx.ids()),
            router_id: session.router_id.clone(),
            session_id: session.id.clone(),
            chat_id: session.chat_id.clone(),
            agent_id: state.active_agent_id.clone(),
            epoch: session.epoch,
            activation: state.activation,
            number: state.turn_count + 1,
            step: 0,
            is_running: true,
            items: vec![input],
            answered: 0,
            course,
            began_call: None,
            answers: Vec::new(),
            end_reason: None,
            error: None,
            began_at: self.cx.now(),
            ended_at: None,
        }
    }

    /// Goes on with a turn that was left.
    async fn resume(
        &self,
        tx: &mut S::Tx,
        session: Session,
        mut turn: AgentTurn,
        reading: &mut Reading,
        writes: &mut Writes,
    ) -> Result<Attended, StorageError> {
        turn.step += 1;
        let agent = match reading.agent(tx, &turn.agent_id).await? {
            None => Err("the agent is gone"),
            Some(_) if !turn.course.resume() => Err("it was interrupted too often"),
            Some(agent) => Ok(agent),
        };
        let agent = match agent {
            Ok(agent) => agent,
            Err(why) => {
                tracing::error!(session = %session.id, turn = %turn.id, why, "a turn of an AI agent does not go on");
                end_by_force(tx, &self.cx, &session, "fallback_stuck").await?;
                turn.fail(why, Some("fallback_stuck"), self.cx.now());
                writes.changed.push(turn);
                return Ok(Attended::Over);
            }
        };
        let equipment = reading.equipment(tx, &self.equipment, &agent).await?;
        let configuration = &equipment.configuration;
        turn.course.hide(&configuration.guardrail_rules.masked_data);
        writes.changed.push(turn.clone());
        tracing::info!(session = %session.id, turn = %turn.id, "a turn of an AI agent goes on");
        Ok(Attended::Turn(Box::new(Begun { session: Some(session), turn, equipment })))
    }
}

#[async_trait]
impl<S: Store> GroupWriter<SessionId> for Executor<S>
where
    S::Tx: ExecutorTx,
{
    type Outcome = Opened;

    fn session_of<'a>(&self, session: &'a SessionId) -> &'a SessionId {
        session
    }

    /// Opens the turns of sessions.
    async fn write(&self, ids: &[SessionId]) -> Result<Vec<Opened>, StorageError> {
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, StorageError> {
            let mut standings = standings(tx, ids).await?;
            let mut letters: HashMap<SessionId, Vec<Letter>> = HashMap::new();
            for letter in tx.inbox().of_sessions(ids).await? {
                letters.entry(letter.session_id.clone()).or_default().push(letter);
            }
            let running = tx.agent_turns().running(ids).await?.into_iter();
            let mut running: HashMap<_, _> = running.map(|turn| (turn.session_id.clone(), turn)).collect();
            let (mut reading, mut writes) = (Reading::default(), Writes::default());
            let mut attended = HashMap::with_capacity(ids.len());
            for id in in_order_of_contacts(ids, &standings) {
                let standing = standings.remove(id).unwrap_or(Standing::Lost);
                let waits = (letters.remove(id).unwrap_or_default(), running.remove(id));
                let found = self.attend(tx, standing, waits, &mut reading, &mut writes).await?;
                attended.insert(id, found);
            }
            writes.write_turns(tx, self.cx.now()).await?;
            let mut saved = self.save(tx, writes.sessions).await?;
            let (mut contacts, mut turns) = (Vec::new(), Vec::new());
            for (id, outcome) in &attended {
                if let Attended::Turn(begun) = outcome {
                    let session = begun.session.as_ref().or(saved.get(*id).map(|(session, _)| session));
                    contacts.extend(session.map(|session| session.contact_id.clone()));
                    turns.push(&begun.turn);
                }
            }
            reading.read_past(tx, &contacts, &turns).await?;
            let mut opened = Vec::with_capacity(ids.len());
            for id in ids {
                let (session, sent) = saved.remove(id).unzip();
                let sent = sent.unwrap_or_default();
                opened.push(match attended.remove(id) {
                    None | Some(Attended::NotNow) => Opened::NotNow,
                    Some(Attended::Over) => Opened::Over(sent),
                    Some(Attended::Turn(begun)) => {
                        let Begun { session: unchanged, turn, equipment } = *begun;
                        let session = session.or(unchanged);
                        let session = session.ok_or(StorageError::Stale { entity: "session" })?;
                        let turn = self.equip(tx, session, turn, &equipment, &mut reading).await?;
                        Opened::Turn(Box::new(turn), sent)
                    }
                });
            }
            Ok(opened)
        })
        .await
    }
}

/// Returns sessions in the order of their contacts: whoever locks several contacts does so in this order.
fn in_order_of_contacts<'a>(
    ids: &'a [SessionId],
    standings: &HashMap<SessionId, Standing>,
) -> Vec<&'a SessionId> {
    let mut ordered: Vec<&SessionId> = ids.iter().collect();
    ordered.sort_by_key(|id| match standings.get(*id) {
        Some(Standing::Theirs(session)) => Some(&session.contact_id),
        _ => None,
    });
    ordered
}

/// Returns whose sessions are, and locks them. Those that have ended are not in it.
pub(super) async fn standings<T: ExecutorTx>(
    tx: &mut T,
    ids: &[SessionId],
) -> Result<HashMap<SessionId, Standing>, StorageError> {
    let stored = tx.sessions().find_many_for_update(ids).await?;
    let standing = |StoredSession { session, frozen, ahead }: StoredSession| {
        let id = session.id.clone();
        let is_theirs = session.mode == Mode::Agent && session.agent.is_some();
        let standing = match is_theirs {
            false => Standing::Lost,
            true if frozen || !ahead.is_empty() => Standing::NotNow,
            true => Standing::Theirs(Box::new(session)),
        };
        (id, standing)
    };
    Ok(stored.into_iter().map(standing).collect())
}

/// What the messages of a turn say.
struct Said {
    parts: Vec<Part>,
    /// The names of the images that its model sees.
    images: Vec<String>,
}

/// Returns what messages say, to a model that sees images or does not.
async fn said<T: ExecutorTx>(
    tx: &mut T,
    turns: &[AgentStreamEvent],
    sees: bool,
) -> Result<Said, StorageError> {
    let messages: Vec<&IncomingMessage> = turns.iter().flat_map(|event| &event.messages).collect();
    let with_file = |message: &&&IncomingMessage| message.content.file().is_some();
    let ids: Vec<MessageId> =
        messages.iter().filter(with_file).filter_map(|message| message.internal_id.clone()).collect();
    let files = if ids.is_empty() { Vec::new() } else { tx.media().of_messages(&ids).await? };
    let file_of = |message: &IncomingMessage| {
        let id = message.internal_id.as_ref();
        let brought = files.iter().find(|file| id.is_some() && file.message_id.as_ref() == id);
        // A file of the web chat that is sent once more is that of the first message. Whose it is, its reader looks.
        let named = || message.content.file().and_then(|(_, told)| MediaId::parse(&told.id).ok());
        brought.map(|file| file.id.clone()).or_else(named)
    };
    let (mut parts, mut images) = (Vec::with_capacity(messages.len()), Vec::new());
    // The newest images are seen: what a contact asks is mostly about them.
    for message in messages.into_iter().rev() {
        parts.push(match (hear(message), file_of(message)) {
            (Heard::Audio(_), file) => Part::Recording(file),
            (Heard::Image(image, _), Some(file)) if sees && images.len() < MOST_IMAGES => {
                images.push(name_of(&file));
                Part::Said(seen(image))
            }
            (Heard::Text(text) | Heard::Image(_, text), _) => Part::Said(text),
        });
    }
    parts.reverse();
    images.reverse();
    Ok(Said { parts, images })
}
