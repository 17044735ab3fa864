//! A checked flow.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use flowsdk_core::flow::simulator::Script;
use flowsdk_core::flow::{CompiledFlow, FlowVersion, Problem, Written, check};
use flowsdk_core::time::Timestamp;
use serde_json::Value;

use crate::Conversation;

/// A flow whose definition has no error. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Flow {
    name: String,
    definition: Arc<Written>,
    warnings: Arc<Vec<Problem>>,
    compiled: Arc<CompiledFlow>,
}

/// Why a definition is no flow.
#[derive(thiserror::Error)]
pub enum InvalidFlow {
    /// The file cannot be read.
    #[error("the definition cannot be read: {0}")]
    File(#[from] std::io::Error),
    /// The text is not JSON.
    #[error("the definition is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The definition has errors. The list has its warnings too.
    #[error("{}", Listed(.0))]
    Problems(Vec<Problem>),
}

/// The same text as the display, because a `main` that returns the error prints this one.
impl fmt::Debug for InvalidFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One problem a line: pointer, code and message.
struct Listed<'a>(&'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the definition has errors")?;
        for Problem { pointer, code, message, .. } in self.0.iter().filter(|problem| problem.is_error()) {
            write!(f, "\n{pointer}: {} ({code})", message.english())?;
        }
        Ok(())
    }
}

impl Flow {
    /// Reads and checks a definition from JSON text.
    ///
    /// # Errors
    /// [`InvalidFlow::Json`], [`InvalidFlow::Problems`].
    pub fn from_json(json: &str) -> Result<Self, InvalidFlow> {
        Self::from_written(Written::read(json)?)
    }

    /// Reads and checks a definition from a JSON file.
    ///
    /// # Errors
    /// [`InvalidFlow`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, InvalidFlow> {
        Self::from_json(&std::fs::read_to_string(path)?)
    }

    /// Checks a definition.
    ///
    /// # Errors
    /// [`InvalidFlow::Problems`].
    pub fn from_value(definition: Value) -> Result<Self, InvalidFlow> {
        Self::from_written(definition.into())
    }

    fn from_written(definition: Written) -> Result<Self, InvalidFlow> {
        let name = "flow";
        let version = FlowVersion {
            id: fixed("version"),
            flow_id: fixed(name),
            router_id: fixed("router"),
            flow_name: name.to_owned(),
            number: 1,
            definition,
            created_at: Timestamp::from_millis(0),
        };
        let compiled = CompiledFlow::compile(&version).map_err(InvalidFlow::Problems)?;
        let warnings =
            check::publishable(compiled.kind(), &version.definition).map_err(InvalidFlow::Problems)?;
        Ok(Self {
            name: name.to_owned(),
            definition: Arc::new(version.definition),
            warnings: Arc::new(warnings),
            compiled,
        })
    }

    /// Gives the flow a name, which people see where flows are listed.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The name; `flow` unless one was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The definition as it was read.
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    /// The definition with the text of its author.
    #[cfg(feature = "bot")]
    pub(crate) fn written(&self) -> &Written {
        &self.definition
    }

    /// Findings that do not prevent publishing, for example a block that nothing leads to.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Begins a conversation of one contact with the flow, in memory and without I/O.
    pub fn conversation(&self) -> Conversation {
        self.conversation_with(&Script::default())
    }

    /// Begins a conversation in surroundings of the caller's choice: the time, the contact's name and variables, static
    /// variables, and the answers of servers and scripts. The steps of the script are not played.
    pub fn conversation_with(&self, surroundings: &Script) -> Conversation {
        Conversation::new(&self.compiled, surroundings)
    }
}

/// An id that is written out in this file.
#[allow(clippy::expect_used, reason = "the texts are constants of this file and have the shape of ids")]
fn fixed<T: TryFrom<String>>(text: &str) -> T
where
    T::Error: fmt::Debug,
{
    T::try_from(text.to_owned()).expect("has the shape of an id")
}
