//! Sessions: where a conversation stands (spec A 2.6, spec B 3.3).

mod catalog;
mod error;
mod id;
mod model;
mod names;
mod redirect;
mod repository;
mod service;
mod trace;
mod variables;

pub use catalog::{FrozenItem, SessionCatalog, SessionFilter};
pub use error::SessionError;
pub use id::{Channel, InvalidSessionId, SessionId};
pub use model::{FrozenError, MAX_HISTORY, Mode, Position, Session, Stop, Waiting};
pub use names::{Named, SessionState};
pub use redirect::{Redirect, Redirected};
pub use repository::{FrozenSession, SessionRepository, SessionWrite, StoredSession};
pub use service::{Sessions, TracePage, Unfreeze};
pub use trace::{MAX_TRACES, SessionTrace, SessionTraceRepository};
pub use variables::{
    InvalidVariable, MAX_VARIABLE_DEPTH, MAX_VARIABLE_KEY, MAX_VARIABLES, VariablesTooLarge, check_variables,
    merge_variables,
};
