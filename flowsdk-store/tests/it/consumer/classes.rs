//! Bulk work does not keep live work out.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::context::OpContext;
use flowsdk_core::lease::Leases;
use flowsdk_core::stream::broker::{Broker, Entry, NewEntry};
use flowsdk_core::stream::consumer::{
    BatchHandler, ConsumerConfig, Dispatcher, PartitionWorker, Subscription, Verdict, Work,
};
use flowsdk_core::stream::dead_letter::DeadLetters;
use flowsdk_core::stream::lanes::{Class, Turn};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_core::time::SystemClock;
use flowsdk_store::sql::{SqlBroker, SqlKeyValue, SqlStore};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::work::PATIENCE;
use crate::support::databases::on_every_database;

on_every_database! {
    a_flood_of_bulk_work_leaves_room_for_live_work,
}

const BULK: usize = 400;

/// Entries of `stream:agent` are bulk work. Each call takes a ticket of the gate.
struct Gated {
    gate: Semaphore,
    /// How often the class of live work was asked for: when it is read, and when it is in its lane.
    admitted: watch::Sender<usize>,
    order: Mutex<Vec<TopicName>>,
    done: watch::Sender<usize>,
}

#[async_trait]
impl BatchHandler for Gated {
    type Event = TopicName;
    type Output = ();

    fn parse(&self, topic: TopicName, _: &Entry) -> Result<TopicName, String> {
        Ok(topic)
    }

    async fn handle(&self, batch: &[Work<TopicName, ()>]) -> Vec<Verdict<()>> {
        self.gate.acquire().await.expect("the gate").forget();
        self.order.lock().expect("a lock").extend(batch.iter().map(Work::event));
        self.done.send_modify(|done| *done += batch.len());
        batch.iter().map(|_| Verdict::Done(())).collect()
    }

    fn turn(&self, topic: &TopicName) -> Turn {
        let is_live = *topic == TopicName::Incoming;
        self.admitted.send_modify(|admitted| *admitted += usize::from(is_live));
        Turn { class: if is_live { Class::LIVE } else { Class::CAMPAIGN }, ..Turn::default() }
    }

    fn one_by_one(&self) -> bool {
        true
    }
}

fn entries(topic: TopicName, count: usize) -> Vec<NewEntry> {
    (0..count).map(|n| NewEntry { topic, key: format!("{topic:?} {n}"), payload: String::new() }).collect()
}

async fn until(mut counted: watch::Receiver<usize>, count: usize) {
    let enough = counted.wait_for(|counted| *counted >= count);
    tokio::time::timeout(PATIENCE, enough).await.expect("it goes on").expect("it is there");
}

async fn a_flood_of_bulk_work_leaves_room_for_live_work(store: SqlStore) {
    let broker: Arc<dyn Broker> = Arc::new(SqlBroker::new(store.clone()));
    let handler = Arc::new(Gated {
        gate: Semaphore::new(0),
        admitted: watch::Sender::new(0),
        order: Mutex::default(),
        done: watch::Sender::new(0),
    });
    let config = ConsumerConfig { capacity: 16, max_batch: 4, ..ConsumerConfig::named("classes") };
    let (dispatcher, submitter) = Dispatcher::new(
        Arc::clone(&handler),
        Some(Arc::clone(&broker)),
        Arc::new(DeadLetters::new(Arc::new(store.clone()), OpContext::system())),
        Arc::new(SystemClock),
        config,
    );
    let subscription =
        Subscription { topics: &[TopicName::Agent, TopicName::Incoming], group: GROUPS[0], index: 0 };
    let kv = Arc::new(SqlKeyValue::new(store, Arc::new(SystemClock)));
    let leases = Leases::new(kv, "one", Duration::from_secs(60));
    let worker =
        PartitionWorker::new(Arc::clone(&handler), Arc::clone(&broker), leases, submitter, subscription);
    let mut tasks = JoinSet::new();
    let stop = CancellationToken::new();
    broker.publish(&entries(TopicName::Agent, BULK)).await.expect("publish");
    tasks.spawn(worker.run(stop.clone()));
    tasks.spawn(dispatcher.run(CancellationToken::new()));
    // Some of the flood is done, and one piece of it runs.
    handler.gate.add_permits(3);
    until(handler.done.subscribe(), 3).await;
    broker.publish(&entries(TopicName::Incoming, 2)).await.expect("publish");
    until(handler.admitted.subscribe(), 4).await;
    handler.gate.add_permits(BULK);
    until(handler.done.subscribe(), BULK + 2).await;
    stop.cancel();
    while tasks.join_next().await.is_some() {}
    let order = handler.order.lock().expect("a lock").clone();
    let live: Vec<_> = (0..order.len()).filter(|at| order[*at] == TopicName::Incoming).collect();
    // Behind the three that were done, and the piece that ran already, if one did.
    assert!(live == [3, 4] || live == [4, 5], "{live:?}");
}
