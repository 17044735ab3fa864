//! Where the handoffs of a batch go.

use std::collections::{BTreeSet, HashMap};

use flowsdk_core::event::{HandoffDeflect, HandoffEvent};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId};
use flowsdk_core::router::Router;
use flowsdk_core::session::Session;
use flowsdk_core::time::Timestamp;

use super::IntakeTx;
use crate::queue::{PACE_PERIOD, Queue, QueueLoad};
use crate::rule::{DistributionRule, resolve};
use crate::ticket::ServiceClocks;

/// What the routers of a batch say about where handoffs go.
#[derive(Default)]
pub(super) struct Targets {
    routers: HashMap<RouterId, Router>,
    queues: Vec<Queue>,
    rules: Vec<DistributionRule>,
    /// How busy the queues are to which it matters.
    loads: HashMap<QueueId, QueueLoad>,
}

impl Targets {
    /// Reads them. Active queues stay as they are until the end of the transaction.
    pub(super) async fn read<T: IntakeTx>(
        tx: &mut T,
        handoffs: &[&HandoffEvent],
        now: Timestamp,
    ) -> Result<Self, StorageError> {
        if handoffs.is_empty() {
            return Ok(Self::default());
        }
        let ids: BTreeSet<RouterId> = handoffs.iter().map(|event| event.router_id.clone()).collect();
        let ids: Vec<RouterId> = ids.into_iter().collect();
        let queues = tx.queues().active_of(&ids).await?;
        let rules = tx.rules().active_of(&ids).await?;
        let routers = tx.routers().find_many(&ids).await?;
        let routers = routers.into_iter().map(|router| (router.id.clone(), router)).collect();
        let loads = loads(tx, &queues, now).await?;
        Ok(Self { routers, queues, rules, loads })
    }

    /// Returns the queue of a handoff; `None` if its router has no active one.
    pub(super) fn queue_of(&self, event: &HandoffEvent, session: &Session) -> Option<&Queue> {
        let flow = session.position.as_ref().map(|position| &position.flow_id);
        let tz = self.time_zone(&event.router_id);
        let queues: Vec<&Queue> =
            self.queues.iter().filter(|queue| queue.router_id == event.router_id).collect();
        let rules: Vec<&DistributionRule> =
            self.rules.iter().filter(|rule| rule.router_id == event.router_id).collect();
        resolve(event, flow, tz, &rules, &queues)
    }

    /// Returns why a queue turns a handoff away beside `taken` more tickets that wait; `None` if it takes it.
    pub(super) fn deflection(&self, queue: &Queue, now: Timestamp, taken: i64) -> Option<HandoffDeflect> {
        let load = self.loads.get(&queue.id).copied().unwrap_or_default();
        let load = QueueLoad { waiting: load.waiting + taken, ..load };
        queue.deflects(now, self.time_zone(&queue.router_id), load)
    }

    /// Returns the clocks of a ticket that comes to a queue; `None` if the queue promises nothing.
    pub(super) fn service_clocks(&self, queue: &Queue, now: Timestamp) -> Option<ServiceClocks> {
        queue.service_clocks(now, self.time_zone(&queue.router_id))
    }

    fn time_zone(&self, router: &RouterId) -> &str {
        self.routers.get(router).map_or("", |router| router.tz.as_str())
    }
}

/// Returns how busy those of the queues are to which it matters.
async fn loads<T: IntakeTx>(
    tx: &mut T,
    queues: &[Queue],
    now: Timestamp,
) -> Result<HashMap<QueueId, QueueLoad>, StorageError> {
    let ids: Vec<QueueId> =
        queues.iter().filter(|queue| queue.weighs_load()).map(|queue| queue.id.clone()).collect();
    let mut loads = HashMap::new();
    if ids.is_empty() {
        return Ok(loads);
    }
    for (queue, waiting, _) in tx.tickets().waiting_in(&ids).await? {
        loads.insert(queue, QueueLoad { waiting, ..QueueLoad::default() });
    }
    for (queue, taken) in tx.tickets().taken_in(&ids, now - PACE_PERIOD).await? {
        loads.entry(queue).or_default().taken = taken;
    }
    for (queue, present) in tx.queues().present_in(&ids, now).await? {
        loads.entry(queue).or_default().present = present;
    }
    Ok(loads)
}
