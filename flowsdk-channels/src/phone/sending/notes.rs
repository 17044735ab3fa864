//! What a round of the sender writes: how calls ended, and what that means for messages, numbers and contacts.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use flowsdk_core::channel::{Accepted, Refusal, RefusalClass, SendError};
use flowsdk_core::contact::{Contact, ContactAlias, HasContacts, other_form};
use flowsdk_core::event::{DeliveryStatus, OutgoingEvent, StatusEvent};
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::message::StatusError;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::topic::Status;
use flowsdk_core::time::Timestamp;

use super::SenderTx;
use super::failure::LocalFailure;
use super::outbound::{Attempt, AttemptOutcome, Outbound, Pause, Settlement, SettlementOutcome};
use crate::template::{SentTemplate, TemplateStatus};

/// Most refusals of a message where the provider has a difficulty of its own.
const MOST_REFUSALS: u32 = 5;
/// The codes of refusals of templates that the provider has stopped (WhatsApp Business Platform, "Error codes").
const TEMPLATE_PAUSED: i64 = 132_015;
const TEMPLATE_DISABLED: i64 = 132_016;
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// What a round writes.
#[derive(Default)]
pub(super) struct Notes {
    attempts: Vec<Attempt>,
    settlements: Vec<Settlement>,
    statuses: Vec<NewEntry>,
    pauses: BTreeMap<String, Pause>,
    pub(super) resumed: Vec<String>,
    /// Recipients as they were asked for, with the form in which the provider has them.
    aliases: BTreeMap<String, String>,
    /// Templates that the provider has stopped.
    stopped: Vec<(SentTemplate, TemplateStatus)>,
    /// What the metrics are told of, once it is written.
    counts: Counts,
}

/// How often what has happened, in one round.
#[derive(Default)]
struct Counts {
    calls: BTreeMap<&'static str, u64>,
    unknown_outcomes: u64,
}

impl Counts {
    fn publish(self) {
        for (outcome, count) in self.calls {
            metrics::counter!("flowsdk_phone_sends", "outcome" => outcome).increment(count);
        }
        metrics::counter!("flowsdk_phone_unknown_outcomes").increment(self.unknown_outcomes);
    }
}

impl Notes {
    pub(super) fn is_empty(&self) -> bool {
        self.settlements.is_empty()
    }

    /// Notes what becomes of a message in the queue.
    pub(super) fn settle(&mut self, outbound: &Outbound, outcome: SettlementOutcome) {
        let message = outbound.event.internal_id.clone();
        self.settlements.push(Settlement { message, attempts: outbound.attempts, outcome });
    }

    /// Notes that no call was made for an attempt that is noted as begun: the message may be sent.
    pub(super) fn not_called(&mut self, outbound: &Outbound, now: Timestamp) {
        self.attempt(outbound, AttemptOutcome::Retried, None);
        self.settle(outbound, SettlementOutcome::Again(now));
    }

    /// Notes that nobody knows what became of the call for a message.
    pub(super) fn unknown(&mut self, outbound: &Outbound, now: Timestamp) {
        self.counts.unknown_outcomes += 1;
        self.fail(outbound, LocalFailure::UnknownOutcome.error(""), now);
    }

    /// Notes the end of a call: the attempt `number` of the message, and the `failures`-th in a row that did not reach the
    /// provider. Returns until when the number is to send nothing.
    pub(super) fn sent(
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
        self.stopped.extend(outbound.template().zip(stopped));
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

    /// Notes the end of a call.
    fn end(&mut self, outbound: &Outbound, outcome: AttemptOutcome, error: Option<&StatusError>) {
        let label = match outcome {
            AttemptOutcome::Accepted => "accepted",
            AttemptOutcome::Retried => "retried",
            AttemptOutcome::Failed => "failed",
            AttemptOutcome::Unanswered => "unanswered",
        };
        *self.counts.calls.entry(label).or_default() += 1;
        self.attempt(outbound, outcome, error);
    }

    fn attempt(&mut self, outbound: &Outbound, outcome: AttemptOutcome, error: Option<&StatusError>) {
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

    pub(super) fn fail(&mut self, outbound: &Outbound, error: StatusError, now: Timestamp) {
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

    /// Writes it all, and commits the transaction of the round.
    pub(super) async fn commit<T: SenderTx>(self, mut tx: T, now: Timestamp) -> Result<(), StorageError> {
        let Self { attempts, settlements, statuses, pauses, resumed, aliases, stopped, counts } = self;
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
            note_aliases(&mut tx, &aliases, now).await?;
        }
        tx.commit().await?;
        counts.publish();
        Ok(())
    }
}

/// Gives contacts the form of their number that the provider has, unless somebody else has it.
async fn note_aliases<T: HasContacts>(
    tx: &mut T,
    aliases: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<(), StorageError> {
    let known = tx.contacts().find_by_phone_numbers(&aliases.values().cloned().collect::<Vec<_>>()).await?;
    let known: HashSet<String> = known.into_iter().map(|contact| contact.phone_number).collect();
    let new = aliases.iter().filter(|(_, alias)| !known.contains(*alias));
    let asked: Vec<String> = new.map(|(party, _)| party.clone()).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let alias = |contact: Contact| {
        let alias = aliases.get(&contact.phone_number)?.clone();
        Some(ContactAlias { contact_id: contact.id, alias, created_at: now })
    };
    let contacts = tx.contacts().find_by_phone_numbers(&asked).await?;
    let new: Vec<ContactAlias> = contacts.into_iter().filter_map(alias).collect();
    if new.is_empty() { Ok(()) } else { tx.contacts().add_aliases(&new).await }
}

/// Returns a pause that grows by `base` with each attempt, from one second.
fn growing(attempt: u32, base: u64) -> Duration {
    let seconds = base.saturating_pow(attempt.saturating_sub(1));
    Duration::from_secs(seconds).min(LONGEST_PAUSE)
}
