//! The beginning of a turn, or the end of the agents' part without one.

use std::sync::Arc;

use flowsdk_core::contact::HasContactCatalog as _;
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::LlmCredential;
use flowsdk_core::event::{AgentEvent, AgentManualHandoffEvent, AgentStreamEvent};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, LlmCredentialId, MessageId};
use flowsdk_core::media::MediaId;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::session::{AgentConfigSnapshot, AgentState, Mode, Session, SessionId};
use flowsdk_core::store::{Store, transact};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};

use super::acting::Outside;
use super::budgets::NO_BUDGET;
use super::handing_on::{Handing, Handoff, end_by_force, hand_to_human};
use super::seeing::{MOST_IMAGES, Pictures, name_of};
use super::ticket::{close_lost_ticket, open_ticket};
use super::writing::Sent;
use super::{Executor, ExecutorTx};
use crate::agent::AiAgent;
use crate::configuration::{self, AgentConfiguration};
use crate::guardrail::EnforcedRules;
use crate::inbox::{HasInbox as _, Letter, Urgency};
use crate::ledger::{AgentTurn, AgentTurnId, HasAgentTurns as _};
use crate::model::Item;
use crate::tool::Toolset;
use crate::turn::{Course, Heard, Instructions, Part, Unheard, first_input, hear, seen};
use crate::usage::ModelCall;

/// Most turns whose items are the history of a turn.
const HISTORY: u32 = 100;

/// A turn that runs, with what it is run by.
pub(super) struct OpenTurn {
    pub(super) record: AgentTurn,
    pub(super) session: Session,
    pub(super) configuration: AgentConfiguration,
    pub(super) instructions: Instructions,
    pub(super) toolset: Toolset,
    /// What its messages and effects have to keep to.
    pub(super) rules: Arc<EnforcedRules>,
    /// The variables of the contact.
    pub(super) contact: Map<String, Value>,
    /// What was said in the turns before.
    pub(super) history: Vec<Item>,
    /// How many of the items, those of the history among them, the provider has: the session has the id of its response.
    pub(super) known: usize,
    /// How many answers are written, with what they used.
    pub(super) noted: usize,
    /// Calls of models since the last step that are no answers: of recordings and searches.
    pub(super) beside: Vec<ModelCall>,
    /// The credentials of the model and of the fallback.
    pub(super) credentials: [Option<LlmCredential>; 2],
    /// The call that is to be made now.
    pub(super) outside: Option<Outside>,
    /// The images of the turn, once they were looked at.
    pub(super) pictures: Option<Pictures>,
}

/// What became of the events of a session.
pub(super) enum Opened {
    /// A model is to be asked. What is beside the turn goes out before.
    Turn(Box<OpenTurn>, Sent),
    /// All is done, and this goes out.
    Over(Sent),
    /// Something stands before them.
    NotNow,
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
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, StorageError> {
            let standing = standing(tx, id).await?;
            let letters = tx.inbox().of_session(id).await?;
            let running = tx.agent_turns().running(id).await?;
            let session = match standing {
                Standing::Theirs(session) => *session,
                Standing::NotNow => return Ok(Opened::NotNow),
                Standing::Lost => {
                    take(tx, &letters, self.cx.now()).await?;
                    close(tx, running, &self.cx).await?;
                    return Ok(Opened::Over(Sent::default()));
                }
            };
            let asked = Asked::of(&letters, session.epoch);
            match running {
                Some(turn) if turn.epoch == session.epoch && !asked.interrupts() => {
                    // What wants to end a turn, and may not, would want to again and again.
                    let stale = letters.into_iter().filter(|letter| letter.urgency == Urgency::Interrupts);
                    take(tx, &stale.collect::<Vec<_>>(), self.cx.now()).await?;
                    return self.resume(tx, session, turn).await;
                }
                running => close(tx, running, &self.cx).await?,
            }
            take(tx, &letters, self.cx.now()).await?;
            self.answer(tx, session, asked).await
        })
        .await
    }

    /// Does what events ask for.
    async fn answer(
        &self,
        tx: &mut S::Tx,
        mut session: Session,
        asked: Asked,
    ) -> Result<Opened, StorageError> {
        let mut handing = Handing::default();
        let heard_until = asked.heard_until();
        if let Some(event) = asked.handoff {
            let AgentManualHandoffEvent { reason, queue_id, user_id, requested_by, .. } = event;
            let asked = Handoff { reason, queue: queue_id, user: user_id, requested_by };
            hand_to_human(tx, &self.cx, &mut session, asked, &mut handing).await?;
            let (_, sent) = self.save(tx, session, handing).await?;
            return Ok(Opened::Over(sent));
        }
        let Some(last) = asked.turns.last().cloned() else {
            // Whoever wrote meanwhile, or got more time, has a deadline again.
            let is_silent = session.agent.as_ref().is_some_and(|state| state.deadline.is_none());
            if asked.is_inactive && is_silent {
                end_by_force(tx, &self.cx, &session, "inactivity").await?;
            }
            return Ok(Opened::Over(Sent::default()));
        };
        let Some(state) = session.agent.as_deref() else { return Ok(Opened::Over(Sent::default())) };
        if state.turn_count >= state.max_messages {
            end_by_force(tx, &self.cx, &session, "maxMessages").await?;
            return Ok(Opened::Over(Sent::default()));
        }
        let agent: Option<AiAgent> = tx.records().find(&state.active_agent_id).await?;
        let sees = agent.as_ref().is_some_and(|agent| agent.has_vision);
        let said = said(tx, &asked.turns, sees).await?;
        let mut turn = self.begin(&session, state, &asked.turns, said, last);
        if self.budgets.is_used_up(&session.router_id) {
            end_by_force(tx, &self.cx, &session, "fallback_stuck").await?;
            turn.fail(NO_BUDGET, Some("fallback_stuck"), self.cx.now());
            tx.agent_turns().insert(&turn).await?;
            return Ok(Opened::Over(Sent::default()));
        }
        let agent =
            agent.filter(|agent| agent.router_id == session.router_id && configuration::is_in_service(agent));
        let Some(agent) = agent else {
            tracing::warn!(session = %session.id, agent = %turn.agent_id, "an AI agent is not in service");
            end_by_force(tx, &self.cx, &session, "fallback_stuck").await?;
            turn.fail("the agent is not in service", Some("fallback_stuck"), self.cx.now());
            tx.agent_turns().insert(&turn).await?;
            return Ok(Opened::Over(Sent::default()));
        };
        let configuration = configuration::read(tx, &agent).await?;
        let credential = find_credential(tx, configuration.llm_credential_id.as_ref()).await?;
        if let Some(state) = &mut session.agent {
            state.turn_count = turn.number;
            state.heard_until = state.heard_until.max(heard_until);
            state.deadline = None;
            let provider = credential.map(|credential| credential.provider.name()).unwrap_or_default();
            state.config_snapshot = Some(snapshot(&configuration, provider, state.max_messages));
        }
        turn.course.hide(&configuration.guardrail_rules.masked_data);
        handing.entries.extend(open_ticket(&self.cx, &mut session));
        session.arm(self.cx.now());
        tx.agent_turns().insert(&turn).await?;
        handing.show_typing(self.cx.now());
        let (session, sent) = self.save(tx, session, handing).await?;
        let turn = self.equip(tx, session, turn, configuration).await?;
        Ok(Opened::Turn(Box::new(turn), sent))
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
        turn: AgentTurn,
    ) -> Result<Opened, StorageError> {
        let mut turn = turn;
        turn.step += 1;
        let found: Option<AiAgent> = tx.records().find(&turn.agent_id).await?;
        let agent = match found {
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
                tx.agent_turns().save(&turn).await?;
                return Ok(Opened::Over(Sent::default()));
            }
        };
        let configuration = configuration::read(tx, &agent).await?;
        turn.course.hide(&configuration.guardrail_rules.masked_data);
        tx.agent_turns().save(&turn).await?;
        tracing::info!(session = %session.id, turn = %turn.id, "a turn of an AI agent goes on");
        let turn = self.equip(tx, session, turn, configuration).await?;
        Ok(Opened::Turn(Box::new(turn), Sent::default()))
    }

    /// Reads all that a turn is run by.
    async fn equip(
        &self,
        tx: &mut S::Tx,
        session: Session,
        record: AgentTurn,
        configuration: AgentConfiguration,
    ) -> Result<OpenTurn, StorageError> {
        let of: [ContactId; 1] = [session.contact_id.clone()];
        let contact = tx.contact_catalog().find(&of, None).await?.pop();
        let mut before =
            tx.agent_turns().of_activation(&session.id, record.epoch, record.activation, HISTORY).await?;
        before.retain(|turn| turn.id != record.id);
        // The provider has everything up to the last answer, whichever turn that was in.
        let (mut known, mut length) = (0, 0);
        for turn in &before {
            if turn.answered > 0 {
                known = length + turn.answered as usize;
            }
            length += turn.items.len();
        }
        if record.answered > 0 {
            known = length + record.answered as usize;
        }
        let history: Vec<Item> = before.into_iter().flat_map(|turn| turn.items).collect();
        let credentials = [
            find_credential(tx, configuration.llm_credential_id.as_ref()).await?,
            find_credential(tx, configuration.fallback_llm_credential_id.as_ref()).await?,
        ];
        let (context, last_summary, variables) = match contact {
            Some(details) => {
                let name = details.contact.spoken_name();
                let name = (!name.is_empty()).then(|| format!("Name: {name}"));
                let known: Vec<String> = name.into_iter().chain(details.context).collect();
                (known.join("\n"), details.last_session_summary, details.contact.variables)
            }
            None => (String::new(), None, Map::new()),
        };
        let instructions = Instructions {
            system_prompt: configuration.system_prompt.clone(),
            guardrails: configuration.guardrails.clone(),
            colleagues: configuration.colleagues(),
            last_summary,
            contact_context: Some(context).filter(|text| !text.is_empty()),
        };
        let toolset = Toolset::new(&configuration.tool_settings(), session.id.channel().capabilities());
        let contact = variables;
        let rules = self.rules.of(&configuration.guardrail_rules);
        Ok(OpenTurn {
            noted: record.answers.len(),
            beside: Vec::new(),
            record,
            session,
            configuration,
            instructions,
            toolset,
            rules,
            contact,
            history,
            known,
            credentials,
            outside: None,
            pictures: None,
        })
    }
}

/// Returns whose a session is, which is locked.
pub(super) async fn standing<T: ExecutorTx>(tx: &mut T, id: &SessionId) -> Result<Standing, StorageError> {
    let stored = tx.sessions().find_many_for_update(std::slice::from_ref(id)).await?.pop();
    let theirs = stored.filter(|stored| stored.session.mode == Mode::Agent && stored.session.agent.is_some());
    Ok(match theirs {
        None => Standing::Lost,
        Some(stored) if stored.frozen || !stored.ahead.is_empty() => Standing::NotNow,
        Some(stored) => Standing::Theirs(Box::new(stored.session)),
    })
}

/// Takes events out of the inbox. The tickets of sessions that agents have lost are closed.
async fn take<T: ExecutorTx>(tx: &mut T, letters: &[Letter], now: Timestamp) -> Result<(), StorageError> {
    let ids: Vec<String> = letters.iter().map(|letter| letter.id.clone()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    tx.inbox().take(&ids, now).await?;
    let lost = letters.iter().filter_map(|letter| match &letter.event {
        AgentEvent::SessionLost(notice) => close_lost_ticket(notice),
        _ => None,
    });
    let lost: Vec<NewEntry> = lost.collect();
    if lost.is_empty() { Ok(()) } else { tx.outbox().push_many(&lost).await }
}

/// Ends a turn whose agent has lost the session.
async fn close<T: ExecutorTx>(
    tx: &mut T,
    turn: Option<AgentTurn>,
    cx: &OpContext,
) -> Result<(), StorageError> {
    let Some(mut turn) = turn else { return Ok(()) };
    turn.fail("the session has moved on", None, cx.now());
    turn.step += 1;
    tx.agent_turns().save(&turn).await
}

async fn find_credential<T: ExecutorTx>(
    tx: &mut T,
    id: Option<&LlmCredentialId>,
) -> Result<Option<LlmCredential>, StorageError> {
    match id {
        Some(id) => tx.llm_credentials().find(id).await,
        None => Ok(None),
    }
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

fn snapshot(configuration: &AgentConfiguration, provider: &str, max_messages: u32) -> AgentConfigSnapshot {
    AgentConfigSnapshot {
        agent_id: configuration.agent_id.clone(),
        system_prompt: configuration.system_prompt.clone(),
        model: configuration.model.clone(),
        provider: provider.to_owned(),
        guardrails: configuration.guardrails.clone(),
        max_messages,
    }
}
