//! The rule. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::flow::definition::Condition;
use flowsdk_core::flow::handoff::faults_of;
use flowsdk_core::id::{FlowId, Id, IdSource, QueueId, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::RuleError;

/// Identifier of a distribution rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct RuleId(Arc<str>);

/// A rule that sends handoffs to a queue (`QueueDistributionRule`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = QueueDistributionRule, error = RuleError, search = name)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = QueueDistributionRule)]
pub struct DistributionRule {
    /// The id of the rule.
    pub id: RuleId,
    /// The router whose handoffs it is for. It never changes.
    pub router_id: RouterId,
    /// Its name.
    #[schema(example = "Invoices")]
    pub name: String,
    /// The place among the rules of the router: a smaller number is asked first.
    #[schema(example = 10)]
    pub priority: i64,
    /// What must hold, all of it, as conditions of flows have it. No condition always holds; one on the input never.
    #[schema(value_type = Vec<Object>)]
    pub conditions: Vec<Condition>,
    /// The queue that its handoffs go to.
    pub target_queue_id: QueueId,
    /// The flow that its handoffs come from; null is any.
    #[schema(required = true)]
    pub flow_id: Option<FlowId>,
    /// Whether it is asked.
    pub is_active: bool,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// A new rule.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateQueueDistributionRule)]
pub struct NewRule {
    /// The router whose handoffs it is for. It cannot be changed later.
    pub router_id: RouterId,
    /// Its name.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Invoices")]
    pub name: Name,
    /// The place among the rules of the router: a smaller number is asked first.
    #[schema(minimum = -1_000_000, maximum = 1_000_000, example = 10)]
    pub priority: i64,
    /// What must hold, all of it, as conditions of flows have it.
    #[serde(default)]
    #[schema(value_type = Vec<Object>, required = false, max_items = 50)]
    pub conditions: Vec<Condition>,
    /// The queue that its handoffs go to.
    pub target_queue_id: QueueId,
    /// The flow that its handoffs come from; null is any.
    pub flow_id: Option<FlowId>,
    /// Whether it is asked.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewRule {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewRule {
    type Record = DistributionRule;

    fn check(&self) -> Result<(), RuleError> {
        check(&self.conditions)
    }

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> DistributionRule {
        DistributionRule {
            id: RuleId::generate(ids),
            router_id: self.router_id,
            name: self.name.into(),
            priority: self.priority,
            conditions: self.conditions,
            target_queue_id: self.target_queue_id,
            flow_id: self.flow_id,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a rule; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchQueueDistributionRule)]
pub struct RuleChange {
    /// Its name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// The place among the rules of the router: a smaller number is asked first.
    #[schema(value_type = i64, required = false, minimum = -1_000_000, maximum = 1_000_000)]
    pub priority: Option<i64>,
    /// All that must hold, as conditions of flows have it.
    #[schema(value_type = Vec<Object>, required = false, max_items = 50)]
    pub conditions: Option<Vec<Condition>>,
    /// The queue that its handoffs go to.
    #[schema(value_type = QueueId, required = false)]
    pub target_queue_id: Option<QueueId>,
    /// The flow that its handoffs come from; null is any.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<FlowId>)]
    pub flow_id: Option<Option<FlowId>>,
    /// Whether it is asked.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for RuleChange {
    type Record = DistributionRule;

    fn check(&self) -> Result<(), RuleError> {
        self.conditions.as_deref().map_or(Ok(()), check)
    }

    fn apply(self, rule: DistributionRule) -> DistributionRule {
        DistributionRule {
            name: self.name.map_or(rule.name, String::from),
            priority: self.priority.unwrap_or(rule.priority),
            conditions: self.conditions.unwrap_or(rule.conditions),
            target_queue_id: self.target_queue_id.unwrap_or(rule.target_queue_id),
            flow_id: self.flow_id.unwrap_or(rule.flow_id),
            is_active: self.is_active.unwrap_or(rule.is_active),
            ..rule
        }
    }
}

fn check(conditions: &[Condition]) -> Result<(), RuleError> {
    let faults = faults_of(conditions);
    if faults.is_empty() { Ok(()) } else { Err(RuleError::Invalid(faults)) }
}
