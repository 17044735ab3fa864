//! Taking snapshots.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, UserId};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::Store;
use flowsdk_core::time::Timestamp;
use jiff::tz::TimeZone;

use super::{
    AgentFigures, AgentStatusFigures, DetailedFigures, HasMonitoring, MonitoringSnapshot, OpenInQueue,
    QueueFigures, RealtimeFigures, Today, TodayFigures, TodayTickets,
};
use crate::agent::{Person, PresenceStatus};
use crate::ticket::{Ticket, TicketKind, TicketStatus, TicketView};

/// For how long a snapshot counts as current (spec B 8).
pub const SNAPSHOT_LIFETIME: Duration = Duration::from_secs(2);

/// Most tickets of a list.
const LISTED: u32 = 100;
/// Most snapshots that are kept.
const KEPT: usize = 1_000;

/// The routers of a snapshot; `None` is all.
type Scope = Option<Vec<RouterId>>;

/// Takes snapshots of the helpdesk, and keeps each for [`SNAPSHOT_LIFETIME`].
#[derive(Debug)]
pub struct Monitoring<S> {
    store: Arc<S>,
    cx: OpContext,
    taken: Mutex<HashMap<Scope, (Timestamp, Arc<MonitoringSnapshot>)>>,
}

impl<S: Store> Monitoring<S>
where
    S::Tx: HasMonitoring + HasRouters,
{
    /// Creates the service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx, taken: Mutex::default() }
    }

    /// Returns the figures of a router, or of all within reach.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn snapshot(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
    ) -> Result<Arc<MonitoringSnapshot>, StorageError> {
        let scope = match &**router {
            Some(router) => Some(vec![router.clone()]),
            None => reach.routers().map(<[RouterId]>::to_vec),
        };
        let now = self.cx.now();
        if let Some((at, snapshot)) = self.taken().get(&scope)
            && now.since(*at) < SNAPSHOT_LIFETIME
        {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(self.take(scope.as_deref(), now).await?);
        let mut taken = self.taken();
        if taken.len() >= KEPT {
            taken.retain(|_, (at, _)| now.since(*at) < SNAPSHOT_LIFETIME);
        }
        if taken.len() < KEPT {
            taken.insert(scope, (now, Arc::clone(&snapshot)));
        }
        Ok(snapshot)
    }

    async fn take(
        &self,
        only: Option<&[RouterId]>,
        now: Timestamp,
    ) -> Result<MonitoringSnapshot, StorageError> {
        let mut tx = self.store.read().await?;
        let zone = match only {
            Some([router]) => tx.routers().find(router).await?.map(|router| router.tz),
            _ => None,
        };
        let figures = tx.monitoring();
        let found = Found {
            queues: figures.open_by_queue(only).await?,
            loads: figures.open_by_user(only).await?.into_iter().collect(),
            agents: figures.agents(only, now).await?,
            today: figures.since(only, midnight(now, zone.as_deref())).await?,
        };
        let mut oldest = async |kind, status| -> Result<Vec<TicketView>, StorageError> {
            let tickets: Vec<Ticket> = figures.oldest(only, kind, status, LISTED).await?;
            Ok(tickets.into_iter().map(TicketView::from).collect())
        };
        let in_progress = oldest(TicketKind::Human, TicketStatus::Assigned).await?;
        let waiting = oldest(TicketKind::Human, TicketStatus::Waiting).await?;
        let ai_tickets = oldest(TicketKind::Ai, TicketStatus::Assigned).await?;
        Ok(found.snapshot(now, |by_agent, by_queue| DetailedFigures {
            in_progress,
            waiting,
            by_agent,
            by_queue,
            ai_tickets,
        }))
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Scope, (Timestamp, Arc<MonitoringSnapshot>)>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns when the day of a moment began, in a time zone, or in UTC.
pub(crate) fn midnight(now: Timestamp, zone: Option<&str>) -> Timestamp {
    let zone = zone.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
    let began = now.to_jiff().to_zoned(zone).start_of_day();
    began.map_or(now, |began| Timestamp::from_millis(began.timestamp().as_millisecond()))
}

/// What the storage says.
struct Found {
    queues: Vec<OpenInQueue>,
    loads: HashMap<UserId, i64>,
    agents: Vec<Person>,
    today: Today,
}

impl Found {
    fn snapshot(
        self,
        now: Timestamp,
        detailed: impl FnOnce(Vec<AgentFigures>, Vec<QueueFigures>) -> DetailedFigures,
    ) -> MonitoringSnapshot {
        let queues: Vec<QueueFigures> = self.queues.into_iter().map(|queue| of_queue(queue, now)).collect();
        let in_queue = queues.iter().map(|queue| queue.in_queue).sum();
        let in_service = queues.iter().map(|queue| queue.in_service).sum();
        let loads = self.loads;
        let of_agent = |person: Person| AgentFigures {
            in_service: loads.get(&person.user_id).copied().unwrap_or_default(),
            user_id: person.user_id,
            name: person.name,
            presence: person.presence,
        };
        let agents: Vec<AgentFigures> = self.agents.into_iter().map(of_agent).collect();
        let (agent_status, today) = (count(&agents), self.today);
        MonitoringSnapshot {
            realtime: RealtimeFigures {
                in_queue,
                in_service,
                max_queue_wait_ms: queues.iter().map(|queue| queue.max_queue_wait_ms).max().unwrap_or(0),
                avg_first_response_ms: today.avg_first_response_ms,
                avg_tickets_per_agent: per_agent(&agents),
            },
            agent_status,
            today_metrics: TodayFigures {
                avg_queue_time_ms: today.avg_queue_ms,
                avg_service_time_ms: today.avg_service_ms,
            },
            today_ticket_status: TodayTickets {
                waiting: in_queue,
                assigned: in_service,
                closed_today: today.closed,
                abandoned_today: today.abandoned,
            },
            detailed: detailed(agents, queues),
        }
    }
}

fn of_queue(queue: OpenInQueue, now: Timestamp) -> QueueFigures {
    let waited = |since: Timestamp| i64::try_from(now.since(since).as_millis()).unwrap_or(i64::MAX);
    QueueFigures {
        queue_id: queue.queue_id,
        in_queue: queue.waiting,
        in_service: queue.assigned,
        max_queue_wait_ms: queue.oldest.map_or(0, waited),
    }
}

fn count(agents: &[AgentFigures]) -> AgentStatusFigures {
    let mut status = AgentStatusFigures::default();
    for agent in agents {
        match agent.presence {
            PresenceStatus::Online => status.online += 1,
            PresenceStatus::Away => status.away += 1,
            PresenceStatus::Busy => status.busy += 1,
            PresenceStatus::Offline => status.offline += 1,
        }
    }
    status
}

/// Returns how many tickets each agent has who is not offline.
#[allow(clippy::cast_precision_loss, reason = "nobody has that many tickets")]
fn per_agent(agents: &[AgentFigures]) -> f64 {
    let there = agents.iter().filter(|agent| agent.presence != PresenceStatus::Offline);
    let (count, tickets) =
        there.fold((0_i64, 0_i64), |(count, sum), agent| (count + 1, sum + agent.in_service));
    if count == 0 { 0.0 } else { tickets as f64 / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(iso: &str) -> Timestamp {
        let moment: jiff::Timestamp = iso.parse().expect("a moment");
        Timestamp::from_millis(moment.as_millisecond())
    }

    #[test]
    fn a_day_begins_at_midnight_where_the_router_is() {
        for (zone, now, expected) in [
            (None, "2026-11-30T02:00:00Z", "2026-11-30T00:00:00Z"),
            (Some("America/Sao_Paulo"), "2026-11-30T02:00:00Z", "2026-11-29T03:00:00Z"),
            (Some("nowhere"), "2026-11-30T02:00:00Z", "2026-11-30T00:00:00Z"),
        ] {
            assert_eq!(midnight(at(now), zone), at(expected), "{zone:?}");
        }
    }

    #[test]
    fn figures_are_sums_of_queues_and_means_of_agents() {
        let now = at("2026-11-30T12:00:00Z");
        let queue = |id: &str, waiting, assigned, oldest: Option<&str>| OpenInQueue {
            queue_id: id.parse().expect("an id"),
            waiting,
            assigned,
            oldest: oldest.map(at),
        };
        let person = |id: &str, presence| Person {
            user_id: id.parse().expect("an id"),
            name: id.to_uppercase(),
            presence,
        };
        let found = Found {
            queues: vec![
                queue("q1", 2, 1, Some("2026-11-30T11:59:00Z")),
                queue("q2", 1, 3, Some("2026-11-30T11:58:00Z")),
                queue("q3", 0, 1, None),
            ],
            loads: [("ana", 3), ("bia", 2)].map(|(id, open)| (id.parse().expect("an id"), open)).into(),
            agents: vec![
                person("ana", PresenceStatus::Online),
                person("bia", PresenceStatus::Offline),
                person("caio", PresenceStatus::Busy),
            ],
            today: Today { closed: 7, abandoned: 2, avg_service_ms: Some(5), ..Today::default() },
        };
        let snapshot = found.snapshot(now, |by_agent, by_queue| DetailedFigures {
            in_progress: Vec::new(),
            waiting: Vec::new(),
            by_agent,
            by_queue,
            ai_tickets: Vec::new(),
        });
        let RealtimeFigures { in_queue, in_service, max_queue_wait_ms, avg_tickets_per_agent, .. } =
            snapshot.realtime;
        assert_eq!((in_queue, in_service, max_queue_wait_ms), (3, 5, 120_000));
        assert!((avg_tickets_per_agent - 1.5).abs() < f64::EPSILON, "{avg_tickets_per_agent}");
        let expected = AgentStatusFigures { online: 1, busy: 1, offline: 1, away: 0 };
        assert_eq!(snapshot.agent_status, expected);
        let today = snapshot.today_ticket_status;
        assert_eq!((today.waiting, today.assigned, today.closed_today, today.abandoned_today), (3, 5, 7, 2));
        let loads: Vec<i64> = snapshot.detailed.by_agent.iter().map(|agent| agent.in_service).collect();
        assert_eq!(loads, [3, 2, 0]);
    }
}
