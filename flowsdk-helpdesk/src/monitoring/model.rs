//! The snapshot.

use flowsdk_core::id::{QueueId, UserId};
use flowsdk_core::schema::SchemaAttributes;
use serde::Serialize;

use crate::agent::PresenceStatus;
use crate::ticket::TicketView;

/// How things stand now.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RealtimeFigures {
    /// How many tickets wait.
    pub in_queue: i64,
    /// How many tickets somebody has.
    pub in_service: i64,
    /// For how long the oldest ticket has waited, in milliseconds.
    pub max_queue_wait_ms: i64,
    /// How long tickets took from opening to the first answer, for those first answered today; null if there are none.
    #[schema(required = true)]
    pub avg_first_response_ms: Option<i64>,
    /// How many tickets each agent has who is not offline.
    pub avg_tickets_per_agent: f64,
}

/// How many agents are there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AgentStatusFigures {
    /// There, and take tickets.
    pub online: i64,
    /// Not at the desk.
    pub away: i64,
    /// There, and take no further tickets. An addition to the contract.
    pub busy: i64,
    /// Not there.
    pub offline: i64,
}

/// How long things took today, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TodayFigures {
    /// From opening to assignment, for tickets assigned today; null if there are none.
    #[schema(required = true)]
    pub avg_queue_time_ms: Option<i64>,
    /// From assignment to the end, for tickets closed today; null if there are none.
    #[schema(required = true)]
    pub avg_service_time_ms: Option<i64>,
}

/// How many tickets there are, and were closed today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TodayTickets {
    /// How many wait.
    pub waiting: i64,
    /// How many somebody has.
    pub assigned: i64,
    /// How many ended today. Those that go on as another ticket do not count.
    pub closed_today: i64,
    /// How many of these were abandoned.
    pub abandoned_today: i64,
}

/// What an agent has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AgentFigures {
    /// The user that they are.
    pub user_id: UserId,
    /// Their name.
    #[schema(example = "Ana")]
    pub name: String,
    /// Whether they are there now.
    pub presence: PresenceStatus,
    /// How many tickets they have.
    pub in_service: i64,
}

/// What a queue has. Queues without open tickets are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct QueueFigures {
    /// The queue.
    pub queue_id: QueueId,
    /// How many tickets wait in it.
    pub in_queue: i64,
    /// How many of its tickets somebody has.
    pub in_service: i64,
    /// For how long the oldest ticket has waited, in milliseconds.
    pub max_queue_wait_ms: i64,
}

/// The tickets, agents and queues behind the figures.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DetailedFigures {
    /// Tickets that somebody has, the oldest first; 100 at most.
    pub in_progress: Vec<TicketView>,
    /// Tickets that wait, the oldest first; 100 at most.
    pub waiting: Vec<TicketView>,
    /// Every agent.
    pub by_agent: Vec<AgentFigures>,
    /// Every queue with open tickets.
    pub by_queue: Vec<QueueFigures>,
    /// Tickets that AI agents have, the oldest first; 100 at most.
    pub ai_tickets: Vec<TicketView>,
}

/// The figures that supervisors watch. Today begins at midnight, in the time zone of the router, or in UTC for several.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MonitoringSnapshot {
    /// How things stand now.
    pub realtime: RealtimeFigures,
    /// How many agents are there.
    pub agent_status: AgentStatusFigures,
    /// How long things took today.
    pub today_metrics: TodayFigures,
    /// How many tickets there are, and were closed today.
    pub today_ticket_status: TodayTickets,
    /// The tickets, agents and queues behind the figures.
    pub detailed: DetailedFigures,
}
