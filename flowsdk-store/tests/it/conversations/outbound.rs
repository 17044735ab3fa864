//! The queue of messages that are to be sent by phone, and its sender (rulings C6, S2, S14).

use std::collections::VecDeque;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_channels::channel_number::{ChannelNumber, HasChannelNumbers as _};
use flowsdk_channels::phone::sending::{
    Attempt, AttemptOutcome, HasOutbound, Outbound, OutboundRepository, Owners, Pause, PhoneSender, SenderTx,
    Settlement,
    SettlementOutcome::{self, Again, Done, Refused},
};
use flowsdk_channels::template::{HasProviderTemplates, ProviderTemplates};
use flowsdk_core::broadcast::{HasIntents, IntentRepository};
use flowsdk_core::channel::{Accepted, ChannelSender, Refusal, RefusalClass, SendError, SendingAccount};
use flowsdk_core::contact::{ContactRepository, HasContacts, HasOptIns, OptInRepository};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::MessageId;
use flowsdk_core::media::MediaLinks;
use flowsdk_core::message::{MessageStatus, Source, StatusError};
use flowsdk_core::session::{HasSessions as _, SessionId, SessionWrite};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_core::stream::outbox::{HasOutbox, Outbox};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::{SqlStore, SqlTx};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::identities::Phone;
use super::world::{KEY, MINUTE};
use crate::support::databases::on_every_database;

on_every_database! {
    of_each_contact_the_first_message_is_due,
    both_forms_of_a_number_are_one_contact,
    what_somebody_waits_for_goes_before_what_is_dispatched,
    a_message_is_queued_once_whatever_becomes_of_it,
    calls_are_begun_once,
    a_paused_number_has_nothing_due,
    what_is_said_of_a_former_attempt_counts_for_nothing,
    refusals_are_tried_again_by_their_class,
    difficulties_of_the_provider_end_the_message_at_the_fifth,
    whoever_waits_for_their_pace_holds_up_nobody,
    messages_of_a_former_owner_are_not_sent,
    a_commit_whose_answer_is_lost_costs_no_message,
}

const ANA: &str = "5511987654321";
/// The form that the provider may have of Ana's number (rulings C5).
const ANA_WITHOUT_NINE: &str = "551187654321";
const BIA: &str = "15550783881";

impl Phone {
    /// The answers to a message of each of these people, queued in this order.
    async fn answers(&self, people: &[&str]) -> Vec<OutgoingEvent> {
        let answers = self.said(people).await;
        self.enqueue(&answers).await;
        answers
    }

    /// The same, not queued yet.
    async fn said(&self, people: &[&str]) -> Vec<OutgoingEvent> {
        let mut answers = Vec::new();
        for (nth, person) in people.iter().enumerate() {
            let session = format!("wa-111-{person}");
            let report = self.says(&session, &format!("in.{nth}"), &[], None).await;
            answers.extend(report.outgoing);
        }
        answers
    }

    async fn enqueue(&self, events: &[OutgoingEvent]) {
        let mut tx = self.world.store.begin().await.expect("begin");
        let events: Vec<&OutgoingEvent> = events.iter().collect();
        tx.outbound().enqueue(&events, self.world.cx.now()).await.expect("queued");
        tx.commit().await.expect("commit");
    }

    async fn due(&self) -> Vec<Outbound> {
        let mut tx = self.world.store.read().await.expect("read");
        tx.outbound().due(self.world.cx.now(), 10, 100).await.expect("due")
    }

    async fn due_ids(&self) -> Vec<MessageId> {
        self.due().await.into_iter().map(|outbound| outbound.event.internal_id).collect()
    }

    async fn begin(&self, ids: &[MessageId]) -> Vec<(MessageId, u32)> {
        let mut tx = self.world.store.begin().await.expect("begin");
        let begun = tx.outbound().begin(ids, self.world.cx.now()).await.expect("begun");
        tx.commit().await.expect("commit");
        begun
    }

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

    /// Gives the number an access token.
    async fn give_token(&self) {
        let key = MasterKey::new(KEY).expect("a key");
        let mut tx = self.world.store.begin().await.expect("begin");
        let id = "n1".parse().expect("an id");
        let number = tx.channel_numbers().find_for_update(&id).await.expect("found").expect("a number");
        let number = ChannelNumber { access_token: Some(key.encrypt("token")), ..number };
        tx.channel_numbers().save(&number).await.expect("saved");
        tx.commit().await.expect("commit");
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

    async fn settle(&self, settlements: &[Settlement]) {
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.outbound().settle(settlements).await.expect("settled");
        tx.commit().await.expect("commit");
    }
}

/// What becomes of a message after so many attempts.
fn after(message: &MessageId, attempts: u32, outcome: SettlementOutcome) -> Settlement {
    Settlement { message: message.clone(), attempts, outcome }
}

fn ids(events: &[OutgoingEvent]) -> Vec<MessageId> {
    events.iter().map(|event| event.internal_id.clone()).collect()
}

async fn of_each_contact_the_first_message_is_due(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let answers = phone.answers(&[ANA, ANA, BIA]).await;
    let [first, second, other] = &*ids(&answers) else { panic!("{answers:?}") };
    assert_eq!(phone.due_ids().await, [first.clone(), other.clone()]);
    let due = phone.due().await;
    let owners = Owners { first: answers[0].epoch, now: answers[0].epoch };
    assert_eq!((&due[0].event, due[0].attempts, due[0].owners), (&answers[0], 0, Some(owners)));
    phone.begin(slice::from_ref(first)).await;
    assert_eq!(phone.due_ids().await, slice::from_ref(other), "the second waits for the call");
    let later = phone.world.cx.now() + MINUTE;
    phone.settle(&[after(first, 1, Again(later)), after(other, 0, Done)]).await;
    assert_eq!(phone.due_ids().await, [], "the second waits for the next attempt");
    phone.world.clock.advance(MINUTE);
    assert_eq!(phone.due_ids().await, slice::from_ref(first));
    phone.settle(&[after(first, 1, Done)]).await;
    assert_eq!(phone.due_ids().await, slice::from_ref(second));
    let mut tx = phone.world.store.read().await.expect("read");
    assert_eq!(tx.outbound().due(phone.world.cx.now(), 1, 0).await.expect("due"), []);
    let (waiting, since) = tx.outbound().waiting("111").await.expect("counted");
    assert_eq!((waiting, since.is_some()), (1, true));
    assert_eq!(tx.outbound().waiting("222").await.expect("counted"), (0, None));
}

async fn both_forms_of_a_number_are_one_contact(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let mut answers = phone.said(&[ANA]).await;
    let other = format!("wa-111-{ANA_WITHOUT_NINE}");
    answers.extend(phone.says(&other, "in.other", &[ANA], None).await.outgoing);
    phone.enqueue(&answers).await;
    let [first, second] = &*ids(&answers) else { panic!("{answers:?}") };
    assert_ne!(answers[0].session_id, answers[1].session_id);
    assert_eq!(phone.due_ids().await, slice::from_ref(first), "the second waits for the first");
    phone.settle(&[after(first, 0, Done)]).await;
    assert_eq!(phone.due_ids().await, slice::from_ref(second));
}

async fn what_somebody_waits_for_goes_before_what_is_dispatched(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let mut answers = phone.said(&[ANA, ANA, BIA]).await;
    answers[0].source = Source::Dispatch;
    phone.enqueue(&answers).await;
    let [dispatched, of_ana, of_bia] = &*ids(&answers) else { panic!("{answers:?}") };
    assert_eq!(phone.due_ids().await, [of_bia.clone(), dispatched.clone()]);
    let mut tx = phone.world.store.read().await.expect("read");
    let due = tx.outbound().due(phone.world.cx.now(), 1, 10).await.expect("due");
    assert_eq!(due[0].event.internal_id, *of_bia, "also where only one of the number begins");
    assert_eq!(tx.outbound().due(phone.world.cx.now(), 10, 1).await.expect("due"), due);
    drop(tx);
    phone.settle(&[after(of_bia, 0, Done)]).await;
    assert_eq!(phone.due_ids().await, slice::from_ref(dispatched), "one recipient's stay in their order");
    phone.settle(&[after(dispatched, 0, Done)]).await;
    assert_eq!(phone.due_ids().await, slice::from_ref(of_ana));
}

async fn a_message_is_queued_once_whatever_becomes_of_it(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let answers = phone.answers(&[ANA]).await;
    let [id] = &*ids(&answers) else { panic!("{answers:?}") };
    phone.enqueue(&[answers[0].clone(), answers[0].clone()]).await;
    assert_eq!(phone.due().await.len(), 1);
    phone.begin(slice::from_ref(id)).await;
    phone.settle(&[after(id, 1, Done)]).await;
    // The entry comes again, as everything that comes at least once; the message was handed over.
    phone.enqueue(&answers).await;
    assert_eq!(phone.due().await, []);
    // Of a message that nobody stored there is nothing to send.
    let unknown = OutgoingEvent { internal_id: "nobody".parse().expect("an id"), ..answers[0].clone() };
    phone.enqueue(&[unknown]).await;
    assert_eq!(phone.due().await, []);
    let mut tx = phone.world.store.begin().await.expect("begin");
    let old = phone.world.cx.now() + MINUTE;
    assert_eq!(tx.outbound().forget_attempts(old).await.expect("forgotten"), 1);
    tx.commit().await.expect("commit");
}

async fn calls_are_begun_once(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let answers = phone.answers(&[ANA, BIA]).await;
    let [one, other] = &*ids(&answers) else { panic!("{answers:?}") };
    assert_eq!(phone.begin(slice::from_ref(one)).await, [(one.clone(), 1)]);
    assert_eq!(phone.begin(&[one.clone(), other.clone()]).await, [(other.clone(), 1)], "one is under way");
    let error = StatusError { code: 2, title: Some("é".to_owned()) };
    let ends = [
        Attempt { message: one.clone(), number: 1, outcome: AttemptOutcome::Retried, error: Some(error) },
        Attempt { message: other.clone(), number: 1, outcome: AttemptOutcome::Unanswered, error: None },
    ];
    let now = phone.world.cx.now();
    let mut tx = phone.world.store.begin().await.expect("begin");
    tx.outbound().end(&ends, now).await.expect("ended");
    tx.outbound().settle(&[after(one, 1, Again(now))]).await.expect("settled");
    let unanswered = tx.outbound().unanswered(now + MINUTE, 10).await.expect("read");
    let found: Vec<_> =
        unanswered.iter().map(|(outbound, status)| (&outbound.event.internal_id, *status)).collect();
    assert_eq!(found, [(other, Some(MessageStatus::Pending))]);
    assert_eq!(unanswered[0].0.began_at, Some(now));
    assert_eq!(tx.outbound().unanswered(now, 10).await.expect("read").len(), 0);
    let expired = tx.outbound().expired(now + MINUTE, 10).await.expect("read");
    assert_eq!(expired.iter().map(|outbound| &outbound.event.internal_id).collect::<Vec<_>>(), [one]);
    tx.commit().await.expect("commit");
    assert_eq!(phone.begin(slice::from_ref(one)).await, [(one.clone(), 2)]);
}

async fn a_paused_number_has_nothing_due(store: SqlStore) {
    let phone = Phone::new(store).await;
    let answers = phone.answers(&[ANA]).await;
    assert_eq!(phone.due().await, [], "it has no token");
    phone.give_token().await;
    assert_eq!(phone.due_ids().await, ids(&answers));
    let error = StatusError { code: 190, title: None };
    let pause = Pause { error, since: phone.world.cx.now() };
    let second = Pause { error: StatusError { code: 10, title: None }, since: phone.world.cx.now() + MINUTE };
    let mut tx = phone.world.store.begin().await.expect("begin");
    for pause in [&pause, &second] {
        let pauses = ["111", "404"].map(|number| (number.to_owned(), pause.clone()));
        tx.outbound().pause(&pauses.into()).await.expect("paused");
    }
    let paused = tx.outbound().paused().await.expect("read");
    assert_eq!(paused.len(), 1);
    assert_eq!(
        (&*paused[0].phone_number_id, &paused[0].pause, paused[0].active),
        ("111", &Some(pause), true)
    );
    tx.commit().await.expect("commit");
    assert_eq!(phone.due().await, []);
    let mut tx = phone.world.store.begin().await.expect("begin");
    tx.outbound().resume(&["111".to_owned()]).await.expect("resumed");
    let states = tx.outbound().numbers(&["111".to_owned(), "404".to_owned()]).await.expect("read");
    assert_eq!(
        states.iter().map(|state| (&*state.phone_number_id, state.pause.is_some())).collect::<Vec<_>>(),
        [("111", false)]
    );
    tx.commit().await.expect("commit");
    assert_eq!(phone.due_ids().await, ids(&answers));
}

/// A write whose answer was lost comes again, maybe after another sender has begun.
async fn what_is_said_of_a_former_attempt_counts_for_nothing(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.give_token().await;
    let answers = phone.answers(&[ANA]).await;
    let [one] = &*ids(&answers) else { panic!("{answers:?}") };
    let now = phone.world.cx.now();
    phone.begin(slice::from_ref(one)).await;
    phone.settle(&[after(one, 1, Again(now))]).await;
    assert_eq!(phone.begin(slice::from_ref(one)).await, [(one.clone(), 2)]);
    for outcome in [Again(now), Refused(now), Done] {
        phone.settle(&[after(one, 1, outcome)]).await;
        let mut tx = phone.world.store.read().await.expect("read");
        let unanswered = tx.outbound().unanswered(now + MINUTE, 10).await.expect("read");
        assert_eq!(unanswered.iter().map(|(outbound, _)| outbound.attempts).collect::<Vec<_>>(), [2]);
    }
    phone.settle(&[after(one, 2, Refused(now))]).await;
    assert_eq!(phone.due().await.iter().map(|outbound| outbound.refusals).collect::<Vec<_>>(), [1]);
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

/// A store that carries out the next commit, and says that it has failed: a database that hangs does so.
#[derive(Debug)]
struct Hanging {
    store: Arc<SqlStore>,
    hangs: Arc<AtomicBool>,
}

struct HangingTx {
    tx: SqlTx,
    hangs: Arc<AtomicBool>,
}

#[async_trait]
impl Store for Hanging {
    type Tx = HangingTx;

    async fn begin(&self) -> Result<HangingTx, StorageError> {
        Ok(HangingTx { tx: self.store.begin().await?, hangs: Arc::clone(&self.hangs) })
    }

    async fn read(&self) -> Result<HangingTx, StorageError> {
        Ok(HangingTx { tx: self.store.read().await?, hangs: Arc::clone(&self.hangs) })
    }

    fn generation(&self, of: Records) -> Option<u64> {
        self.store.generation(of)
    }
}

#[async_trait]
impl Transaction for HangingTx {
    async fn commit(self) -> Result<(), StorageError> {
        self.tx.commit().await?;
        let hangs = self.hangs.swap(false, Ordering::SeqCst);
        if hangs { Err(StorageError::Unavailable("no answer".into())) } else { Ok(()) }
    }
}

macro_rules! passed_on {
    ($($has:ident::$method:ident -> $repository:ident),* $(,)?) => {$(
        impl $has for HangingTx {
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
    let hangs = Arc::new(AtomicBool::new(true));
    let hanging = Hanging { store: Arc::clone(&phone.world.store), hangs: Arc::clone(&hangs) };
    let running = Running::over(Arc::new(hanging), &phone, Vec::new());
    tokio::time::timeout(Duration::from_secs(30), async {
        while hangs.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("calls are noted");
    // Nobody can call them by now but the sender that has noted them.
    assert_eq!(phone.due().await, []);
    phone.world.clock.advance(Duration::from_secs(1));
    running.calls(answers.len()).await;
    phone.eventually_empty().await;
    let mut calls = running.channel.calls.lock().expect("a lock").clone();
    calls.sort_unstable();
    running.stop().await;
    assert_eq!(calls, [BIA, ANA].map(|one| format!("111 to {one}")), "each once");
    let told = phone.world.published(TopicName::Status).await;
    assert_eq!(told.iter().map(|told| &told["status"]).collect::<Vec<_>>(), ["sent", "sent"]);
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
