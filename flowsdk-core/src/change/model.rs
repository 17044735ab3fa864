//! Who did what to which entity.

use serde_json::Value;

use crate::id::RouterId;

/// Who gave a command, and where from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Author {
    /// Id of the user or API client.
    pub id: String,
    /// The address he called from.
    pub ip: String,
    /// His `User-Agent`.
    pub user_agent: Option<String>,
}

/// What kind of entity something was done to: those of the contract (spec A 2.7) that belong to no part of the
/// house which keeps the log itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the contract's")]
pub enum EntityKind {
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
    WebchatChannel,
}

/// An entity that something was done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entity<'a> {
    /// What kind.
    pub kind: EntityKind,
    /// Its id.
    pub id: &'a str,
    /// The router it belongs to; of a router, itself.
    pub router_id: Option<&'a RouterId>,
}

/// Something whose changes are noted.
pub trait Recorded {
    /// What it is.
    fn entity(&self) -> Entity<'_>;

    /// Its public form: of secrets, whether there are any.
    fn to_json(&self) -> Value;
}

/// What was done. Entities are given as their public JSON; a log leaves out fields that are sensitive
/// (`...Encrypted`, `channelVerifyToken`, `embedSecret` and the like), but knows no clear secret under
/// another name: those must not be in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It was created, and is this now.
    Created(Value),
    /// It was that and is this now.
    Updated {
        /// Before.
        before: Value,
        /// After.
        after: Value,
    },
    /// It was that and is no more.
    Deleted(Value),
    /// It was published; what of.
    Published(Value),
    /// It is published no more; what was.
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
