//! The queue of messages that are to be sent by phone (rulings C6, S14).

use std::slice;

use flowsdk_channels::channel_number::{ChannelNumber, HasChannelNumbers as _};
use flowsdk_channels::phone::sending::{
    Attempt, AttemptOutcome, HasOutbound as _, Outbound, Owners, Pause, Settlement,
    SettlementOutcome::{self, Again, Done, Refused},
};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::id::MessageId;
use flowsdk_core::message::{MessageStatus, Source, StatusError};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;

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
}

pub(super) const ANA: &str = "5511987654321";
/// The form that the provider may have of Ana's number (rulings C5).
const ANA_WITHOUT_NINE: &str = "551187654321";
pub(super) const BIA: &str = "15550783881";

impl Phone {
    /// The answers to a message of each of these people, queued in this order.
    pub(super) async fn answers(&self, people: &[&str]) -> Vec<OutgoingEvent> {
        let answers = self.said(people).await;
        self.enqueue(&answers).await;
        answers
    }

    /// The same, not queued yet.
    pub(super) async fn said(&self, people: &[&str]) -> Vec<OutgoingEvent> {
        let mut answers = Vec::new();
        for (nth, person) in people.iter().enumerate() {
            let session = format!("wa-111-{person}");
            let report = self.says(&session, &format!("in.{person}.{nth}"), &[], None).await;
            answers.extend(report.outgoing);
        }
        answers
    }

    pub(super) async fn enqueue(&self, events: &[OutgoingEvent]) {
        let mut tx = self.world.store.begin().await.expect("begin");
        let events: Vec<&OutgoingEvent> = events.iter().collect();
        tx.outbound().enqueue(&events, self.world.cx.now()).await.expect("queued");
        tx.commit().await.expect("commit");
    }

    pub(super) async fn due(&self) -> Vec<Outbound> {
        let mut tx = self.world.store.read().await.expect("read");
        tx.outbound().due(self.world.cx.now(), 10, 100).await.expect("due")
    }

    pub(super) async fn due_ids(&self) -> Vec<MessageId> {
        self.due().await.into_iter().map(|outbound| outbound.event.internal_id).collect()
    }

    pub(super) async fn begin(&self, ids: &[MessageId]) -> Vec<(MessageId, u32)> {
        let mut tx = self.world.store.begin().await.expect("begin");
        let begun = tx.outbound().begin(ids, self.world.cx.now()).await.expect("begun");
        tx.commit().await.expect("commit");
        begun
    }

    /// Gives the number an access token.
    pub(super) async fn give_token(&self) {
        let key = MasterKey::new(KEY).expect("a key");
        let mut tx = self.world.store.begin().await.expect("begin");
        let id = "n1".parse().expect("an id");
        let number = tx.channel_numbers().find_for_update(&id).await.expect("found").expect("a number");
        let number = ChannelNumber { access_token: Some(key.encrypt("token")), ..number };
        tx.channel_numbers().save(&number).await.expect("saved");
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

pub(super) fn ids(events: &[OutgoingEvent]) -> Vec<MessageId> {
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
