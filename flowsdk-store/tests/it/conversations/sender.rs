//! The sender of messages by phone (rulings C6, S2, S14).

use std::collections::VecDeque;
use std::slice;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_channels::phone::sending::{HasOutbound, OutboundRepository, PhoneSender, SenderTx};
use flowsdk_channels::template::{HasProviderTemplates, ProviderTemplates};
use flowsdk_core::broadcast::{HasIntents, IntentRepository};
use flowsdk_core::channel::{Accepted, ChannelSender, Refusal, RefusalClass, SendError, SendingAccount};
use flowsdk_core::contact::{ContactRepository, HasContacts, HasOptIns, OptInRepository};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::media::MediaLinks;
use flowsdk_core::message::StatusError;
use flowsdk_core::session::{HasSessions as _, SessionId, SessionWrite};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_core::stream::outbox::{HasOutbox, Outbox};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::{SqlStore, SqlTx};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::identities::Phone;
use super::outbound::{ANA, BIA, ids};
use super::world::{KEY, MINUTE};
use crate::support::databases::on_every_database;

on_every_database! {
    refusals_are_tried_again_by_their_class,
    difficulties_of_the_provider_end_the_message_at_the_fifth,
    whoever_waits_for_their_pace_holds_up_nobody,
    messages_of_a_former_owner_are_not_sent,
    a_commit_whose_answer_is_lost_costs_no_message,
    a_stop_behind_a_lost_answer_costs_no_message,
    a_call_of_another_sender_is_not_taken_for_one_of_a_failed_commit,
}

const SECOND: Duration = Duration::from_secs(1);

impl Phone {
    /// Waits until no call is under way.
    async fn eventually_settled(&self) {
        tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                let mut tx = self.world.store.read().await.expect("read");
                let later = self.world.cx.now() + MINUTE;
                if tx.outbound().unanswered(later, 10).await.expect("read").is_empty() {
                    return;
                }
                drop(tx);
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("calls end");
    }

    /// Waits until nothing is in the queue.
    async fn eventually_empty(&self) {
        tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                let mut tx = self.world.store.read().await.expect("read");
                if tx.outbound().waiting("111").await.expect("read").0 == 0 {
                    return;
                }
                drop(tx);
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("the queue is emptied");
    }

    /// Gives a session another owner.
    async fn raise_epoch(&self, id: &SessionId) {
        let mut tx = self.world.store.begin().await.expect("begin");
        let found = tx.sessions().find_many_for_update(slice::from_ref(id)).await.expect("read");
        let mut session = found.into_iter().next().expect("a session").session;
        let expected = Some(session.version);
        session.version += 1;
        session.epoch += 1;
        tx.sessions().save_many(&[SessionWrite { session: &session, expected }]).await.expect("saved");
        tx.commit().await.expect("commit");
    }
}

/// Answers as it is told to, and then takes everything.
#[derive(Debug, Default)]
struct Scripted {
    answers: Mutex<VecDeque<Result<(), SendError>>>,
    calls: Mutex<Vec<String>>,
}

#[async_trait]
impl ChannelSender for Scripted {
    async fn send(&self, account: &SendingAccount, message: &OutgoingEvent) -> Result<Accepted, SendError> {
        let call = format!("{} to {}", account.id, message.session_id.party());
        self.calls.lock().expect("a lock").push(call);
        let answer = self.answers.lock().expect("a lock").pop_front();
        answer.unwrap_or(Ok(()))?;
        Ok(Accepted { provider_id: format!("wamid.{}", message.internal_id), recipient: None })
    }

    async fn mark_read(&self, _: &SendingAccount, _: &str, _: bool) -> Result<(), SendError> {
        unreachable!("no receipt is sent here")
    }

    async fn probe(&self, _account: &SendingAccount) -> Result<(), SendError> {
        Ok(())
    }
}

fn links(cx: &OpContext) -> MediaLinks {
    MediaLinks::new(&MasterKey::new(KEY).expect("a key"), cx.clock(), None, "https://shop.example")
}

/// A sender that runs until it is dropped.
struct Running {
    channel: Arc<Scripted>,
    arrived: Arc<Notify>,
    stop: CancellationToken,
    task: JoinSet<()>,
}

impl Running {
    fn start(phone: &Phone, answers: Vec<Result<(), SendError>>) -> Self {
        Self::over(Arc::clone(&phone.world.store), phone, answers)
    }

    fn over<S: Store>(store: Arc<S>, phone: &Phone, answers: Vec<Result<(), SendError>>) -> Self
    where
        S::Tx: SenderTx,
    {
        let channel = Arc::new(Scripted { answers: Mutex::new(answers.into()), ..Scripted::default() });
        let (arrived, stop) = (Arc::new(Notify::new()), CancellationToken::new());
        let sender = PhoneSender::new(
            store,
            Arc::clone(&channel) as _,
            Arc::new(MasterKey::new(KEY).expect("a key")),
            phone.world.cx.clone(),
            Arc::new(links(&phone.world.cx)),
            Arc::clone(&arrived),
        );
        let (until, mut task) = (stop.clone(), JoinSet::new());
        task.spawn(async move { sender.run(&until).await });
        Self { channel, arrived, stop, task }
    }

    /// Waits until so many calls were made.
    async fn calls(&self, count: usize) -> Vec<String> {
        self.calls_until(|calls| calls.len() >= count).await
    }

    async fn calls_until(&self, enough: impl Fn(&[String]) -> bool) -> Vec<String> {
        tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                self.arrived.notify_one();
                let calls = self.channel.calls.lock().expect("a lock").clone();
                if enough(&calls) {
                    return calls;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("the calls are made")
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.join_all().await;
    }
}

fn refused(code: i64, class: RefusalClass, retry_after: Option<u64>) -> Result<(), SendError> {
    let error = StatusError { code, title: None };
    let retry_after = retry_after.map(Duration::from_secs);
    Err(SendError::Refused(Refusal { error, class, retry_after }))
}

async fn refusals_are_tried_again_by_their_class(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    phone.answers(&[ANA]).await;
    let script = vec![
        refused(131_000, RefusalClass::Retry, None),
        Err(SendError::Unreached("no connection".into())),
        refused(131_056, RefusalClass::PairThrottled, Some(30)),
        refused(130_429, RefusalClass::Throttled, Some(45)),
        refused(190, RefusalClass::Account, None),
    ];
    let running = Running::start(&phone, script);
    // The last one is until paused numbers are asked for.
    let pauses = [1, 4, 30, 45, 62];
    for (nth, pause) in pauses.into_iter().enumerate() {
        running.calls(nth + 1).await;
        // Its end is written before the time goes on.
        phone.eventually_settled().await;
        phone.world.clock.advance(Duration::from_secs(pause));
    }
    // The probe of the paused number succeeds, and the message is sent.
    assert_eq!(running.calls(6).await.len(), 6);
    running.stop().await;
    let told = phone.world.published(TopicName::Status).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (&told[0]["status"], &told[0]["sessionId"]),
        (&"sent".into(), &format!("wa-111-{ANA}").into())
    );
}

/// What did not reach the provider, or was to come later, does not count.
async fn difficulties_of_the_provider_end_the_message_at_the_fifth(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    phone.answers(&[ANA]).await;
    let difficulty = || refused(131_000, RefusalClass::Retry, Some(1));
    let mut script: Vec<_> = (0..3).map(|_| Err(SendError::Unreached("no connection".into()))).collect();
    script.extend((0..3).map(|_| refused(130_429, RefusalClass::Throttled, Some(1))));
    script.extend((0..5).map(|_| difficulty()));
    let running = Running::start(&phone, script);
    for calls in 1..=11 {
        running.calls(calls).await;
        phone.eventually_settled().await;
        phone.world.clock.advance(MINUTE);
    }
    phone.eventually_empty().await;
    running.stop().await;
    let told = phone.world.published(TopicName::Status).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["status"], &told[0]["error"]["code"]), (&"send_failed".into(), &131_000.into()));
}

/// As many recipients as one round takes of a number have been told all that their pace lets them.
async fn whoever_waits_for_their_pace_holds_up_nobody(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let crowd: Vec<String> = (0..16).map(|nth| (15_550_000_000_u64 + nth).to_string()).collect();
    let mut queued = Vec::new();
    for nth in 0..48 {
        for person in &crowd {
            let said = phone.says(&format!("wa-111-{person}"), &format!("{person}.{nth}"), &[], None).await;
            queued.extend(said.outgoing);
        }
    }
    phone.enqueue(&queued).await;
    phone.answers(&[BIA]).await;
    let running = Running::start(&phone, Vec::new());
    for second in 1..=9 {
        running.calls(second * 80).await;
        phone.eventually_settled().await;
        phone.world.clock.advance(Duration::from_secs(1));
    }
    let last = format!("111 to {BIA}");
    let calls = running.calls_until(|calls| calls.contains(&last)).await;
    assert!(calls.len() < queued.len(), "the others wait");
    running.stop().await;
}

/// What becomes of the commits of a store.
#[derive(Debug, Clone, Copy)]
enum Commits {
    /// They are carried out, and their user is told so.
    Answered,
    /// The next one is carried out, and its user is told that it has failed: a database that hangs does so.
    LostOnce,
    /// They are rolled back.
    RolledBack,
}

/// A store whose commits fail as they are told to.
#[derive(Debug, Clone)]
struct Failing {
    store: Arc<SqlStore>,
    /// What becomes of the next commit, and how many users were told that theirs has failed.
    state: Arc<Mutex<(Commits, u32)>>,
}

struct FailingTx {
    tx: SqlTx,
    state: Arc<Mutex<(Commits, u32)>>,
}

impl Failing {
    fn new(store: &Arc<SqlStore>, commits: Commits) -> Self {
        Self { store: Arc::clone(store), state: Arc::new(Mutex::new((commits, 0))) }
    }

    fn mend(&self) {
        self.state.lock().expect("a lock").0 = Commits::Answered;
    }

    /// Waits until a commit has failed.
    async fn eventually_failed(&self) {
        tokio::time::timeout(Duration::from_secs(30), async {
            while self.state.lock().expect("a lock").1 == 0 {
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("a commit fails");
    }
}

#[async_trait]
impl Store for Failing {
    type Tx = FailingTx;

    async fn begin(&self) -> Result<FailingTx, StorageError> {
        Ok(FailingTx { tx: self.store.begin().await?, state: Arc::clone(&self.state) })
    }

    async fn read(&self) -> Result<FailingTx, StorageError> {
        Ok(FailingTx { tx: self.store.read().await?, state: Arc::clone(&self.state) })
    }

    fn generation(&self, of: Records) -> Option<u64> {
        self.store.generation(of)
    }
}

#[async_trait]
impl Transaction for FailingTx {
    async fn commit(self) -> Result<(), StorageError> {
        let commits = self.state.lock().expect("a lock").0;
        match commits {
            Commits::Answered => return self.tx.commit().await,
            Commits::LostOnce => self.tx.commit().await?,
            Commits::RolledBack => drop(self.tx),
        }
        let mut state = self.state.lock().expect("a lock");
        let next = if matches!(commits, Commits::LostOnce) { Commits::Answered } else { commits };
        *state = (next, state.1 + 1);
        Err(StorageError::Unavailable("no answer".into()))
    }
}

macro_rules! passed_on {
    ($($has:ident::$method:ident -> $repository:ident),* $(,)?) => {$(
        impl $has for FailingTx {
            fn $method(&mut self) -> &mut dyn $repository {
                self.tx.$method()
            }
        }
    )*};
}
passed_on!(
    HasOutbound::outbound -> OutboundRepository,
    HasOutbox::outbox -> Outbox,
    HasContacts::contacts -> ContactRepository,
    HasOptIns::opt_ins -> OptInRepository,
    HasIntents::intents -> IntentRepository,
    HasProviderTemplates::provider_templates -> ProviderTemplates,
);

async fn a_commit_whose_answer_is_lost_costs_no_message(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let answers = phone.answers(&[ANA, BIA]).await;
    let failing = Failing::new(&phone.world.store, Commits::LostOnce);
    let running = Running::over(Arc::new(failing.clone()), &phone, Vec::new());
    failing.eventually_failed().await;
    // Nobody can call them by now but the sender that has noted them.
    assert_eq!(phone.due().await, []);
    phone.world.clock.advance(SECOND);
    running.calls(answers.len()).await;
    phone.eventually_empty().await;
    let mut calls = running.channel.calls.lock().expect("a lock").clone();
    calls.sort_unstable();
    running.stop().await;
    assert_eq!(calls, [BIA, ANA].map(|one| format!("111 to {one}")), "each once");
    let told = phone.world.published(TopicName::Status).await;
    assert_eq!(told.iter().map(|told| &told["status"]).collect::<Vec<_>>(), ["sent", "sent"]);
}

/// The sender that stops is the last one that knows that it has made no call.
async fn a_stop_behind_a_lost_answer_costs_no_message(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let answers = phone.answers(&[ANA, BIA]).await;
    let failing = Failing::new(&phone.world.store, Commits::LostOnce);
    let running = Running::over(Arc::new(failing.clone()), &phone, Vec::new());
    failing.eventually_failed().await;
    assert_eq!(phone.due().await, []);
    // Too early for a review.
    phone.world.clock.advance(SECOND / 10);
    running.stop().await;
    assert_eq!(phone.due_ids().await, ids(&answers));
}

async fn a_call_of_another_sender_is_not_taken_for_one_of_a_failed_commit(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let answers = phone.answers(&[ANA]).await;
    let failing = Failing::new(&phone.world.store, Commits::RolledBack);
    let running = Running::over(Arc::new(failing.clone()), &phone, Vec::new());
    failing.eventually_failed().await;
    let later = phone.world.cx.now() + SECOND / 10;
    let mut tx = phone.world.store.begin().await.expect("begin");
    let called = tx.outbound().begin(&ids(&answers), later).await.expect("begun");
    tx.commit().await.expect("commit");
    assert_eq!(
        called,
        [(answers[0].internal_id.clone(), 1)],
        "the attempt that the first sender wanted to make"
    );
    failing.mend();
    phone.world.clock.advance(SECOND);
    // The review is before this call.
    phone.answers(&[BIA]).await;
    assert_eq!(running.calls(1).await, [format!("111 to {BIA}")]);
    running.stop().await;
    let mut tx = phone.world.store.read().await.expect("read");
    let unanswered = tx.outbound().unanswered(phone.world.cx.now(), 10).await.expect("read");
    let found: Vec<_> = unanswered.iter().map(|(outbound, _)| (&outbound.event, outbound.attempts)).collect();
    assert_eq!(found, [(&answers[0], 1)], "it is still the other sender's");
}

async fn messages_of_a_former_owner_are_not_sent(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let said = phone.says(&format!("wa-111-{ANA}"), "in.first", &[], None).await.outgoing;
    phone.raise_epoch(&said[0].session_id).await;
    phone.enqueue(&said).await;
    phone.answers(&[BIA]).await;
    let running = Running::start(&phone, Vec::new());
    assert_eq!(running.calls(1).await, [format!("111 to {BIA}")]);
    running.stop().await;
    let mut told = phone.world.published(TopicName::Status).await;
    told.sort_by_key(|status| status["status"].to_string());
    let found: Vec<_> =
        told.iter().map(|status| (status["status"].as_str(), status["error"]["code"].as_i64())).collect();
    assert_eq!(found, [(Some("send_failed"), Some(-5)), (Some("sent"), None)]);
}
