//! Outbound: from outgoing events to the sockets of a session (spec B 4.2, rulings S8).
//!
//! A socket that joins is first given what its visitor missed, read from the store, and only then what
//! is new; what arrives in between waits. Nothing here is the truth: a socket that cannot keep up is
//! closed, and its visitor reads the gap from the store when he is back.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::OutgoingSink;
use flowsdk_core::id::MessageId;
use flowsdk_core::message::SenderKind;
use flowsdk_core::session::SessionId;
use flowsdk_core::stream::event::{DeliveryStatus, OutgoingEvent, StatusEvent};
use flowsdk_core::time::Timestamp;
use futures_util::future::BoxFuture;
use tokio_util::task::TaskTracker;

use super::StatusQueue;
use super::payload::ServerMessage;

/// How long a socket that never acknowledges must stay connected for a message to count as delivered
/// (rulings S8).
const DELIVERED_AFTER: Duration = Duration::from_secs(5);
/// Longest time for which somebody types before a message.
const LONGEST_TYPING: Duration = Duration::from_secs(60);
/// Messages that a socket remembers, so that a repetition of the stream is not shown twice: after a crash
/// the stream may repeat what a visitor had got on the connection before. More than a replay has.
pub const RECENT: u32 = 256;
/// Messages of a session that may wait behind one before which somebody types; beyond it nobody types.
const MAX_DELAYED: usize = 64;
/// How long a replay waits for a slow socket to take the next message.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it tries.
const RETRY: Duration = Duration::from_millis(10);

/// A packet was not taken by the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the socket takes no more")]
pub struct SendError;

/// A socket of a visitor.
pub trait Connection: Send + Sync + std::fmt::Debug {
    /// Writes a message, without asking for an acknowledgement.
    fn send(&self, message: &ServerMessage) -> Result<(), SendError>;

    /// Writes a message; the future says whether the client acknowledged it in time.
    fn send_acknowledged(&self, message: &ServerMessage) -> Result<BoxFuture<'static, bool>, SendError>;

    /// Shows that somebody types; lost without harm.
    fn typing(&self, kind: SenderKind);

    /// Whether it is still connected.
    fn is_connected(&self) -> bool;

    /// Closes it; the client connects again and is given what it missed.
    fn close(&self);
}

/// Whether a client acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Acks {
    /// Not known yet; `true` while one message is out to find out.
    Unknown(bool),
    Yes,
}

#[derive(Debug)]
struct State {
    /// What arrived while the replay runs; `None` once the socket is live.
    held: Option<VecDeque<OutgoingEvent>>,
    /// A message did not get through: nothing after it may, or the visitor would miss it for good.
    broken: bool,
    /// Digests of the last [`RECENT`] ids, because there is one of these for every socket.
    recent: VecDeque<u64>,
    acks: Acks,
}

impl State {
    /// Whether the socket was given the message.
    fn has(&self, message: &MessageId) -> bool {
        self.recent.contains(&digest(message))
    }

    /// Remembers a message.
    fn note(&mut self, message: &MessageId) {
        if self.recent.len() >= RECENT as usize {
            self.recent.pop_front();
        }
        self.recent.push_back(digest(message));
    }
}

fn digest(message: &MessageId) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.as_str().hash(&mut hasher);
    hasher.finish()
}

/// A socket in its room.
#[derive(Debug)]
struct Member {
    connection: Arc<dyn Connection>,
    state: Mutex<State>,
}

/// A message that counts as delivered when its socket is still there later.
#[derive(Debug)]
struct Probation {
    until: Timestamp,
    member: Arc<Member>,
    session: SessionId,
    message: MessageId,
}

/// The sockets of this process, by session.
#[derive(Debug)]
pub struct Gateway {
    cx: OpContext,
    statuses: Arc<StatusQueue>,
    rooms: RwLock<HashMap<SessionId, Vec<Arc<Member>>>>,
    probation: Mutex<VecDeque<Probation>>,
    /// Sockets that are to be closed.
    broken: Mutex<Vec<Arc<Member>>>,
    /// What waits behind a message before which somebody types, by session, in order.
    delayed: Mutex<HashMap<SessionId, VecDeque<OutgoingEvent>>>,
    tasks: TaskTracker,
    /// For the tasks of delayed messages.
    this: Weak<Gateway>,
}

/// A socket's place in its room; it leaves when dropped.
#[derive(Debug)]
pub struct Seat {
    gateway: Arc<Gateway>,
    session: SessionId,
    member: Arc<Member>,
}

impl Gateway {
    /// A gateway without sockets. It reports deliveries; `sent` does not depend on a socket and is reported
    /// where the message comes from.
    pub fn new(cx: OpContext, statuses: Arc<StatusQueue>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            cx,
            statuses,
            rooms: RwLock::default(),
            probation: Mutex::default(),
            broken: Mutex::default(),
            delayed: Mutex::default(),
            tasks: TaskTracker::new(),
            this: this.clone(),
        })
    }

    /// Puts a socket into the room of `session`. New messages wait until [`Seat::go_live`].
    pub fn join(self: &Arc<Self>, session: SessionId, connection: Arc<dyn Connection>) -> Seat {
        let state = State {
            held: Some(VecDeque::new()),
            broken: false,
            recent: VecDeque::new(),
            acks: Acks::Unknown(false),
        };
        let member = Arc::new(Member { connection, state: Mutex::new(state) });
        let mut rooms = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
        rooms.entry(session.clone()).or_default().push(Arc::clone(&member));
        metrics::gauge!("flowsdk_webchat_sessions_online").set(rooms.len() as f64);
        drop(rooms);
        Seat { gateway: Arc::clone(self), session, member }
    }

    /// Sessions that have a socket here.
    pub fn sessions(&self) -> usize {
        self.rooms.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Emits one event to every socket of its session and reports it; where it is to look typed, after as
    /// long. Events of one session must come in order, one call after the other.
    pub fn emit(&self, event: OutgoingEvent) {
        let mut delayed = self.delayed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = delayed.get_mut(&event.session_id) {
            if waiting.len() >= MAX_DELAYED {
                waiting.iter_mut().for_each(|event| event.typing_ms = None);
            }
            waiting.push_back(event);
        } else if event.typing_ms.is_some() {
            let session = event.session_id.clone();
            delayed.insert(session.clone(), VecDeque::from([event]));
            drop(delayed);
            if let Some(gateway) = self.this.upgrade() {
                self.tasks.spawn(async move { gateway.emit_delayed(&session).await });
            }
        } else {
            drop(delayed);
            self.emit_now(event);
        }
    }

    /// Emits what waits for a session until nothing waits any more.
    async fn emit_delayed(&self, session: &SessionId) {
        loop {
            let next = {
                let mut delayed = self.delayed.lock().unwrap_or_else(PoisonError::into_inner);
                let next = delayed.get_mut(session).and_then(VecDeque::pop_front);
                if next.is_none() {
                    delayed.remove(session);
                }
                next
            };
            let Some(event) = next else { return };
            if let Some(millis) = event.typing_ms {
                for member in self.members(session) {
                    member.connection.typing(event.sender.kind);
                }
                tokio::time::sleep(Duration::from_millis(millis).min(LONGEST_TYPING)).await;
            }
            self.emit_now(event);
        }
    }

    fn members(&self, session: &SessionId) -> Vec<Arc<Member>> {
        let rooms = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        rooms.get(session).cloned().unwrap_or_default()
    }

    fn emit_now(&self, event: OutgoingEvent) {
        let members = self.members(&event.session_id);
        if members.is_empty() {
            metrics::counter!("flowsdk_webchat_emits", "to" => "nobody").increment(1);
            tracing::debug!(session = %event.session_id, message = %event.internal_id, "not delivered: no socket");
            return;
        }
        metrics::counter!("flowsdk_webchat_emits", "to" => "socket").increment(1);
        let message = ServerMessage::from(&event);
        for member in members {
            let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut state.held {
                Some(held) => held.push_back(event.clone()),
                None => self.write(&member, &mut state, &event.session_id, &message),
            }
        }
    }

    /// Decides who of those on probation has passed, and closes again what could not be closed; an idempotent
    /// tick.
    pub fn settle_deliveries(&self) {
        let now = self.cx.now();
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.retain(|member| member.connection.is_connected());
        broken.iter().for_each(|member| member.connection.close());
        drop(broken);
        let mut probation = self.probation.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(first) = probation.pop_front_if(|first| first.until <= now) {
            if first.member.connection.is_connected() {
                self.report(&first.session, &first.message, DeliveryStatus::Delivered);
            }
        }
    }

    /// A visitor says that he read a message. It counts only if the message is of his session.
    pub fn read(&self, session: &SessionId, message: &MessageId) {
        self.report(session, message, DeliveryStatus::Read);
    }

    /// Closes every socket: their visitors connect again elsewhere.
    pub fn close_all(&self) {
        // Closing may make a socket leave its room, which takes the lock.
        let rooms = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        let members: Vec<Arc<Member>> = rooms.values().flatten().cloned().collect();
        drop(rooms);
        for member in members {
            member.connection.close();
        }
    }

    /// Waits until no acknowledgement is awaited any more.
    pub async fn drain(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Passes gathered statuses on; an idempotent tick.
    pub async fn flush_statuses(&self) {
        self.statuses.flush().await;
    }

    /// Writes a message to a live socket. One that takes no more is closed: its visitor comes back and is
    /// given what he missed.
    fn write(&self, member: &Arc<Member>, state: &mut State, session: &SessionId, message: &ServerMessage) {
        if self.try_write(member, state, session, message).is_err() {
            self.break_off(member, state);
        }
    }

    fn break_off(&self, member: &Arc<Member>, state: &mut State) {
        state.broken = true;
        metrics::counter!("flowsdk_webchat_emits", "to" => "full_socket").increment(1);
        member.connection.close();
        // A full socket may not even take the close: it is closed again until it is gone.
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(member));
    }

    fn try_write(
        &self,
        member: &Arc<Member>,
        state: &mut State,
        session: &SessionId,
        message: &ServerMessage,
    ) -> Result<(), SendError> {
        if state.broken || state.has(&message.id) {
            return Ok(());
        }
        // One message finds out whether the client acknowledges; the others do not wait for it.
        if state.acks == Acks::Unknown(true) {
            member.connection.send(message)?;
            self.put_on_probation(member, session, &message.id, DELIVERED_AFTER);
        } else {
            let acknowledged = member.connection.send_acknowledged(message)?;
            if state.acks == Acks::Unknown(false) {
                state.acks = Acks::Unknown(true);
            }
            self.await_ack(member, session, &message.id, acknowledged);
        }
        state.note(&message.id);
        Ok(())
    }

    /// Writes a message of a replay, waiting for room.
    async fn write_patiently(&self, member: &Arc<Member>, session: &SessionId, message: &ServerMessage) {
        let tries = PATIENCE.as_millis() / RETRY.as_millis();
        for _ in 0..tries {
            {
                let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
                if self.try_write(member, &mut state, session, message).is_ok() {
                    return;
                }
                if !member.connection.is_connected() {
                    state.broken = true;
                    return;
                }
            }
            tokio::time::sleep(RETRY).await;
        }
        let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.break_off(member, &mut state);
    }

    fn await_ack(
        &self,
        member: &Arc<Member>,
        session: &SessionId,
        message: &MessageId,
        acknowledged: BoxFuture<'static, bool>,
    ) {
        let (member, session, message) = (Arc::clone(member), session.clone(), message.clone());
        let (cx, statuses) = (self.cx.clone(), Arc::clone(&self.statuses));
        self.tasks.spawn(async move {
            let acknowledged = acknowledged.await;
            if acknowledged {
                member.state.lock().unwrap_or_else(PoisonError::into_inner).acks = Acks::Yes;
            }
            // The wait for the acknowledgement is as long as the probation.
            if acknowledged || member.connection.is_connected() {
                statuses.push(status(&cx, &session, &message, DeliveryStatus::Delivered));
            }
        });
    }

    fn put_on_probation(
        &self,
        member: &Arc<Member>,
        session: &SessionId,
        message: &MessageId,
        time: Duration,
    ) {
        self.probation.lock().unwrap_or_else(PoisonError::into_inner).push_back(Probation {
            until: self.cx.now() + time,
            member: Arc::clone(member),
            session: session.clone(),
            message: message.clone(),
        });
    }

    fn report(&self, session: &SessionId, message: &MessageId, to: DeliveryStatus) {
        self.statuses.push(status(&self.cx, session, message, to));
    }
}

fn status(cx: &OpContext, session: &SessionId, message: &MessageId, to: DeliveryStatus) -> StatusEvent {
    StatusEvent {
        status: to,
        internal_id: Some(message.clone()),
        channel_message_id: None,
        session_id: Some(session.clone()),
        error: None,
        timestamp: cx.now(),
    }
}

impl OutgoingSink for Gateway {
    fn deliver(&self, events: Vec<OutgoingEvent>) {
        for event in events {
            self.emit(event);
        }
    }
}

impl Seat {
    /// Writes what the visitor missed, then what arrived meanwhile, in order, and from now on whatever
    /// comes. A message that is in both, or that he `had` before (newest first), is not written again; a
    /// slow socket is waited for.
    pub async fn go_live(&self, had: &[MessageId], missed: &[ServerMessage]) {
        let (gateway, member) = (&self.gateway, &self.member);
        {
            let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
            had.iter().rev().for_each(|message| state.note(message));
        }
        for message in missed {
            gateway.write_patiently(member, &self.session, message).await;
        }
        while let Some(event) = self.next_held() {
            gateway.write_patiently(member, &self.session, &ServerMessage::from(&event)).await;
        }
    }

    /// The oldest event that waits; without one the socket is live.
    fn next_held(&self) -> Option<OutgoingEvent> {
        let mut state = self.member.state.lock().unwrap_or_else(PoisonError::into_inner);
        let next = state.held.as_mut().and_then(VecDeque::pop_front);
        if next.is_none() {
            state.held = None;
        }
        next
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut rooms = self.gateway.rooms.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(members) = rooms.get_mut(&self.session) {
            members.retain(|member| !Arc::ptr_eq(member, &self.member));
            if members.is_empty() {
                rooms.remove(&self.session);
            }
        }
        metrics::gauge!("flowsdk_webchat_sessions_online").set(rooms.len() as f64);
    }
}
