//! Running actions.

use super::condition::hold;
use super::scene::Effect;
use super::trace::{ActionResult, TraceStep};
use super::turn::{Failure, Turn};
use crate::contact::ContactChange;
use crate::flow::compiled::{CompiledAction, CompiledActionKind};
use crate::flow::interpolate::size_of;

impl Turn<'_> {
    /// Runs `actions` in order. A failure ends the list unless the action says `continueOnError`.
    pub(super) fn act(&mut self, actions: &[CompiledAction]) -> Result<(), Failure> {
        for action in actions {
            let kind = action.kind.name();
            if !hold(&action.conditions, &self.view(), &self.calendar) {
                self.trace.push(TraceStep::Action { kind, result: ActionResult::Skipped });
                continue;
            }
            let outcome = self.act_one(&action.kind);
            let result = if outcome.is_ok() { ActionResult::Done } else { ActionResult::Failed };
            self.trace.push(TraceStep::Action { kind, result });
            if !action.continue_on_error {
                outcome?;
            }
        }
        Ok(())
    }

    fn act_one(&mut self, action: &CompiledActionKind) -> Result<(), Failure> {
        match action {
            CompiledActionKind::SetVariable { key, value } => {
                let value = value.render(&self.view());
                self.spend(size_of(&value))?;
                self.set_variable(key, value);
            }
            CompiledActionKind::DeleteVariable { key } => {
                self.session.variables.remove(key);
            }
            CompiledActionKind::SetContactName { value } => {
                let name = value.render(&self.view());
                self.change_contact(ContactChange::Name(name));
            }
            CompiledActionKind::SetContactVariable { key, value } => {
                let value = value.render(&self.view());
                self.spend(size_of(&value))?;
                self.change_contact(ContactChange::Variable { key: key.clone(), value });
            }
            CompiledActionKind::CloseChat => self.effects.push(Effect::CloseChat),
            CompiledActionKind::Delay { millis } => self.effects.push(Effect::Typing { millis: *millis }),
        }
        Ok(())
    }

    fn change_contact(&mut self, change: ContactChange) {
        let changes = match &change {
            ContactChange::Name(name) => {
                let name = name.trim();
                !name.is_empty() && (name != self.contact.name || !self.contact.name_locked)
            }
            ContactChange::Variable { key, value } => self.contact.variables.get(key) != Some(value),
        };
        if changes {
            self.contact_before.get_or_insert_with(|| self.contact.clone());
            self.contact.apply(&change);
        }
    }
}
