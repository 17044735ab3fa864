//! The beginning of a turn, or the end of the agents' part without one.

use flowsdk_core::contact::HasContactCatalog as _;
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::LlmCredential;
use flowsdk_core::event::{AgentEvent, AgentManualHandoffEvent, AgentStreamEvent};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, LlmCredentialId};
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::session::{AgentConfigSnapshot, AgentState, Mode, Session, SessionId};
use flowsdk_core::store::{Store, transact};
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};

use super::acting::Outside;
use super::handing_on::{Handing, end_by_force, hand_to_human};
use super::writing::Sent;
use super::{Executor, ExecutorTx};
use crate::agent::AiAgent;
use crate::configuration::{self, AgentConfiguration};
use crate::inbox::{HasInbox as _, Letter, Urgency};
use crate::ledger::{AgentTurn, AgentTurnId, HasAgentTurns as _};
use crate::model::Item;
use crate::tool::Toolset;
use crate::turn::{AudioFault, Heard, Instructions, first_input, hear, transcribed};

/// Most turns whose items are the history of a turn.
const HISTORY: u32 = 100;

/// A turn that runs, with what it is run by.
pub(super) struct OpenTurn {
    pub(super) record: AgentTurn,
    pub(super) session: Session,
    pub(super) configuration: AgentConfiguration,
    pub(super) instructions: Instructions,
    pub(super) toolset: Toolset,
    /// The variables of the contact.
    pub(super) contact: Map<String, Value>,
    /// What was said in the turns before.
    pub(super) history: Vec<Item>,
    /// How many of the items, those of the history among them, the provider has: the session has the id of its response.
    pub(super) known: usize,
    /// The credentials of the model and of the fallback.
    pub(super) credentials: [Option<LlmCredential>; 2],
    /// The call that is to be made now.
    pub(super) outside: Option<Outside>,
}

/// What became of the events of a session.
#[derive(Default)]
pub(super) struct Opened {
    /// The turn that answers them, if a model is to be asked.
    pub(super) turn: Option<OpenTurn>,
    /// What goes out now.
    pub(super) sent: Sent,
}

/// The events of a session, by what they ask for.
#[derive(Default)]
struct Asked {
    handoff: Option<AgentManualHandoffEvent>,
    is_inactive: bool,
    turns: Vec<AgentStreamEvent>,
}

impl Asked {
    /// Sorts events. Those of another owner than that of `epoch` ask for nothing.
    fn of(letters: Vec<Letter>, epoch: i64) -> Self {
        let mut asked = Self::default();
        for letter in letters {
            match letter.event {
                AgentEvent::ManualHandoff(event) => asked.handoff = Some(event),
                AgentEvent::Inactivity(notice) => asked.is_inactive |= notice.epoch == epoch,
                AgentEvent::SessionLost(_) => {}
                AgentEvent::Turn(event) => {
                    asked.turns.extend(Some(event).filter(|event| event.epoch.is_none_or(|of| of == epoch)));
                }
            }
        }
        asked
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Opens the turn of a session: the one that runs already, or one of what waits.
    pub(super) async fn open(&self, id: &SessionId) -> Result<Opened, StorageError> {
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, StorageError> {
            let session = owned(tx, id).await?;
            let letters = tx.inbox().of_session(id).await?;
            let running = tx.agent_turns().running(id).await?;
            let Some(session) = session else {
                take(tx, &letters, self.cx.now()).await?;
                close(tx, running, &self.cx).await?;
                return Ok(Opened::default());
            };
            let is_interrupted = letters.iter().any(|letter| letter.urgency == Urgency::Interrupts);
            match running {
                Some(turn) if turn.epoch == session.epoch && !is_interrupted => {
                    return self.resume(tx, session, turn).await;
                }
                running => close(tx, running, &self.cx).await?,
            }
            take(tx, &letters, self.cx.now()).await?;
            let asked = Asked::of(letters, session.epoch);
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
        if let Some(event) = asked.handoff {
            let AgentManualHandoffEvent { reason, queue_id, user_id, .. } = event;
            hand_to_human(tx, &self.cx, &mut session, reason, (queue_id, user_id), &mut handing).await?;
            let (_, sent) = self.save(tx, session, handing).await?;
            return Ok(Opened { turn: None, sent });
        }
        let Some(last) = asked.turns.last().cloned() else {
            if asked.is_inactive {
                end_by_force(tx, &self.cx, &session, "inactivity").await?;
            }
            return Ok(Opened::default());
        };
        let Some(state) = session.agent.as_deref() else { return Ok(Opened::default()) };
        if state.turn_count >= state.max_messages {
            end_by_force(tx, &self.cx, &session, "maxMessages").await?;
            return Ok(Opened::default());
        }
        let mut turn = self.begin(&session, state, &asked.turns, last);
        let agent = tx.records().find(&turn.agent_id).await?;
        let agent = agent.filter(|agent: &AiAgent| {
            agent.router_id == session.router_id && configuration::is_in_service(agent)
        });
        let Some(agent) = agent else {
            tracing::warn!(session = %session.id, agent = %turn.agent_id, "an AI agent is not in service");
            end_by_force(tx, &self.cx, &session, "fallback_stuck").await?;
            turn.fail("the agent is not in service", Some("fallback_stuck"), self.cx.now());
            tx.agent_turns().insert(&turn).await?;
            return Ok(Opened::default());
        };
        let configuration = configuration::read(tx, &agent).await?;
        let credential = find_credential(tx, configuration.llm_credential_id.as_ref()).await?;
        if let Some(state) = &mut session.agent {
            state.turn_count = turn.number;
            let provider = credential.map(|credential| credential.provider.name()).unwrap_or_default();
            state.config_snapshot = Some(snapshot(&configuration, provider, state.max_messages));
        }
        tx.agent_turns().insert(&turn).await?;
        handing.show_typing(self.cx.now());
        let (session, sent) = self.save(tx, session, handing).await?;
        let turn = self.equip(tx, session, turn, configuration).await?;
        Ok(Opened { turn: Some(turn), sent })
    }

    /// Returns a new turn that answers these events.
    fn begin(
        &self,
        session: &Session,
        state: &AgentState,
        turns: &[AgentStreamEvent],
        last: AgentStreamEvent,
    ) -> AgentTurn {
        let heard: Vec<String> = turns.iter().flat_map(|event| &event.messages).map(text_of).collect();
        let context = turns.iter().rev().find(|event| event.handoff_context.is_some()).cloned();
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
            items: vec![first_input(&context.unwrap_or(last), &heard)],
            answered: 0,
            course: crate::turn::Course::default(),
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
        let agent: Option<AiAgent> = tx.records().find(&turn.agent_id).await?;
        let Some(agent) = agent else {
            end_by_force(tx, &self.cx, &session, "fallback_stuck").await?;
            let mut turn = turn;
            turn.fail("the agent is gone", Some("fallback_stuck"), self.cx.now());
            turn.step += 1;
            tx.agent_turns().save(&turn).await?;
            return Ok(Opened::default());
        };
        tracing::info!(session = %session.id, turn = %turn.id, "a turn of an AI agent goes on");
        let configuration = configuration::read(tx, &agent).await?;
        let turn = self.equip(tx, session, turn, configuration).await?;
        Ok(Opened { turn: Some(turn), sent: Sent::default() })
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
        let unseen = before.last().map_or(0, |turn| turn.items.len().saturating_sub(turn.answered as usize));
        let history: Vec<Item> = before.into_iter().flat_map(|turn| turn.items).collect();
        let known = match record.answered as usize {
            0 => history.len().saturating_sub(unseen),
            answered => history.len() + answered,
        };
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
        Ok(OpenTurn {
            record,
            session,
            configuration,
            instructions,
            toolset,
            contact,
            history,
            known,
            credentials,
            outside: None,
        })
    }
}

/// Returns the session, locked, if AI agents have it and nothing takes it from them with its next event.
pub(super) async fn owned<T: ExecutorTx>(
    tx: &mut T,
    id: &SessionId,
) -> Result<Option<Session>, StorageError> {
    let stored = tx.sessions().find_many_for_update(std::slice::from_ref(id)).await?.pop();
    let stored = stored.filter(|stored| !stored.frozen && stored.ahead.is_empty());
    let session = stored.map(|stored| stored.session);
    Ok(session.filter(|session| session.mode == Mode::Agent && session.agent.is_some()))
}

/// Takes events out of the inbox.
async fn take<T: ExecutorTx>(tx: &mut T, letters: &[Letter], now: Timestamp) -> Result<(), StorageError> {
    let ids: Vec<String> = letters.iter().map(|letter| letter.id.clone()).collect();
    if ids.is_empty() { Ok(()) } else { tx.inbox().take(&ids, now).await }
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

/// Returns the text of a message, as a model without senses is told it.
fn text_of(message: &flowsdk_core::message::IncomingMessage) -> String {
    match hear(message) {
        Heard::Text(text) | Heard::Image(_, text) => text,
        Heard::Audio(_) => transcribed(Err(AudioFault::Unexpected)),
    }
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
