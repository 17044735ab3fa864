//! The sender: takes messages out of the queue, and calls the provider.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::broadcast::{HasIntents, INTENT_LIFETIME};
use flowsdk_core::channel::{Accepted, ChannelSender, SendError, SendingAccount};
use flowsdk_core::contact::{HasContacts, HasOptIns};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::{MessageId, RouterId};
use flowsdk_core::media::MediaLinks;
use flowsdk_core::message::MessageStatus;
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::time::Timestamp;
use tokio::sync::Notify;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::consent;
use super::failure::LocalFailure;
use super::notes::Notes;
use super::outbound::{HasOutbound, Outbound, SettlementOutcome};
use super::pace::{Admission, Pace};
use crate::template::{HasProviderTemplates, SentTemplate, TemplateStatus};

/// Most calls at once.
const MOST_CALLS: usize = 256;
/// Most messages of a number that begin in one round. Rounds are many a second.
const EACH: u32 = 16;
/// Most messages that a round looks at.
const LOOKED_AT: u32 = 16_384;
/// How long a message waits for what may have become of its call.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// How long a message may wait in all: behind the window in which the contact can be answered there is no use in it.
const EXPIRES_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// How long attempts are kept.
const ATTEMPTS_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How often the queue is looked at when nobody says that there is something.
const POLL: Duration = Duration::from_millis(200);
/// How long calls that end, and messages that arrive, are gathered for one round.
const GATHER: Duration = Duration::from_millis(20);
/// How often lost answers, old messages and paused numbers are looked at.
const REVIEW: Duration = Duration::from_secs(1);
const PROBE: Duration = Duration::from_secs(60);
/// Messages that a review looks at: those whose calls began first.
const REVIEWED: u32 = 1_024;
/// How long a stop waits for calls that are under way: as long as they may take.
const LAST_CALLS: Duration = Duration::from_secs(21);

/// A transaction with all that the sender reads and writes.
pub trait SenderTx:
    Transaction + HasOutbound + HasOutbox + HasContacts + HasOptIns + HasIntents + HasProviderTemplates
{
}

impl<T: Transaction + HasOutbound + HasOutbox + HasContacts + HasOptIns + HasIntents + HasProviderTemplates>
    SenderTx for T
{
}

/// Sends for every number. One runs at a time, so that the pace of a number is that of all processes.
#[derive(Debug)]
pub struct PhoneSender<S> {
    store: Arc<S>,
    channel: Arc<dyn ChannelSender>,
    key: Arc<MasterKey>,
    cx: OpContext,
    links: Arc<MediaLinks>,
    arrived: Arc<Notify>,
}

/// The end of a call.
enum Finished {
    Sent { outbound: Box<Outbound>, attempt: u32, result: Result<Accepted, SendError> },
    Probed { number: String, result: Result<(), SendError> },
}

/// An attempt whose commit failed, so that no call was made for it. Its time tells it from one of the same number that another
/// sender makes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct UncalledAttempt {
    number: u32,
    began_at: Timestamp,
}

/// What one run of the sender knows.
struct Run {
    pace: Pace,
    calls: JoinSet<Finished>,
    /// Messages of `calls`, and of `finished`.
    under_way: HashMap<MessageId, Id>,
    /// Ends that are not written yet.
    finished: Vec<Finished>,
    probing: HashSet<String>,
    /// Attempts for which no call was made, although they may be noted: the commit that noted them has failed. A database that
    /// hangs may carry it out later.
    uncalled: HashMap<MessageId, UncalledAttempt>,
    /// Calls of before are another owner's, by another clock.
    began_at: Timestamp,
    /// Failures to reach the provider in a row, by number.
    unreached: HashMap<String, u32>,
    reviewed_at: Timestamp,
    probed_at: Timestamp,
}

impl<S: Store> PhoneSender<S>
where
    S::Tx: SenderTx,
{
    /// Creates a sender that empties the queue of `store` over `channel`, and looks at it when `arrived` rings. The provider
    /// gets `links` to files.
    pub fn new(
        store: Arc<S>,
        channel: Arc<dyn ChannelSender>,
        key: Arc<MasterKey>,
        cx: OpContext,
        links: Arc<MediaLinks>,
        arrived: Arc<Notify>,
    ) -> Self {
        Self { store, channel, key, cx, links, arrived }
    }

    /// Sends until it is told to stop, and waits for the calls that are under way then.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut run = Run {
            pace: Pace::new(&self.cx),
            calls: JoinSet::new(),
            under_way: HashMap::new(),
            finished: Vec::new(),
            probing: HashSet::new(),
            uncalled: HashMap::new(),
            began_at: self.cx.now(),
            unreached: HashMap::new(),
            reviewed_at: self.cx.now(),
            probed_at: self.cx.now(),
        };
        while !stop.is_cancelled() {
            let began = Instant::now();
            if let Err(error) = self.round(&mut run).await {
                tracing::warn!(error = %Chain(&error), "messages by phone are not sent now");
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.arrived.notified() => {}
                Some(ended) = run.calls.join_next() => run.take(ended),
                () = tokio::time::sleep(POLL) => {}
            }
            tokio::time::sleep_until(began + GATHER).await;
        }
        let last = async {
            while let Some(ended) = run.calls.join_next().await {
                run.take(ended);
            }
        };
        if tokio::time::timeout(LAST_CALLS, last).await.is_err() {
            tracing::warn!(calls = run.calls.len(), "calls to the phone provider are left without an answer");
        }
        if let Err(error) = self.write_finished(&mut run).await {
            tracing::error!(error = %Chain(&error), "answers of the phone provider are lost");
        }
        if let Err(error) = self.release_uncalled(&run).await {
            tracing::error!(error = %Chain(&error), "messages whose calls were noted and not made are not released");
        }
    }

    async fn round(&self, run: &mut Run) -> Result<(), StorageError> {
        while let Some(ended) = run.calls.try_join_next() {
            run.take(ended);
        }
        self.write_finished(run).await?;
        let now = self.cx.now();
        if now >= run.reviewed_at + REVIEW {
            run.reviewed_at = now;
            self.review(run, now).await?;
        }
        self.begin(run, now).await
    }

    /// Begins calls for messages that may be sent now.
    async fn begin(&self, run: &mut Run, now: Timestamp) -> Result<(), StorageError> {
        let room = MOST_CALLS.saturating_sub(run.calls.len());
        if room == 0 {
            return Ok(());
        }
        let mut tx = self.store.read().await?;
        let due = tx.outbound().due(now, EACH, LOOKED_AT).await?;
        if due.is_empty() {
            return Ok(());
        }
        let mut ids: Vec<String> =
            due.iter().map(|one| one.event.session_id.transport().to_owned()).collect();
        ids.sort_unstable();
        ids.dedup();
        let states = tx.outbound().numbers(&ids).await?;
        let due: Vec<(Option<SentTemplate>, Outbound)> =
            due.into_iter().map(|one| (one.template(), one)).collect();
        let templates: Vec<SentTemplate> = due.iter().filter_map(|(template, _)| template.clone()).collect();
        let templates = if templates.is_empty() {
            Vec::new()
        } else {
            tx.provider_templates().statuses(&templates).await?
        };
        let templates: HashMap<SentTemplate, TemplateStatus> = templates.into_iter().collect();
        let accounts: HashMap<String, (RouterId, Option<SendingAccount>)> = states
            .into_iter()
            .map(|state| (state.phone_number_id.clone(), (state.router_id.clone(), state.account(&self.key))))
            .collect();
        let (mut notes, mut chosen) = (Notes::default(), Vec::new());
        for (template, mut outbound) in due {
            if chosen.len() == room {
                break;
            }
            let number = outbound.event.session_id.transport();
            if outbound.is_superseded() {
                notes.fail(&outbound, LocalFailure::Superseded.error(""), now);
                continue;
            }
            // It may have been stopped since it was dispatched. Of one that is not known here the provider decides.
            let status = template.and_then(|template| templates.get(&template));
            if let Some(status) = status.filter(|status| **status != TemplateStatus::Approved) {
                notes.fail(&outbound, LocalFailure::TemplateNotApproved.error(status.name()), now);
                continue;
            }
            match accounts.get(number) {
                None => notes.fail(&outbound, LocalFailure::NumberUnknown.error(""), now),
                Some((_, None)) => {}
                Some((router, Some(account))) => match run.pace.admit(number, &outbound.contact_id, now) {
                    Admission::Now => {
                        self.links.resolve(router, &mut outbound.event.content);
                        chosen.push((outbound, router, account));
                    }
                    // So that those who wait for long do not stand before the others of the number.
                    Admission::Contact(until) => notes.settle(&outbound, SettlementOutcome::Again(until)),
                    Admission::Number => {}
                },
            }
        }
        let asked = chosen.iter().map(|(outbound, router, _)| (outbound, *router));
        let revoked = consent::revoked(&mut tx, asked).await?;
        drop(tx);
        let (refused, chosen): (Vec<_>, Vec<_>) =
            chosen.into_iter().partition(|(outbound, ..)| revoked.contains(&outbound.event.internal_id));
        for (outbound, ..) in &refused {
            notes.fail(outbound, LocalFailure::ConsentRevoked.error(""), now);
        }
        if chosen.is_empty() && notes.is_empty() {
            return Ok(());
        }
        let ids: Vec<MessageId> = chosen.iter().map(|(one, ..)| one.event.internal_id.clone()).collect();
        let begun = self.note_calls(run, &ids, notes, now).await?;
        for (outbound, _, account) in chosen {
            if let Some(&attempt) = begun.get(&outbound.event.internal_id) {
                run.call(Arc::clone(&self.channel), outbound, attempt, account.clone());
            }
        }
        Ok(())
    }

    /// Notes that calls are made now for these messages, and what the round has found. Returns those for which nobody else
    /// has begun a call, with the number of the attempt.
    async fn note_calls(
        &self,
        run: &mut Run,
        messages: &[MessageId],
        notes: Notes,
        now: Timestamp,
    ) -> Result<HashMap<MessageId, u32>, StorageError> {
        let mut tx = self.store.begin().await?;
        let begun = if messages.is_empty() { Vec::new() } else { tx.outbound().begin(messages, now).await? };
        let begun: HashMap<MessageId, u32> = begun.into_iter().collect();
        let committed = notes.commit(tx, now).await;
        if committed.is_err() {
            // `begin` takes messages without a call under way, so no earlier attempt of theirs is open: its entry is replaced.
            for (message, &number) in &begun {
                run.uncalled.insert(message.clone(), UncalledAttempt { number, began_at: now });
            }
        }
        committed.map(|()| begun)
    }

    /// Settles calls whose answer was lost and messages that are too old, and asks for numbers that are paused.
    async fn review(&self, run: &mut Run, now: Timestamp) -> Result<(), StorageError> {
        let mut tx = self.store.read().await?;
        let mut notes = self.settle_unanswered(&mut tx, run, now).await?;
        for outbound in tx.outbound().expired(now - EXPIRES_AFTER, REVIEWED).await? {
            notes.fail(&outbound, LocalFailure::Expired.error(""), now);
        }
        let paused = tx.outbound().paused().await?;
        drop(tx);
        let probes = now >= run.probed_at + PROBE;
        if probes || !notes.is_empty() {
            let mut tx = self.store.begin().await?;
            if probes {
                tx.outbound().forget_attempts(now - ATTEMPTS_KEPT).await?;
                tx.intents().forget(now - INTENT_LIFETIME).await?;
            }
            notes.commit(tx, now).await?;
        }
        if probes {
            run.probed_at = now;
            run.pace.forget_quiet(now);
            // No message waits for longer.
            run.uncalled.retain(|_, attempt| attempt.began_at + EXPIRES_AFTER > now);
        }
        metrics::gauge!("flowsdk_phone_paused_numbers").set(paused.len() as f64);
        if probes {
            for state in paused.into_iter().filter(|state| state.active) {
                let number = state.phone_number_id.clone();
                if let Some(account) = state.account(&self.key)
                    && run.probing.insert(number.clone())
                {
                    let channel = Arc::clone(&self.channel);
                    run.calls.spawn(async move {
                        let result = channel.probe(&account).await;
                        Finished::Probed { number, result }
                    });
                }
            }
        }
        Ok(())
    }

    /// Notes what becomes of the messages whose calls are said to be under way, and are not.
    async fn settle_unanswered(
        &self,
        tx: &mut S::Tx,
        run: &Run,
        now: Timestamp,
    ) -> Result<Notes, StorageError> {
        let mut notes = Notes::default();
        for (outbound, status) in tx.outbound().unanswered(now, REVIEWED).await? {
            if run.under_way.contains_key(&outbound.event.internal_id) {
                continue;
            }
            let is_late =
                outbound.began_at.is_some_and(|began| began.max(run.began_at) + ANSWER_WITHIN <= now);
            if status != Some(MessageStatus::Pending) {
                // The provider has told of it by a status, so it has the message, or has refused it.
                notes.settle(&outbound, SettlementOutcome::Done);
            } else if run.was_not_called(&outbound) {
                notes.not_called(&outbound, now);
            } else if is_late {
                notes.unknown(&outbound, now);
            }
        }
        Ok(notes)
    }

    /// Releases messages whose calls were noted and not made: the next sender could not tell them from messages whose answer
    /// was lost.
    async fn release_uncalled(&self, run: &Run) -> Result<(), StorageError> {
        if run.uncalled.is_empty() {
            return Ok(());
        }
        let now = self.cx.now();
        let mut tx = self.store.read().await?;
        let notes = self.settle_unanswered(&mut tx, run, now).await?;
        drop(tx);
        if notes.is_empty() { Ok(()) } else { notes.commit(self.store.begin().await?, now).await }
    }

    /// Writes how calls ended. Until it has succeeded they are kept.
    async fn write_finished(&self, run: &mut Run) -> Result<(), StorageError> {
        if run.finished.is_empty() {
            return Ok(());
        }
        let now = self.cx.now();
        let (mut notes, mut unreached) = (Notes::default(), HashMap::new());
        for finished in &run.finished {
            match finished {
                Finished::Sent { outbound, attempt, result } => {
                    let number = outbound.event.session_id.transport();
                    let failures = match result {
                        Err(SendError::Unreached(_)) => run.unreached.get(number).copied().unwrap_or(0) + 1,
                        _ => 0,
                    };
                    if let Some(until) = notes.sent(outbound, *attempt, failures, result, now) {
                        run.pace.hold(number, until);
                        // Calls that failed together count as one.
                        if failures > 0 {
                            unreached.insert(number.to_owned(), failures);
                        }
                    } else {
                        unreached.insert(number.to_owned(), 0);
                    }
                }
                Finished::Probed { number, result: Ok(()) } => notes.resumed.push(number.clone()),
                Finished::Probed { .. } => {}
            }
        }
        notes.commit(self.store.begin().await?, now).await?;
        run.unreached.extend(unreached);
        run.unreached.retain(|_, failures| *failures > 0);
        for finished in run.finished.drain(..) {
            match finished {
                Finished::Sent { outbound, .. } => drop(run.under_way.remove(&outbound.event.internal_id)),
                Finished::Probed { number, .. } => drop(run.probing.remove(&number)),
            }
        }
        Ok(())
    }
}

impl Run {
    fn call(
        &mut self,
        channel: Arc<dyn ChannelSender>,
        outbound: Outbound,
        attempt: u32,
        account: SendingAccount,
    ) {
        let message = outbound.event.internal_id.clone();
        self.uncalled.remove(&message);
        let call = self.calls.spawn(async move {
            let result = channel.send(&account, &outbound.event).await;
            Finished::Sent { outbound: Box::new(outbound), attempt, result }
        });
        self.under_way.insert(message, call.id());
    }

    /// Returns whether the attempt that a message is said to be in was noted without a call.
    fn was_not_called(&self, outbound: &Outbound) -> bool {
        let under_way =
            outbound.began_at.map(|began_at| UncalledAttempt { number: outbound.attempts, began_at });
        under_way.is_some() && self.uncalled.get(&outbound.event.internal_id).copied() == under_way
    }

    fn take(&mut self, ended: Result<Finished, tokio::task::JoinError>) {
        match ended {
            Ok(finished) => self.finished.push(finished),
            // The message counts as one whose answer was lost, once its time is over.
            Err(error) => {
                tracing::error!(%error, "a call to the phone provider ended early");
                self.under_way.retain(|_, call| *call != error.id());
            }
        }
    }
}
