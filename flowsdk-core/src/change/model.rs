//! The log of changes: the actor, the action and the entity.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cell::Named;
use crate::id::RouterId;

/// The author of a command, and the place of the call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Author {
    /// Id of the user or API client.
    pub id: String,
    /// The network address of the caller.
    pub ip: String,
    /// The `User-Agent` of the caller.
    pub user_agent: Option<String>,
}

/// The kind of an entity in the log of changes (spec A 2.7), by its name on the wire and in storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[named(schema = "AuditEntityTypeName")]
#[allow(missing_docs, reason = "the names are the contract's")]
pub enum EntityKind {
    User,
    Router,
    ChannelNumber,
    Flow,
    PublishedFlow,
    Tool,
    PublishedTool,
    Agent,
    AgentGroup,
    AiAgent,
    Department,
    Queue,
    LlmCredential,
    IntegrationServer,
    IntegrationServerEndpoint,
    MessageTemplate,
    Campaign,
    ScriptTemplate,
    SystemPrompt,
    Guardrail,
    FlowVariable,
    RouterVariable,
    ApiClient,
    WebchatChannel,
    /// An addition to the contract.
    ContactFilter,
}

/// An entity that something was done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entity<'a> {
    /// The kind of the entity.
    pub kind: EntityKind,
    /// The id of the entity.
    pub id: &'a str,
    /// The router it belongs to; of a router, itself.
    pub router_id: Option<&'a RouterId>,
}

/// Something whose changes are noted.
pub trait Recorded {
    /// Returns the kind and the id.
    fn entity(&self) -> Entity<'_>;

    /// Returns its public form, which answers show too: of secrets, whether there are any.
    fn to_json(&self) -> Value;
}

/// Returns a public form as a log of changes keeps it.
pub fn public_json(view: &impl Serialize) -> Value {
    serde_json::to_value(view).unwrap_or_else(|error| {
        tracing::error!(%error, "the public form of an entity is not JSON, so the log of changes lacks it");
        Value::Null
    })
}

/// A change of an entity. Entities are passed as their public JSON. A log leaves out sensitive fields
/// (`...Encrypted`, `channelVerifyToken`, `embedSecret` and the like). It does not recognise a clear secret under
/// another name: the JSON must not have one.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It was created, and is this now.
    Created(Value),
    /// It was that and is this now.
    #[allow(missing_docs, reason = "the fields say it")]
    Updated { before: Value, after: Value },
    /// It was deleted; its last state.
    Deleted(Value),
    /// It was published; the published state.
    Published(Value),
    /// It was unpublished; the state published before.
    Unpublished(Value),
    /// A campaign was started.
    Dispatched(Value),
}

impl Change {
    /// From one state to another.
    pub fn updated<T: Recorded>(before: &T, after: &T) -> Self {
        Self::Updated { before: before.to_json(), after: after.to_json() }
    }
}

#[cfg(test)]
mod tests {
    use super::EntityKind;

    #[test]
    fn a_kind_has_one_name() {
        for kind in EntityKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.name());
        }
    }
}
