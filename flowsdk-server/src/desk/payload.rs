//! What goes over the desk socket, beside the news and the commands of the routes.

use flowsdk_core::cell::Named;
use flowsdk_core::id::QueueId;
use flowsdk_core::time::IsoTime;
use flowsdk_helpdesk::agent::PresenceStatus;
use flowsdk_helpdesk::ticket::TicketView;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The commands of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Named)]
pub(super) enum DeskCommand {
    /// Says whether they are there.
    #[serde(rename = "agent:status")]
    Status,
    /// Says that they are still there.
    #[serde(rename = "agent:heartbeat")]
    Heartbeat,
    /// Takes the ticket that has waited for longest.
    #[serde(rename = "agent:pickup")]
    PickUp,
    /// Takes a ticket that is offered to them.
    #[serde(rename = "agent:accept")]
    Accept,
    /// Leaves a ticket that is offered to them to the next agent.
    #[serde(rename = "agent:decline")]
    Decline,
    /// Writes to the contact of a ticket.
    #[serde(rename = "agent:reply")]
    Reply,
    /// Gives a ticket to somebody else.
    #[serde(rename = "agent:transfer")]
    Transfer,
    /// Closes a ticket.
    #[serde(rename = "agent:close")]
    Close,
    /// Looks at a ticket.
    #[serde(rename = "ticket:viewing")]
    Viewing,
    /// Writes an answer.
    #[serde(rename = "ticket:typing")]
    Typing,
    /// Asks how many tickets wait.
    #[serde(rename = "helpdesk:refresh")]
    Refresh,
    /// Watches the figures.
    #[serde(rename = "monitoring:join")]
    MonitoringJoin,
    /// Watches them no longer.
    #[serde(rename = "monitoring:leave")]
    MonitoringLeave,
}

/// What a desk says of itself when it connects.
#[derive(ToSchema)]
#[schema(as = DeskHandshake)]
pub(super) struct Handshake {
    /// The access token of a user with `helpdesk:read`.
    #[schema(value_type = String)]
    pub(super) token: Option<String>,
    /// The number of the last news that it has.
    #[schema(minimum = 0, example = 7)]
    pub(super) since: Option<i64>,
}

impl Handshake {
    /// Reads it. A field that cannot be read counts as absent.
    pub(super) fn of(auth: &Value) -> Self {
        let token = auth.get("token").and_then(Value::as_str).filter(|token| !token.is_empty());
        Self { token: token.map(str::to_owned), since: auth.get("since").and_then(Value::as_i64) }
    }
}

/// The place of an event among the news of a user.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(super) struct Numbering {
    /// The number of the news. Other events bear that of the last news.
    #[schema(minimum = 0, example = 7)]
    pub(super) seq: i64,
    /// When it happened.
    pub(super) at: IsoTime,
}

/// An event as a desk gets it.
#[derive(Debug, Serialize)]
pub(super) struct Numbered<T> {
    #[serde(flatten)]
    pub(super) numbering: Numbering,
    #[serde(flatten)]
    pub(super) payload: T,
}

/// How many tickets wait in the queues of an agent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingTickets)]
pub(super) struct Waiting {
    /// In all of them.
    pub(super) total: i64,
    /// In each of them.
    pub(super) by_queue: Vec<QueueWaiting>,
}

/// How many tickets wait in a queue.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueueWaiting {
    /// The queue.
    pub(super) queue_id: QueueId,
    /// How many tickets wait in it.
    pub(super) waiting: i64,
    /// For how long the oldest one has waited, in milliseconds; 0 if none waits.
    pub(super) oldest_wait_ms: i64,
}

/// The presence of an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AgentPresence)]
pub(super) struct PresenceAnswer {
    /// Whether they are there now.
    pub(super) status: PresenceStatus,
}

/// The ticket of a command.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommandedTicket)]
pub(super) struct TicketAnswer {
    /// As it is now; after a transfer, the one with which it goes on.
    pub(super) ticket: TicketView,
}

/// The answer to a command that was carried out.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    #[serde(flatten)]
    pub(super) taken: Taken,
    #[serde(flatten)]
    pub(super) fields: Value,
}

/// What every such answer has.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Taken {
    /// Always `true`: only a command that was carried out has this answer.
    #[schema(schema_with = flowsdk_core::schema::taken)]
    pub(super) ok: bool,
}
