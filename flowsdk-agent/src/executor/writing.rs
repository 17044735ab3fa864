//! What a turn writes with each of its steps.

use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::conversation::{ToolCall as FlowCall, ToolCallError, ToolReading, ToolReturned};
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::FlowId;
use flowsdk_core::session::{Session, SessionId};
use flowsdk_core::store::{Store, transact};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use super::acting::{Acting, Outside};
use super::asking::NoAnswer;
use super::equipping::OpenTurn;
use super::groups::GroupWriter;
use super::handing_on::{Handing, end_by_force};
use super::opening::{Standing, standings};
use super::saving::{SessionAfter, WorkedOut, Written};
use super::{Executor, ExecutorTx, spans};
use crate::guardrail::{Masking, Violation};
use crate::knowledge::{Found, PASSAGES, told};
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
    /// What a call outside gave back, or why it could not be made.
    Ran(Result<Returned, String>),
}

/// What a call outside gave back.
struct Returned {
    /// What the model is told.
    output: String,
    /// The variables of the contact, if the call has changed them.
    contact: Option<Map<String, Value>>,
    /// The call of a model that it took.
    call: Option<ModelCall>,
}

impl From<String> for Returned {
    fn from(output: String) -> Self {
        Self { output, contact: None, call: None }
    }
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

/// A turn, with the step that is to be written of it.
pub(super) struct Taken {
    pub(super) turn: Box<OpenTurn>,
    step: Step,
    /// The span of the turn: another task may write the step.
    span: Span,
}

impl Taken {
    /// Returns whether a flow of kind `tool` may be called.
    fn may_call_flow(&self) -> bool {
        let configuration = &self.turn.configuration;
        let is_flow =
            |item: &Item| matches!(item, Item::ToolCall(call) if configuration.flow_of(&call.name).is_some());
        match &self.step {
            Step::Answered(answer) => answer.items.iter().any(is_flow),
            Step::Ran(_) => self.turn.record.open_calls().len() > 1,
            Step::Heard(_) | Step::Silent(_) => false,
        }
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Takes the next step of a turn: hears recordings, asks the model or calls a tool, and writes what came of it. What it
    /// waits for outside is left when `stop` is cancelled.
    pub(super) async fn advance(
        &self,
        mut turn: Box<OpenTurn>,
        stop: &CancellationToken,
    ) -> Result<(Box<OpenTurn>, Advanced), StorageError> {
        let Some(step) = stop.run_until_cancelled(self.step(&mut turn)).await else {
            return Ok((turn, Advanced::Stopped));
        };
        let Some(step) = step else { return Ok((turn, Advanced::NotNow)) };
        let taken = Taken { turn, step, span: Span::current() };
        let (Taken { mut turn, step, .. }, written) =
            self.steps.write(taken, self.serving.gathering(), self).await?;
        let Some(written) = written else { return Ok((turn, Advanced::NotNow)) };
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
        if let Some(session) = written.session {
            turn.session = session;
        }
        (turn.contact, turn.outside) = (written.contact, written.outside);
        Ok((turn, Advanced::Written))
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
            let span = spans::execute_tool(&Span::current(), turn, &began_tool(turn));
            return Some(self.run_outside(turn, &outside).instrument(span).await);
        }
        if turn.record.began_call.is_some() {
            // Another process called it, and died. A search has no effect that could happen twice.
            return Some(match interrupted_search(turn) {
                Some(search) => self.run_outside(turn, &search).await,
                None => Step::Ran(Ok(INTERRUPTED.to_owned().into())),
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
        let mut called = self.call(turn, outside).await;
        if let Ok(returned) = &mut called {
            turn.beside.extend(returned.call.take());
        }
        Step::Ran(called)
    }

    /// Makes a call that needs the outside. Returns what it gave back, or why it could not be made.
    async fn call(&self, turn: &OpenTurn, outside: &Outside) -> Result<Returned, String> {
        let called = async {
            match outside {
                Outside::Flow(flow_id, arguments) => self.call_flow(turn, flow_id, arguments).await,
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
    ) -> Result<Returned, String> {
        let call =
            FlowCall { router: &turn.record.router_id, session: &turn.record.session_id, tool: flow_id };
        let arguments = arguments.clone();
        match self.tools.call(&call, |_| arguments).await {
            Ok(ToolReturned { returns, contact_variables }) => {
                let contact = contact_variables;
                Ok(Returned { contact, ..Value::Object(returns).to_string().into() })
            }
            Err(ToolCallError::Storage(error)) => {
                tracing::warn!(turn = %turn.record.id, %error, "a tool of an AI agent failed");
                Err("the tool could not be run".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Searches the knowledge of the agent. Returns the passages that are nearest to the query, and the call of the model that
    /// made its vector.
    async fn search(&self, turn: &OpenTurn, query: &str) -> Result<Returned, String> {
        let tags = &turn.configuration.rag_tags;
        // A model makes the vector of the query.
        let query = Masking::new(&turn.configuration.guardrail_rules.masked_data).mask(query);
        let found = self.knowledge.search(&turn.record.router_id, tags, &query, PASSAGES as usize).await;
        let called = |used| {
            let (router, agent) = (turn.record.router_id.clone(), turn.record.agent_id.clone());
            ModelCall::of_work(ModelWork::Embedding, router, Some(agent), used, &self.cx)
        };
        let returned =
            |found: Found| Returned { call: found.used.map(called), ..told(&found.passages).into() };
        found.map(returned).map_err(|error| {
            tracing::warn!(turn = %turn.record.id, error = %Chain(&error), "an AI agent cannot search its knowledge");
            "the knowledge cannot be searched now".to_owned()
        })
    }

    /// Works out what a step changes. Returns `None` if something comes before it.
    async fn work_out(
        &self,
        tx: &mut S::Tx,
        Taken { turn, step, span }: &Taken,
        standing: Standing,
        reading: &mut ToolReading,
    ) -> Result<Option<WorkedOut>, StorageError> {
        let mut record = turn.record.clone();
        record.step += 1;
        let session = match standing {
            Standing::NotNow => return Ok(None),
            Standing::Theirs(session) => Some(*session).filter(|session| session.epoch == record.epoch),
            Standing::Lost => None,
        };
        let Some(session) = session else {
            record.fail("the session has moved on", None, self.cx.now());
            let contact = turn.contact.clone();
            return Ok(Some(WorkedOut { record, session: None, contact, outside: None, blocked: None }));
        };
        let before = session.clone();
        let mut acting = Acting {
            tx,
            cx: &self.cx,
            tools: &self.tools,
            reading,
            span,
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
                if let Ok(Returned { contact: Some(contact), .. }) = result {
                    acting.contact.clone_from(contact);
                }
                acting.note_result(result.as_ref().map(|returned| returned.output.as_str()));
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
        let is_changed = session != before;
        let session = Some(SessionAfter { session, is_changed, handing });
        Ok(Some(WorkedOut { record, session, contact, outside, blocked }))
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
    async fn end_round(&self, acting: &mut Acting<'_, S>) -> Result<(), StorageError> {
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
}

#[async_trait]
impl<S: Store> GroupWriter<Taken> for Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// What was written; `None` if something comes before it.
    type Outcome = Option<Written>;

    fn session_of<'a>(&self, taken: &'a Taken) -> &'a SessionId {
        &taken.turn.record.session_id
    }

    /// Writes steps with everything that follows from them.
    async fn write(&self, group: &[Taken]) -> Result<Vec<Option<Written>>, StorageError> {
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, StorageError> {
            let ids: Vec<SessionId> =
                group.iter().map(|taken| taken.turn.record.session_id.clone()).collect();
            let mut standings = standings(tx, &ids).await?;
            // Whoever locks several contacts does so in the order of their ids.
            let mut order: Vec<(usize, &Taken)> = group.iter().enumerate().collect();
            order.sort_by_key(|(_, taken)| &taken.turn.session.contact_id);
            let mut reading = ToolReading::default();
            let callers = group.iter().filter(|taken| taken.may_call_flow());
            let contacts: Vec<_> = callers.map(|taken| taken.turn.session.contact_id.clone()).collect();
            reading.read_contacts(tx, &contacts).await?;
            let mut worked_out = Vec::with_capacity(group.len());
            for (place, taken) in order {
                let standing = standings.remove(&taken.turn.record.session_id).unwrap_or(Standing::Lost);
                worked_out.push((place, self.work_out(tx, taken, standing, &mut reading).await?));
            }
            worked_out.sort_by_key(|(place, _)| *place);
            self.save_steps(tx, group, worked_out.into_iter().map(|(_, step)| step).collect()).await
        })
        .await
    }
}

/// Counts a call that broke a rule. Neither what it said nor the pattern that it matched is told.
fn note_blocked(turn: &AgentTurn, violation: Violation) {
    let rule = violation.rule();
    tracing::warn!(turn = %turn.id, agent = %turn.agent_id, rule, "a guardrail blocked an answer of an AI agent");
    metrics::counter!("flowsdk_ai_guardrail_blocks", "rule" => rule).increment(1);
}

/// Returns the name of the tool that a turn has begun to call.
fn began_tool(turn: &OpenTurn) -> String {
    let began = turn.record.began_call.as_deref();
    let call = turn.record.open_calls().into_iter().find(|call| Some(call.id.as_str()) == began);
    call.map(|call| call.name).unwrap_or_default()
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

impl<S: Store> Acting<'_, S>
where
    S::Tx: ExecutorTx,
{
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
