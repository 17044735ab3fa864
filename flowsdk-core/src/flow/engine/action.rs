//! Running actions.

use super::condition::hold;
use super::outside::EffectRequest;
use super::scene::Effect;
use super::trace::{ActionResult, TraceStep};
use super::turn::{Failure, Turn};
use crate::contact::ContactChange;
use crate::flow::compiled::{CompiledActionKind, CompiledBlock};
use crate::flow::interpolate::size_of;
use crate::session::Phase;

impl Turn<'_> {
    /// Runs the actions of a phase of the current block in order, from the one at `from`. A failure ends the list
    /// unless the action says `continueOnError`. Returns a request when the turn must wait for its result.
    pub(super) fn act(
        &mut self,
        block: &CompiledBlock,
        phase: Phase,
        from: usize,
    ) -> Result<Option<Box<EffectRequest>>, Failure> {
        for (at, action) in block.actions(phase).iter().enumerate().skip(from) {
            let kind = action.kind.name();
            self.work.action();
            let held = hold(&action.conditions, &self.view(), &self.calendar);
            self.afford()?;
            if !held {
                let kind = kind.into();
                self.trace.push(TraceStep::Action { kind, result: ActionResult::Skipped, code: None });
                continue;
            }
            let outcome = match self.ask(action, phase, at, 1) {
                Some(Ok(request)) => {
                    let target = request.call.target();
                    self.trace.push(TraceStep::Suspended { kind: kind.into(), target });
                    return Ok(Some(request));
                }
                Some(Err(failure)) => Err(failure),
                None => self.act_one(&action.kind),
            };
            self.afford()?;
            self.acted(action, outcome)?;
        }
        Ok(None)
    }

    fn act_one(&mut self, action: &CompiledActionKind) -> Result<(), Failure> {
        match action {
            CompiledActionKind::SetVariable { key, value } => {
                let value = value.render(&self.view());
                self.spend(size_of(&value))?;
                self.set_variable(key, value)?;
            }
            CompiledActionKind::DeleteVariable { key } => self.remove_variable(key),
            CompiledActionKind::SetContactName { value } => {
                let name = value.render(&self.view());
                self.change_contact(ContactChange::Name(name))?;
            }
            CompiledActionKind::SetContactVariable { key, value } => {
                let value = value.render(&self.view());
                self.spend(size_of(&value))?;
                self.change_contact(ContactChange::Variable { key: key.clone(), value })?;
            }
            CompiledActionKind::CloseChat => self.effects.push(Effect::CloseChat),
            CompiledActionKind::OptIn { accepted } => {
                self.work.effect();
                self.effects.push(Effect::OptIn { accepted: *accepted });
            }
            CompiledActionKind::AddTags { tags } => {
                let tags = tags.iter().map(|tag| tag.render(&self.view()).trim().to_owned());
                // As many characters as a label that is written out may have.
                let tags = tags.filter(|tag| !tag.is_empty()).map(|tag| tag.chars().take(128).collect());
                let tags: Vec<String> = tags.inspect(|_| _ = self.work.effect()).collect();
                self.effects.push(Effect::Tags(tags));
            }
            CompiledActionKind::TrackEvent { name, properties } => {
                let properties = properties.render(&self.view());
                self.spend(size_of(&properties))?;
                self.work.effect();
                self.effects.push(Effect::Track {
                    name: name.clone(),
                    properties: properties.as_object().cloned().unwrap_or_default(),
                    flow_id: self.flow.flow_id().clone(),
                    block_id: self.flow.blocks[self.block].id.clone(),
                });
            }
            // These end the turn with a request before it comes here.
            CompiledActionKind::HttpRequest(_) | CompiledActionKind::ExecuteScript(_) => {}
            CompiledActionKind::Delay { millis } => self.effects.push(Effect::Typing { millis: *millis }),
        }
        Ok(())
    }
}
