//! What a turn stores: variables of the session and of the contact, within their limits (rulings S16).

use serde_json::{Map, Value};

use super::trace::{TraceStep, of_value};
use super::turn::{Failure, Turn};
use crate::contact::ContactChange;
use crate::session::{
    MAX_CONTACT_VARIABLES, MAX_SESSION_VARIABLES, VariablesTooLarge, merge_variables, replaced,
    size_of_variable, size_of_variables,
};

/// The bytes of stored variables, counted when a turn first needs them and kept up to date from then on: a turn may
/// set ten thousand of them.
#[derive(Debug, Default)]
pub(super) struct Stored {
    session: Option<usize>,
    contact: Option<usize>,
}

impl Turn<'_> {
    /// Sets a session variable.
    ///
    /// # Errors
    /// It would exceed its limit or that of the session, and grow what is stored.
    pub(super) fn set_variable(&mut self, key: &str, value: Value) -> Result<(), Failure> {
        let before = self.session_size();
        let after =
            self.grown(before, key, self.session.variables.get(key), &value, MAX_SESSION_VARIABLES)?;
        self.stored.session = Some(after);
        self.put(key, value);
        Ok(())
    }

    /// Sets several session variables, or none of them.
    ///
    /// # Errors
    /// As [`Turn::set_variable`].
    pub(super) fn set_variables(&mut self, values: &Map<String, Value>) -> Result<(), Failure> {
        let before = self.session_size();
        self.work.bytes(size_of_variables(values).saturating_add(before));
        merge_variables(&mut self.session.variables, values, MAX_SESSION_VARIABLES).map_err(too_large)?;
        self.stored.session = None;
        for (key, value) in values {
            self.note_set(key, value);
        }
        Ok(())
    }

    /// Notes the outcome of an action in a session variable: a status or a code, which is small and which nothing
    /// may keep from being told.
    pub(super) fn note(&mut self, key: &str, value: Value) {
        self.stored.session = None;
        self.put(key, value);
    }

    /// Removes a session variable.
    pub(super) fn remove_variable(&mut self, key: &str) {
        if let Some(old) = self.session.variables.remove(key) {
            let size = size_of_variable(key, &old);
            self.work.bytes(size);
            self.stored.session = self.stored.session.map(|total| total.saturating_sub(size));
        }
    }

    /// Changes the contact, unless it is so already.
    ///
    /// # Errors
    /// A variable would exceed its limit or that of the contact, and grow what is stored.
    pub(super) fn change_contact(&mut self, change: ContactChange) -> Result<(), Failure> {
        match &change {
            ContactChange::Name(name) => {
                let name = name.trim();
                if name.is_empty() || (name == self.contact.name && self.contact.name_locked) {
                    return Ok(());
                }
            }
            ContactChange::Variable { key, value } => {
                let old = self.contact.variables.get(key);
                if old == Some(value) {
                    return Ok(());
                }
                let before = match self.stored.contact {
                    Some(size) => size,
                    None => self.counted(&self.contact.variables),
                };
                self.stored.contact = Some(self.grown(before, key, old, value, MAX_CONTACT_VARIABLES)?);
            }
        }
        self.contact_before.get_or_insert_with(|| self.contact.clone());
        self.contact.apply(&change);
        let (field, value) = match change {
            ContactChange::Name(name) => ("name".to_owned(), Value::from(name)),
            ContactChange::Variable { key, value } => (format!("variables.{key}"), value),
        };
        self.trace.push(TraceStep::ContactSet { field, value: of_value(&value) });
        Ok(())
    }

    fn put(&mut self, key: &str, value: Value) {
        self.note_set(key, &value);
        match self.session.variables.get_mut(key) {
            Some(slot) => *slot = value,
            None => _ = self.session.variables.insert(key.to_owned(), value),
        }
    }

    fn note_set(&mut self, key: &str, value: &Value) {
        self.trace.push(TraceStep::VariableSet { key: key.to_owned(), value: of_value(value) });
    }

    fn session_size(&mut self) -> usize {
        let size = match self.stored.session {
            Some(size) => size,
            None => self.counted(&self.session.variables),
        };
        *self.stored.session.insert(size)
    }

    fn counted(&self, variables: &Map<String, Value>) -> usize {
        let size = size_of_variables(variables);
        self.work.bytes(size);
        size
    }

    /// Returns the bytes of all variables, which are `before` now, once `new` has taken the place of `old`.
    fn grown(
        &self,
        before: usize,
        key: &str,
        old: Option<&Value>,
        new: &Value,
        most: usize,
    ) -> Result<usize, Failure> {
        let after = replaced(before, key, old, new).map_err(too_large)?;
        // Both values were walked.
        self.work.bytes(
            after.abs_diff(before).saturating_add(2 * old.map_or(0, |old| size_of_variable(key, old))),
        );
        if after > before.max(most) { Err(too_large(VariablesTooLarge)) } else { Ok(after) }
    }
}

fn too_large(_: VariablesTooLarge) -> Failure {
    Failure::new(
        "turn_too_large",
        format!(
            "the variables would exceed {} KiB of the session or {} KiB of the contact, or one of them its limit",
            MAX_SESSION_VARIABLES / 1024,
            MAX_CONTACT_VARIABLES / 1024
        ),
    )
}
