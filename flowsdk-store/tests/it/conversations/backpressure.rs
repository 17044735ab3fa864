//! One tenant's people write faster than their turns are taken.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::webchat::{DirectIngress, Ingress, IngressError, StreamIngress};
use flowsdk_core::conversation::{
    CONVERSATION_GROUP, ConversationConsumer, Conversations, SharedBackpressure, parties_of,
};
use flowsdk_core::event::IncomingEvent;
use flowsdk_core::id::{MessageId, RouterId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::stream::broker::Broker as _;
use flowsdk_core::stream::consumer::{ConsumerConfig, Dispatcher, Submitter};
use flowsdk_core::stream::dead_letter::DeadLetters;
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::time::SystemClock;
use flowsdk_store::memory::{MemoryBroker, MemoryKeyValue};
use flowsdk_store::sql::SqlStore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::world::{World, session};
use crate::support::databases::on_every_database;

on_every_database! {
    messages_of_a_crowd_are_refused_where_the_turns_are,
    messages_of_a_crowd_are_refused_in_other_processes,
}

const CAPACITY: usize = 8;

type Turns = Submitter<ConversationConsumer<SqlStore>>;

/// A router with a crowd of visitors, half of a consumer's room, and another router.
struct Crowd {
    world: World,
    other: RouterId,
    turns: Turns,
    tasks: JoinSet<()>,
}

impl Crowd {
    async fn new(store: SqlStore) -> Self {
        let world = World::new(store).await;
        world.add_router("router2", "c2").await;
        // Takes events, and never a turn.
        let config =
            ConsumerConfig { capacity: CAPACITY, parallel: 0, ..ConsumerConfig::named("conversation") };
        let handler = ConversationConsumer::new(Arc::<Conversations<_>>::clone(&world.conversations));
        let letters = DeadLetters::new(Arc::clone(&world.store), world.cx.clone());
        let (dispatcher, turns) =
            Dispatcher::new(Arc::new(handler), None, Arc::new(letters), Arc::new(SystemClock), config);
        let mut tasks = JoinSet::new();
        tasks.spawn(dispatcher.run(CancellationToken::new()));
        Self { world, other: "router2".parse().expect("an id"), turns, tasks }
    }

    fn message(&self, visitor: &str) -> IncomingEvent {
        let id = MessageId::generate(self.world.cx.ids());
        let message =
            IncomingMessage { internal_id: Some(id), ..IncomingMessage::text(format!("m-{visitor}"), "oi") };
        self.world.event(visitor, vec![message])
    }

    /// Visitors write until half of the room is theirs.
    async fn gather(&mut self) {
        let crowd = parties_of(&session("ana"), &self.world.router);
        for n in 0..CAPACITY / 2 {
            assert!(!self.turns.backpressure().is_on(&crowd), "{n} are less than half");
            let ingress = DirectIngress::new(self.turns.clone());
            let (event, router) = (self.message(&format!("v{n}")), self.world.router.clone());
            // Without an end, as no turn is taken.
            self.tasks.spawn(async move { drop(ingress.accept(event, &router).await) });
        }
        let gathered = async {
            while !self.turns.backpressure().is_on(&crowd) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), gathered).await.expect("they are too many");
    }
}

async fn messages_of_a_crowd_are_refused_where_the_turns_are(store: SqlStore) {
    let mut crowd = Crowd::new(store).await;
    crowd.gather().await;
    let ingress = DirectIngress::new(crowd.turns.clone());
    let refused = ingress.accept(crowd.message("ana"), &crowd.world.router).await;
    assert!(matches!(refused, Err(IngressError::Backpressure)), "{refused:?}");
    let others = parties_of(&session("other-ana"), &crowd.other);
    assert!(!crowd.turns.backpressure().is_on(&others));
}

async fn messages_of_a_crowd_are_refused_in_other_processes(store: SqlStore) {
    let mut crowd = Crowd::new(store).await;
    let kv = Arc::new(MemoryKeyValue::new(Arc::new(crowd.world.clock.clone())));
    let broker = Arc::new(MemoryBroker::default());
    let consumers = SharedBackpressure::new(Arc::clone(&kv) as _);
    let gateways = Arc::new(SharedBackpressure::new(Arc::clone(&kv) as _));
    let ingress = StreamIngress::new(Arc::clone(&broker) as _, kv, Arc::clone(&gateways));
    let published = async || {
        let stream = StreamPartition { topic: TopicName::Incoming, index: 0 };
        broker.backlog(stream, CONVERSATION_GROUP).await.expect("a backlog")
    };
    consumers.tell(crowd.turns.backpressure()).await.expect("told");
    gateways.ask().await.expect("asked");
    ingress.accept(crowd.message("ana"), &crowd.world.router).await.expect("nobody is refused");
    crowd.gather().await;
    consumers.tell(crowd.turns.backpressure()).await.expect("told");
    gateways.ask().await.expect("asked");
    let refused = ingress.accept(crowd.message("bia"), &crowd.world.router).await;
    assert!(matches!(refused, Err(IngressError::Backpressure)), "{refused:?}");
    ingress.accept(crowd.message("other-ana"), &crowd.other).await.expect("another router's is taken");
    assert_eq!(published().await, 2, "what was refused is not on the stream");

    // The consumer is gone with its word.
    crowd.world.clock.advance(Duration::from_secs(1));
    gateways.ask().await.expect("asked");
    ingress.accept(crowd.message("bia"), &crowd.world.router).await.expect("taken");
    assert_eq!(published().await, 3);
}
