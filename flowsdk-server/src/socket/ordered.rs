//! In-order, bounded handling of the events of one socket.
//!
//! The protocol library spawns a task per event, so handlers overtake each other. Here every event is pushed, inside
//! the reader of the connection, into one bounded queue per socket, and one task at a time drains it. That task exists
//! only while there is something to do: an idle socket costs no task, a disconnected one cannot leave one behind.
//!
//! * Queue full (by count or by bytes): the event is answered at once with `{ ok: false, code: "rate_limited" }`; without
//!   an ack it is dropped and counted (`flowsdk_socket_events_refused_total{reason}`).
//! * Disconnect: the event being handled finishes, waiting ones are discarded and counted (or drained, see
//!   [`Pending`]), then `on_disconnect` runs. An `on_connect` under way is given up where nothing is drained.
//! * A handler that panics does not stop its socket: the panic is logged, the event answered with `internal_error`.
//!
//! Prefer [`in_order`](super::in_order()) to [`attach`]. The library starts a connect handler after the CONNECT packet has left, in a task
//! of its own; an event that arrives before that handler has called `attach` would find nobody and vanish. [`in_order`](super::in_order())
//! attaches in the middleware, before the client is told that it is connected.

use std::{
    collections::VecDeque,
    mem::size_of,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::FutureExt;
use serde_json::Value;
use socketioxide::{
    adapter::Adapter,
    extract::SocketRef,
    handler::{DisconnectHandler, MessageHandler, Value as RawValue},
    socket::{DisconnectReason, Socket},
};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use super::event::{self, Ack, EventHandler};

/// The treatment of waiting events when their socket disconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// They are dropped and counted: the client got no ack and will send them again.
    Discard,
    /// They are handled; their answers go nowhere.
    Drain,
}

/// Bounds of the queue of one socket.
#[derive(Debug, Clone)]
pub struct OrderedConfig {
    /// Events that may wait, the one being handled not counted.
    pub capacity: usize,
    /// Bytes of payload that may wait; one event is always let in.
    pub max_queued_bytes: usize,
    /// The treatment of waiting events at a disconnect.
    pub pending: Pending,
}

impl Default for OrderedConfig {
    fn default() -> Self {
        Self { capacity: 64, max_queued_bytes: 512 * 1024, pending: Pending::Discard }
    }
}

/// Attaches `handler` to one socket that is connected already: all its events go through one queue from now on.
///
/// Takes the places of `on_fallback` and `on_disconnect` of the socket. `authorize` and `on_connect` are not called.
pub fn attach<A, H>(socket: &SocketRef<A>, tracker: &TaskTracker, config: OrderedConfig, handler: H)
where
    A: Adapter,
    H: EventHandler<A>,
{
    let shared = Arc::new(Shared { handler, tracker: tracker.clone(), config });
    Queue::attach(socket, shared, Phase::Open);
}

pub(super) struct Shared<H> {
    pub(super) handler: H,
    pub(super) tracker: TaskTracker,
    pub(super) config: OrderedConfig,
}

enum Job {
    Connect(Value),
    Event(RawValue, Option<i64>),
    Disconnect(DisconnectReason),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Events gather, the socket has not been told that it is connected.
    Joining,
    Open,
    Closed,
}

struct State {
    jobs: VecDeque<Job>,
    bytes: usize,
    phase: Phase,
    draining: bool,
}

pub(super) struct Queue<H> {
    shared: Arc<Shared<H>>,
    state: Mutex<State>,
    /// Told when the socket leaves.
    left: Notify,
}

/// The handlers given to the library; a queue must not own its socket, or neither would ever be freed.
struct Hook<H>(Arc<Queue<H>>);

impl<H> Queue<H> {
    pub(super) fn attach<A>(socket: &Socket<A>, shared: Arc<Shared<H>>, phase: Phase) -> Arc<Self>
    where
        A: Adapter,
        H: EventHandler<A>,
    {
        let state = State { jobs: VecDeque::new(), bytes: 0, phase, draining: false };
        let queue = Arc::new(Self { shared, state: Mutex::new(state), left: Notify::new() });
        socket.on_fallback(Hook(queue.clone()));
        socket.on_disconnect(Hook(queue.clone()));
        queue
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the drain task unless one runs already. Called with the lock held, so there is never a second one.
    fn wake<A>(self: &Arc<Self>, state: &mut State, socket: Arc<Socket<A>>)
    where
        A: Adapter,
        H: EventHandler<A>,
    {
        if !state.draining && state.phase != Phase::Joining && !state.jobs.is_empty() {
            state.draining = true;
            self.shared.tracker.spawn(self.clone().drain(socket));
        }
    }

    fn push<A>(self: &Arc<Self>, socket: Arc<Socket<A>>, raw: RawValue, ack: Option<i64>)
    where
        A: Adapter,
        H: EventHandler<A>,
    {
        let config = &self.shared.config;
        let weight = weight(&raw);
        let mut state = self.lock();
        let refused = if state.phase == Phase::Closed {
            "closed"
        } else if state.jobs.len() >= config.capacity.max(1)
            || (!state.jobs.is_empty() && state.bytes + weight > config.max_queued_bytes)
        {
            "rate_limited"
        } else {
            state.bytes += weight;
            state.jobs.push_back(Job::Event(raw, ack));
            self.wake(&mut state, socket);
            return;
        };
        drop(state);
        refuse(Ack::new(&socket, ack), refused, "too many events are waiting");
    }

    fn close<A>(self: &Arc<Self>, socket: Arc<Socket<A>>, reason: DisconnectReason)
    where
        A: Adapter,
        H: EventHandler<A>,
    {
        let mut state = self.lock();
        let discard = self.shared.config.pending == Pending::Discard;
        // `on_disconnect` pairs with `on_connect`: neither runs for a socket that left before it was served.
        let unseen =
            state.phase == Phase::Joining || (discard && matches!(state.jobs.front(), Some(Job::Connect(_))));
        state.phase = Phase::Closed;
        if discard {
            self.left.notify_one();
        }
        if unseen || discard {
            let dropped = state.jobs.iter().filter(|job| matches!(job, Job::Event(..))).count();
            state.jobs.clear();
            state.bytes = 0;
            if dropped > 0 {
                refused_counter("disconnected").increment(dropped as u64);
                tracing::debug!(sid = %socket.id, dropped, "events discarded at the disconnect");
            }
        }
        if !unseen {
            state.jobs.push_back(Job::Disconnect(reason));
        }
        self.wake(&mut state, socket);
    }

    /// The socket has been told that it is connected: `on_connect` first, then the gathered events.
    pub(super) fn open<A>(self: &Arc<Self>, socket: Arc<Socket<A>>, auth: Value)
    where
        A: Adapter,
        H: EventHandler<A>,
    {
        let mut state = self.lock();
        if state.phase == Phase::Joining {
            state.phase = Phase::Open;
            state.jobs.push_front(Job::Connect(auth));
            self.wake(&mut state, socket);
        }
    }

    async fn drain<A>(self: Arc<Self>, socket: Arc<Socket<A>>)
    where
        A: Adapter,
        H: EventHandler<A>,
    {
        loop {
            let job = {
                let mut state = self.lock();
                let Some(job) = state.jobs.pop_front() else {
                    state.draining = false;
                    state.jobs = VecDeque::new(); // an idle socket keeps no buffer
                    return;
                };
                if let Job::Event(raw, _) = &job {
                    state.bytes = state.bytes.saturating_sub(weight(raw));
                }
                job
            };
            self.run(&socket, job).await;
            tokio::task::consume_budget().await;
        }
    }

    async fn run<A>(&self, socket: &Arc<Socket<A>>, job: Job)
    where
        A: Adapter,
        H: EventHandler<A>,
    {
        let (handler, reference) = (&self.shared.handler, SocketRef::from(socket.clone()));
        let ack_id = if let Job::Event(_, id) = &job { *id } else { None };
        let call = async {
            match job {
                // To let somebody in may cost a password's hash.
                Job::Connect(auth) => tokio::select! {
                    biased;
                    () = handler.on_connect(&reference, auth) => {}
                    () = self.left.notified() => tracing::debug!(sid = %socket.id, "left while it was let in"),
                },
                Job::Disconnect(reason) => handler.on_disconnect(&reference, reason).await,
                Job::Event(raw, id) => match event::parse(raw, Ack::new(socket, id)) {
                    Ok(event) => handler.on_event(&reference, event).await,
                    Err((ack, error)) => {
                        tracing::debug!(sid = %socket.id, error, "event not understood");
                        refuse(ack, "invalid_payload", "the payload is not understood");
                    }
                },
            }
        };
        if AssertUnwindSafe(call).catch_unwind().await.is_err() {
            tracing::error!(sid = %socket.id, "a socket handler panicked");
            // If it had answered before, the client ignores this second answer.
            refuse(Ack::new(socket, ack_id), "internal_error", "internal error");
        }
    }
}

/// Marks the handlers of this module among those of the library.
#[derive(Debug, Clone, Copy)]
pub enum Ordered {}

impl<A: Adapter, H: EventHandler<A>> MessageHandler<A, Ordered> for Hook<H> {
    fn call(&self, socket: Arc<Socket<A>>, raw: RawValue, ack: Option<i64>) {
        self.0.push(socket, raw, ack);
    }
}

impl<A: Adapter, H: EventHandler<A>> DisconnectHandler<A, Ordered> for Hook<H> {
    fn call_with_defer(&self, socket: Arc<Socket<A>>, reason: DisconnectReason, leave: fn(Arc<Socket<A>>)) {
        // Out of the rooms first: a broadcast must not meet a closed socket while the last event is still handled.
        leave(socket.clone());
        self.0.close(socket, reason);
    }
}

fn weight(raw: &RawValue) -> usize {
    let attachments = match raw {
        RawValue::Str(_, Some(parts)) => parts.iter().map(|part| part.len()).sum(),
        _ => 0,
    };
    size_of::<Job>() + raw.len() + attachments
}

fn refused_counter(reason: &'static str) -> metrics::Counter {
    metrics::counter!("flowsdk_socket_events_refused_total", "reason" => reason)
}

fn refuse<A: Adapter>(ack: Option<Ack<A>>, code: &'static str, message: &str) {
    refused_counter(code).increment(1);
    if let Some(ack) = ack {
        ack.refuse(code, message);
    }
}
