//! The sender: takes messages out of the queue, and calls the provider.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::broadcast::{HasIntents, INTENT_LIFETIME};
use flowsdk_core::channel::{Accepted, ChannelSender, Refusal, RefusalClass, SendError, SendingAccount};
use flowsdk_core::contact::{Contact, ContactAlias, HasContacts, other_form};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{DeliveryStatus, OutgoingEvent, StatusEvent};
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::MessageId;
use flowsdk_core::message::{ContentMessage, MessageStatus, Source, StatusError};
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::Status;
use flowsdk_core::time::Timestamp;
use tokio::sync::Notify;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::failure::LocalFailure;
use super::outbound::{Attempt, AttemptOutcome, HasOutbound, Outbound, Pause, Settlement, SettlementOutcome};
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
/// Most refusals of a message where the provider has a difficulty of its own.
const MOST_REFUSALS: u32 = 5;
/// The codes of refusals of templates that the provider has stopped (WhatsApp Business Platform, "Error codes").
const TEMPLATE_PAUSED: i64 = 132_015;
const TEMPLATE_DISABLED: i64 = 132_016;
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Messages that a review looks at.
const REVIEWED: u32 = 256;
/// How long a stop waits for calls that are under way: as long as they may take.
const LAST_CALLS: Duration = Duration::from_secs(21);

/// A transaction with all that the sender reads and writes.
pub trait SenderTx:
    Transaction + HasOutbound + HasOutbox + HasContacts + HasIntents + HasProviderTemplates
{
}

impl<T: Transaction + HasOutbound + HasOutbox + HasContacts + HasIntents + HasProviderTemplates> SenderTx
    for T
{
}

/// Sends for every number. One runs at a time, so that the pace of a number is that of all processes.
#[derive(Debug)]
pub struct PhoneSender<S> {
    store: Arc<S>,
    channel: Arc<dyn ChannelSender>,
    key: Arc<MasterKey>,
    cx: OpContext,
    arrived: Arc<Notify>,
}

/// The end of a call.
enum Finished {
    Sent { outbound: Box<Outbound>, attempt: u32, result: Result<Accepted, SendError> },
    Probed { number: String, result: Result<(), SendError> },
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
    /// Calls of before are another owner's, by another clock.
    began_at: Timestamp,
    /// Failures to reach the provider in a row, by number.
    unreached: HashMap<String, u32>,
    reviewed_at: Timestamp,
    probed_at: Timestamp,
}

/// What a round writes.
#[derive(Default)]
struct Notes {
    attempts: Vec<Attempt>,
    settlements: Vec<Settlement>,
    statuses: Vec<NewEntry>,
    pauses: BTreeMap<String, Pause>,
    resumed: Vec<String>,
    /// Recipients as they were asked for, with the form in which the provider has them.
    aliases: BTreeMap<String, String>,
    /// Templates that the provider has stopped.
    stopped: Vec<(SentTemplate, TemplateStatus)>,
}

impl<S: Store> PhoneSender<S>
where
    S::Tx: SenderTx,
{
    /// Creates a sender that empties the queue of `store` over `channel`, and looks at it when `arrived` rings.
    pub fn new(
        store: Arc<S>,
        channel: Arc<dyn ChannelSender>,
        key: Arc<MasterKey>,
        cx: OpContext,
        arrived: Arc<Notify>,
    ) -> Self {
        Self { store, channel, key, cx, arrived }
    }

    /// Sends until it is told to stop, and waits for the calls that are under way then.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut run = Run {
            pace: Pace::new(&self.cx),
            calls: JoinSet::new(),
            under_way: HashMap::new(),
            finished: Vec::new(),
            probing: HashSet::new(),
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
        let templates: Vec<SentTemplate> = due.iter().filter_map(template_of).collect();
        let templates = if templates.is_empty() {
            Vec::new()
        } else {
            tx.provider_templates().statuses(&templates).await?
        };
        let templates: HashMap<SentTemplate, TemplateStatus> = templates.into_iter().collect();
        drop(tx);
        let accounts: HashMap<String, Option<SendingAccount>> = states
            .into_iter()
            .map(|state| (state.phone_number_id.clone(), state.account(&self.key)))
            .collect();
        let (mut notes, mut chosen) = (Notes::default(), Vec::new());
        for outbound in due {
            if chosen.len() == room {
                break;
            }
            let (number, party) = (outbound.event.session_id.transport(), outbound.event.session_id.party());
            if is_superseded(&outbound) {
                notes.fail(&outbound, LocalFailure::Superseded.error(""), now);
                continue;
            }
            // It may have been stopped since it was dispatched. Of one that is not known here the provider decides.
            let status = template_of(&outbound).and_then(|template| templates.get(&template));
            if let Some(status) = status.filter(|status| **status != TemplateStatus::Approved) {
                notes.fail(&outbound, LocalFailure::TemplateNotApproved.error(status.name()), now);
                continue;
            }
            match accounts.get(number) {
                None => notes.fail(&outbound, LocalFailure::NumberUnknown.error(""), now),
                Some(None) => {}
                Some(Some(account)) => match run.pace.admit(number, party, now) {
                    Admission::Now => chosen.push((outbound, account.clone())),
                    // So that those who wait for long do not stand before the others of the number.
                    Admission::Recipient(until) => notes.settle(&outbound, SettlementOutcome::Again(until)),
                    Admission::Number => {}
                },
            }
        }
        if chosen.is_empty() && notes.is_empty() {
            return Ok(());
        }
        let ids: Vec<MessageId> = chosen.iter().map(|(one, _)| one.event.internal_id.clone()).collect();
        let mut tx = self.store.begin().await?;
        let begun = if ids.is_empty() { Vec::new() } else { tx.outbound().begin(&ids, now).await? };
        self.write(&mut tx, notes, now).await?;
        tx.commit().await?;
        let begun: HashMap<MessageId, u32> = begun.into_iter().collect();
        for (outbound, account) in chosen {
            if let Some(&attempt) = begun.get(&outbound.event.internal_id) {
                run.call(Arc::clone(&self.channel), outbound, attempt, account);
            }
        }
        Ok(())
    }

    /// Settles calls whose answer was lost and messages that are too old, and asks for numbers that are paused.
    async fn review(&self, run: &mut Run, now: Timestamp) -> Result<(), StorageError> {
        let mut tx = self.store.read().await?;
        let mut notes = Notes::default();
        for (outbound, status) in tx.outbound().unanswered(now, REVIEWED).await? {
            let event = &outbound.event;
            if run.under_way.contains_key(&event.internal_id) {
                continue;
            }
            let is_late =
                outbound.began_at.is_some_and(|began| began.max(run.began_at) + ANSWER_WITHIN <= now);
            if status != Some(MessageStatus::Pending) {
                // The provider has told of it by a status, so it has the message, or has refused it.
                notes.settle(&outbound, SettlementOutcome::Done);
            } else if is_late {
                notes.fail(&outbound, LocalFailure::UnknownOutcome.error(""), now);
            }
        }
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
            self.write(&mut tx, notes, now).await?;
            tx.commit().await?;
        }
        if probes {
            run.probed_at = now;
            run.pace.forget_quiet(now);
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
        let mut tx = self.store.begin().await?;
        self.write(&mut tx, notes, now).await?;
        tx.commit().await?;
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

    async fn write(&self, tx: &mut S::Tx, notes: Notes, now: Timestamp) -> Result<(), StorageError> {
        let Notes { attempts, settlements, statuses, pauses, resumed, aliases, stopped } = notes;
        if !attempts.is_empty() {
            tx.outbound().end(&attempts, now).await?;
        }
        tx.outbound().settle(&settlements).await?;
        if !statuses.is_empty() {
            tx.outbox().push_many(&statuses).await?;
        }
        if !pauses.is_empty() {
            for (number, pause) in &pauses {
                tracing::warn!(
                    number,
                    code = pause.error.code,
                    "a number is paused until its account is mended"
                );
            }
            tx.outbound().pause(&pauses).await?;
        }
        if !resumed.is_empty() {
            tracing::info!(numbers = resumed.join(" "), "numbers send again");
            tx.outbound().resume(&resumed).await?;
        }
        if !stopped.is_empty() {
            tx.provider_templates().note_statuses(&stopped, now).await?;
        }
        if !aliases.is_empty() {
            let known =
                tx.contacts().find_by_phone_numbers(&aliases.values().cloned().collect::<Vec<_>>()).await?;
            let known: HashSet<String> = known.into_iter().map(|contact| contact.phone_number).collect();
            let asked: Vec<String> = aliases
                .iter()
                .filter(|(_, alias)| !known.contains(*alias))
                .map(|(party, _)| party.clone())
                .collect();
            let contacts = if asked.is_empty() {
                Vec::new()
            } else {
                tx.contacts().find_by_phone_numbers(&asked).await?
            };
            let alias = |contact: Contact| {
                let alias = aliases.get(&contact.phone_number)?.clone();
                Some(ContactAlias { contact_id: contact.id, alias, created_at: now })
            };
            let new: Vec<ContactAlias> = contacts.into_iter().filter_map(alias).collect();
            if !new.is_empty() {
                tx.contacts().add_aliases(&new).await?;
            }
        }
        Ok(())
    }
}

/// Returns the template that a message is.
fn template_of(outbound: &Outbound) -> Option<SentTemplate> {
    let ContentMessage::Template { template } = &outbound.event.content else { return None };
    Some(SentTemplate {
        phone_number_id: outbound.event.session_id.transport().to_owned(),
        name: template.name.clone(),
        language: template.language.code.clone(),
    })
}

/// Returns whether the session has another owner than the one that said the message (rulings S14). What an operator or
/// another system dispatches belongs to no turn.
fn is_superseded(outbound: &Outbound) -> bool {
    let epoch = outbound.event.epoch;
    outbound.event.source != Source::Dispatch
        && outbound.owners.is_some_and(|owners| owners.have_superseded(epoch))
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
        let call = self.calls.spawn(async move {
            let result = channel.send(&account, &outbound.event).await;
            Finished::Sent { outbound: Box::new(outbound), attempt, result }
        });
        self.under_way.insert(message, call.id());
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

impl Notes {
    fn is_empty(&self) -> bool {
        self.settlements.is_empty()
    }

    /// Notes what becomes of a message in the queue.
    fn settle(&mut self, outbound: &Outbound, outcome: SettlementOutcome) {
        let message = outbound.event.internal_id.clone();
        self.settlements.push(Settlement { message, attempts: outbound.attempts, outcome });
    }

    /// Notes the end of a call: the attempt `number` of the message, and the `failures`-th in a row that did not reach the
    /// provider. Returns until when the number is to send nothing.
    fn sent(
        &mut self,
        before: &Outbound,
        number: u32,
        failures: u32,
        result: &Result<Accepted, SendError>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let outbound = &Outbound { attempts: number, ..before.clone() };
        let event = &outbound.event;
        match result {
            Ok(accepted) => {
                self.end(outbound, AttemptOutcome::Accepted, None);
                self.accepted(outbound, accepted, now);
                None
            }
            Err(SendError::Unsendable(details)) => {
                self.end(outbound, AttemptOutcome::Failed, None);
                self.fail(outbound, LocalFailure::ContentRefused.error(details), now);
                None
            }
            Err(error @ SendError::Unreached(_)) => {
                tracing::warn!(error = %Chain(error), message = %event.internal_id, "the phone provider is not reached");
                self.end(outbound, AttemptOutcome::Retried, None);
                let until = now + growing(failures, 4);
                self.settle(outbound, SettlementOutcome::Again(until));
                // Others of the number would not reach it either.
                Some(until)
            }
            Err(error @ SendError::Unanswered(_)) => {
                tracing::warn!(error = %Chain(error), message = %event.internal_id, "an answer of the phone provider is lost");
                // The row stays as it is: a status of the provider settles it, or its time ends.
                self.end(outbound, AttemptOutcome::Unanswered, None);
                None
            }
            Err(SendError::Refused(refusal)) => self.refused(outbound, refusal, now),
        }
    }

    fn refused(&mut self, outbound: &Outbound, refusal: &Refusal, now: Timestamp) -> Option<Timestamp> {
        let Refusal { error, class, retry_after } = refusal;
        let refusals = outbound.refusals + 1;
        let is_final = match class {
            RefusalClass::Permanent => true,
            RefusalClass::Retry => refusals >= MOST_REFUSALS,
            RefusalClass::Throttled | RefusalClass::PairThrottled | RefusalClass::Account => false,
        };
        let stopped = match error.code {
            TEMPLATE_PAUSED => Some(TemplateStatus::Paused),
            TEMPLATE_DISABLED => Some(TemplateStatus::Disabled),
            _ => None,
        };
        self.stopped.extend(template_of(outbound).zip(stopped));
        if is_final {
            self.end(outbound, AttemptOutcome::Failed, Some(error));
            self.fail(outbound, error.clone(), now);
            return None;
        }
        self.end(outbound, AttemptOutcome::Retried, Some(error));
        let until = |count, base| now + retry_after.unwrap_or_else(|| growing(count, base));
        match class {
            RefusalClass::Retry => {
                self.settle(outbound, SettlementOutcome::Refused(until(refusals, 4)));
                None
            }
            RefusalClass::PairThrottled => {
                self.settle(outbound, SettlementOutcome::Again(until(outbound.attempts, 4)));
                None
            }
            RefusalClass::Throttled => {
                let until = until(outbound.attempts, 2);
                self.settle(outbound, SettlementOutcome::Again(until));
                Some(until)
            }
            RefusalClass::Account | RefusalClass::Permanent => {
                self.settle(outbound, SettlementOutcome::Again(now));
                let pause = Pause { error: error.clone(), since: now };
                self.pauses.insert(outbound.event.session_id.transport().to_owned(), pause);
                None
            }
        }
    }

    fn end(&mut self, outbound: &Outbound, outcome: AttemptOutcome, error: Option<&StatusError>) {
        let label = match outcome {
            AttemptOutcome::Accepted => "accepted",
            AttemptOutcome::Retried => "retried",
            AttemptOutcome::Failed => "failed",
            AttemptOutcome::Unanswered => "unanswered",
        };
        metrics::counter!("flowsdk_phone_sends", "outcome" => label).increment(1);
        let (message, number) = (outbound.event.internal_id.clone(), outbound.attempts);
        self.attempts.push(Attempt { message, number, outcome, error: error.cloned() });
    }

    fn accepted(&mut self, outbound: &Outbound, accepted: &Accepted, now: Timestamp) {
        let event = &outbound.event;
        let party = event.session_id.party();
        let other = accepted.recipient.clone().filter(|known| other_form(party).as_ref() == Some(known));
        if let Some(recipient) = other {
            self.aliases.insert(party.to_owned(), recipient);
        }
        self.settle(outbound, SettlementOutcome::Done);
        self.status(event, DeliveryStatus::Sent, Some(accepted.provider_id.clone()), None, now);
    }

    fn fail(&mut self, outbound: &Outbound, error: StatusError, now: Timestamp) {
        let event = &outbound.event;
        tracing::info!(message = %event.internal_id, code = error.code, "a message by phone failed");
        self.settle(outbound, SettlementOutcome::Done);
        self.status(event, DeliveryStatus::SendFailed, None, Some(error), now);
    }

    fn status(
        &mut self,
        event: &OutgoingEvent,
        status: DeliveryStatus,
        channel_message_id: Option<String>,
        error: Option<StatusError>,
        now: Timestamp,
    ) {
        self.statuses.push(NewEntry::of::<Status>(&StatusEvent {
            status,
            internal_id: Some(event.internal_id.clone()),
            channel_message_id,
            session_id: Some(event.session_id.clone()),
            phone_number_id: None,
            error,
            timestamp: now,
        }));
    }
}

/// Returns a pause that grows by `base` with each attempt, from one second.
fn growing(attempt: u32, base: u64) -> Duration {
    let seconds = base.saturating_pow(attempt.saturating_sub(1));
    Duration::from_secs(seconds).min(LONGEST_PAUSE)
}
