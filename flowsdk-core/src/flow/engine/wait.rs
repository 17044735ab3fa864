//! Waiting at a block, and the end of the wait.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::accept;
use super::condition::reply_of;
use super::scene::Effect;
use super::trace::TraceStep;
use super::turn::{Failure, Step, Turn};
use crate::flow::compiled::{CompiledBlock, CompiledInput, CompiledValidation};
use crate::message::{ContentMessage, FormReply, IncomingContent};
use crate::session::{Mode, Stop, Waiting};

impl Turn<'_> {
    /// The turn ends at the current block, which has `input`: a stop.
    pub(super) fn stop_at(&mut self, block: &CompiledBlock, input: &CompiledInput) {
        self.wait(input, 0);
        self.stop = Some(Stop { flow_id: self.flow.flow_id().clone(), block_id: block.id.clone() });
    }

    /// Waits with a fresh deadline, which counts from when the question is seen.
    fn wait(&mut self, input: &CompiledInput, retries: u32) {
        let deadline = self.scene.now + self.typing() + input.timeout;
        self.session.expiry_timeout = input.timeout;
        if let Some(position) = &mut self.session.position {
            position.waiting = Some(Waiting { retries, deadline, repositioned: false });
        }
    }

    /// How long the messages of this turn are held back.
    fn typing(&self) -> Duration {
        let millis = |effect: &Effect| match effect {
            Effect::Typing { millis } => *millis,
            _ => 0,
        };
        Duration::from_millis(self.effects.iter().map(millis).sum())
    }

    /// The contact answers at the block at which the session waits.
    pub(super) fn answer(&mut self, content: &IncomingContent, retries: u32) -> Result<Step, Failure> {
        let flow = Arc::clone(&self.flow);
        let block = &flow.blocks[self.block];
        // A block whose input is gone (the session was repositioned) cannot judge an answer.
        let Some(input) = block.input() else {
            return Ok(Step::Enter(self.block));
        };
        let validation = input.validation.as_ref();
        let accepted = accept(validation.map(|validation| &validation.rule), content, &self.work);
        self.afford()?;
        self.trace.push(TraceStep::Answer { valid: accepted.is_some() });
        match (accepted, validation) {
            (Some(value), _) => {
                self.store(input, value, content)?;
                self.leave(block)
            }
            (None, Some(validation)) => self.retry(block, input, validation, retries.saturating_add(1)),
            (None, None) => self.leave(block),
        }
    }

    fn retry(
        &mut self,
        block: &CompiledBlock,
        input: &CompiledInput,
        validation: &CompiledValidation,
        retries: u32,
    ) -> Result<Step, Failure> {
        if validation.max_retries.is_some_and(|most| retries > most) {
            let target = validation.fail_target.as_ref().unwrap_or(&block.default_output);
            return Ok(Step::Go(target.clone()));
        }
        if let Some(text) = &validation.retry_text {
            let text = text.render(&self.view());
            // An empty text is not a message on any channel.
            if !text.trim().is_empty() {
                self.spend(text.len())?;
                self.send(ContentMessage::text(text));
            }
        }
        self.wait(input, retries);
        Ok(Step::Wait)
    }

    /// Stores a valid answer: its text or the id of the reply, the reply's title, the file.
    fn store(
        &mut self,
        input: &CompiledInput,
        value: String,
        content: &IncomingContent,
    ) -> Result<(), Failure> {
        if let Some(variable) = &input.variable {
            if let Some((_, title)) = reply_of(content) {
                self.set_variable(&variable.title, Value::from(title))?;
            }
            if let Some((_, media)) = content.file() {
                let file = json!({ "id": media.id, "mimeType": media.mime_type });
                self.set_variable(&variable.media, file)?;
            }
            // The answers of a form can be read one by one, unless a validation has stored another form of the text.
            let form = content.form_reply().filter(|form| form.response_json == value);
            let value = form.map_or_else(|| Value::from(value), FormReply::answers);
            self.set_variable(&variable.name, value)?;
        }
        self.set_variable("lastInput", Value::from(content.as_text()))
    }

    /// Handles the end of a wait without the answer, result or word to the agent (rulings S7).
    pub(super) fn timeout(&mut self) -> Result<Step, Failure> {
        self.trace.push(TraceStep::TimedOut);
        if self.session.pending.is_some() {
            return self.effect_lost();
        }
        if let Some(agent) = self.session.agent.as_mut().filter(|_| self.session.mode == Mode::Agent) {
            // Reported once: the reaction of the executor comes back as a hand-back.
            agent.deadline = None;
            let (agent_id, ticket_id) = (agent.active_agent_id.clone(), agent.ticket_id.clone());
            let epoch = self.session.epoch;
            self.stand()?;
            self.effects.push(Effect::AgentInactive { agent_id, ticket_id, epoch });
            return Ok(Step::HandOver(Mode::Agent));
        }
        self.stand()?;
        let flow = Arc::clone(&self.flow);
        let answer_was_due = self.session.is_at_stop();
        let input = flow.blocks[self.block].input().filter(|_| answer_was_due);
        // Without a target the session ends, also within a sub-flow.
        Ok(input.and_then(|input| input.timeout_target.clone()).map_or(Step::End, Step::Go))
    }

    pub(super) fn send(&mut self, message: ContentMessage) {
        self.work.effect();
        self.trace.push(TraceStep::sent(&message));
        self.effects.push(Effect::Send(message));
    }
}
