//! Problems of the input, field by field.

use flowsdk_core::text::Text;

/// Most problems that one answer names.
const MOST: usize = 100;
/// Longest field name that is shown; the names of unknown fields are the caller's.
const LONGEST: usize = 200;

/// A problem of one field. The field's value is never shown: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(super) field: String,
    pub(super) message: Text,
}

impl Problem {
    /// `field` as the client writes it, such as `permissions[0].resource`.
    pub fn new(field: impl Into<String>, message: Text) -> Self {
        let mut field = field.into();
        if let Some((end, _)) = field.char_indices().nth(LONGEST) {
            field.truncate(end);
        }
        Self { field, message }
    }

    /// Returns the field as clients write it.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the text for the client.
    pub fn message(&self) -> &Text {
        &self.message
    }
}

/// The problems found so far: one problem a field, the first one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Notes a problem, unless one of the same field is known.
    pub fn add(&mut self, field: impl Into<String>, message: Text) {
        let problem = Problem::new(field, message);
        if self.0.len() < MOST && self.0.iter().all(|known| known.field != problem.field) {
            self.0.push(problem);
        }
    }

    /// Creates a list with a single problem.
    pub fn one(field: impl Into<String>, message: Text) -> Self {
        Self(vec![Problem::new(field, message)])
    }

    /// Returns whether there is no problem.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the problems in the order found.
    pub fn into_list(self) -> Vec<Problem> {
        self.0
    }
}
