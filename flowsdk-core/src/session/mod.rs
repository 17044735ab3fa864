//! Sessions: where a conversation stands (spec A 2.6, spec B 3.3).

mod id;
mod live;
mod model;
mod repository;

pub use id::{Channel, InvalidSessionId, SessionId};
pub use live::{LiveSessions, SessionsOf};
pub use model::{FrozenError, MAX_HISTORY, Mode, Position, Session, Stop, Waiting};
pub use repository::{FrozenSession, SessionRepository, SessionWrite, StoredSession};
