//! What holds whatever comes, in whatever order.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::conversation::{ConversationEvent, MessagePersister};
use flowsdk_core::event::{DeliveryStatus, FlowEvent, InputTimeout, StatusEvent};
use flowsdk_core::id::ChatId;
use flowsdk_core::message::{Direction, IncomingMessage, Message, MessageStatus, advance};
use flowsdk_core::store::Store as _;
use flowsdk_core::testkit;
use flowsdk_store::sql::SqlStore;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::world::{World, body, session};
use crate::support::databases;

const VISITORS: usize = 4;

/// Something that happens. Numbers choose among what there is.
#[derive(Debug, Clone)]
enum Step {
    /// Events of different sessions in one batch: the contact, and whether each of their messages is new.
    Batch(Vec<(usize, Vec<Said>)>),
    /// Time passes, and everybody is rung for.
    Wait(u64),
    /// A channel reports of some message.
    Report(usize, DeliveryStatus),
}

#[derive(Debug, Clone)]
enum Said {
    New(&'static str),
    Again(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let said = prop_oneof![
        6 => Just(Said::New("a")),
        1 => Just(Said::New("bye")),
        1 => Just(Said::New("name")),
        1 => Just(Said::New("mail")),
        3 => (0..100usize).prop_map(Said::Again),
    ];
    let batch = vec((0..VISITORS, vec(said, 1..4)), 1..VISITORS);
    let report = prop_oneof![
        Just(DeliveryStatus::Sent),
        Just(DeliveryStatus::Delivered),
        Just(DeliveryStatus::Read),
        Just(DeliveryStatus::Failed),
    ];
    let step = prop_oneof![
        6 => batch.prop_map(Step::Batch),
        2 => (0..40_000u64).prop_map(Step::Wait),
        3 => (0..100usize, report).prop_map(|(nth, status)| Step::Report(nth, status)),
    ];
    vec(step, 1..40)
}

/// A world under test, and what was told it.
struct Play {
    world: World,
    visitors: Vec<String>,
    said: HashMap<usize, Vec<(String, &'static str)>>,
    chats: HashSet<ChatId>,
    count: usize,
}

impl Play {
    /// Visitors of their own for the `nth` case; the last one is a second session of the first.
    async fn new(world: World, nth: usize) -> Self {
        let mut visitors: Vec<_> = (0..VISITORS - 1).map(|n| format!("v{nth}x{n}")).collect();
        for visitor in &visitors {
            world.add_visitor(visitor).await;
        }
        visitors.push(format!("{}-ctx0123456789abcdef", visitors[0]));
        Self { world, visitors, said: HashMap::new(), chats: HashSet::new(), count: 0 }
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Batch(events) => self.batch(events).await,
            Step::Wait(millis) => {
                self.world.clock.advance(Duration::from_millis(*millis));
                for visitor in self.visitors.clone() {
                    let timeout = InputTimeout { session_id: session(&visitor) };
                    let report =
                        self.world.handle(ConversationEvent::Flow(FlowEvent::InputTimeout(timeout))).await;
                    assert!(report.outgoing.iter().all(|event| body(event) == "Too late"));
                }
            }
            Step::Report(nth, status) => self.report(*nth, *status).await,
        }
    }

    async fn batch(&mut self, events: &[(usize, Vec<Said>)]) {
        let mut seen = HashSet::new();
        let mut batch = Vec::new();
        let mut expected = Vec::new();
        for (who, messages) in events.iter().filter(|(who, _)| seen.insert(*who)) {
            let known = self.said.entry(*who).or_default();
            let mut event = Vec::new();
            let mut fresh = Vec::new();
            for said in messages {
                let (id, text) = match said {
                    Said::Again(nth) if !known.is_empty() => known[nth % known.len()].clone(),
                    Said::Again(_) => continue,
                    Said::New(text) => {
                        self.count += 1;
                        let new = (format!("{}-{}", self.visitors[*who], self.count), *text);
                        known.push(new.clone());
                        fresh.push(new.0.clone());
                        new
                    }
                };
                event.push(IncomingMessage::text(id, text));
            }
            let ids: Vec<String> = event.iter().map(|message| message.id.clone()).collect();
            expected.push((ids, fresh));
            batch.push(ConversationEvent::Incoming(self.world.event(&self.visitors[*who], event)));
        }
        let reports = self.world.try_handle(&batch).await.expect("handled");
        for (report, (ids, fresh)) in reports.iter().zip(expected) {
            let mut new = HashSet::new();
            let duplicates: Vec<_> = ids.iter().map(|id| !(fresh.contains(id) && new.insert(id))).collect();
            let stored: Vec<_> = report.stored.iter().map(|stored| stored.duplicate).collect();
            assert_eq!(stored, duplicates, "{ids:?}");
            assert_eq!(report.outgoing.len(), fresh.len(), "each new message is answered once");
            self.chats.extend(report.outgoing.iter().filter_map(|event| event.chat_id.clone()));
        }
    }

    async fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for chat in &self.chats {
            messages.extend(self.world.history(chat).await);
        }
        messages
    }

    async fn report(&self, nth: usize, status: DeliveryStatus) {
        let before = self.messages().await;
        let Some(target) = before.get(nth % before.len().max(1)) else {
            return;
        };
        let event = StatusEvent {
            phone_number_id: None,
            status,
            internal_id: Some(target.id.clone()),
            channel_message_id: None,
            session_id: Some(target.session_id.clone()),
            error: None,
            timestamp: self.world.cx.now(),
        };
        MessagePersister::new(self.world.store.clone(), self.world.cx.clone())
            .apply(&[&event, &event])
            .await
            .expect("applied");
        let after: HashMap<_, _> = self.messages().await.into_iter().map(|m| (m.id, m.status)).collect();
        for message in &before {
            let expected: Option<MessageStatus> = if message.id == target.id {
                message.status.map(|current| advance(current, status.message_status()))
            } else {
                message.status
            };
            assert_eq!(after[&message.id], expected);
        }
    }

    /// Every new message stands in the store once; a session stands in one chat; one chat is open.
    async fn check(&self) {
        let mut stored: Vec<String> = self
            .messages()
            .await
            .into_iter()
            .filter(|message| message.direction == Direction::In)
            .filter_map(|message| message.channel_message_id)
            .collect();
        let mut told: Vec<String> = self.said.values().flatten().map(|(id, _)| id.clone()).collect();
        stored.sort_unstable();
        told.sort_unstable();
        assert_eq!(stored, told);
        for visitor in &self.visitors[..VISITORS - 1] {
            let contact = self.world.contact(visitor).await;
            let mut tx = self.world.store.begin().await.expect("begin");
            let new = || Chat::open(&self.world.cx, contact.id.clone(), self.world.router.clone());
            let (one, two) = (new(), new());
            let open = tx.chats().open_or_get_many(&[one, two]).await.expect("open");
            assert_eq!(open[0].id, open[1].id);
        }
    }
}

async fn any_sequence_keeps_the_invariants(store: SqlStore, cases: usize) {
    let config = Config { rng_seed: RngSeed::Fixed(20_261_120), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let mut world = World::new(store).await;
    for nth in 0..cases {
        let steps = steps().new_tree(&mut runner).expect("steps").current();
        let mut play = Play::new(world, nth).await;
        for step in &steps {
            play.step(step).await;
        }
        play.check().await;
        world = play.world;
    }
}

#[test]
fn any_sequence_keeps_the_invariants_on_sqlite() {
    testkit::run("any_sequence_keeps_the_invariants", databases::memory, |store| {
        any_sequence_keeps_the_invariants(store, 60)
    });
}

#[test]
fn any_sequence_keeps_the_invariants_on_postgres() {
    testkit::run("any_sequence_keeps_the_invariants", databases::postgres, |store| {
        any_sequence_keeps_the_invariants(store, 25)
    });
}
