//! Sessions: where a conversation stands (spec A 2.6, spec B 3.3).

mod agent;
mod catalog;
mod frozen_text;
mod history;
mod id;
mod live;
mod model;
mod pending;
mod repository;
mod trace;
mod variables;

pub use agent::{AgentConfigSnapshot, AgentState, ChainEntry, SentimentItem};
pub use catalog::{Frost, FrozenItem, HasSessionCatalog, SessionCatalog, SessionFilter};
pub use history::{
    ChunksWanted, HistoryChunk, HistoryKind, HistoryPlace, LatestEntries, MAX_ARCHIVED, MAX_HISTORY,
    entries_before,
};
pub use id::{Channel, InvalidSessionId, SessionId};
pub use live::{HasLiveSessions, LiveSessions, SessionsOf};
pub use model::{
    Call, FrozenError, HelpdeskState, MAX_CALLS, MAX_DEFERRED, Mode, Position, Redirect, Session, Stop,
    Waiting,
};
pub use pending::{Pending, Phase};
pub use repository::{
    FrozenSession, HasSessions, MAX_AHEAD, MAX_KEPT, SessionRepository, SessionWrite, Standstill,
    StoredSession,
};
pub use trace::{HasTraces, MAX_TRACES, SessionTrace, SessionTraceRepository};
pub use variables::{
    InvalidVariable, MAX_CONTACT_VARIABLES, MAX_SESSION_VARIABLES, MAX_VARIABLE, MAX_VARIABLE_DEPTH,
    MAX_VARIABLE_KEY, SentVariables, VariablesTooLarge, json_depth, merge_variables,
};
pub(crate) use variables::{replaced, size_of_variable, size_of_variables};
