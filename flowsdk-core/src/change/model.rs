//! The log of changes: the actor, the action and the entity.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    // Additions to the contract, whose list is open (rulings A11).
    ContactFilter,
    Group,
    Contact,
    OptIn,
    Session,
    UserDevice,
    Observability,
    DeadLetter,
    EventDefinition,
    ChannelTypeMapping,
    InteractiveForm,
    ImportDraft,
    Media,
    Ticket,
    QueueDistributionRule,
    QuickReply,
    Tag,
    Webhook,
    CloseReason,
    AiAgentRoute,
    AiModelPrice,
    AiBudget,
    KnowledgeDocument,
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

    /// Returns its secrets as they are stored, encrypted or hashed, each with its public name. They are compared, so
    /// that a new value is noted; no log keeps them.
    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        Vec::new()
    }
}

/// A field that changed, and of which a log keeps no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// The name of the field; of an entry of a map `map.key`.
    pub field: String,
    /// Whether it had a value before the change.
    pub had: bool,
    /// Whether it has a value after the change.
    pub has: bool,
}

impl Hidden {
    /// Returns the entries of the map `field` that differ.
    pub fn entries(field: &str, before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Self> {
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
        let hidden = |key: &String| Self {
            field: format!("{field}.{key}"),
            had: before.contains_key(key),
            has: after.contains_key(key),
        };
        changed.map(hidden).collect()
    }

    /// Returns the secrets that have another value than before. That one was set or removed shows in the public form.
    fn secrets(before: &impl Recorded, after: &impl Recorded) -> Vec<Self> {
        let before = before.secrets();
        let is_new = |(field, now): &(&str, Option<&str>)| {
            let was = before.iter().find(|(name, _)| name == field).and_then(|(_, was)| *was);
            now.is_some() && was.is_some() && was != *now
        };
        let changed = after.secrets().into_iter().filter(is_new);
        changed.map(|(field, _)| Self { field: field.to_owned(), had: true, has: true }).collect()
    }
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
    /// It was that and is this now. A log keeps no change that changes nothing.
    #[allow(missing_docs, reason = "the fields say it")]
    Updated { before: Value, after: Value, hidden: Vec<Hidden> },
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
        let hidden = Hidden::secrets(before, after);
        Self::Updated { before: before.to_json(), after: after.to_json(), hidden }
    }
}

/// An attempt to reach records of a router that is beyond the caller's reach. It was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused<'a> {
    /// What the caller tried to do.
    pub attempt: Attempt,
    /// The kind of the record.
    pub kind: EntityKind,
    /// The id that the caller named, if the request names one. It need not exist.
    pub id: Option<&'a str>,
    /// The router whose rows the caller worked on, if it is theirs.
    pub router_id: Option<&'a RouterId>,
    /// The code of the answer.
    pub code: &'a str,
}

/// What a caller tried to do with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Attempt {
    Create,
    Update,
    Delete,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_of_a_map_that_differ_are_named() {
        let (before, after) = (json!({ "a": 1, "b": 2, "c": null }), json!({ "b": 3, "c": null, "d": null }));
        let map = |value: &Value| value.as_object().expect("a map").clone();
        let found = Hidden::entries("variables", &map(&before), &map(&after));
        let found: Vec<_> = found.iter().map(|one| (one.field.as_str(), one.had, one.has)).collect();
        assert_eq!(
            found,
            [("variables.a", true, false), ("variables.b", true, true), ("variables.d", false, true)]
        );
    }

    #[test]
    fn a_kind_has_one_name() {
        for kind in EntityKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.name());
        }
    }
}
