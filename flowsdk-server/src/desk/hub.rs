//! The desks that are connected to this process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flowsdk_auth::access::Authenticated;
use flowsdk_auth::permission::{Action, Resource, RouterScope};
use flowsdk_core::fault::{Fault as _, FaultKind, StorageError};
use flowsdk_core::id::{QueueId, RouterId, TicketId, UserId};
use flowsdk_core::time::{IsoTime, Timestamp};
use flowsdk_helpdesk::news::{DeskEventKind, DeskNews, NewsRow, WaitingInQueue};
use flowsdk_helpdesk::viewer::{TicketViewers, Viewer, Viewers};
use flowsdk_store::sql::SqlStore;
use socketioxide::extract::SocketRef;

use super::payload::{Numbered, Numbering, QueueWaiting, Waiting};
use super::watched::Watched;
use crate::api::state::{Authenticator, Monitoring};
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
    /// What it was last told of waiting tickets: how many there are in each queue of the agent.
    waiting: Mutex<Option<BTreeMap<QueueId, i64>>>,
    /// The figures that it is sent, if it wants them.
    monitored: Mutex<Option<Monitored>>,
    /// The ticket that it looks at.
    pub(super) watched: Watched,
}

/// Which figures a desk is sent.
#[derive(Debug, Clone)]
struct Monitored {
    /// Those of this router; of all within `scope`, if none is named.
    router: Option<RouterId>,
    /// The routers whose figures the agent may see, at the last look.
    scope: RouterScope,
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
            monitored: Mutex::new(None),
            watched: Watched::default(),
        }
    }

    /// Returns the name of the desk among those of all processes.
    pub(super) fn desk(&self) -> &str {
        self.socket.id.as_str()
    }

    /// Sends news that the desk does not have. Returns whether it may get what comes after them. News that do not get through
    /// end the desk, which comes back for them; while its buffer has no room even for that, the next tick sends them.
    fn send(&self, row: &NewsRow) -> bool {
        if row.seq <= self.sent.load(Ordering::SeqCst) {
            return true;
        }
        if !self.socket.connected() {
            return false;
        }
        let numbering = Numbering { seq: row.seq, at: IsoTime(row.created_at) };
        let event = Numbered { numbering, payload: &row.payload };
        match emit_checked(&self.socket, &row.event, &event) {
            Ok(()) => {
                self.sent.store(row.seq, Ordering::SeqCst);
                true
            }
            Err(error) => {
                tracing::info!(user = %self.user, seq = row.seq, %error, "a desk reads too slowly");
                self.leave();
                false
            }
        }
    }

    /// Returns the place of an event that is no news.
    fn numbering(&self, now: Timestamp) -> Numbering {
        Numbering { seq: self.sent.load(Ordering::SeqCst), at: IsoTime(now) }
    }

    /// Tells the desk how many tickets wait in its queues; unless `anew`, only if it has not been told. A desk whose agent
    /// works in other queues than before is to load its tickets first.
    fn tell_waiting(&self, queues: &[&WaitingInQueue], now: Timestamp, anew: bool) {
        let counts: BTreeMap<QueueId, i64> =
            queues.iter().map(|queue| (queue.queue_id.clone(), queue.waiting)).collect();
        let before = lock(&self.waiting).clone();
        if !anew && before.as_ref() == Some(&counts) {
            return;
        }
        if before.is_some_and(|before| !before.keys().eq(counts.keys()))
            && let Err(error) =
                emit_checked(&self.socket, DeskEventKind::SyncRequired.name(), &self.numbering(now))
        {
            tracing::debug!(user = %self.user, %error, "a desk is told later that its queues are others");
            return;
        }
        let by_queue = queues.iter().map(|queue| {
            let wait = queue.oldest.map_or(0, |since| (now.as_millis() - since.as_millis()).max(0));
            QueueWaiting { queue_id: queue.queue_id.clone(), waiting: queue.waiting, oldest_wait_ms: wait }
        });
        let total = queues.iter().map(|queue| queue.waiting).sum();
        let payload = Waiting { total, by_queue: by_queue.collect() };
        let event = Numbered { numbering: self.numbering(now), payload };
        if emit_checked(&self.socket, DeskEventKind::Waiting.name(), &event).is_ok() {
            *lock(&self.waiting) = Some(counts);
        }
    }

    /// Tells the desk who else looks at its ticket, if it does not know.
    fn tell_viewers(&self, ticket: &TicketId, viewers: &[Viewer], now: Timestamp) {
        let viewers = TicketViewers::for_user(&self.user, ticket, viewers, now);
        if !self.watched.is_news(&viewers) {
            return;
        }
        let event = Numbered { numbering: self.numbering(now), payload: viewers };
        if let Err(error) = emit_checked(&self.socket, DeskEventKind::Viewing.name(), &event) {
            tracing::debug!(user = %self.user, %error, "a desk misses who looks at its ticket");
        }
    }

    /// Sends the desk the figures of a router from now on, or of all within `scope`.
    pub(super) fn monitor(&self, router: Option<RouterId>, scope: RouterScope) {
        *lock(&self.monitored) = Some(Monitored { router, scope });
    }

    /// Sends it none any more.
    pub(super) fn stop_monitoring(&self) {
        *lock(&self.monitored) = None;
    }

    /// Returns the ticket that the desk looks at, if the agent may see it.
    fn ticket(&self) -> Option<TicketId> {
        self.watched.ticket(lock(&self.routers).as_deref())
    }

    /// Follows what the agent may see now.
    fn review_monitoring(&self, caller: &Authenticated) {
        let mut monitored = lock(&self.monitored);
        let Some(Monitored { router, .. }) = monitored.as_ref() else { return };
        let scope = caller.require(Resource::Reports, Action::Read).ok();
        let scope = scope.filter(|scope| scope.admit(router.clone()).is_ok());
        let router = router.clone();
        *monitored = scope.map(|scope| Monitored { router, scope });
    }

    /// Ends the desk.
    fn leave(&self) {
        if let Err(error) = self.socket.clone().disconnect() {
            tracing::debug!(%error, "a desk was gone already");
        }
    }
}

/// Sends every desk the news in their order: `send` returns whether a desk took its news. One that did not gets none that come
/// after them, which it would take for all there is.
fn send_in_order<S, R>(seats: &[S], rows: &[R], send: impl Fn(&S, &R) -> bool) {
    let mut taking: Vec<&S> = seats.iter().collect();
    for row in rows {
        taking.retain(|seat| send(seat, row));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The desks of this process.
pub(crate) struct Hub {
    news: DeskNews<SqlStore>,
    figures: Arc<Monitoring>,
    pub(super) viewers: Viewers<SqlStore>,
    authenticator: Arc<Authenticator>,
    seats: Mutex<HashMap<u64, Arc<Seat>>>,
    next: AtomicU64,
}

impl Hub {
    /// Creates a hub without desks.
    pub(crate) fn new(
        news: DeskNews<SqlStore>,
        figures: Arc<Monitoring>,
        viewers: Viewers<SqlStore>,
        authenticator: Arc<Authenticator>,
    ) -> Self {
        Self { news, figures, viewers, authenticator, seats: Mutex::default(), next: AtomicU64::default() }
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
        let rows = self.news.unseen(&desks).await?;
        send_in_order(&seats, &rows, |seat, row| seat.user != row.user_id || seat.send(row));
        Ok(())
    }

    /// Tells the desks how many tickets wait in their queues, where that has changed: a tick.
    ///
    /// # Errors
    /// The tickets cannot be counted; the next tick does.
    pub(crate) async fn count_waiting(&self, now: Timestamp) -> Result<(), StorageError> {
        self.tell_waiting(&self.seats(), now, false).await
    }

    /// Tells the desks who else looks at their tickets, where that has changed: a tick.
    ///
    /// # Errors
    /// The looks cannot be read; the next tick tells.
    pub(crate) async fn show_viewers(&self, now: Timestamp) -> Result<(), StorageError> {
        let look = |seat: Arc<Seat>| Some((seat.ticket()?, seat));
        let seats: Vec<(TicketId, Arc<Seat>)> = self.seats().into_iter().filter_map(look).collect();
        if seats.is_empty() {
            return Ok(());
        }
        let tickets: BTreeSet<TicketId> = seats.iter().map(|(ticket, _)| ticket.clone()).collect();
        let viewers = self.viewers.of(&tickets.into_iter().collect::<Vec<_>>()).await?;
        for (ticket, seat) in seats {
            seat.tell_viewers(&ticket, &viewers, now);
        }
        Ok(())
    }

    /// Lets the desks go on looking at their tickets: a tick.
    ///
    /// # Errors
    /// The looks cannot be renewed; the next tick does.
    pub(crate) async fn renew_looks(&self) -> Result<(), StorageError> {
        let looks = self.seats().into_iter().filter(|seat| seat.ticket().is_some());
        let desks: Vec<String> = looks.map(|seat| seat.desk().to_owned()).collect();
        if desks.is_empty() { Ok(()) } else { self.viewers.renew(&desks).await }
    }

    /// Sends figures to the desks that want them: a tick.
    ///
    /// # Errors
    /// The figures cannot be read; the next tick sends them.
    pub(crate) async fn send_figures(&self, now: Timestamp) -> Result<(), StorageError> {
        for seat in self.seats() {
            self.show_figures(&seat, now).await?;
        }
        Ok(())
    }

    /// Sends a desk the figures that it wants.
    pub(super) async fn show_figures(&self, seat: &Seat, now: Timestamp) -> Result<(), StorageError> {
        let monitored = lock(&seat.monitored).clone();
        let Some(Monitored { router, scope }) = monitored else { return Ok(()) };
        let Ok(router) = scope.admit(router) else { return Ok(()) };
        let snapshot = self.figures.snapshot(scope.reach(), &router).await?;
        let event = Numbered { numbering: seat.numbering(now), payload: &*snapshot };
        if let Err(error) = emit_checked(&seat.socket, DeskEventKind::Snapshot.name(), &event) {
            tracing::debug!(user = %seat.user, %error, "a desk misses a snapshot");
        }
        Ok(())
    }

    /// Tells desks how many tickets wait in their queues; unless `anew`, only what they have not been told.
    pub(super) async fn tell_waiting(
        &self,
        seats: &[Arc<Seat>],
        now: Timestamp,
        anew: bool,
    ) -> Result<(), StorageError> {
        let users: BTreeSet<UserId> = seats.iter().map(|seat| seat.user.clone()).collect();
        let counts = self.news.waiting(&users.into_iter().collect::<Vec<_>>()).await?;
        for seat in seats {
            let routers = lock(&seat.routers).clone();
            let is_theirs = |queue: &&WaitingInQueue| {
                let within = routers.as_ref().is_none_or(|routers| routers.contains(&queue.router_id));
                queue.user_id == seat.user && within
            };
            seat.tell_waiting(&counts.iter().filter(is_theirs).collect::<Vec<_>>(), now, anew);
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
                        seat.review_monitoring(&found);
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// A desk without room for these news, which has room again for those that come after them.
    struct Desk {
        no_room_for: &'static [i64],
        got: RefCell<Vec<i64>>,
    }

    #[test]
    fn a_desk_without_room_for_news_gets_none_that_come_after_them() {
        let desk = |no_room_for| Desk { no_room_for, got: RefCell::default() };
        let desks = [desk(&[3]), desk(&[])];
        send_in_order(&desks, &[1, 2, 3, 4, 5], |desk, seq| {
            let has_room = !desk.no_room_for.contains(seq);
            if has_room {
                desk.got.borrow_mut().push(*seq);
            }
            has_room
        });
        let got = desks.map(|desk| desk.got.into_inner());
        assert_eq!(got, [vec![1, 2], vec![1, 2, 3, 4, 5]]);
    }
}
