//! The report.

use flowsdk_core::cell::Named;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::{Deserialize, Serialize};

/// Which tickets a report is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportFilter {
    /// Of this router.
    pub router_id: Option<RouterId>,
    /// Opened from this moment on.
    pub from: Option<Timestamp>,
    /// Opened before this moment.
    pub to: Option<Timestamp>,
}

impl Reachable for ReportFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// What the tickets of a report have in common within a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum TicketGrouping {
    /// The day on which they were opened.
    Day,
    /// The queue.
    Queue,
    /// The user who has them, or had them last.
    Agent,
    /// Why they were closed.
    Reason,
}

/// How long something took, in milliseconds, for the tickets to which it happened. A percentile is the least time that
/// so many of them did not exceed; it is null if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TimeSpread {
    /// To how many tickets it happened.
    pub count: i64,
    /// What half of them did not exceed.
    #[schema(required = true)]
    pub p50: Option<i64>,
    /// What nine of ten did not exceed.
    #[schema(required = true)]
    pub p90: Option<i64>,
    /// What 19 of 20 did not exceed.
    #[schema(required = true)]
    pub p95: Option<i64>,
    /// The longest time.
    #[schema(required = true)]
    pub max: Option<i64>,
}

/// How many promises of service levels were kept. Those that nobody could keep, because the ticket went to another queue or
/// ended by itself, do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LevelFigures {
    /// How many were kept in time.
    pub met: i64,
    /// How many were broken.
    pub breached: i64,
}

/// What contacts said to the surveys of their tickets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Satisfaction {
    /// How many were asked.
    pub asked: i64,
    /// How many gave a number.
    pub answered: i64,
    /// The mean of the numbers, from 1 to 5, with two decimals; null if there are none.
    #[schema(required = true, example = 4.25)]
    pub average: Option<f64>,
}

impl Satisfaction {
    /// Returns the satisfaction of contacts of whom so many gave numbers with this sum.
    pub fn of(asked: i64, answered: i64, sum: i64) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "no report has so many tickets")]
        let average = (answered > 0).then(|| (sum as f64 * 100.0 / answered as f64).round() / 100.0);
        Self { asked, answered, average }
    }
}

/// What became of tickets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketFigures {
    /// How many there are.
    pub opened: i64,
    /// How many of them have ended. Those that go on as another ticket do not count.
    pub closed: i64,
    /// How many of the closed ones were abandoned.
    pub abandoned: i64,
    /// How many go on as another ticket.
    pub transferred: i64,
    /// From opening to assignment.
    pub waiting_ms: TimeSpread,
    /// From opening to the first answer.
    pub first_response_ms: TimeSpread,
    /// From assignment to the end.
    pub service_ms: TimeSpread,
    /// Promises of a first answer.
    pub first_response_level: LevelFigures,
    /// Promises of a resolution.
    pub resolution_level: LevelFigures,
    /// What their contacts said afterwards.
    pub satisfaction: Satisfaction,
}

/// The tickets that have something in common.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReportGroup {
    /// The date, the id of the queue or of the user, or the reason. Null for tickets that nobody had, or that were closed
    /// without a reason or not at all.
    #[schema(required = true, example = "2026-11-20")]
    pub key: Option<String>,
    /// The name of the queue or of the user; null if they are gone, and for days and reasons.
    #[schema(required = true)]
    pub name: Option<String>,
    /// What became of them.
    #[serde(flatten)]
    pub figures: TicketFigures,
}

/// The figures of the tickets that people work and that were opened in a period.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketReport {
    /// The first moment of the period.
    pub from: IsoTime,
    /// The first moment after the period.
    pub to: IsoTime,
    /// The time zone of the days: that of the router, or UTC for several.
    #[schema(example = "America/Sao_Paulo")]
    pub time_zone: String,
    /// Days in their order, each of the period; other groups by size, the largest first, and 1,000 at most.
    pub groups: Vec<ReportGroup>,
    /// All tickets of the period.
    pub total: TicketFigures,
}
