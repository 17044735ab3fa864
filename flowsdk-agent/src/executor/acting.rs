//! What the calls of an answer do, within the transaction that writes the answer.

use std::time::Duration;

use flowsdk_core::chat::HasChatCatalog as _;
use flowsdk_core::contact::{ContactChange, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{ToolCallError, ToolCalls, ToolReading, ToolReturned};
use flowsdk_core::event::{OutgoingEvent, SentimentResult};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{AgentId, FlowId, MessageId};
use flowsdk_core::message::{ContentMessage, Sender, SenderKind, Source};
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::session::{
    ChainEntry, MAX_CONTACT_VARIABLES, MAX_SESSION_VARIABLES, SentimentItem, Session, merge_variables,
};
use flowsdk_core::store::Store;
use serde_json::{Map, Value};
use tracing::Span;

use super::equipping::OpenTurn;
use super::handing_on::{
    Handing, Handoff, NoTransfer, check_transfer, hand_to_agent, hand_to_human, hand_to_parent, returns,
};
use super::ticket::update_ticket;
use super::{ExecutorTx, spans};
use crate::agent::AiAgent;
use crate::configuration::is_in_service;
use crate::guardrail::Violation;
use crate::ledger::AgentTurn;
use crate::model::{Answer, Item, ToolCall};
use crate::tool::{Command, SentimentNote};
use crate::turn::{Act, Course, Effect, Judgement, SENT};

const DONE: &str = "done";
const HANDED_ON: &str = "handed on";
const ENDED: &str = "ended";
const TOO_LARGE: &str = "the variables would be too large";
const NOT_ALLOWED: &str = "this agent may not write that key";
const WINDOW_OVER: &str = "the time in which the customer can be answered is over";
const WROTE_MEANWHILE: &str =
    "not ended: the customer has written meanwhile, and is answered in the next turn";
const NO_CONTEXT: &str =
    "completionContext is missing: the agent to whom the conversation returns has to know what was done";

/// The end of a part whose model names no reason.
const DEFAULT_REASON: &str = "resolved";

/// A call that needs the outside.
#[derive(Debug, Clone)]
pub(super) enum Outside {
    /// A flow of kind `tool` is called with these arguments.
    Flow(FlowId, Map<String, Value>),
    /// The agent's knowledge is searched.
    Search(String),
}

/// A turn while a step of it is written.
pub(super) struct Acting<'a, S: Store> {
    pub(super) tx: &'a mut S::Tx,
    pub(super) cx: &'a OpContext,
    pub(super) tools: &'a ToolCalls<S>,
    pub(super) reading: &'a mut ToolReading,
    /// The span of the turn.
    pub(super) span: &'a Span,
    pub(super) turn: &'a OpenTurn,
    pub(super) record: AgentTurn,
    pub(super) session: Session,
    /// The variables of the contact.
    pub(super) contact: Map<String, Value>,
    /// The call that is made after the commit.
    pub(super) outside: Option<Outside>,
    pub(super) handing: Handing,
    /// Why the agent's part ends.
    pub(super) end_reason: Option<String>,
    /// The rule that a call broke.
    pub(super) blocked: Option<Violation>,
}

/// What a command has done: its result, and what follows for the turn. `Err` is why it could not be done.
type Done = Result<(String, Effect), String>;

const NOTHING_MORE: Effect = Effect { has_sent: false, breaks: false };
const BREAKS: Effect = Effect { has_sent: false, breaks: true };

impl<S: Store> Acting<'_, S>
where
    S::Tx: ExecutorTx,
{
    /// Notes an answer. Some servers number the calls of each answer anew; one of a known id gets another.
    pub(super) fn hear(&mut self, answer: &Answer) {
        for item in &answer.items {
            let mut item = item.clone();
            if let Item::ToolCall(call) = &mut item {
                while self.has_call(&call.id) {
                    call.id.push_str("_again");
                }
            }
            self.record.items.push(item);
        }
        self.record.answered = u32::try_from(self.record.items.len()).unwrap_or(u32::MAX);
        if let Some(state) = &mut self.session.agent {
            state.previous_response_id.clone_from(&answer.response_id);
        }
    }

    fn has_call(&self, id: &str) -> bool {
        let mut items = self.turn.history.iter().chain(&self.record.items);
        items.any(|item| matches!(item, Item::ToolCall(known) if known.id == id))
    }

    /// Notes the result of the call that was made outside.
    pub(super) fn note_result(&mut self, result: Result<&str, &String>) {
        let Some(id) = self.record.began_call.take() else { return };
        let call = self.record.open_calls().into_iter().find(|call| call.id == id);
        let output = match result {
            Ok(output) => output.to_owned(),
            Err(why) => {
                self.record.course.failed(call.as_ref().map_or("", |call| call.name.as_str()), why.clone())
            }
        };
        self.record.items.push(Item::result(id, output));
    }

    /// Runs the calls that have no result, up to one that needs the outside.
    pub(super) async fn run_calls(&mut self) -> Result<(), StorageError> {
        for call in self.record.open_calls() {
            let result = match self.record.course.judge(&self.turn.toolset, &self.turn.rules, &call) {
                Judgement::Answer(result) => result,
                Judgement::Blocked(violation) => {
                    self.blocked = Some(violation);
                    Course::blocked(violation)
                }
                Judgement::Run(Act::Flow(tool, arguments)) => {
                    let Some(flow_id) = self.turn.configuration.flow_of(&tool) else {
                        let result = self.record.course.failed(&tool, "there is no such tool".to_owned());
                        self.record.items.push(Item::result(call.id, result));
                        continue;
                    };
                    match self.call_flow(&tool, flow_id, &arguments).await? {
                        Some(result) => result,
                        None => {
                            self.record.began_call = Some(call.id);
                            self.outside = Some(Outside::Flow(flow_id.clone(), arguments));
                            return Ok(());
                        }
                    }
                }
                Judgement::Run(Act::Native(Command::Search(query))) => {
                    self.record.began_call = Some(call.id);
                    self.outside = Some(Outside::Search(query));
                    return Ok(());
                }
                Judgement::Run(Act::Native(command)) => self.run(&call, command).await?,
            };
            self.record.items.push(Item::result(call.id, result));
        }
        Ok(())
    }

    /// Calls a flow of kind `tool` that asks nothing of the outside; returns its result. Returns `None` for any other, which has
    /// to be called after the commit.
    async fn call_flow(
        &mut self,
        tool: &str,
        flow_id: &FlowId,
        arguments: &Map<String, Value>,
    ) -> Result<Option<String>, StorageError> {
        let Self { tx, reading, session, .. } = self;
        let called = self.tools.call_within(*tx, reading, session, flow_id, arguments.clone()).await;
        let result = match called {
            Ok(None) => return Ok(None),
            Ok(Some(ToolReturned { returns, contact_variables })) => {
                if let Some(variables) = contact_variables {
                    self.contact = variables;
                }
                Value::Object(returns).to_string()
            }
            Err(ToolCallError::Storage(error)) => return Err(error),
            Err(error) => self.record.course.failed(tool, error.to_string()),
        };
        // Its moment, not its time: whether the tool is called here is known once it has run.
        drop(spans::execute_tool(self.span, self.turn, tool));
        Ok(Some(result))
    }

    async fn run(&mut self, call: &ToolCall, command: Command) -> Result<String, StorageError> {
        Ok(match self.perform(command).await? {
            Ok((result, effect)) => {
                self.record.course.ran(effect);
                result
            }
            Err(why) => self.record.course.failed(&call.name, why),
        })
    }

    async fn perform(&mut self, command: Command) -> Result<Done, StorageError> {
        let done = |text: &str, effect: Effect| Ok(Ok((text.to_owned(), effect)));
        match command {
            Command::Send(content) => {
                self.send(content);
                done(SENT, Effect { has_sent: true, breaks: false })
            }
            Command::SetVariable(key, value) => {
                let sent = Map::from_iter([(key, value)]);
                match merge_variables(&mut self.session.variables, &sent, MAX_SESSION_VARIABLES) {
                    Ok(()) => done(DONE, NOTHING_MORE),
                    Err(_) => Ok(Err(TOO_LARGE.to_owned())),
                }
            }
            Command::DeleteVariable(key) => {
                self.session.variables.remove(&key);
                done(DONE, NOTHING_MORE)
            }
            Command::SetContactVariable(key, value) => self.set_contact_variable(key, value).await,
            Command::ExtendInactivity(minutes) => self.extend_inactivity(minutes).await,
            Command::TransferToAgent { agent_id, handoff_context, last_user_input, returns } => {
                self.transfer(&agent_id, (handoff_context, last_user_input), returns).await
            }
            Command::TransferToHuman { reason } => {
                self.end_reason = Some("transferToHuman".to_owned());
                let asked = Handoff { reason, ..Handoff::default() };
                hand_to_human(self.tx, self.cx, &mut self.session, asked, &mut self.handing).await?;
                done(HANDED_ON, BREAKS)
            }
            Command::End { reason, completion_context } => self.end(reason, completion_context).await,
            Command::NoteSentiment(note) => {
                self.note_sentiment(note);
                done(DONE, NOTHING_MORE)
            }
            // Searches are made outside.
            Command::Search(_) => Ok(Err("this tool is not available".to_owned())),
        }
    }

    fn send(&mut self, content: ContentMessage) {
        let session = &self.session;
        self.handing.said.push(OutgoingEvent {
            internal_id: MessageId::generate(self.cx.ids()),
            session_id: session.id.clone(),
            seq: None,
            chat_id: Some(session.chat_id.clone()),
            phone_number_id: session.id.phone_number_id().to_owned(),
            to: session.id.party().to_owned(),
            source: Source::Agent,
            sender: Sender { kind: SenderKind::Ai, name: Some(self.turn.configuration.name.clone()) },
            content,
            epoch: session.epoch,
            timestamp: self.cx.now(),
            typing_ms: None,
            ig_comment_target: None,
        });
    }

    /// Notes how the contact feels. What is said in a short message shows little, and is not noted.
    fn note_sentiment(&mut self, note: SentimentNote) {
        let settings = self.turn.configuration.sentiment();
        if self.record.course.heard() < settings.min_message_length {
            return;
        }
        let turn = self.record.number;
        let Some(state) = &mut self.session.agent else { return };
        let item =
            SentimentItem { turn, sentiment: note.sentiment, score: note.score, updated_at: self.cx.now() };
        let before = state.sentiment.as_ref().map(|result| result.item.sentiment);
        state.sentiment_history.retain(|known| known.turn != turn);
        state.sentiment_history.push(item.clone());
        let SentimentNote { signals, escalation_risk, note, .. } = note;
        state.sentiment = Some(SentimentResult { item, signals, escalation_risk, note });
        if before != state.sentiment.as_ref().map(|result| result.item.sentiment) {
            self.handing.entries.extend(update_ticket(self.cx, &self.session));
        }
    }

    async fn set_contact_variable(&mut self, key: String, value: Value) -> Result<Done, StorageError> {
        let allowed = self.turn.configuration.contact_variable_keys.as_ref();
        if allowed.is_some_and(|allowed| !allowed.contains(&key)) {
            return Ok(Err(NOT_ALLOWED.to_owned()));
        }
        let of = std::slice::from_ref(&self.session.contact_id);
        let Some(mut contact) = self.tx.contacts().find_many_for_update(of).await?.pop() else {
            return Ok(Err("the customer is not known any more".to_owned()));
        };
        let sent = Map::from_iter([(key.clone(), value.clone())]);
        if merge_variables(&mut contact.variables.clone(), &sent, MAX_CONTACT_VARIABLES).is_err() {
            return Ok(Err(TOO_LARGE.to_owned()));
        }
        contact.apply(&ContactChange::Variable { key, value });
        self.tx.contacts().save_many(&[&contact]).await?;
        self.reading.forget(&contact.id);
        self.contact = contact.variables;
        Ok(Ok((DONE.to_owned(), NOTHING_MORE)))
    }

    /// Gives the contact more time, though not beyond the window in which they can be answered.
    async fn extend_inactivity(&mut self, minutes: f64) -> Result<Done, StorageError> {
        let asked = self.cx.now() + Duration::from_secs_f64(minutes * 60.0);
        let chat = match self.session.id.channel().capabilities().window {
            Some(_) => self.tx.chat_catalog().find(&self.session.chat_id).await?,
            None => None,
        };
        let deadline = chat.and_then(|chat| chat.window_ends_at).map_or(asked, |ends| asked.min(ends));
        if deadline <= self.cx.now() {
            return Ok(Err(WINDOW_OVER.to_owned()));
        }
        if let Some(state) = &mut self.session.agent {
            state.deadline = Some(deadline);
        }
        self.session.arm(self.cx.now());
        Ok(Ok((DONE.to_owned(), NOTHING_MORE)))
    }

    async fn transfer(
        &mut self,
        to: &str,
        told: (String, String),
        return_to_parent: bool,
    ) -> Result<Done, StorageError> {
        let aborted = |why: NoTransfer| Ok(Ok((why.to_string(), BREAKS)));
        let Ok(agent_id) = AgentId::parse(to) else { return aborted(NoTransfer::Unknown) };
        if let Err(why) = check_transfer(&self.session, &agent_id) {
            return aborted(why);
        }
        let agent: Option<AiAgent> = self.tx.records().find(&agent_id).await?;
        let is_there =
            agent.is_some_and(|agent| agent.router_id == self.session.router_id && is_in_service(&agent));
        if !is_there {
            return aborted(NoTransfer::Unknown);
        }
        let entry = ChainEntry { agent_id, return_to_parent };
        hand_to_agent(self.cx, &mut self.session, entry, told, &mut self.handing);
        Ok(Ok((HANDED_ON.to_owned(), BREAKS)))
    }

    async fn end(
        &mut self,
        reason: Option<String>,
        completion_context: Option<String>,
    ) -> Result<Done, StorageError> {
        let gives_back = self.session.agent.as_deref().is_some_and(returns);
        if gives_back {
            let Some(context) = completion_context else { return Ok(Err(NO_CONTEXT.to_owned())) };
            hand_to_parent(self.cx, &mut self.session, context, &mut self.handing);
            return Ok(Ok((ENDED.to_owned(), BREAKS)));
        }
        if self.has_unheard_messages() {
            return Ok(Ok((WROTE_MEANWHILE.to_owned(), BREAKS)));
        }
        let reason = reason.unwrap_or_else(|| DEFAULT_REASON.to_owned());
        self.end_by_force(&reason).await?;
        self.end_reason = Some(reason);
        Ok(Ok((ENDED.to_owned(), BREAKS)))
    }

    /// Returns whether the contact has written what no turn has taken yet. The flow would never hear of it.
    fn has_unheard_messages(&self) -> bool {
        let heard_until = self.session.agent.as_ref().and_then(|state| state.heard_until);
        heard_until.is_some_and(|until| self.session.last_interaction_at > until)
    }
}
