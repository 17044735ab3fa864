//! Outbound: from outgoing events to the sockets of a session (spec B 4.2, rulings S8).
//!
//! A socket that joins is first given what its visitor missed, read from the store, and only then what
//! is new; what arrives in between waits. Nothing here is the truth: a socket that cannot keep up is
//! closed, and its visitor reads the gap from the store when he is back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::OutgoingSink;
use flowsdk_core::id::MessageId;
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
/// Ids that a socket remembers, so that a repetition of the stream is not shown twice.
const RECENT: usize = 32;

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
    held: Option<Vec<OutgoingEvent>>,
    recent: VecDeque<MessageId>,
    acks: Acks,
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
    tasks: TaskTracker,
    reports_sent: bool,
}

/// A socket's place in its room; it leaves when dropped.
#[derive(Debug)]
pub struct Seat {
    gateway: Arc<Gateway>,
    session: SessionId,
    member: Arc<Member>,
}

impl Gateway {
    /// A gateway without sockets. `reports_sent` says whether `sent` is reported here, or by the
    /// consumer group that reads the stream once for all processes.
    pub fn new(cx: OpContext, statuses: Arc<StatusQueue>, reports_sent: bool) -> Arc<Self> {
        Arc::new(Self {
            cx,
            statuses,
            rooms: RwLock::default(),
            probation: Mutex::default(),
            tasks: TaskTracker::new(),
            reports_sent,
        })
    }

    /// Puts a socket into the room of `session`. New messages wait until [`Seat::go_live`].
    pub fn join(self: &Arc<Self>, session: SessionId, connection: Arc<dyn Connection>) -> Seat {
        let state = State {
            held: Some(Vec::new()),
            recent: VecDeque::new(),
            acks: Acks::Unknown(false),
        };
        let member = Arc::new(Member {
            connection,
            state: Mutex::new(state),
        });
        let mut rooms = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
        rooms
            .entry(session.clone())
            .or_default()
            .push(Arc::clone(&member));
        metrics::gauge!("flowsdk_webchat_sessions_online").set(rooms.len() as f64);
        drop(rooms);
        Seat {
            gateway: Arc::clone(self),
            session,
            member,
        }
    }

    /// Sessions that have a socket here.
    pub fn sessions(&self) -> usize {
        self.rooms.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Emits one event to every socket of its session and reports it. Events of one session must come
    /// in order, one call after the other.
    pub fn emit(&self, event: OutgoingEvent) {
        let members = self
            .rooms
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&event.session_id)
            .cloned();
        if self.reports_sent {
            self.report(&event.session_id, &event.internal_id, DeliveryStatus::Sent);
        }
        let Some(members) = members else {
            metrics::counter!("flowsdk_webchat_emits", "to" => "nobody").increment(1);
            tracing::debug!(session = %event.session_id, message = %event.internal_id, "not delivered: no socket");
            return;
        };
        metrics::counter!("flowsdk_webchat_emits", "to" => "socket").increment(1);
        let message = ServerMessage::from(&event);
        for member in members {
            let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut state.held {
                Some(held) => held.push(event.clone()),
                None => self.write(&member, &mut state, &event.session_id, &message),
            }
        }
    }

    /// Decides who of those on probation has passed; an idempotent tick.
    pub fn settle_deliveries(&self) {
        let now = self.cx.now();
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

    fn write(&self, member: &Arc<Member>, state: &mut State, session: &SessionId, message: &ServerMessage) {
        if state.recent.contains(&message.id) {
            return;
        }
        if state.recent.len() >= RECENT {
            state.recent.pop_front();
        }
        state.recent.push_back(message.id.clone());
        let sent = match state.acks {
            // One message finds out whether the client acknowledges; the others do not wait for it.
            Acks::Unknown(true) => member.connection.send(message).map(|()| None),
            Acks::Unknown(false) | Acks::Yes => member.connection.send_acknowledged(message).map(Some),
        };
        match sent {
            Ok(None) => self.put_on_probation(member, session, &message.id, DELIVERED_AFTER),
            Ok(Some(acknowledged)) => {
                if state.acks == Acks::Unknown(false) {
                    state.acks = Acks::Unknown(true);
                }
                self.await_ack(member, session, &message.id, acknowledged);
            }
            Err(SendError) => {
                metrics::counter!("flowsdk_webchat_emits", "to" => "full_socket").increment(1);
                member.connection.close();
            }
        }
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
        self.probation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(Probation {
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
    /// Writes one message of the replay.
    pub fn replay(&self, message: &ServerMessage) {
        let mut state = self.member.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.gateway
            .write(&self.member, &mut state, &self.session, message);
    }

    /// Ends the replay: writes what waited, in order, and from now on whatever comes. A message that was
    /// part of the replay is not written again.
    pub fn go_live(&self) {
        let mut state = self.member.state.lock().unwrap_or_else(PoisonError::into_inner);
        for event in state.held.take().unwrap_or_default() {
            let message = ServerMessage::from(&event);
            self.gateway
                .write(&self.member, &mut state, &self.session, &message);
        }
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
