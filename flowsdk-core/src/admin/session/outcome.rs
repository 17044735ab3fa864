//! The outcome of a redirect or of a resumption, for a caller who waits for it.

use std::time::Duration;

use tokio::time::Instant;

use super::{Redirected, Sessions};
use crate::fault::{Chain, StorageError};
use crate::session::{Frost, FrozenError, HasSessionCatalog, Mode, Session, SessionId, StoredSession};
use crate::store::Store;
use crate::time::Timestamp;

/// Pauses between two looks at a session whose turn runs elsewhere.
const FIRST_PAUSE: Duration = Duration::from_millis(3);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The state of a session after an event that was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// How the event ended; `None` if that was not known in time.
    pub ending: Option<Ending>,
    /// The session; `None` if it is over, or could not be read.
    pub session: Option<Session>,
}

/// How an event of a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It had its effect.
    Done,
    /// It changed nothing.
    Ignored(Obstacle),
    /// An error has stopped the session, at the event or before it: then the event waits.
    Frozen(FrozenError),
    /// The session is over.
    Ended,
}

/// Why a redirect is not followed although it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// A human has the session by now.
    HumanAttendance,
    /// The flow is not published any more, or has no such block any more.
    LeadsNowhere,
}

/// Decides how a redirect ended. A request or a script of the block that it leads to may fail and freeze the session, so
/// its result belongs to the redirect.
fn of_redirect(
    redirected: &Redirected,
    stored: Option<&StoredSession>,
    frost: Option<Frost>,
) -> Option<Ending> {
    let Some(StoredSession { session, frozen, ahead }) = stored else { return Some(Ending::Ended) };
    if session.started_at != redirected.session_started_at {
        // The next one of the same contact.
        return Some(Ending::Ended);
    }
    if *frozen {
        return frost.map(|frost| Ending::Frozen(frost.error));
    }
    let id = Some(&redirected.stream_entry_id);
    if session.redirects.iter().any(|known| known.redirect_id.as_ref() == id) {
        return (!is_under_way(session)).then_some(Ending::Done);
    }
    if ahead.iter().any(|event| event.redirect_id() == id) {
        return None;
    }
    let is_human = session.mode == Mode::Human;
    Some(Ending::Ignored(if is_human { Obstacle::HumanAttendance } else { Obstacle::LeadsNowhere }))
}

/// Decides how the resumption of a session that froze at `frozen_at` ended. A request or a script of a retried entry
/// may fail and freeze the session again, so its result belongs to the resumption.
fn of_resumption(
    frozen_at: Timestamp,
    stored: Option<&StoredSession>,
    frost: Option<Frost>,
) -> Option<Ending> {
    match (frost, stored) {
        (Some(frost), _) if frost.frozen_at == frozen_at => None,
        (Some(frost), _) => Some(Ending::Frozen(frost.error)),
        (None, Some(stored)) if stored.frozen || is_under_way(&stored.session) => None,
        (None, Some(_)) => Some(Ending::Done),
        (None, None) => Some(Ending::Ended),
    }
}

/// Returns whether a turn of the session waits for a result from outside.
fn is_under_way(session: &Session) -> bool {
    session.pending.is_some()
}

impl<S: Store> Sessions<S>
where
    S::Tx: HasSessionCatalog,
{
    /// Waits until a redirect has ended, at most as long as `patience`.
    pub async fn outcome_of_redirect(
        &self,
        id: &SessionId,
        redirected: &Redirected,
        patience: Duration,
    ) -> Outcome {
        self.outcome(id, patience, |stored, frost| of_redirect(redirected, stored, frost)).await
    }

    /// Waits until the resumption of a session that froze at `frozen_at` has ended, at most as long as `patience`.
    pub async fn outcome_of_resumption(
        &self,
        id: &SessionId,
        frozen_at: Timestamp,
        patience: Duration,
    ) -> Outcome {
        self.outcome(id, patience, |stored, frost| of_resumption(frozen_at, stored, frost)).await
    }

    async fn outcome(
        &self,
        id: &SessionId,
        patience: Duration,
        decide: impl Fn(Option<&StoredSession>, Option<Frost>) -> Option<Ending>,
    ) -> Outcome {
        let end = Instant::now() + patience;
        let mut pause = FIRST_PAUSE;
        loop {
            let outcome = match self.look(id).await {
                Ok((stored, frost)) => Outcome {
                    ending: decide(stored.as_ref(), frost),
                    session: stored.map(|stored| stored.session),
                },
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "the outcome of an event cannot be read");
                    Outcome::default()
                }
            };
            if outcome.ending.is_some() || Instant::now() + pause >= end {
                return outcome;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Reads why a session is frozen before the session itself: the second look may see more than the first.
    async fn look(&self, id: &SessionId) -> Result<(Option<StoredSession>, Option<Frost>), StorageError> {
        let mut tx = self.store.read().await?;
        let frost = tx.session_catalog().frosts(&[id]).await?.pop().map(|(_, frost)| frost);
        let stored = tx.session_catalog().find(id).await?;
        Ok((stored, frost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::session::RedirectTo;
    use crate::event::{ExternalJump, FlowEvent};
    use crate::session::{Pending, Phase, Redirect};

    const BEGAN: Timestamp = Timestamp::from_millis(1);

    fn stored(frozen: bool, change: impl Fn(&mut StoredSession)) -> StoredSession {
        let id = SessionId::parse("wc-c-u").expect("an id");
        let any = |text: &str| text.to_owned();
        let session = Session::begin(
            id,
            any("r").parse().expect("an id"),
            any("p").parse().expect("an id"),
            any("c").parse().expect("an id"),
            BEGAN,
        );
        let mut stored = StoredSession { session, frozen, ahead: Vec::new() };
        change(&mut stored);
        stored
    }

    fn frost(at: i64) -> Option<Frost> {
        let error = FrozenError { code: "flow_loop".to_owned(), message: "x".to_owned() };
        Some(Frost { error, frozen_at: Timestamp::from_millis(at) })
    }

    #[test]
    fn endings_of_redirects() {
        let to = RedirectTo {
            flow_id: "f".parse().expect("an id"),
            block_id: "b".parse().expect("an id"),
            execute_on_entry: true,
        };
        let jump = |id: &str| {
            FlowEvent::ExternalJump(ExternalJump {
                session_id: SessionId::parse("wc-c-u").expect("an id"),
                flow_id: to.flow_id.clone(),
                block_id: to.block_id.clone(),
                execute_on_entry: true,
                redirect_id: Some(id.to_owned()),
                ahead: true,
            })
        };
        let followed = |id: &str| Redirect {
            flow_id: to.flow_id.clone(),
            block_id: to.block_id.clone(),
            redirect_id: Some(id.to_owned()),
        };
        let redirected =
            Redirected { redirect: to.clone(), stream_entry_id: "r1".to_owned(), session_started_at: BEGAN };
        let ending = |stored: StoredSession, frost| of_redirect(&redirected, Some(&stored), frost);
        let frozen = || Some(Ending::Frozen(frost(5).expect("one").error));
        assert_eq!(ending(stored(false, |s| s.ahead = vec![jump("r1")]), None), None);
        assert_eq!(
            ending(stored(false, |s| s.session.redirects = vec![followed("r1")]), None),
            Some(Ending::Done)
        );
        let asks = |s: &mut StoredSession| {
            s.session.redirects = vec![followed("r1")];
            s.session.pending = Some(Box::new(pending()));
        };
        assert_eq!(ending(stored(false, asks), None), None, "its request may fail");
        assert_eq!(ending(stored(true, |s| s.ahead = vec![jump("r1")]), frost(5)), frozen());
        assert_eq!(ending(stored(true, |s| s.session.redirects = vec![followed("r1")]), frost(5)), frozen());
        assert_eq!(ending(stored(true, |_| ()), None), None, "it froze between two looks");
        let nowhere = Some(Ending::Ignored(Obstacle::LeadsNowhere));
        assert_eq!(ending(stored(false, |s| s.ahead = vec![jump("r2")]), None), nowhere);
        let human = Some(Ending::Ignored(Obstacle::HumanAttendance));
        assert_eq!(ending(stored(false, |s| s.session.mode = Mode::Human), None), human);
        let another = |s: &mut StoredSession| s.session.started_at = Timestamp::from_millis(2);
        assert_eq!(ending(stored(false, another), None), Some(Ending::Ended));
        assert_eq!(of_redirect(&redirected, None, None), Some(Ending::Ended));
    }

    fn pending() -> Pending {
        Pending {
            seq: 1,
            phase: Phase::OnEnter,
            action: 0,
            attempt: 1,
            deadline: BEGAN,
            steps: 1,
            bytes: 0,
            work: 0,
            failed: false,
            input: None,
        }
    }

    #[test]
    fn endings_of_resumptions() {
        let ending =
            |stored: Option<&StoredSession>, frost| of_resumption(Timestamp::from_millis(5), stored, frost);
        let (live, stopped) = (stored(false, |_| ()), stored(true, |_| ()));
        assert_eq!(ending(Some(&stopped), frost(5)), None);
        assert_eq!(ending(None, frost(5)), None, "it never began");
        assert_eq!(ending(Some(&stopped), frost(6)), Some(Ending::Frozen(frost(6).expect("one").error)));
        assert_eq!(ending(Some(&stopped), None), None, "it froze again between two looks");
        let asks = stored(false, |stored| stored.session.pending = Some(Box::new(pending())));
        assert_eq!(ending(Some(&asks), None), None, "its request may fail");
        assert_eq!(ending(Some(&live), None), Some(Ending::Done));
        assert_eq!(ending(None, None), Some(Ending::Ended));
    }
}
