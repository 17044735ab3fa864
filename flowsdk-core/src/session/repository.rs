//! Storage of sessions.

use async_trait::async_trait;

use super::{FrozenError, Mode, Session, SessionId};
use crate::event::FlowEvent;
use crate::fault::StorageError;
use crate::time::Timestamp;

/// A session that an error stopped, with the entry that failed.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct FrozenSession {
    /// The id of the session.
    pub session_id: SessionId,
    pub error: FrozenError,
    /// The stream entry that could not be handled, as JSON.
    pub entry: serde_json::Value,
    pub frozen_at: Timestamp,
}

/// How many entries a frozen session holds before messages, which are in the history all the same, are not kept any
/// more.
pub const MAX_KEPT: u32 = 1_000;

/// Most events that stand ahead of what a session is sent.
pub const MAX_AHEAD: u32 = 64;

/// A session as read.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct StoredSession {
    pub session: Session,
    /// Whether an error stopped it (rulings S5).
    pub frozen: bool,
    /// Events that its next turn handles before the event that came, oldest first (rulings S21).
    pub ahead: Vec<FlowEvent>,
}

/// Why a session does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standstill {
    /// It waits for something outside, and will go on.
    Outside,
    /// An error has stopped it.
    Frozen,
}

/// Sessions of one transaction.
#[async_trait]
pub trait SessionRepository: Send {
    /// Returns the sessions among `ids` that exist.
    async fn find_many(&mut self, ids: &[SessionId]) -> Result<Vec<StoredSession>, StorageError>;

    /// The same, locked until the end of the transaction.
    async fn find_many_for_update(&mut self, ids: &[SessionId]) -> Result<Vec<StoredSession>, StorageError>;

    /// Creates those that are new and rewrites the others. Their [`Session::archive`] is stored too, and chunks that are
    /// [too old](super::HistoryChunk::drops_below) are dropped; a chunk that is stored already is replaced.
    ///
    /// # Errors
    /// [`StorageError::Stale`] when a row no longer has the version it was read with; nothing of
    /// this call is then to be committed.
    async fn save_many(&mut self, sessions: &[SessionWrite<'_>]) -> Result<(), StorageError>;

    /// Puts an event ahead of everything that comes to its session after the commit (rulings S21).
    ///
    /// Returns `false` if there is no such session, or [`MAX_AHEAD`] events stand there.
    async fn put_ahead(&mut self, event: &FlowEvent) -> Result<bool, StorageError>;

    /// Removes the events that stand ahead of what these sessions are sent.
    async fn clear_ahead(&mut self, ids: &[SessionId]) -> Result<(), StorageError>;

    /// Removes sessions that ended, with all of their histories.
    async fn delete_many(&mut self, ids: &[&SessionId]) -> Result<(), StorageError>;

    /// Returns up to `limit` sessions whose [`Session::wake_at`] is from `from` to `until`, with it, by this moment and then
    /// by id. Of those of `from` itself the ones up to the id `behind` are left out.
    async fn due(
        &mut self,
        from: Timestamp,
        behind: Option<&SessionId>,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Timestamp, SessionId)>, StorageError>;

    /// Returns who has a session; `None` if there is none.
    async fn mode(&mut self, id: &SessionId) -> Result<Option<Mode>, StorageError>;

    /// Returns the reason why a session does not answer its messages, if there is one.
    async fn standstill(&mut self, id: &SessionId) -> Result<Option<Standstill>, StorageError>;

    /// Marks sessions as frozen. Of one that is frozen already the first cause stays; the entry is kept behind the
    /// others, unless it is there already.
    ///
    /// # Errors
    /// [`StorageError::Stale`] when another transaction froze one of them meanwhile; nothing of this call is then
    /// to be committed.
    async fn freeze_many(&mut self, frozen: &[FrozenSession]) -> Result<(), StorageError>;

    /// Returns those of `ids` that are frozen.
    async fn frozen_among(&mut self, ids: &[SessionId]) -> Result<Vec<SessionId>, StorageError>;

    /// Keeps entries for frozen sessions, in order, until `most` are kept for a session; how many were left out.
    async fn keep_entries(
        &mut self,
        entries: &[(SessionId, serde_json::Value)],
        most: u32,
    ) -> Result<u64, StorageError>;

    /// Thaws a session: returns the cause of the freeze and removes it. The entries kept for it stay. A caller who
    /// also locks the session does so afterwards.
    async fn take_frozen(&mut self, id: &SessionId) -> Result<Option<FrozenSession>, StorageError>;

    /// Takes the oldest entry that is kept for a session.
    async fn take_kept(&mut self, id: &SessionId) -> Result<Option<serde_json::Value>, StorageError>;
}

/// A session to write.
#[derive(Debug)]
pub struct SessionWrite<'a> {
    /// The new state; its `version` is the one to store.
    pub session: &'a Session,
    /// The version it was read with; `None` for a new one.
    pub expected: Option<i64>,
}

/// A transaction with sessions.
pub trait HasSessions: Send {
    /// Returns the repository of this transaction.
    fn sessions(&mut self) -> &mut dyn SessionRepository;
}
