//! The walk from block to block.

use std::borrow::Cow;
use std::sync::Arc;

use super::compare::Calendar;
use super::condition::hold;
use super::outside::EffectRequest;
use super::scene::{Effect, Outcome, Scene, TurnEnd};
use super::store::Stored;
use super::trace::{FlowStep, TraceStep, of_text};
use crate::contact::Contact;
use crate::flow::compiled::{CompiledBlock, CompiledBlockKind, CompiledTarget};
use crate::flow::{CompiledFlow, Work};
use crate::id::BlockId;
use crate::message::{IncomingContent, IncomingMessage};
use crate::session::{FrozenError, Mode, Phase, Position, Session, Stop};

/// Most bytes that the texts of one turn may take, sent and stored together.
const MAX_TURN_BYTES: usize = 1024 * 1024;

/// A runtime error of a turn.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: Cow<'static, str>,
    pub(super) message: Cow<'static, str>,
}

impl Failure {
    pub(super) fn new(code: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

/// The next step of the turn.
pub(super) enum Step {
    /// Enter a block of the current flow.
    Enter(usize),
    /// Follow a target of the current flow.
    Go(CompiledTarget),
    /// Stop and wait for input.
    Wait,
    /// Stop: somebody else has the session.
    HandOver(Mode),
    /// Stop until the result of this is there.
    Suspend(Box<EffectRequest>),
    /// Stop and end the session.
    End,
}

/// A turn under way.
pub(super) struct Turn<'a> {
    pub(super) scene: &'a Scene<'a>,
    /// The flow the turn stands in, and the index of its block.
    pub(super) flow: Arc<CompiledFlow>,
    pub(super) block: usize,
    pub(super) session: Session,
    pub(super) contact: Contact,
    /// The contact before its first change.
    pub(super) contact_before: Option<Contact>,
    /// The message of the turn.
    pub(super) message: Option<&'a IncomingMessage>,
    /// The message of a turn that goes on.
    pub(super) resumed: Option<Box<IncomingMessage>>,
    pub(super) calendar: Calendar<'a>,
    pub(super) effects: Vec<Effect>,
    /// The stop with which the turn is about to end.
    pub(super) stop: Option<Stop>,
    pub(super) trace: Vec<TraceStep>,
    pub(super) steps: u32,
    pub(super) bytes: usize,
    pub(super) work: Work,
    /// Bytes of the session's variables and of the contact's, once they were counted.
    pub(super) stored: Stored,
    /// The first runtime error was led to the flow's `errorTarget`; a second one freezes.
    pub(super) failed: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        scene: &'a Scene<'a>,
        session: Session,
        contact: Contact,
        message: Option<&'a IncomingMessage>,
        work: Work,
    ) -> Self {
        Self {
            scene,
            flow: Arc::clone(&scene.flow),
            block: scene.flow.start,
            session,
            contact,
            contact_before: None,
            message,
            resumed: None,
            calendar: Calendar::new(&scene.router.tz),
            effects: Vec::new(),
            stop: None,
            trace: Vec::with_capacity(8),
            steps: 0,
            bytes: 0,
            work,
            stored: Stored::default(),
            failed: false,
        }
    }

    /// Plays the turn from `first` to its end.
    pub(super) fn play(mut self, first: impl FnOnce(&mut Self) -> Result<Step, Failure>) -> Outcome {
        // The history, the largest part of it, is not changed before the turn settles.
        let history = std::mem::take(&mut self.session.history);
        let before = self.session.clone();
        self.session.history = history;
        if self.message.is_some() {
            self.session.last_interaction_at = self.scene.now;
        }
        self.trace.extend(self.message.map(TraceStep::received));
        self.trace.push(TraceStep::InFlow(FlowStep::of(&self.flow)));
        let mut next = first(&mut self);
        let end = loop {
            next = next.and_then(|step| self.afford().map(|()| step));
            next = match next {
                Ok(Step::Wait) => break TurnEnd::Waiting,
                Ok(Step::HandOver(owner)) => break TurnEnd::HandedOver(owner),
                Ok(Step::Suspend(request)) => break TurnEnd::Effect(request),
                Ok(Step::End) => break TurnEnd::Ended,
                Ok(Step::Go(target)) => self.follow(target),
                Ok(Step::Enter(block)) => self.enter(block),
                Err(failure) => {
                    self.stop = None;
                    match self.recover(&failure) {
                        Some(target) => Ok(Step::Go(target)),
                        None => return self.freeze(before, failure),
                    }
                }
            };
        };
        self.settle(&end);
        Outcome {
            session: self.session,
            contact: self.contact,
            contact_changed: self.contact_before.is_some(),
            effects: self.effects,
            end,
            trace: self.trace,
            work: self.work.used(),
            ignored: None,
        }
    }

    /// The message of this turn.
    pub(super) fn message(&self) -> Option<&IncomingMessage> {
        self.message.or(self.resumed.as_deref())
    }

    /// Returns the message of the contact in this turn.
    pub(super) fn input(&self) -> Option<&IncomingContent> {
        self.message().map(|message| &message.content)
    }

    /// A session that has not run, or that was given a block to run from.
    pub(super) fn start(&mut self) -> Result<Step, Failure> {
        let waits = self.session.deadline().is_some();
        if waits && let Some(position) = &mut self.session.position {
            position.waiting = None;
            position.block_id = None;
        }
        self.stand()?;
        Ok(Step::Enter(self.block))
    }

    /// A message: the answer when the session waits for one, else the signal to run on.
    pub(super) fn hear(&mut self) -> Result<Step, Failure> {
        self.stand()?;
        let waiting = self.session.position.as_ref().and_then(|p| p.waiting.as_ref());
        let retries = waiting.filter(|waiting| !waiting.repositioned).map(|waiting| waiting.retries);
        match (retries, self.message) {
            (Some(retries), Some(message)) => self.answer(&message.content, retries),
            _ => Ok(Step::Enter(self.block)),
        }
    }

    /// Finds the block on which the session stands; the start block when it stands on none.
    pub(super) fn stand(&mut self) -> Result<(), Failure> {
        let flow = &self.flow;
        let position = self.session.position.get_or_insert_with(|| Position {
            flow_id: flow.flow_id().clone(),
            version_id: flow.version_id().clone(),
            block_id: None,
            waiting: None,
        });
        self.block = match &position.block_id {
            None => flow.start,
            Some(block) => flow.find(block).ok_or_else(|| block_not_found(block))?,
        };
        Ok(())
    }

    fn enter(&mut self, at: usize) -> Result<Step, Failure> {
        self.block = at;
        if let Some(position) = &mut self.session.position {
            position.waiting = None;
        }
        let flow = Arc::clone(&self.flow);
        let block = &flow.blocks[at];
        self.steps += 1;
        if self.steps > self.scene.flow.max_steps {
            let message = format!("more than {} blocks without a stop", self.scene.flow.max_steps);
            return Err(Failure::new("flow_loop", message));
        }
        self.work.block();
        self.afford()?;
        self.trace.push(TraceStep::BlockEntered { block_id: block.id.clone(), title: block.title.clone() });
        self.entered(block, 0)
    }

    /// Goes on in a block that was entered, with its `onEnter` actions from the one at `from`.
    pub(super) fn entered(&mut self, block: &CompiledBlock, from: usize) -> Result<Step, Failure> {
        if let Some(request) = self.act(block, Phase::OnEnter, from)? {
            return Ok(Step::Suspend(request));
        }
        match &block.kind {
            CompiledBlockKind::Content { contents, input } => {
                for content in contents {
                    let (message, bytes) = content.render(&self.view());
                    self.afford()?;
                    self.spend(bytes)?;
                    self.send(message);
                }
                match input {
                    Some(input) => {
                        self.stop_at(block, input);
                        Ok(Step::Wait)
                    }
                    None => self.leave(block),
                }
            }
            CompiledBlockKind::Agent { agent_id, max_messages, timeout } => {
                Ok(self.hand_to_agent(agent_id, *max_messages, *timeout))
            }
            CompiledBlockKind::Human { queue_id, user_id } => {
                Ok(self.hand_to_human(queue_id.as_ref(), user_id.as_ref()))
            }
            CompiledBlockKind::Flow { flow_id, block_id, returns } => {
                self.call(flow_id, block_id.as_ref(), *returns)
            }
        }
    }

    /// Runs `onLeave` and takes the first output that holds.
    pub(super) fn leave(&mut self, block: &CompiledBlock) -> Result<Step, Failure> {
        self.left(block, 0)
    }

    /// Goes on leaving a block, with its `onLeave` actions from the one at `from`.
    pub(super) fn left(&mut self, block: &CompiledBlock, from: usize) -> Result<Step, Failure> {
        if let Some(request) = self.act(block, Phase::OnLeave, from)? {
            return Ok(Step::Suspend(request));
        }
        for (index, output) in block.outputs.iter().enumerate() {
            let held = hold(&output.conditions, &self.view(), &self.calendar);
            self.afford()?;
            // Of the many that may not hold the words would only take memory.
            let when = if held { output.when.clone() } else { String::new() };
            self.trace.push(TraceStep::Output { index, held, when });
            if held {
                return Ok(Step::Go(output.target.clone()));
            }
        }
        self.trace.push(TraceStep::DefaultOutput);
        Ok(Step::Go(block.default_output.clone()))
    }

    fn follow(&mut self, target: CompiledTarget) -> Result<Step, Failure> {
        match target {
            CompiledTarget::Block(block) => Ok(Step::Enter(block)),
            CompiledTarget::End => self.end(),
            CompiledTarget::Flow { flow_id, block_id } => {
                let (flow, block) = self.find(&flow_id, block_id.as_ref())?;
                self.trace.push(TraceStep::FlowEntered(FlowStep::of(&flow)));
                self.flow = flow;
                Ok(Step::Enter(block))
            }
        }
    }

    /// Where a runtime error leads, if it does not freeze the session.
    fn recover(&mut self, failure: &Failure) -> Option<CompiledTarget> {
        let message = of_text(&failure.message);
        self.trace.push(TraceStep::Failed { code: failure.code.clone(), message });
        if self.failed || matches!(&*failure.code, "flow_loop" | "turn_too_long") {
            return None;
        }
        self.failed = true;
        self.error_target()
    }

    fn freeze(self, before: Session, failure: Failure) -> Outcome {
        Outcome {
            session: Session { history: self.session.history, ..before },
            contact: self.contact_before.unwrap_or(self.contact),
            contact_changed: false,
            effects: Vec::new(),
            end: TurnEnd::Frozen(FrozenError {
                code: failure.code.into_owned(),
                message: failure.message.into_owned(),
            }),
            trace: self.trace,
            work: self.work.used(),
            ignored: None,
        }
    }

    /// Writes into the session where the turn ended.
    fn settle(&mut self, end: &TurnEnd) {
        if let Some(stop) = self.stop.take() {
            self.session.push_stop(stop);
        }
        let block = &self.flow.blocks[self.block].id;
        if let Some(position) = &mut self.session.position {
            if position.version_id != *self.flow.version_id() {
                position.flow_id = self.flow.flow_id().clone();
                position.version_id = self.flow.version_id().clone();
            }
            if position.block_id.as_ref() != Some(block) {
                position.block_id = Some(block.clone());
            }
            if matches!(end, TurnEnd::Ended | TurnEnd::HandedOver(_)) {
                position.waiting = None;
            }
        }
        self.session.arm(self.scene.now);
    }

    /// Fails when the work of the turn has spent its budget.
    pub(super) fn afford(&self) -> Result<(), Failure> {
        if self.work.is_spent() {
            let message = "the conditions, expressions, texts and jumps of the turn are too much work";
            return Err(Failure::new("turn_too_long", message));
        }
        Ok(())
    }

    /// Counts `bytes` of text against the turn's limit.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_TURN_BYTES {
            return Err(Failure::new("turn_too_large", "the texts of the turn exceed 1 MiB"));
        }
        Ok(())
    }
}

pub(super) fn block_not_found(block: &BlockId) -> Failure {
    Failure::new("block_not_found", format!("the flow has no block `{block}`"))
}
