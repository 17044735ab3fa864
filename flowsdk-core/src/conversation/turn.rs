//! One turn, decided without I/O: from a session and an event to the rows and events it leads to.

use std::sync::Arc;

use super::facts::versions_of;
use super::flows::Flows;
use super::records::Records;
use super::rehearsal::{Rehearsal, Rehearsed};
use crate::contact::Contact;
use crate::context::OpContext;
use crate::event::{
    AgentEvent, AgentNotice, AgentStreamEvent, FlowEvent, HandoffEvent, HelpdeskEvent, HelpdeskMessageEvent,
    OutgoingEvent,
};
use crate::flow::{
    CompiledFlow, Effect, EffectRequest, EffectResult, FlowSource, Outcome, Scene, TraceStep, Trigger,
    TurnEnd, run_within,
};
use crate::id::{AgentId, BlockId, FlowId, FlowVersionId, MessageId, QueueId, TicketId, UserId};
use crate::message::{IncomingMessage, Sender, Source};
use crate::router::{Router, StaticVariables};
use crate::session::{FrozenError, Mode, Session};
use crate::stream::broker::NewEntry;
use crate::stream::topic::{Agent, Helpdesk};
use crate::time::Timestamp;

/// The facts on which a turn is decided, besides its session.
pub(super) struct Stage<'a> {
    pub(super) cx: &'a OpContext,
    /// Never before the last interaction, whatever the clock does.
    pub(super) now: Timestamp,
    pub(super) flows: &'a Flows,
    pub(super) router: &'a Router,
    pub(super) statics: StaticVariables,
    /// Whether requests to the outside are performed after the commit.
    pub(super) has_outside: bool,
    /// Turns that are decided already.
    pub(super) rehearsed: &'a Rehearsed,
    /// Units of work that a turn may take now.
    pub(super) allowance: u64,
}

/// How a session stands after its event.
pub(super) enum After {
    /// The session goes on.
    Live,
    /// The session is over.
    Ended,
    /// An error stopped it.
    Frozen(FrozenError),
}

/// A session while its event is handled.
pub(super) struct Run {
    pub(super) session: Session,
    pub(super) contact: Contact,
    pub(super) contact_changed: bool,
    pub(super) close_chat: bool,
    pub(super) outgoing: Vec<OutgoingEvent>,
    /// Events for other parts: the AI agent, the helpdesk.
    pub(super) entries: Vec<NewEntry>,
    pub(super) records: Records,
    pub(super) trace: Vec<TraceStep>,
    /// Whether the flow wants its trace stored.
    pub(super) traced: bool,
    /// The request for which the turn waits.
    pub(super) request: Option<EffectRequest>,
    /// A turn that needs more than its allowance: it is decided outside of the transaction, and this run counts for
    /// nothing.
    pub(super) long: Option<Box<Rehearsal>>,
    /// How many of `outgoing` were said before the messages that came, and where in the batch the rows of these begin.
    pub(super) said_before: (usize, usize),
    /// Units of work of its turns.
    pub(super) work: u64,
    /// The event that stood ahead of the one that came, and at which an error stopped the session.
    pub(super) stopped_at: Option<FlowEvent>,
    /// Messages for which the session ended too soon.
    pub(super) left: Vec<IncomingMessage>,
    pub(super) after: After,
}

impl Run {
    pub(super) fn new(session: Session, contact: Contact) -> Self {
        Self {
            session,
            contact,
            contact_changed: false,
            close_chat: false,
            outgoing: Vec::new(),
            entries: Vec::new(),
            records: Records::default(),
            trace: Vec::new(),
            traced: false,
            request: None,
            long: None,
            said_before: (0, 0),
            work: 0,
            stopped_at: None,
            left: Vec::new(),
            after: After::Live,
        }
    }

    /// Hands the session, which people have from the start, to a queue.
    pub(super) fn attend(&mut self, queue: QueueId, user: Option<UserId>, now: Timestamp) {
        self.trace.push(TraceStep::HandedOver { to: Mode::Human });
        let event = HandoffEvent {
            preset_queue_id: Some(queue),
            preset_user_id: user,
            ..HandoffEvent::of(&self.session, &self.contact, now)
        };
        self.entries.push(NewEntry::of::<Helpdesk>(&HelpdeskEvent::Handoff(event)));
    }

    /// Returns whether an error stopped it.
    pub(super) fn is_frozen(&self) -> bool {
        matches!(self.after, After::Frozen(_))
    }
}

impl FlowSource for Flows {
    fn published(&self, flow: &FlowId) -> Option<Arc<CompiledFlow>> {
        Flows::published(self, flow).cloned()
    }

    fn version(&self, version: &FlowVersionId) -> Option<Arc<CompiledFlow>> {
        Flows::version(self, version).cloned()
    }
}

/// Logs the errors that a flow led to its `errorTarget` or went on after: the contact goes on, so nothing else tells of
/// them. The turn began at the block `stood`.
fn log_caught(session: &Session, stood: Option<&BlockId>, trace: &[TraceStep]) {
    let (mut flow, mut block) = (None, stood.map(BlockId::as_str));
    for (at, step) in trace.iter().enumerate() {
        match step {
            TraceStep::InFlow(entered)
            | TraceStep::FlowEntered(entered)
            | TraceStep::FlowReturned(entered) => {
                flow = Some(entered.flow_id.as_str());
            }
            TraceStep::BlockEntered { block_id, .. } => block = Some(block_id.as_str()),
            TraceStep::Failed { code, .. } => {
                tracing::warn!(session = %session.id, %code, flow, block, "an error led to the errorTarget of a flow");
                metrics::counter!("flowsdk_flow_errors_caught").increment(1);
            }
            // One that its block does not go on after is told by the step that follows.
            TraceStep::Action { kind, code: Some(code), .. }
                if !matches!(trace.get(at + 1), Some(TraceStep::Failed { .. })) =>
            {
                tracing::warn!(session = %session.id, %code, flow, block, action = %kind, "a block went on after an action that failed");
                metrics::counter!("flowsdk_flow_errors_caught").increment(1);
            }
            _ => {}
        }
    }
}

impl Stage<'_> {
    /// The engine answers one message.
    pub(super) fn message(&self, run: Run, message: &IncomingMessage) -> Run {
        let entered = run.session.position.as_ref().is_some_and(|position| position.block_id.is_some());
        let trigger = if entered { Trigger::Message(message) } else { Trigger::Start(message) };
        self.step(run, trigger)
    }

    /// The engine begins a session whose contact has entered and wrote nothing.
    pub(super) fn open(&self, run: Run) -> Run {
        self.step(run, Trigger::Open)
    }

    /// One turn; where nothing performs requests to the outside, it goes on with their failure at once.
    pub(super) fn step(&self, mut run: Run, trigger: Trigger<'_>) -> Run {
        run = self.turn(run, trigger);
        while !self.has_outside
            && let Some(request) = run.request.take()
        {
            let result = EffectResult::failed("not_available", "nothing here asks the outside");
            run = self.turn(run, Trigger::EffectDone { seq: request.seq, result: &result });
        }
        run
    }

    /// Why `trigger` does nothing to `session`, if so.
    pub(super) fn ignored(&self, session: &Session, trigger: &Trigger<'_>) -> Option<&'static str> {
        crate::flow::ignored(self.now, &self.router.id, self.flows, session, trigger)
    }

    fn turn(&self, mut run: Run, trigger: Trigger<'_>) -> Run {
        let Some(flow) = self.flow_of(&run.session, &trigger) else {
            if run.session.position.is_none() && matches!(trigger, Trigger::HumanEnded(_)) {
                // It began with people, at a router without a flow.
                run.after = After::Ended;
                return run;
            }
            run.after = After::Frozen(FrozenError {
                code: "flow_missing".to_owned(),
                message: "the flow version of the session is not there or does not compile".to_owned(),
            });
            return run;
        };
        run.traced |= self.is_traced(&run.session);
        let stood = run.session.position.as_ref().and_then(|position| position.block_id.clone());
        let outcome = match self.rehearsed.find(&flow, &run.session, &run.contact, trigger) {
            Some(outcome) => outcome,
            None => {
                let scene = Scene {
                    flow: Arc::clone(&flow),
                    router: self.router,
                    statics: &self.statics,
                    now: self.now,
                    flows: self.flows,
                };
                run_within(&scene, run.session, run.contact, trigger, self.allowance)
            }
        };
        if outcome.is_cut_short() {
            // Of a turn that froze both are as they were.
            run.long = Some(Box::new(Rehearsal {
                flow,
                flows: self.flows.clone(),
                router: self.router.clone(),
                statics: self.statics.clone(),
                now: self.now,
                session: outcome.session.clone(),
                contact: outcome.contact.clone(),
                trigger: trigger.into(),
            }));
        }
        if let Some(reason) = outcome.ignored {
            tracing::debug!(session = %outcome.session.id, reason, "an event changes nothing");
        }
        let Outcome { session, contact, contact_changed, effects, end, trace, work, .. } = outcome;
        if run.long.is_none() && !matches!(end, TurnEnd::Frozen(_)) {
            log_caught(&session, stood.as_ref(), &trace);
        }
        run.work += work;
        run.session = session;
        run.contact = contact;
        run.contact_changed |= contact_changed;
        run.traced |= self.is_traced(&run.session);
        run.trace.extend(trace);
        let mut typing_ms = None;
        for effect in effects {
            self.apply(&mut run, effect, &mut typing_ms);
        }
        run.after = match end {
            TurnEnd::Waiting | TurnEnd::HandedOver(_) => After::Live,
            TurnEnd::Effect(request) => {
                run.request = Some(*request);
                After::Live
            }
            TurnEnd::Ended => After::Ended,
            TurnEnd::Frozen(error) => After::Frozen(error),
        };
        run
    }

    /// Returns whether a flow on which the session stands, or to which it comes back, wants its trace stored.
    fn is_traced(&self, session: &Session) -> bool {
        versions_of(session).filter_map(|id| self.flows.version(id)).any(|flow| flow.is_traced())
    }

    fn apply(&self, run: &mut Run, effect: Effect, typing_ms: &mut Option<u64>) {
        let Some(effect) = run.records.note(self.cx, &run.session, self.now, effect) else { return };
        let session = &run.session;
        match effect {
            Effect::Send(content) => run.outgoing.push(OutgoingEvent {
                internal_id: MessageId::generate(self.cx.ids()),
                seq: None,
                chat_id: Some(session.chat_id.clone()),
                phone_number_id: session.id.phone_number_id().to_owned(),
                to: session.id.party().to_owned(),
                session_id: session.id.clone(),
                source: Source::Flow,
                sender: Sender::FLOW,
                content,
                epoch: session.epoch,
                timestamp: self.now,
                typing_ms: typing_ms.take(),
                ig_comment_target: None,
            }),
            Effect::Typing { millis } => *typing_ms = Some(typing_ms.unwrap_or(0) + millis),
            Effect::CloseChat => run.close_chat = true,
            // Records, taken above.
            Effect::OptIn { .. } | Effect::Tags(_) | Effect::Track { .. } => {}
            Effect::Agent { agent_id, max_messages, messages } => {
                let event = self.agent_turn(session, agent_id, max_messages, messages);
                run.entries.push(NewEntry::of::<Agent>(&AgentEvent::Turn(event)));
            }
            Effect::AgentInactive { agent_id, ticket_id, epoch } => {
                let notice = self.agent_notice(session, agent_id, ticket_id, epoch);
                run.entries.push(NewEntry::of::<Agent>(&AgentEvent::Inactivity(notice)));
            }
            Effect::AgentLost { agent_id, ticket_id, epoch } => {
                let notice = self.agent_notice(session, agent_id, ticket_id, epoch);
                run.entries.push(NewEntry::of::<Agent>(&AgentEvent::SessionLost(notice)));
            }
            Effect::Human { queue_id, user_id, variables } => {
                let event = HandoffEvent {
                    context_variables: variables,
                    preset_queue_id: queue_id,
                    preset_user_id: user_id,
                    ..HandoffEvent::of(session, &run.contact, self.now)
                };
                run.entries.push(NewEntry::of::<Helpdesk>(&HelpdeskEvent::Handoff(event)));
            }
        }
    }

    /// Messages to the agent that has the session. They put off its inactivity (rulings S7).
    pub(super) fn to_agent(&self, run: &mut Run, messages: Vec<IncomingMessage>) {
        let session = &mut run.session;
        session.last_interaction_at = self.now;
        let Some(agent) = &mut session.agent else {
            tracing::error!(session = %session.id, "a session in mode agent has no agent");
            return;
        };
        agent.deadline = Some(self.now + session.expiry_timeout);
        let (agent_id, max_messages) = (agent.active_agent_id.clone(), agent.max_messages);
        session.arm(self.now);
        let event = self.agent_turn(&run.session, agent_id, max_messages, messages);
        run.entries.push(NewEntry::of::<Agent>(&AgentEvent::Turn(event)));
    }

    /// Messages to the human who has the session.
    pub(super) fn to_human(&self, run: &mut Run, messages: Vec<IncomingMessage>) {
        run.session.last_interaction_at = self.now;
        let event = HelpdeskMessageEvent {
            session_id: run.session.id.clone(),
            chat_id: run.session.chat_id.clone(),
            router_id: run.session.router_id.clone(),
            messages,
            timestamp: self.now,
        };
        run.entries.push(NewEntry::of::<Helpdesk>(&HelpdeskEvent::Message(event)));
    }

    fn agent_turn(
        &self,
        session: &Session,
        agent_id: AgentId,
        max_messages: u32,
        messages: Vec<IncomingMessage>,
    ) -> AgentStreamEvent {
        AgentStreamEvent {
            session_id: session.id.clone(),
            chat_id: session.chat_id.clone(),
            to: session.id.party().to_owned(),
            phone_number_id: session.id.phone_number_id().to_owned(),
            agent_id,
            max_messages,
            messages,
            handoff_context: None,
            last_user_input: None,
            epoch: Some(session.epoch),
            timestamp: self.now,
        }
    }

    fn agent_notice(
        &self,
        session: &Session,
        agent_id: AgentId,
        ticket_id: Option<TicketId>,
        epoch: i64,
    ) -> AgentNotice {
        AgentNotice {
            session_id: session.id.clone(),
            chat_id: session.chat_id.clone(),
            to: session.id.party().to_owned(),
            phone_number_id: session.id.phone_number_id().to_owned(),
            agent_id,
            ticket_id,
            router_id: Some(session.router_id.clone()),
            epoch,
            timestamp: self.now,
        }
    }

    /// The version on which the session stands. One that stands nowhere is put somewhere by a jump.
    fn flow_of(&self, session: &Session, trigger: &Trigger<'_>) -> Option<Arc<CompiledFlow>> {
        match (&session.position, trigger) {
            (Some(position), _) => self.flows.version(&position.version_id).cloned(),
            (None, Trigger::Jump(jump)) => self.flows.published(&jump.flow_id).cloned(),
            (None, Trigger::AgentEnded(event) | Trigger::HumanEnded(event)) => {
                self.flows.published(&event.jump_target.as_ref()?.flow_id).cloned()
            }
            (None, _) => None,
        }
    }
}
