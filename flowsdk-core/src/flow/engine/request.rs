//! Suspending a turn for something outside, and going on with the result.

use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::outside::{EffectRequest, EffectResult, HttpRequest, OutsideCall, ScriptRequest};
use super::trace::{ActionResult, TraceStep};
use super::turn::{Failure, Step, Turn};
use crate::flow::compiled::{
    CompiledAction, CompiledActionKind, CompiledBlock, CompiledBody, CompiledHttpRequest,
};
use crate::flow::interpolate::size_of;
use crate::session::{Pending, Phase};

/// How much longer than the request itself a result may take before it counts as lost.
const GRACE: Duration = Duration::from_secs(5);
/// How long a script may take to come back, its place in a queue included.
const SCRIPT_PATIENCE: Duration = Duration::from_secs(10);
/// Most bytes of a request's body.
const MAX_BODY: usize = 256 * 1024;
/// Longest name of a session variable that a script may set.
const MAX_NAME: usize = 128;
/// Most session variables that a script may set at once.
const MAX_RESULTS: usize = 100;

impl Turn<'_> {
    /// Ends the turn with a request; `None` when the action asks nothing of the outside.
    pub(super) fn ask(
        &mut self,
        action: &CompiledAction,
        phase: Phase,
        at: usize,
        attempt: u32,
    ) -> Option<Result<Box<EffectRequest>, Failure>> {
        let (call, patience) = match &action.kind {
            CompiledActionKind::HttpRequest(request) => {
                let patience = request.timeout + GRACE;
                match self.http(request) {
                    Ok(call) => (call, patience),
                    Err(failure) => {
                        self.forget(&action.kind);
                        return Some(Err(failure));
                    }
                }
            }
            CompiledActionKind::ExecuteScript(script) => {
                (self.script(&script.script), SCRIPT_PATIENCE + GRACE)
            }
            _ => return None,
        };
        self.session.effect_seq += 1;
        let request = EffectRequest {
            seq: self.session.effect_seq,
            router_id: self.session.router_id.clone(),
            deadline: self.scene.now + patience,
            call,
        };
        self.suspend(&request, phase, at, attempt);
        Some(Ok(Box::new(request)))
    }

    fn suspend(&mut self, request: &EffectRequest, phase: Phase, at: usize, attempt: u32) {
        self.session.pending = Some(Box::new(Pending {
            seq: request.seq,
            phase,
            action: at,
            attempt,
            deadline: request.deadline,
            steps: self.steps,
            bytes: self.bytes,
            work: self.work.used(),
            failed: self.failed,
            input: self.message().cloned(),
        }));
        if let Some(position) = &mut self.session.position {
            position.waiting = None;
        }
    }

    fn http(&self, request: &CompiledHttpRequest) -> Result<OutsideCall, Failure> {
        let view = self.view();
        let url = request.url.render_address(&view);
        if has_dot_segment(&url) {
            return Err(Failure::new("http_bad_request", "the address leads upwards"));
        }
        let headers = request.headers.iter().map(|(name, value)| {
            let value = value.render(&view);
            // A text of a contact must not begin another header.
            match value.contains(|c: char| c.is_control()) {
                true => Err(Failure::new("http_bad_request", format!("header `{name}` has a line break"))),
                false => Ok((name.clone(), SecretString::from(value))),
            }
        });
        let headers = headers.collect::<Result<Vec<_>, _>>()?;
        let (body, is_json) = match &request.body {
            None => (None, false),
            Some(CompiledBody::Text(template)) => (Some(template.render(&view)), false),
            Some(CompiledBody::Json(value)) => (Some(value.render(&view).to_string()), true),
        };
        if body.as_ref().is_some_and(|body| body.len() > MAX_BODY) {
            return Err(Failure::new("http_bad_request", format!("the body exceeds {MAX_BODY} bytes")));
        }
        Ok(OutsideCall::Http(HttpRequest {
            method: request.method,
            url: url.into(),
            headers,
            body: body.map(SecretString::from),
            is_json,
            follows_redirects: true,
            timeout: request.timeout,
            paths: request.paths.clone(),
        }))
    }

    // Static variables stay outside: the result of a script may be shown.
    fn script(&self, script: &str) -> OutsideCall {
        let input = self.input();
        let scope = json!({
            "variables": self.session.variables,
            "contact": {
                "name": self.contact.name,
                "phoneNumber": self.contact.phone_number,
                "variables": self.contact.variables,
            },
            "input": input.map(|content| content.as_text()),
            "now": self.scene.now.as_millis(),
        });
        self.work.bytes(size_of(&scope));
        let seed = self.session.effect_seq.unsigned_abs();
        OutsideCall::Script(ScriptRequest { script: script.to_owned(), scope, seed })
    }

    /// Returns the result for which the turn waited.
    pub(super) fn effect_done(&mut self, result: &EffectResult) -> Result<Step, Failure> {
        let Some(pending) = self.take_pending()? else {
            return Ok(Step::Wait);
        };
        self.finish(&pending, result)
    }

    /// Retries the failed request, and goes on with the rest of the block.
    pub(super) fn effect_again(&mut self) -> Result<Step, Failure> {
        let Some(pending) = self.take_pending()? else {
            return Ok(Step::Wait);
        };
        let flow = std::sync::Arc::clone(&self.flow);
        self.go_on(&flow.blocks[self.block], pending.phase, pending.action)
    }

    /// No result came: the process that had the request died, perhaps after it was made.
    pub(super) fn effect_lost(&mut self) -> Result<Step, Failure> {
        let Some(pending) = self.take_pending()? else {
            return Ok(Step::Wait);
        };
        let flow = std::sync::Arc::clone(&self.flow);
        let action = flow.blocks[self.block].actions(pending.phase).get(pending.action);
        if let Some(action) = action.filter(|action| action.kind.is_repeatable() && pending.attempt == 1) {
            self.trace.push(TraceStep::Repeated { kind: action.kind.name().into() });
            if let Some(Ok(request)) = self.ask(action, pending.phase, pending.action, 2) {
                return Ok(Step::Suspend(request));
            }
        }
        let lost = EffectResult::failed("unknown_outcome", "no result came in time");
        self.finish(&pending, &lost)
    }

    /// Returns the turn as it was when it was suspended.
    fn take_pending(&mut self) -> Result<Option<Box<Pending>>, Failure> {
        let Some(mut pending) = self.session.pending.take() else {
            return Ok(None);
        };
        self.resumed = pending.input.take().map(Box::new);
        (self.steps, self.bytes, self.failed) = (pending.steps, pending.bytes, pending.failed);
        self.work = self.work.resumed(pending.work);
        self.stand()?;
        Ok(Some(pending))
    }

    fn finish(&mut self, pending: &Pending, result: &EffectResult) -> Result<Step, Failure> {
        let flow = std::sync::Arc::clone(&self.flow);
        let block = &flow.blocks[self.block];
        if let Some(action) = block.actions(pending.phase).get(pending.action) {
            let outcome = self.keep(&action.kind, result);
            self.acted(action, outcome)?;
        }
        self.go_on(block, pending.phase, pending.action + 1)
    }

    /// Goes on with the block at the action `at`.
    fn go_on(&mut self, block: &CompiledBlock, phase: Phase, at: usize) -> Result<Step, Failure> {
        match phase {
            Phase::OnEnter => self.entered(block, at),
            Phase::OnLeave => self.left(block, at),
        }
    }

    /// Keeps the result in the variables that the action names.
    fn keep(&mut self, action: &CompiledActionKind, result: &EffectResult) -> Result<(), Failure> {
        match (action, result) {
            (CompiledActionKind::HttpRequest(request), EffectResult::Http { status, values }) => {
                let mut set = Map::new();
                for (at, name) in request.variables.iter().enumerate() {
                    let value = values.get(at).cloned().unwrap_or_default();
                    self.spend(size_of(&value))?;
                    set.insert(name.clone(), value);
                }
                let kept = self.set_variables(&set);
                if kept.is_err() {
                    self.forget(action);
                }
                if let Some(name) = &request.status_variable {
                    self.note(name, Value::from(*status));
                }
                kept
            }
            (CompiledActionKind::ExecuteScript(script), EffectResult::Script { value }) => {
                self.spend(size_of(value))?;
                let kept = match (&script.variable, value) {
                    (Some(name), value) => self.set_variable(name, value.clone()),
                    (None, Value::Object(fields)) => {
                        let is_name = |name: &String| {
                            !name.is_empty() && name.len() <= MAX_NAME && !name.contains(['.', '{', '}'])
                        };
                        let fields = fields.iter().filter(|(name, _)| is_name(name)).take(MAX_RESULTS);
                        let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
                        self.set_variables(&fields.collect())
                    }
                    (None, _) => Ok(()),
                };
                if kept.is_err() {
                    self.forget(action);
                }
                kept
            }
            (action, EffectResult::Failed { code, message, status }) => {
                self.forget(action);
                if let (CompiledActionKind::HttpRequest(request), Some(status)) = (action, status)
                    && let Some(name) = &request.status_variable
                {
                    self.note(name, Value::from(*status));
                }
                Err(Failure::new(code.clone(), message.clone()))
            }
            // A result of another kind than was asked for.
            _ => Err(Failure::new("unknown_outcome", "the result does not fit the request")),
        }
    }

    /// Removes the earlier results of a failed action: they would be taken for its answer.
    fn forget(&mut self, action: &CompiledActionKind) {
        let (one, more) = match action {
            CompiledActionKind::HttpRequest(request) => (&request.status_variable, &request.variables[..]),
            CompiledActionKind::ExecuteScript(script) => (&script.variable, &[][..]),
            _ => return,
        };
        for name in one.iter().chain(more) {
            self.remove_variable(name);
        }
    }

    /// Notes the outcome of an action, and returns whether the turn goes on.
    pub(super) fn acted(
        &mut self,
        action: &CompiledAction,
        outcome: Result<(), Failure>,
    ) -> Result<(), Failure> {
        let result = if outcome.is_ok() { ActionResult::Done } else { ActionResult::Failed };
        let code = outcome.as_ref().err().map(|failure| failure.code.clone());
        self.trace.push(TraceStep::Action { kind: action.kind.name().into(), result, code });
        if let Some(name) = action.kind.error_variable() {
            let code = outcome.as_ref().err().map_or("", |failure| &failure.code);
            let code = Value::from(code);
            self.note(name, code);
        }
        if action.continue_on_error { Ok(()) } else { outcome }
    }
}

/// Returns whether a part of the path is `.` or `..`, which would lead to another address than the author's.
fn has_dot_segment(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or("");
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    path.split(['/', '\\']).skip(1).any(|part| {
        let part = part.to_ascii_lowercase().replace("%2e", ".");
        part == "." || part == ".."
    })
}
