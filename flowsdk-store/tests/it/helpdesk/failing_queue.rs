//! A queue whose tickets cannot be given out.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::record::{HasRecords, RecordRepository};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_core::stream::outbox::{HasOutbox, Outbox};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::agent::{DeskAgent, DeskAgentId, HasPresence as _, PRESENCE_LIFETIME, PresenceStatus};
use flowsdk_helpdesk::dispatch::Dispatcher;
use flowsdk_helpdesk::news::{HasNews, NewsRepository};
use flowsdk_helpdesk::queue::DistributionStrategy::LeastLoaded;
use flowsdk_helpdesk::queue::{HasQueues, Queue, QueueRepository};
use flowsdk_helpdesk::ticket::{HasTickets, TicketRepository};
use flowsdk_store::sql::SqlStore;

use super::desk::{Helpdesk, holder};
use crate::support::databases::on_every_database;

on_every_database! {
    a_queue_that_fails_holds_up_no_other,
}

/// A database that fails when it is to lock one of the queues.
#[derive(Debug)]
struct Failing {
    store: SqlStore,
    queue: QueueId,
}

struct FailingTx {
    tx: <SqlStore as Store>::Tx,
    queue: QueueId,
}

#[async_trait]
impl Store for Failing {
    type Tx = FailingTx;

    async fn begin(&self) -> Result<FailingTx, StorageError> {
        Ok(FailingTx { tx: self.store.begin().await?, queue: self.queue.clone() })
    }

    async fn read(&self) -> Result<FailingTx, StorageError> {
        Ok(FailingTx { tx: self.store.read().await?, queue: self.queue.clone() })
    }

    fn generation(&self, of: Records) -> Option<u64> {
        self.store.generation(of)
    }
}

#[async_trait]
impl Transaction for FailingTx {
    async fn commit(self) -> Result<(), StorageError> {
        self.tx.commit().await
    }
}

impl HasTickets for FailingTx {
    fn tickets(&mut self) -> &mut dyn TicketRepository {
        self.tx.tickets()
    }
}

impl HasNews for FailingTx {
    fn news(&mut self) -> &mut dyn NewsRepository {
        self.tx.news()
    }
}

impl HasOutbox for FailingTx {
    fn outbox(&mut self) -> &mut dyn Outbox {
        self.tx.outbox()
    }
}

impl HasRecords<Queue> for FailingTx {
    fn records(&mut self) -> &mut dyn RecordRepository<Queue> {
        self.tx.records()
    }
}

impl HasQueues for FailingTx {
    fn queues(&mut self) -> &mut dyn QueueRepository {
        self
    }
}

#[async_trait]
impl QueueRepository for FailingTx {
    async fn lock_to_distribute(&mut self, ids: &[QueueId]) -> Result<Vec<Queue>, StorageError> {
        if ids.contains(&self.queue) {
            return Err(StorageError::Corrupt { entity: "queue", reason: "it is the one".to_owned() });
        }
        self.tx.queues().lock_to_distribute(ids).await
    }

    async fn active_of(&mut self, routers: &[RouterId]) -> Result<Vec<Queue>, StorageError> {
        self.tx.queues().active_of(routers).await
    }

    async fn find_many(&mut self, ids: &[QueueId]) -> Result<Vec<Queue>, StorageError> {
        self.tx.queues().find_many(ids).await
    }

    async fn agents(&mut self, queue: &QueueId) -> Result<Vec<DeskAgent>, StorageError> {
        self.tx.queues().agents(queue).await
    }

    async fn add_agent(&mut self, queue: &QueueId, agent: &DeskAgentId) -> Result<(), StorageError> {
        self.tx.queues().add_agent(queue, agent).await
    }

    async fn remove_agent(&mut self, queue: &QueueId, agent: &DeskAgentId) -> Result<bool, StorageError> {
        self.tx.queues().remove_agent(queue, agent).await
    }

    async fn last_given(&mut self, queues: &[QueueId]) -> Result<Vec<(QueueId, UserId)>, StorageError> {
        self.tx.queues().last_given(queues).await
    }

    async fn note_given(&mut self, given: &[(QueueId, UserId)]) -> Result<(), StorageError> {
        self.tx.queues().note_given(given).await
    }

    async fn present_in(
        &mut self,
        queues: &[QueueId],
        now: Timestamp,
    ) -> Result<Vec<(QueueId, i64)>, StorageError> {
        self.tx.queues().present_in(queues, now).await
    }

    async fn of_users(&mut self, users: &[UserId]) -> Result<Vec<(UserId, RouterId, QueueId)>, StorageError> {
        self.tx.queues().of_users(users).await
    }

    async fn of_user(
        &mut self,
        user: &UserId,
        only: Option<&[RouterId]>,
    ) -> Result<Vec<Queue>, StorageError> {
        self.tx.queues().of_user(user, only).await
    }
}

async fn a_queue_that_fails_holds_up_no_other(store: SqlStore) {
    const QUEUES: [&str; 4] = ["q1", "q2", "q3", "q4"];
    let failing = Failing { store: store.clone(), queue: "q2".parse().expect("an id") };
    let desk = Helpdesk::new(store).await;
    let mut tickets = Vec::new();
    for queue in QUEUES {
        desk.add_queue(queue, LeastLoaded).await;
        tickets.push(desk.hand_over_to(&format!("of-{queue}"), queue).await.expect("a ticket"));
    }
    let eva = desk.add_agent("eva", &QUEUES).await;
    // Not by the service, which would give her tickets already.
    let mut tx = desk.world.store.begin().await.expect("begin");
    tx.presence()
        .set(&eva, PresenceStatus::Online, desk.world.cx.now() + PRESENCE_LIFETIME)
        .await
        .expect("set");
    tx.commit().await.expect("commit");
    let given = async || {
        let mut holders = Vec::new();
        for ticket in &tickets {
            holders.push(holder(&desk.ticket(ticket).await).map(str::to_owned));
        }
        holders
    };
    let eva = || Some("eva".to_owned());
    // All four are given out in one transaction, if they can be.
    let dispatcher = Dispatcher::new(Arc::new(failing), desk.world.cx.clone());
    dispatcher.dispatch_each(&QUEUES.map(|queue| queue.parse().expect("an id"))).await;
    assert_eq!(given().await, [eva(), None, eva(), eva()]);
    desk.change_queue("q2", |queue| queue.max_concurrent_tickets_per_agent = 4).await;
    desk.dispatcher.sweep().await.expect("swept");
    assert_eq!(given().await, [eva(), eva(), eva(), eva()], "it waits for the sweep");
}
