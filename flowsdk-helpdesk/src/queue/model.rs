//! The queue. Nothing in it is secret, so it is its own public form.

use flowsdk_core::cell::Named;
use flowsdk_core::id::{IdSource, QueueId, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::{BusinessHours, DeflectReason, QueueError, ServiceLevel, Survey, WaitingNotice};

/// How the tickets of a queue get to its agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum DistributionStrategy {
    /// To the agent with the fewest open tickets; among several of these to any.
    #[default]
    LeastLoaded,
    /// To one agent after the other, in a stable order.
    RoundRobin,
    /// To nobody: agents pick tickets up.
    ManualPickup,
}

/// Most open tickets of an agent where a queue does not say.
const DEFAULT_LIMIT: u32 = 5;

/// A queue of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = Queue, error = QueueError, search = name, unique = NameTaken)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Queue {
    /// The id of the queue.
    pub id: QueueId,
    /// The router whose conversations wait in it. It never changes.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(example = "Billing")]
    pub name: String,
    /// How its tickets get to its agents.
    pub distribution_strategy: DistributionStrategy,
    /// Most open tickets that an agent of the queue is given. Those of all queues of the router count.
    #[schema(minimum = 1, maximum = 1_000, example = 5)]
    pub max_concurrent_tickets_per_agent: u32,
    /// After how many minutes without a message of the contact a waiting ticket is closed as `abandoned`; null is never.
    #[schema(required = true, minimum = 1, maximum = 525_600)]
    pub abandon_after_minutes: Option<u32>,
    /// After how many minutes without their presence a ticket of an agent waits again; null is never.
    #[schema(required = true, minimum = 1, maximum = 525_600)]
    pub reassign_after_minutes: Option<u32>,
    /// For how many seconds a ticket is offered to an agent before it goes to the next one; null is that they get it
    /// without being asked.
    #[schema(required = true, minimum = 5, maximum = 3_600)]
    pub accept_within_seconds: Option<u32>,
    /// When people are there; null is always.
    #[schema(required = true)]
    pub business_hours: Option<BusinessHours>,
    /// For which reasons a handoff is turned away, so that its flow goes on; the first that holds counts.
    pub deflect_when: Vec<DeflectReason>,
    /// As many tickets may wait before the queue is `full`; null is any number.
    #[schema(required = true, minimum = 1, maximum = 1_000_000)]
    pub max_waiting: Option<u32>,
    /// What contacts are told while their tickets wait; null is nothing.
    #[schema(required = true)]
    pub waiting_notice: Option<WaitingNotice>,
    /// How soon its tickets are to be answered and resolved; null is no promise.
    #[schema(required = true)]
    pub service_level: Option<ServiceLevel>,
    /// What contacts are asked when an agent has resolved their ticket; null is nothing.
    #[schema(required = true)]
    pub survey: Option<Survey>,
    /// Whether handoffs go to it. Tickets that wait in it are distributed all the same.
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

/// A new queue.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateQueue)]
pub struct NewQueue {
    /// The router whose conversations wait in it. It cannot be changed later.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Billing")]
    pub name: Name,
    /// How its tickets get to its agents.
    #[serde(default)]
    #[schema(required = false)]
    pub distribution_strategy: DistributionStrategy,
    /// Most open tickets that an agent of the queue is given.
    #[serde(default = "default_limit")]
    #[schema(required = false, minimum = 1, maximum = 1_000, example = 5)]
    pub max_concurrent_tickets_per_agent: u32,
    /// After how many minutes without a message of the contact a waiting ticket is closed as `abandoned`; null is never.
    #[schema(minimum = 1, maximum = 525_600)]
    pub abandon_after_minutes: Option<u32>,
    /// After how many minutes without their presence a ticket of an agent waits again; null is never.
    #[schema(minimum = 1, maximum = 525_600)]
    pub reassign_after_minutes: Option<u32>,
    /// For how many seconds a ticket is offered to an agent before it goes to the next one; null is that they get it
    /// without being asked.
    #[schema(minimum = 5, maximum = 3_600)]
    pub accept_within_seconds: Option<u32>,
    /// When people are there; null is always.
    pub business_hours: Option<BusinessHours>,
    /// For which reasons a handoff is turned away, so that its flow goes on; the first that holds counts.
    #[serde(default)]
    #[schema(required = false, max_items = 3)]
    pub deflect_when: Vec<DeflectReason>,
    /// As many tickets may wait before the queue is `full`; null is any number.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub max_waiting: Option<u32>,
    /// What contacts are told while their tickets wait; null is nothing.
    pub waiting_notice: Option<WaitingNotice>,
    /// How soon its tickets are to be answered and resolved; null is no promise.
    pub service_level: Option<ServiceLevel>,
    /// What contacts are asked when an agent has resolved their ticket; null is nothing.
    pub survey: Option<Survey>,
    /// Whether handoffs go to it.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

impl NewQueue {
    /// Returns a new queue with the settings of one of which no more is said.
    pub fn named(router_id: RouterId, name: Name) -> Self {
        Self {
            router_id,
            name,
            distribution_strategy: DistributionStrategy::default(),
            max_concurrent_tickets_per_agent: DEFAULT_LIMIT,
            abandon_after_minutes: None,
            reassign_after_minutes: None,
            accept_within_seconds: None,
            business_hours: None,
            deflect_when: Vec::new(),
            max_waiting: None,
            waiting_notice: None,
            service_level: None,
            survey: None,
            is_active: true,
        }
    }
}

impl Reachable for NewQueue {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewQueue {
    type Record = Queue;

    fn check(&self) -> Result<(), QueueError> {
        check(self.business_hours.as_ref(), self.service_level.as_ref())
    }

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> Queue {
        Queue {
            id: QueueId::generate(ids),
            router_id: self.router_id,
            name: self.name.into(),
            distribution_strategy: self.distribution_strategy,
            max_concurrent_tickets_per_agent: self.max_concurrent_tickets_per_agent,
            abandon_after_minutes: self.abandon_after_minutes,
            reassign_after_minutes: self.reassign_after_minutes,
            accept_within_seconds: self.accept_within_seconds,
            business_hours: self.business_hours,
            deflect_when: self.deflect_when,
            max_waiting: self.max_waiting,
            waiting_notice: self.waiting_notice,
            service_level: self.service_level,
            survey: self.survey,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a queue; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchQueue)]
pub struct QueueChange {
    /// Its name; unique in its router.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// How its tickets get to its agents.
    #[schema(value_type = DistributionStrategy, required = false)]
    pub distribution_strategy: Option<DistributionStrategy>,
    /// Most open tickets that an agent of the queue is given.
    #[schema(value_type = u32, required = false, minimum = 1, maximum = 1_000)]
    pub max_concurrent_tickets_per_agent: Option<u32>,
    /// After how many minutes without a message of the contact a waiting ticket is closed as `abandoned`; null is never.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 525_600)]
    pub abandon_after_minutes: Option<Option<u32>>,
    /// After how many minutes without their presence a ticket of an agent waits again; null is never.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 525_600)]
    pub reassign_after_minutes: Option<Option<u32>>,
    /// For how many seconds a ticket is offered to an agent before it goes to the next one; null is that they get it
    /// without being asked.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 5, maximum = 3_600)]
    pub accept_within_seconds: Option<Option<u32>>,
    /// When people are there; null is always.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<BusinessHours>)]
    pub business_hours: Option<Option<BusinessHours>>,
    /// All reasons for which a handoff is turned away; the first that holds counts.
    #[schema(value_type = Vec<DeflectReason>, required = false, max_items = 3)]
    pub deflect_when: Option<Vec<DeflectReason>>,
    /// As many tickets may wait before the queue is `full`; null is any number.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 1_000_000)]
    pub max_waiting: Option<Option<u32>>,
    /// What contacts are told while their tickets wait; null is nothing.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<WaitingNotice>)]
    pub waiting_notice: Option<Option<WaitingNotice>>,
    /// How soon its tickets are to be answered and resolved; null is no promise. Tickets that wait already keep theirs.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<ServiceLevel>)]
    pub service_level: Option<Option<ServiceLevel>>,
    /// What contacts are asked when an agent has resolved their ticket; null is nothing.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Survey>)]
    pub survey: Option<Option<Survey>>,
    /// Whether handoffs go to it.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for QueueChange {
    type Record = Queue;

    fn check(&self) -> Result<(), QueueError> {
        let hours = self.business_hours.as_ref().and_then(Option::as_ref);
        check(hours, self.service_level.as_ref().and_then(Option::as_ref))
    }

    fn apply(self, queue: Queue) -> Queue {
        Queue {
            name: self.name.map_or(queue.name, String::from),
            distribution_strategy: self.distribution_strategy.unwrap_or(queue.distribution_strategy),
            max_concurrent_tickets_per_agent: self
                .max_concurrent_tickets_per_agent
                .unwrap_or(queue.max_concurrent_tickets_per_agent),
            abandon_after_minutes: self.abandon_after_minutes.unwrap_or(queue.abandon_after_minutes),
            reassign_after_minutes: self.reassign_after_minutes.unwrap_or(queue.reassign_after_minutes),
            accept_within_seconds: self.accept_within_seconds.unwrap_or(queue.accept_within_seconds),
            business_hours: self.business_hours.unwrap_or(queue.business_hours),
            deflect_when: self.deflect_when.unwrap_or(queue.deflect_when),
            max_waiting: self.max_waiting.unwrap_or(queue.max_waiting),
            waiting_notice: self.waiting_notice.unwrap_or(queue.waiting_notice),
            service_level: self.service_level.unwrap_or(queue.service_level),
            survey: self.survey.unwrap_or(queue.survey),
            is_active: self.is_active.unwrap_or(queue.is_active),
            ..queue
        }
    }
}

fn check(hours: Option<&BusinessHours>, level: Option<&ServiceLevel>) -> Result<(), QueueError> {
    let mut faults = hours.map(BusinessHours::faults).unwrap_or_default();
    faults.extend(level.and_then(ServiceLevel::fault));
    if faults.is_empty() { Ok(()) } else { Err(QueueError::Invalid(faults)) }
}
