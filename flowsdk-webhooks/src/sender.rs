//! Sending what is due.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::flow::definition::HttpMethod;
use flowsdk_core::flow::{HttpAnswer, HttpCaller, HttpRequest, OutsideFailure};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use secrecy::SecretString;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::delivery::{
    Attempt, Delivery, DeliveryStatus, DueDelivery, GIVE_UP_AFTER, HasDeliveries, KEPT_FOR, Secret,
    pause_after, sign_by_each,
};

/// How long a webhook has for its answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Most deliveries under way at once, and those of one webhook among them: a slow one does not hold the others up.
const AT_ONCE: u32 = 64;
const AT_ONCE_EACH: u32 = 8;
/// How long what becomes due waits while others are under way.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How long a stop waits for what is under way.
const PATIENCE_AT_STOP: Duration = Duration::from_secs(5);
/// Most characters of an answer that are kept.
const KEPT_OF_ANSWER: usize = 1_000;
/// Most deliveries that are forgotten at once.
const FORGOTTEN_AT_ONCE: u32 = 1_000;
/// The status by which a webhook says that it wants nothing any more.
const GONE: i64 = 410;

/// Sends deliveries. One of them runs at a time, in whichever process.
#[derive(Debug)]
pub struct Sender<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    http: Arc<dyn HttpCaller>,
}

impl<S: Store> Sender<S>
where
    S::Tx: HasDeliveries,
{
    /// Creates a sender over `store` that reaches webhooks by `http`.
    pub fn new(store: Arc<S>, cx: OpContext, master_key: Arc<MasterKey>, http: Arc<dyn HttpCaller>) -> Self {
        Self { store, cx, master_key, http }
    }

    /// Sends everything that is due, until nothing is. Once `stop` is cancelled nothing more is sent, and what is under way
    /// has a little time. What was not noted, by a stop or by a crash, is sent again.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn send_due(&self, stop: &CancellationToken) -> Result<usize, StorageError> {
        // They ask the outside only: what is under way is not polled while the database is asked.
        let (mut under_way, mut ids, mut sent) = (FuturesUnordered::new(), HashSet::new(), 0);
        let patience = async {
            stop.cancelled().await;
            sleep(PATIENCE_AT_STOP).await;
        };
        tokio::pin!(patience);
        let mut looks = true;
        loop {
            looks |= ids.len() <= AT_ONCE as usize / 2;
            let due = if looks && !stop.is_cancelled() { self.due().await? } else { Vec::new() };
            for due in due {
                if ids.len() < AT_ONCE as usize && ids.insert(due.delivery.id.clone()) {
                    under_way.push(self.send(due));
                }
            }
            tokio::select! {
                biased;
                done = under_way.next() => match done {
                    Some((delivery, attempt)) => {
                        ids.remove(&delivery.id);
                        self.note(delivery, &attempt).await?;
                        (sent, looks) = (sent + 1, false);
                    }
                    None => return Ok(sent),
                },
                () = &mut patience => return Ok(sent),
                () = sleep(LOOK_AGAIN) => looks = true,
            }
        }
    }

    /// Lets what waits for nothing be due: one that was appended while the one before it was being noted.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn wake(&self) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.deliveries().wake(self.cx.now()).await?;
        tx.commit().await
    }

    async fn due(&self) -> Result<Vec<DueDelivery>, StorageError> {
        self.store.read().await?.deliveries().due(self.cx.now(), AT_ONCE_EACH, AT_ONCE).await
    }

    /// Makes one attempt.
    async fn send(&self, due: DueDelivery) -> (Delivery, Attempt) {
        let (began, clock) = (self.cx.now(), Instant::now());
        let answer = match self.request(&due, began) {
            Ok(request) => self.http.call(&request).await,
            Err(failure) => Err(failure),
        };
        let took = i64::try_from(clock.elapsed().as_millis()).unwrap_or(i64::MAX);
        let DueDelivery { delivery, .. } = due;
        let attempt = attempt(self.cx.ids().next_id(), &delivery, answer, (began, took));
        (delivery, attempt)
    }

    fn request(&self, due: &DueDelivery, now: Timestamp) -> Result<HttpRequest, OutsideFailure> {
        let secrets = due.secrets_at(now).map(|sealed| Secret::open(sealed, &self.master_key));
        let secrets: Vec<Secret> = secrets
            .collect::<Result<_, _>>()
            .map_err(|_| OutsideFailure::new("secret_unreadable", "the secret cannot be opened"))?;
        let (id, body) = (&due.delivery.event_id, &due.delivery.body);
        let timestamp = now.as_millis().div_euclid(1_000);
        let header = |name: &str, value: String| (name.to_owned(), SecretString::from(value));
        Ok(HttpRequest {
            method: HttpMethod::Post,
            url: String::from(due.url.clone()).into(),
            headers: vec![
                header("webhook-id", id.clone()),
                header("webhook-timestamp", timestamp.to_string()),
                header("webhook-signature", sign_by_each(&secrets, id, timestamp, body)),
            ],
            body: Some(body.clone().into()),
            is_json: true,
            // A server may turn the POST into a GET on the way, and answer that it is fine.
            follows_redirects: false,
            timeout: TIMEOUT,
            paths: Vec::new(),
        })
    }

    /// Notes the outcome of an attempt.
    async fn note(&self, delivery: Delivery, attempt: &Attempt) -> Result<(), StorageError> {
        let (now, before) = (self.cx.now(), delivery.attempts);
        let settled = settled(delivery, attempt, now);
        let outcome = if attempt.has_succeeded() { "delivered" } else { "failed" };
        metrics::counter!("flowsdk_webhook_attempts", "outcome" => outcome).increment(1);
        let mut tx = self.store.begin().await?;
        let is_its = tx.deliveries().settle(&settled, before).await?;
        if !is_its {
            // It is gone with its webhook, or was replayed meanwhile.
            tx.rollback().await;
            return Ok(());
        }
        tx.deliveries().add_attempt(attempt).await?;
        let webhook = &settled.webhook_id;
        if attempt.has_succeeded() {
            tx.deliveries().note_success(webhook).await?;
        } else {
            let pause_before = if attempt.status_code == Some(GONE) { now } else { now - GIVE_UP_AFTER };
            if tx.deliveries().note_failure(webhook, now, pause_before).await? {
                tx.deliveries().rest(webhook).await?;
                tracing::warn!(%webhook, "a webhook is paused: it has failed for a day, or is gone");
                metrics::counter!("flowsdk_webhooks_paused").increment(1);
            }
        }
        if settled.status != DeliveryStatus::Pending {
            tx.deliveries().wake_next(webhook, &settled.key, now).await?;
        }
        tx.commit().await
    }

    /// Forgets deliveries that are older than [`KEPT_FOR`], and secrets that were replaced and have ended.
    pub async fn forget(&self) {
        if let Err(error) = self.try_forget().await {
            tracing::warn!(error = %Chain(&error), "old deliveries and secrets of webhooks stay for now");
        }
    }

    async fn try_forget(&self) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.deliveries().forget_secrets(self.cx.now()).await?;
        tx.commit().await?;
        loop {
            let mut tx = self.store.begin().await?;
            let before = self.cx.now() - KEPT_FOR;
            let forgotten = tx.deliveries().purge(before, FORGOTTEN_AT_ONCE).await?;
            tx.commit().await?;
            if forgotten < u64::from(FORGOTTEN_AT_ONCE) {
                return Ok(());
            }
        }
    }
}

fn attempt(
    id: String,
    delivery: &Delivery,
    answer: Result<HttpAnswer, OutsideFailure>,
    (began, took): (Timestamp, i64),
) -> Attempt {
    let (status_code, error, answer) = match answer {
        Ok(answer) => (Some(i64::from(answer.status)), None, beginning(&answer.body)),
        Err(failure) => (None, Some(failure.message), None),
    };
    Attempt {
        id,
        delivery_id: delivery.id.clone(),
        status_code,
        error,
        answer,
        duration_ms: took,
        created_at: began,
    }
}

/// Returns how an answer begins, if it says something. A database takes no NUL in a text.
fn beginning(body: &[u8]) -> Option<String> {
    let text: String = String::from_utf8_lossy(body).chars().take(KEPT_OF_ANSWER).collect();
    let text = text.replace('\0', "\u{fffd}");
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Returns a delivery as an attempt leaves it.
fn settled(delivery: Delivery, attempt: &Attempt, now: Timestamp) -> Delivery {
    let attempts = delivery.attempts + 1;
    let (status, due_at) = match (attempt.has_succeeded(), pause_after(attempts)) {
        (true, _) => (DeliveryStatus::Delivered, None),
        (false, Some(pause)) => (DeliveryStatus::Pending, Some(now + pause)),
        (false, None) => (DeliveryStatus::Failed, None),
    };
    let finished_at = (status != DeliveryStatus::Pending).then_some(now);
    Delivery { status, attempts, due_at, finished_at, ..delivery }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::event::WebhookEventType;

    use super::*;

    fn delivery(attempts: i64) -> Delivery {
        Delivery {
            id: "d1".parse().expect("an id"),
            webhook_id: "w1".parse().expect("an id"),
            event_id: "e1".to_owned(),
            event_type: WebhookEventType::TicketOpened,
            key: "c1".to_owned(),
            seq: 1,
            body: "{}".to_owned(),
            status: DeliveryStatus::Pending,
            attempts,
            due_at: Some(Timestamp::from_millis(1)),
            finished_at: None,
            created_at: Timestamp::from_millis(1),
        }
    }

    fn answered(status: u16) -> Result<HttpAnswer, OutsideFailure> {
        Ok(HttpAnswer { status, content_type: None, body: b"no \0 room".to_vec() })
    }

    #[test]
    fn an_attempt_leaves_a_delivery_sent_waiting_or_given_up() {
        use DeliveryStatus::{Delivered, Failed, Pending};
        let now = Timestamp::from_millis(100_000);
        let later = |seconds| Some(now + Duration::from_secs(seconds));
        for (before, answer, status, due_at) in [
            (0, answered(200), Delivered, None),
            (9, answered(299), Delivered, None),
            (0, answered(300), Pending, later(5)),
            (0, answered(404), Pending, later(5)),
            (1, answered(503), Pending, later(30)),
            (0, Err(OutsideFailure::new("http_timeout", "late")), Pending, later(5)),
            (10, answered(500), Failed, None),
        ] {
            let attempt = attempt("a1".to_owned(), &delivery(before), answer.clone(), (now, 3));
            let after = settled(delivery(before), &attempt, now);
            assert_eq!((after.status, after.due_at), (status, due_at), "{before} {answer:?}");
            assert_eq!(after.attempts, before + 1);
            assert_eq!(after.finished_at, (status != Pending).then_some(now));
        }
    }

    #[test]
    fn an_attempt_keeps_how_the_answer_begins() {
        let now = Timestamp::from_millis(1);
        let of = |answer| attempt("a1".to_owned(), &delivery(0), answer, (now, 3));
        let refused = of(answered(503));
        assert_eq!((refused.status_code, refused.answer.as_deref()), (Some(503), Some("no \u{fffd} room")));
        let failed = of(Err(OutsideFailure::new("http_timeout", "late")));
        assert_eq!((failed.status_code, failed.error.as_deref()), (None, Some("late")));
        let long = HttpAnswer { status: 200, content_type: None, body: "é".repeat(2_000).into_bytes() };
        assert_eq!(of(Ok(long)).answer.map(|text| text.chars().count()), Some(1_000));
        assert_eq!(beginning(b" \n"), None);
    }
}
