//! The sessions that this process serves now.

use std::collections::HashMap;
use std::time::Duration;

use flowsdk_core::fault::Chain;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a session is left alone that could not be served.
const LEFT_ALONE: Duration = Duration::from_secs(5);

/// How a session was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// What waited is done, as far as it can be done now.
    Done,
    /// Something stands in the way that time removes.
    NotNow,
}

/// A task that serves a session.
#[derive(Debug)]
struct Task {
    id: Id,
    /// Ends what the task waits for outside. Its transactions are never cut off.
    stop: CancellationToken,
    /// When the newest interruption came of which it knows: it is not to be ended by what it was begun for.
    knows: Option<Timestamp>,
}

/// The tasks of this process, one a session.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    tasks: JoinSet<(SessionId, Served)>,
    sessions: HashMap<SessionId, Task>,
    left_alone: HashMap<SessionId, Instant>,
}

impl UnderWay {
    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Returns whether a session may be served now.
    pub(super) fn may_begin(&mut self, session: &SessionId) -> bool {
        if self.left_alone.get(session).is_some_and(|until| *until > Instant::now()) {
            return false;
        }
        self.left_alone.remove(session);
        !self.sessions.contains_key(session)
    }

    /// Begins to serve a session, of which the newest interruption came at `knows`. `serve` stops waiting for the outside when
    /// its token is cancelled.
    pub(super) fn begin<F>(
        &mut self,
        session: SessionId,
        knows: Option<Timestamp>,
        serve: impl FnOnce(CancellationToken) -> F,
    ) where
        F: Future<Output = Served> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let (served, serving) = (session.clone(), serve(stop.clone()));
        let task = self.tasks.spawn(async move { (served, serving.await) });
        let task = Task { id: task.id(), stop, knows };
        self.sessions.insert(session, task);
    }

    /// Ends the turn of a session, if one is under way that does not know of the interruption that came at `at`: what is
    /// written stays, and nothing more is.
    pub(super) fn interrupt(&self, session: &SessionId, at: Timestamp) {
        if let Some(task) = self.sessions.get(session).filter(|task| task.knows < Some(at)) {
            task.stop.cancel();
        }
    }

    /// Notes the tasks that have ended.
    pub(super) fn note_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            self.note(ended);
        }
    }

    /// Waits for the next task to end; for ever, if there is none.
    pub(super) async fn next(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => self.note(ended),
            None => std::future::pending().await,
        }
    }

    /// Waits until all tasks have ended.
    pub(super) async fn all(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    fn note(&mut self, ended: Result<(SessionId, Served), JoinError>) {
        let (session, served) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(error = %Chain(&error), "a turn of an AI agent panicked");
                let found = self.sessions.iter().find(|(_, task)| task.id == error.id());
                let Some((session, _)) = found else { return };
                (session.clone(), Served::NotNow)
            }
        };
        self.sessions.remove(&session);
        if served == Served::NotNow {
            self.left_alone.insert(session, Instant::now() + LEFT_ALONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::parse("wa-1-2").expect("an id")
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_cannot_be_served_is_left_alone_for_a_while() {
        let mut under_way = UnderWay::default();
        for (served, again) in [(Served::Done, true), (Served::NotNow, false)] {
            assert!(under_way.may_begin(&session()));
            under_way.begin(session(), None, |_| async move { served });
            assert!(!under_way.may_begin(&session()), "it is under way");
            under_way.next().await;
            assert_eq!(under_way.may_begin(&session()), again);
        }
        tokio::time::advance(LEFT_ALONE).await;
        assert!(under_way.may_begin(&session()));
    }

    #[tokio::test]
    async fn whoever_was_begun_for_an_interruption_is_interrupted_by_later_ones_only() {
        let at = Timestamp::from_millis;
        for (knows, is_cancelled) in
            [(None, true), (Some(at(4)), true), (Some(at(5)), false), (Some(at(6)), false)]
        {
            let mut under_way = UnderWay::default();
            let mut token = None;
            under_way.begin(session(), knows, |stop| {
                token = Some(stop);
                async { Served::Done }
            });
            under_way.interrupt(&session(), at(5));
            assert_eq!(token.expect("a token").is_cancelled(), is_cancelled);
            under_way.next().await;
            assert_eq!(under_way.len(), 0);
        }
    }
}
