//! The desks that are connected to this process.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flowsdk_auth::permission::{Action, Resource};
use flowsdk_core::fault::{Fault as _, FaultKind, StorageError};
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::time::{IsoTime, Timestamp};
use flowsdk_helpdesk::news::{DeskNews, NewsRow};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};
use socketioxide::extract::SocketRef;

use crate::api::state::Authenticator;
use crate::socket::emit_checked;

/// A desk: one socket of an agent.
pub(crate) struct Seat {
    pub(super) socket: SocketRef,
    pub(super) user: UserId,
    /// The access token with which it was let in, as a header has it.
    pub(super) authorization: String,
    /// The routers of the agent, at the last look.
    routers: Mutex<Option<Vec<RouterId>>>,
    /// The number of the last news that it was sent.
    sent: AtomicI64,
    /// What it was last told of waiting tickets.
    waiting: Mutex<Option<Value>>,
}

impl Seat {
    pub(super) fn new(
        socket: SocketRef,
        user: UserId,
        authorization: String,
        routers: Option<Vec<RouterId>>,
        sent: i64,
    ) -> Self {
        Self {
            socket,
            user,
            authorization,
            routers: Mutex::new(routers),
            sent: AtomicI64::new(sent),
            waiting: Mutex::new(None),
        }
    }

    /// Sends news that the desk does not have. One that does not get through ends the desk, which comes back for it.
    fn send(&self, row: &NewsRow) {
        if row.seq <= self.sent.load(Ordering::SeqCst) || !self.socket.connected() {
            return;
        }
        let mut event = row.payload.clone();
        event.insert("seq".to_owned(), row.seq.into());
        event.insert("at".to_owned(), json!(IsoTime(row.created_at)));
        match emit_checked(&self.socket, &row.event, &event) {
            Ok(()) => self.sent.store(row.seq, Ordering::SeqCst),
            Err(error) => {
                tracing::info!(user = %self.user, %error, "a desk reads too slowly, and is sent away");
                self.leave();
            }
        }
    }

    /// Ends the desk.
    fn leave(&self) {
        if let Err(error) = self.socket.clone().disconnect() {
            tracing::debug!(%error, "a desk was gone already");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The desks of this process.
pub(crate) struct Hub {
    news: DeskNews<SqlStore>,
    authenticator: Arc<Authenticator>,
    seats: Mutex<HashMap<u64, Arc<Seat>>>,
    next: AtomicU64,
}

impl Hub {
    /// Creates a hub without desks.
    pub(crate) fn new(news: DeskNews<SqlStore>, authenticator: Arc<Authenticator>) -> Self {
        Self { news, authenticator, seats: Mutex::default(), next: AtomicU64::default() }
    }

    /// Returns the news that desks read.
    pub(super) fn news(&self) -> &DeskNews<SqlStore> {
        &self.news
    }

    /// Lets a desk hear the news. Returns its number, for [`Self::leave`].
    pub(super) fn join(&self, seat: Arc<Seat>) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.seats).insert(number, seat);
        metrics::gauge!("flowsdk_desks").increment(1);
        number
    }

    /// Forgets a desk.
    pub(super) fn leave(&self, number: u64) {
        if lock(&self.seats).remove(&number).is_some() {
            metrics::gauge!("flowsdk_desks").decrement(1);
        }
    }

    fn seats(&self) -> Vec<Arc<Seat>> {
        lock(&self.seats).values().cloned().collect()
    }

    /// Sends the desks the news that they do not have: a tick.
    ///
    /// # Errors
    /// The news cannot be read; the next tick sends them.
    pub(crate) async fn deliver(&self) -> Result<(), StorageError> {
        let seats = self.seats();
        let mut behind: BTreeMap<&UserId, i64> = BTreeMap::new();
        for seat in &seats {
            let sent = seat.sent.load(Ordering::SeqCst);
            behind.entry(&seat.user).and_modify(|least| *least = sent.min(*least)).or_insert(sent);
        }
        let desks: Vec<(UserId, i64)> = behind.into_iter().map(|(user, sent)| (user.clone(), sent)).collect();
        for row in self.news.unseen(&desks).await? {
            seats.iter().filter(|seat| seat.user == row.user_id).for_each(|seat| seat.send(&row));
        }
        Ok(())
    }

    /// Tells the desks how many tickets wait in their queues, where that has changed: a tick.
    ///
    /// # Errors
    /// The tickets cannot be counted; the next tick does.
    pub(crate) async fn count_waiting(&self, now: Timestamp) -> Result<(), StorageError> {
        for seat in self.seats() {
            self.tell_waiting(&seat, now, false).await?;
        }
        Ok(())
    }

    /// Tells a desk how many tickets wait in its queues; unless `anew`, only what it has not been told.
    pub(super) async fn tell_waiting(
        &self,
        seat: &Seat,
        now: Timestamp,
        anew: bool,
    ) -> Result<(), StorageError> {
        let routers = lock(&seat.routers).clone();
        let queues = self.news.queues_of(&seat.user, routers.as_deref()).await?;
        let waiting = self.news.waiting(&queues).await?;
        let of = |queue: &QueueId| waiting.iter().find(|(id, ..)| id == queue);
        let counts: Vec<Value> = queues
            .iter()
            .map(|queue| json!({ "queueId": queue, "waiting": of(queue).map_or(0, |(_, count, _)| *count) }))
            .collect();
        let told = Value::Array(counts);
        if !anew && lock(&seat.waiting).as_ref() == Some(&told) {
            return Ok(());
        }
        let by_queue: Vec<Value> = queues
            .iter()
            .map(|queue| {
                let (count, oldest) = of(queue).map_or((0, None), |(_, count, since)| (*count, Some(*since)));
                let wait = oldest.map_or(0, |since| (now.as_millis() - since.as_millis()).max(0));
                json!({ "queueId": queue, "waiting": count, "oldestWaitMs": wait })
            })
            .collect();
        let total: i64 = waiting.iter().map(|(_, count, _)| count).sum();
        let event = json!({
            "seq": seat.sent.load(Ordering::SeqCst), "at": IsoTime(now), "total": total, "byQueue": by_queue,
        });
        if emit_checked(&seat.socket, "helpdesk:waiting", &event).is_ok() {
            *lock(&seat.waiting) = Some(told);
        }
        Ok(())
    }

    /// Ends the desks whose token or rights are gone: a tick.
    pub(crate) async fn review(&self) {
        for seat in self.seats() {
            match self.authenticator.authenticate(Some(&seat.authorization)).await {
                Ok(found) => match found.require(Resource::Helpdesk, Action::Read) {
                    Ok(scope) => {
                        *lock(&seat.routers) = scope.reach().routers().map(<[RouterId]>::to_vec);
                    }
                    Err(_) => seat.leave(),
                },
                // Of a database that is away nobody is to suffer.
                Err(error) if error.kind() == FaultKind::Unavailable => {}
                Err(_) => seat.leave(),
            }
        }
    }
}
