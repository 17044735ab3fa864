//! Changes of owner: to an AI agent, to a human, and back (spec B 3.3, rulings S14); sub-flows.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::scene::Effect;
use super::trace::{FlowStep, TraceStep};
use super::turn::{Failure, Step, Turn, block_not_found};
use crate::event::{ExternalJump, HandBack};
use crate::flow::CompiledFlow;
use crate::flow::compiled::{CompiledBlockKind, CompiledTarget};
use crate::flow::definition::FlowKind;
use crate::id::{AgentId, BlockId, FlowId, QueueId, UserId};
use crate::session::{AgentState, Call, MAX_CALLS, Mode, Position, Redirect, Waiting};

impl Turn<'_> {
    /// The session goes to an AI agent.
    pub(super) fn hand_to_agent(&mut self, agent: &AgentId, max_messages: u32, timeout: Duration) -> Step {
        self.session.give_to(Mode::Agent);
        self.session.expiry_timeout = timeout;
        let state = AgentState::begin(agent.clone(), max_messages, self.scene.now + timeout);
        self.session.agent = Some(Box::new(state));
        self.trace.push(TraceStep::HandedOver { to: Mode::Agent });
        let messages = self.message().cloned().into_iter().collect();
        self.effects.push(Effect::Agent { agent_id: agent.clone(), max_messages, messages });
        Step::HandOver(Mode::Agent)
    }

    /// The session goes to a human.
    pub(super) fn hand_to_human(&mut self, queue_id: Option<&QueueId>, user_id: Option<&UserId>) -> Step {
        self.session.give_to(Mode::Human);
        self.trace.push(TraceStep::HandedOver { to: Mode::Human });
        self.effects.push(Effect::Human {
            queue_id: queue_id.cloned(),
            user_id: user_id.cloned(),
            variables: self.session.variables.clone(),
        });
        Step::HandOver(Mode::Human)
    }

    /// The session comes back from `from`: to the jump target, else by the outputs of the block that handed
    /// it over (spec B 4.9). One that no block handed over ends.
    pub(super) fn hand_back(&mut self, from: Mode, event: &HandBack) -> Result<Step, Failure> {
        self.session.give_to(Mode::Flow);
        self.trace.push(TraceStep::HandedBack { from });
        self.note_end(from, event)?;
        let has_run = self.session.position.as_ref().is_some_and(|position| position.block_id.is_some());
        if let Some(target) = &event.jump_target {
            let found = self.find(&target.flow_id, Some(&target.block_id));
            if found.is_err() && has_run {
                // So that the error is led from where the session stands.
                self.stand()?;
            }
            let (flow, at) = found?;
            self.session.calls.clear();
            return Ok(self.go_to(flow, at));
        }
        if !has_run {
            return Ok(Step::End);
        }
        self.stand()?;
        self.session.expiry_timeout = self.flow.input_timeout;
        let flow = Arc::clone(&self.flow);
        let block = &flow.blocks[self.block];
        match &block.kind {
            CompiledBlockKind::Agent { .. } | CompiledBlockKind::Human { .. } => self.leave(block),
            CompiledBlockKind::Content { .. } | CompiledBlockKind::Flow { .. } => Ok(Step::End),
        }
    }

    /// Notes the context at the end of an agent's or a human's part (spec A 9, spec B 4.9). Outputs of an earlier
    /// part that this one lacks are removed, so that none is taken for its own.
    fn note_end(&mut self, from: Mode, event: &HandBack) -> Result<(), Failure> {
        let deflect = event.handoff_deflect.as_ref();
        let deflect = deflect.map(|why| {
            let (position, wait) = (why.position, why.wait_minutes);
            json!({ "reason": why.reason, "detail": why.detail, "position": position, "waitMinutes": wait })
        });
        let ticket = event.ticket.clone().map(Value::Object);
        let reason = event.agent_end_reason.clone().map(Value::from);
        let own = |mode: Mode| from == mode;
        for (key, value, cleared) in [
            ("agentEndReason", reason, own(Mode::Agent)),
            ("ticket", ticket, own(Mode::Human)),
            ("handoffDeflect", deflect, own(Mode::Human)),
        ] {
            match value {
                Some(value) => self.set_variable(key, value)?,
                None if cleared => self.remove_variable(key),
                None => {}
            }
        }
        Ok(())
    }

    /// Somebody outside puts the session elsewhere (spec A 4.5 rule 3). An agent loses it.
    pub(super) fn jump(&mut self, jump: &ExternalJump) -> Result<Step, Failure> {
        let (flow, at) = self.find(&jump.flow_id, Some(&jump.block_id))?;
        if self.session.mode == Mode::Agent {
            let epoch = self.session.epoch;
            if let Some(agent) = self.session.agent.take() {
                let (agent_id, ticket_id) = (agent.active_agent_id, agent.ticket_id);
                self.effects.push(Effect::AgentLost { agent_id, ticket_id, epoch });
            }
            self.session.give_to(Mode::Flow);
            self.session.expiry_timeout = flow.input_timeout;
        }
        self.session.pending = None;
        self.session.calls.clear();
        self.session.push_redirect(Redirect {
            flow_id: jump.flow_id.clone(),
            block_id: jump.block_id.clone(),
            redirect_id: jump.redirect_id.clone(),
        });
        self.trace.push(TraceStep::Redirected { block_id: jump.block_id.clone() });
        let step = self.go_to(flow, at);
        if jump.execute_on_entry {
            return Ok(step);
        }
        let timeout = self.flow.blocks[at].input().map_or(self.flow.input_timeout, |input| input.timeout);
        self.session.expiry_timeout = timeout;
        if let Some(position) = &mut self.session.position {
            let deadline = self.scene.now + timeout;
            position.waiting = Some(Waiting { retries: 0, deadline, repositioned: true });
        }
        Ok(Step::Wait)
    }

    /// A block of the published version of a flow of the router, in which the session can stand: a tool only runs
    /// within a tool's call. Anywhere else it would end the session without a word.
    pub(super) fn find(
        &self,
        flow_id: &FlowId,
        block_id: Option<&BlockId>,
    ) -> Result<(Arc<CompiledFlow>, usize), Failure> {
        // A target names a flow of the same router; another router's is as good as absent.
        let found = self.scene.flows.published(flow_id);
        let flow = found.filter(|flow| *flow.router_id() == self.scene.router.id).ok_or_else(|| {
            Failure::new("flow_not_found", format!("flow `{flow_id}` is not published here"))
        })?;
        if flow.kind() == FlowKind::Tool && self.scene.flow.kind() != FlowKind::Tool {
            return Err(Failure::new("flow_is_tool", format!("flow `{flow_id}` is a tool")));
        }
        let at = match block_id {
            None => flow.start,
            Some(block) => flow.find(block).ok_or_else(|| block_not_found(block))?,
        };
        Ok((flow, at))
    }

    /// Puts the turn on a block of another flow.
    pub(super) fn go_to(&mut self, flow: Arc<CompiledFlow>, at: usize) -> Step {
        if self.session.position.is_none() {
            self.session.position = Some(Position {
                flow_id: flow.flow_id().clone(),
                version_id: flow.version_id().clone(),
                block_id: None,
                waiting: None,
            });
        }
        if flow.version_id() != self.flow.version_id() {
            self.trace.push(TraceStep::FlowEntered(FlowStep::of(&flow)));
        }
        self.flow = flow;
        self.block = at;
        Step::Enter(at)
    }

    /// A sub-flow block: the other flow runs, and may come back here.
    pub(super) fn call(
        &mut self,
        flow_id: &FlowId,
        block_id: Option<&BlockId>,
        returns: bool,
    ) -> Result<Step, Failure> {
        let (flow, at) = self.find(flow_id, block_id)?;
        if returns {
            if self.session.calls.len() >= MAX_CALLS {
                let message = format!("more than {MAX_CALLS} sub-flows within each other");
                return Err(Failure::new("call_depth", message));
            }
            self.session.calls.push(Call {
                flow_id: self.flow.flow_id().clone(),
                version_id: self.flow.version_id().clone(),
                block_id: self.flow.blocks[self.block].id.clone(),
            });
        }
        self.trace.push(TraceStep::FlowEntered(FlowStep::of(&flow)));
        self.flow = flow;
        Ok(Step::Enter(at))
    }

    /// The end of a flow: of the session, or of a sub-flow, whose block is then left.
    pub(super) fn end(&mut self) -> Result<Step, Failure> {
        let Some(call) = self.session.calls.pop() else {
            return Ok(Step::End);
        };
        self.return_to(&call)?;
        let flow = Arc::clone(&self.flow);
        self.leave(&flow.blocks[self.block])
    }

    /// Stands on the block of `call` again.
    fn return_to(&mut self, call: &Call) -> Result<(), Failure> {
        let known =
            [&self.flow, &self.scene.flow].into_iter().find(|flow| *flow.version_id() == call.version_id);
        let flow = known.cloned().or_else(|| self.scene.flows.version(&call.version_id));
        let flow = flow.ok_or_else(|| {
            Failure::new("flow_missing", format!("the version of flow `{}` is not there", call.flow_id))
        })?;
        self.block = flow.find(&call.block_id).ok_or_else(|| block_not_found(&call.block_id))?;
        self.flow = flow;
        self.trace.push(TraceStep::FlowReturned(FlowStep::of(&self.flow)));
        Ok(())
    }

    /// The `errorTarget` of the flow, or of the flows that called it, the innermost first.
    pub(super) fn error_target(&mut self) -> Option<CompiledTarget> {
        loop {
            if let Some(target) = &self.flow.error_target {
                return Some(target.clone());
            }
            let call = self.session.calls.pop()?;
            self.return_to(&call).ok()?;
        }
    }
}
