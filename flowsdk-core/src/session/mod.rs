//! Sessions: where a conversation stands (spec A 2.6, spec B 3.3).

mod agent;
mod id;
mod live;
mod model;
mod pending;
mod repository;
mod trace;

pub use agent::{AgentConfigSnapshot, AgentState, ChainEntry, SentimentItem};
pub use id::{Channel, InvalidSessionId, SessionId};
pub use live::{LiveSessions, SessionsOf};
pub use model::{
    Call, FrozenError, HelpdeskState, MAX_CALLS, MAX_DEFERRED, MAX_HISTORY, Mode, Position, Redirect,
    Session, Stop, Waiting,
};
pub use pending::{Pending, Phase};
pub use repository::{FrozenSession, SessionRepository, SessionWrite, StoredSession};
pub use trace::{MAX_TRACES, SessionTrace, SessionTraceRepository};
