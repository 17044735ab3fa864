//! What a turn writes with each of its steps.

use std::time::Duration;

use flowsdk_core::conversation::{ToolCall as FlowCall, ToolCallError, say_all};
use flowsdk_core::event::{AgentEvent, Notice, OutgoingEvent};
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::FlowId;
use flowsdk_core::session::{Channel, HasSessions as _, Session, SessionWrite};
use flowsdk_core::store::{Retries, Store, transact};
use flowsdk_core::stream::outbox::HasOutbox as _;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::acting::{Acting, Outside};
use super::asking::NoAnswer;
use super::handing_on::{Handing, end_by_force};
use super::opening::{OpenTurn, Standing, standing};
use super::{Executor, ExecutorTx, spans};
use crate::guardrail::{Masking, Violation};
use crate::inbox::{HasInbox as _, Letter};
use crate::knowledge::{PASSAGES, told};
use crate::ledger::AgentTurn;
use crate::model::{Answer, Item};
use crate::tool::{self, Command, NativeTool};
use crate::turn::{Ending, MediaFault, NUDGE, Next};
use crate::usage::{ModelCall, ModelWork};

/// The result of a tool that ran when the process died: its effects may have happened.
const INTERRUPTED: &str =
    "error: the tool was interrupted. It may have had its effect: do not call it again for the same purpose.";

/// The error of a turn of which a second answer broke a rule.
const BLOCKED: &str = "guardrail";

/// What has happened since the turn was last written.
enum Step {
    /// What is said in the recordings of the first input, or why nobody knows.
    Heard(Vec<Result<String, MediaFault>>),
    /// The model answered.
    Answered(Answer),
    /// No model answered.
    Silent(String),
    /// A flow of kind `tool` has given back this, or why it could not.
    Ran(Result<String, String>),
}

/// How far a turn came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advanced {
    /// A step is written.
    Written,
    /// It was told to stop before it knew what to write.
    Stopped,
    /// Something comes before the session's next step.
    NotNow,
}

/// What was written.
struct Written {
    record: AgentTurn,
    /// The session as it is now; `None` if the agent has lost it.
    session: Option<Session>,
    contact: Map<String, Value>,
    outside: Option<Outside>,
    sent: Sent,
    /// The rule that a call broke.
    blocked: Option<Violation>,
}

/// What goes out after a commit.
#[derive(Default)]
pub(super) struct Sent {
    said: Vec<OutgoingEvent>,
    notices: Vec<Notice>,
    /// Whether another agent goes on.
    is_passed_on: bool,
}

/// The epoch of a message that no change of owner overtakes.
const NO_OWNER: i64 = 0;

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Takes the next step of a turn: hears recordings, asks the model or calls a tool, and writes what came of it. What it waits for outside is
    /// left when `stop` is cancelled.
    pub(super) async fn advance(
        &self,
        turn: &mut OpenTurn,
        stop: &CancellationToken,
    ) -> Result<Advanced, StorageError> {
        let Some(step) = stop.run_until_cancelled(self.step(turn)).await else {
            return Ok(Advanced::Stopped);
        };
        let Some(step) = step else { return Ok(Advanced::NotNow) };
        let mut retries = Retries::default();
        let written = loop {
            match self.write(turn, &step).await {
                Err(error) if error.is_lost_race() && retries.again() => {}
                outcome => break outcome?,
            }
        };
        let Some(written) = written else { return Ok(Advanced::NotNow) };
        self.pass_on(written.sent);
        if let Some(violation) = written.blocked {
            note_blocked(&written.record, violation);
        }
        if let Step::Answered(_) = step {
            turn.known = turn.history.len() + written.record.answered as usize;
        }
        turn.noted = written.record.answers.len();
        turn.beside.clear();
        turn.record = written.record;
        turn.session = written.session.unwrap_or_else(|| turn.session.clone());
        (turn.contact, turn.outside) = (written.contact, written.outside);
        Ok(Advanced::Written)
    }

    /// Finds out what there is to write next. Returns `None` if another process may be about to.
    async fn step(&self, turn: &mut OpenTurn) -> Option<Step> {
        if !self.tenure.is_held() {
            return None;
        }
        if let Some(unheard) = turn.record.course.unheard() {
            let (heard, calls) = self.transcribe(turn, unheard).await;
            turn.beside = calls;
            return Some(Step::Heard(heard));
        }
        if let Some(outside) = turn.outside.take() {
            let span = spans::execute_tool(turn);
            return Some(self.run_outside(turn, &outside).instrument(span).await);
        }
        if turn.record.began_call.is_some() {
            // Another process called it, and died. A search has no effect that could happen twice.
            return Some(match interrupted_search(turn) {
                Some(search) => self.run_outside(turn, &search).await,
                None => Step::Ran(Ok(INTERRUPTED.to_owned())),
            });
        }
        match self.ask(turn).await {
            Ok(answer) => Some(Step::Answered(answer)),
            Err(NoAnswer::Failed(error)) => Some(Step::Silent(error.to_string())),
            Err(NoAnswer::OutOfTenure) => None,
        }
    }

    /// Makes a call that needs the outside.
    async fn run_outside(&self, turn: &mut OpenTurn, outside: &Outside) -> Step {
        let called = self.call(turn, outside).await;
        Step::Ran(called.map(|(result, call)| {
            turn.beside.extend(call);
            result
        }))
    }

    /// Makes a call that needs the outside. Returns what the model is told, with the call of a model that it took; or why it
    /// could not be done.
    async fn call(&self, turn: &OpenTurn, outside: &Outside) -> Result<(String, Option<ModelCall>), String> {
        let called = async {
            match outside {
                Outside::Flow(flow_id, arguments) => {
                    self.call_flow(turn, flow_id, arguments).await.map(|result| (result, None))
                }
                Outside::Search(query) => self.search(turn, query).await,
            }
        };
        match tokio::time::timeout(self.settings.tool_time, called).await {
            Ok(result) => result,
            Err(_) => Err(format!("the tool took longer than {:?}", round(self.settings.tool_time))),
        }
    }

    /// Calls a flow of kind `tool`. Returns what it gives back, as JSON.
    async fn call_flow(
        &self,
        turn: &OpenTurn,
        flow_id: &FlowId,
        arguments: &Map<String, Value>,
    ) -> Result<String, String> {
        let call =
            FlowCall { router: &turn.record.router_id, session: &turn.record.session_id, tool: flow_id };
        let arguments = arguments.clone();
        match self.tools.call(&call, |_| arguments).await {
            Ok(returned) => Ok(Value::Object(returned).to_string()),
            Err(ToolCallError::Storage(error)) => {
                tracing::warn!(turn = %turn.record.id, %error, "a tool of an AI agent failed");
                Err("the tool could not be run".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Searches the knowledge of the agent. Returns the passages that are nearest to the query, and the call of the model that
    /// made its vector.
    async fn search(&self, turn: &OpenTurn, query: &str) -> Result<(String, Option<ModelCall>), String> {
        let tags = &turn.configuration.rag_tags;
        // A model makes the vector of the query.
        let query = Masking::new(&turn.configuration.guardrail_rules.masked_data).mask(query);
        let found = self.knowledge.search(&turn.record.router_id, tags, &query, PASSAGES as usize).await;
        let called = |used| {
            let (router, agent) = (turn.record.router_id.clone(), turn.record.agent_id.clone());
            ModelCall::of_work(ModelWork::Embedding, router, Some(agent), used, &self.cx)
        };
        found.map(|found| (told(&found.passages), found.used.map(called))).map_err(|error| {
            tracing::warn!(turn = %turn.record.id, error = %Chain(&error), "an AI agent cannot search its knowledge");
            "the knowledge cannot be searched now".to_owned()
        })
    }

    /// Writes a step, with everything that follows from it, in one transaction. Returns `None` if something comes before it.
    async fn write(&self, turn: &OpenTurn, step: &Step) -> Result<Option<Written>, StorageError> {
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, StorageError> {
            let mut record = turn.record.clone();
            record.step += 1;
            let session = match standing(tx, &record.session_id).await? {
                Standing::NotNow => return Ok(None),
                Standing::Theirs(session) => Some(*session).filter(|session| session.epoch == record.epoch),
                Standing::Lost => None,
            };
            let Some(session) = session else {
                record.fail("the session has moved on", None, self.cx.now());
                self.save_step(tx, turn, &record).await?;
                let contact = turn.contact.clone();
                let sent = Sent::default();
                return Ok(Some(Written {
                    record,
                    session: None,
                    contact,
                    outside: None,
                    sent,
                    blocked: None,
                }));
            };
            let mut acting = Acting {
                tx,
                cx: &self.cx,
                turn,
                record,
                session,
                contact: turn.contact.clone(),
                outside: None,
                handing: Handing::default(),
                end_reason: None,
                blocked: None,
            };
            match step {
                Step::Heard(transcriptions) => acting.record.note_heard(transcriptions),
                Step::Answered(answer) => {
                    acting.hear(answer);
                    acting.run_calls().await?;
                }
                Step::Ran(result) => {
                    acting.note_result(result);
                    acting.read_contact().await?;
                    acting.run_calls().await?;
                }
                Step::Silent(error) => {
                    acting.record.error = Some(error.clone());
                    acting.end_by_force("fallback_stuck").await?;
                    acting.record.end(Some("fallback_stuck"), self.cx.now());
                }
            }
            let is_round = !matches!(step, Step::Heard(_));
            if is_round && acting.record.is_running && acting.outside.is_none() {
                self.end_round(&mut acting).await?;
            }
            let Acting { record, mut session, contact, outside, mut handing, blocked, .. } = acting;
            if !record.is_running && !handing.is_given_away {
                self.wait_for_contact(&mut session);
            }
            // Whoever was answered is not kept waiting for more, though the model may still say some.
            if record.is_running && !record.course.has_sent() {
                handing.show_typing(self.cx.now());
            }
            self.save_step(tx, turn, &record).await?;
            let (session, sent) = self.save(tx, session, handing).await?;
            Ok(Some(Written { record, session: Some(session), contact, outside, sent, blocked }))
        })
        .await
    }

    /// The contact has their time from now on, or longer if they were given more.
    fn wait_for_contact(&self, session: &mut Session) {
        let until = self.cx.now() + session.expiry_timeout;
        if let Some(state) = &mut session.agent {
            state.deadline = state.deadline.max(Some(until));
        }
        session.arm(self.cx.now());
    }

    /// Every call of an answer has its result: the model is asked again, or the turn is over.
    async fn end_round(&self, acting: &mut Acting<'_, S::Tx>) -> Result<(), StorageError> {
        match acting.record.course.end_round() {
            Next::Ask => {}
            Next::Nudge => acting.record.items.push(Item::user(NUDGE)),
            Next::Over(ending @ (Ending::Stuck | Ending::Blocked)) => {
                if ending == Ending::Blocked {
                    acting.record.error = Some(BLOCKED.to_owned());
                }
                acting.end_by_force("fallback_stuck").await?;
                acting.record.end(Some("fallback_stuck"), self.cx.now());
            }
            Next::Over(Ending::Answered | Ending::Broken) => {
                let reason = acting.end_reason.take();
                acting.record.end(reason.as_deref(), self.cx.now());
            }
        }
        Ok(())
    }

    /// Saves the session, and publishes what goes with it. What is returned goes out after the commit.
    pub(super) async fn save(
        &self,
        tx: &mut S::Tx,
        mut session: Session,
        handing: Handing,
    ) -> Result<(Session, Sent), StorageError> {
        let Handing { said, notices, mut entries, passed_on, is_given_away } = handing;
        let expected = session.version;
        session.version += 1;
        let write = SessionWrite { session: &session, expected: Some(expected) };
        tx.sessions().save_many(&[write]).await?;
        let epoch = if is_given_away { NO_OWNER } else { session.epoch };
        let said = said.into_iter().map(|event| OutgoingEvent { epoch, ..event });
        let mut said: Vec<_> = said.map(|event| (&session.router_id, event)).collect();
        say_all(tx, &mut said, &self.handover).await?;
        let said = said.into_iter().map(|(_, event)| event).collect();
        let mut sent = Sent { said, ..Sent::default() };
        if session.id.channel() == Channel::Webchat {
            let notice = |kind| Notice { session_id: session.id.clone(), timestamp: self.cx.now(), kind };
            sent.notices = notices.into_iter().map(notice).collect();
            entries.extend(sent.notices.iter().filter_map(|notice| self.handover.entry(notice)));
        }
        if !entries.is_empty() {
            tx.outbox().push_many(&entries).await?;
        }
        if let Some(event) = passed_on {
            // Not by the stream: what the contact has written meanwhile is answered by whoever knows why they have it.
            let (now, id) = (self.cx.now(), self.cx.ids().next_id());
            let letter = Letter::of(AgentEvent::Turn(event), id, self.cx.ids(), now);
            tx.inbox().put(&[letter]).await?;
            sent.is_passed_on = true;
        }
        Ok((session, sent))
    }

    /// Passes on what goes out after a commit.
    pub(super) fn pass_on(&self, sent: Sent) {
        for event in sent.said {
            self.handover.hand_over(event);
        }
        for notice in sent.notices {
            self.handover.pass_on(notice);
        }
        if sent.is_passed_on {
            self.arrived.notify_one();
        }
    }
}

/// Counts a call that broke a rule. Neither what it said nor the pattern that it matched is told.
fn note_blocked(turn: &AgentTurn, violation: Violation) {
    let rule = violation.rule();
    tracing::warn!(turn = %turn.id, agent = %turn.agent_id, rule, "a guardrail blocked an answer of an AI agent");
    metrics::counter!("flowsdk_ai_guardrail_blocks", "rule" => rule).increment(1);
}

/// Returns the search that was begun, if that was a search.
fn interrupted_search(turn: &OpenTurn) -> Option<Outside> {
    let id = turn.record.began_call.as_ref()?;
    let call = turn.record.open_calls().into_iter().find(|call| call.id == *id)?;
    if call.name != NativeTool::RagSearch.name() || !turn.toolset.has(&call.name) {
        return None;
    }
    match tool::read(NativeTool::RagSearch, &call.arguments, turn.toolset.channel()) {
        Ok(Command::Search(query)) => Some(Outside::Search(query)),
        _ => None,
    }
}

/// Returns a time in whole seconds, for people.
fn round(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs().max(1))
}

impl<T: ExecutorTx> Acting<'_, T> {
    /// Ends the agents' part: the flow goes on.
    pub(super) async fn end_by_force(&mut self, reason: &str) -> Result<(), StorageError> {
        if let Some(state) = &mut self.session.agent {
            state.deadline = None;
        }
        self.session.arm(self.cx.now());
        self.handing.is_given_away = true;
        end_by_force(self.tx, self.cx, &self.session, reason).await
    }
}
