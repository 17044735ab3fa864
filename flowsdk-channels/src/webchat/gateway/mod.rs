//! Outbound: from outgoing events to the sockets of a session (spec B 4.2, rulings S8).
//!
//! A socket that joins first gets the messages that its visitor missed, read from the store, and only then
//! new ones; events that arrive in between wait. The store holds the truth: a socket that cannot keep up is
//! closed, and its visitor reads the gap from the store at the next connection.

mod connection;
mod event;
mod member;
mod notices;
mod seat;
mod write;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::OutgoingSink;
use flowsdk_core::event::{DeliveryStatus, Notice, OutgoingEvent, StatusEvent};
use flowsdk_core::id::MessageId;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use member::{Acks, MOST_HELD, Member, State};
use notices::notice_of;
use tokio_util::task::TaskTracker;

use super::StatusQueue;
use super::payload::{ServerMessage, ServerNotice};

pub use connection::{Connection, SendError};
pub use event::ChatEvent;
pub use member::RECENT;
pub use seat::Seat;

/// Messages of a session that may wait behind one before which somebody types; beyond it nobody types.
const MAX_DELAYED: usize = 64;

/// An event as sockets get it.
enum Written {
    Message(ServerMessage),
    Notice(ServerNotice),
}

/// A message that counts as delivered when its socket is still there later.
#[derive(Debug)]
struct Probation {
    until: Timestamp,
    member: Arc<Member>,
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
    /// Events that wait behind a message before which somebody types, by session, in order.
    delayed: Mutex<HashMap<SessionId, VecDeque<ChatEvent>>>,
    tasks: TaskTracker,
    /// For the tasks of delayed messages.
    this: Weak<Gateway>,
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
        let member = Arc::new(Member { session: session.clone(), connection, state: Mutex::new(state) });
        let mut rooms = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
        rooms.entry(session).or_default().push(Arc::clone(&member));
        metrics::gauge!("flowsdk_webchat_sessions_online").set(rooms.len() as f64);
        drop(rooms);
        Seat { gateway: Arc::clone(self), member }
    }

    /// Sessions that have a socket here.
    pub fn sessions(&self) -> usize {
        self.rooms.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Emits one event to every socket of its session, and reports a message; where it is to look typed, after as
    /// long. Events of one session must come in order, one call after the other.
    pub fn emit(&self, mut event: ChatEvent) {
        let mut delayed = self.delayed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = delayed.get_mut(event.session()) {
            if waiting.len() >= MAX_DELAYED {
                waiting.iter_mut().for_each(ChatEvent::hurry);
                event.hurry();
            }
            waiting.push_back(event);
        } else if event.typing_ms().is_some() {
            let session = event.session().clone();
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

    fn members(&self, session: &SessionId) -> Vec<Arc<Member>> {
        let rooms = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        rooms.get(session).cloned().unwrap_or_default()
    }

    fn emit_now(&self, event: ChatEvent) {
        let members = self.members(event.session());
        let written = match &event {
            ChatEvent::Message(event) if members.is_empty() => {
                metrics::counter!("flowsdk_webchat_emits", "to" => "nobody").increment(1);
                tracing::debug!(session = %event.session_id, message = %event.internal_id, "not delivered: no socket");
                return;
            }
            ChatEvent::Message(event) => {
                metrics::counter!("flowsdk_webchat_emits", "to" => "socket").increment(1);
                Written::Message(ServerMessage::from(&**event))
            }
            ChatEvent::Notice(notice) => Written::Notice(notice_of(notice)),
        };
        for member in members {
            let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.broken {
                // It is given nothing any more.
                continue;
            }
            match (&mut state.held, &written) {
                (Some(held), _) if held.len() < MOST_HELD => held.push_back(event.clone()),
                (Some(held), _) => {
                    held.clear();
                    self.break_off(&member, &mut state);
                }
                (None, Written::Message(message)) => self.write(&member, &mut state, message),
                (None, Written::Notice(notice)) => member.connection.notify(notice),
            }
        }
    }

    /// Reports the deliveries whose probation is over, and retries connections that did not close; an idempotent
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
                self.report(&first.member.session, &first.message, DeliveryStatus::Delivered);
            }
        }
    }

    /// Reports that the visitor read a message. It counts only if the message is of their session.
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

    fn report(&self, session: &SessionId, message: &MessageId, to: DeliveryStatus) {
        self.statuses.push(status(&self.cx, session, message, to));
    }
}

fn status(cx: &OpContext, session: &SessionId, message: &MessageId, to: DeliveryStatus) -> StatusEvent {
    StatusEvent {
        phone_number_id: None,
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
            self.emit(ChatEvent::Message(Box::new(event)));
        }
    }

    fn notify(&self, notice: Notice) {
        self.emit(ChatEvent::Notice(notice));
    }
}
