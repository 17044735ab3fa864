//! An event that waits.

use flowsdk_core::cell::Named;
use flowsdk_core::event::AgentEvent;
use flowsdk_core::id::IdSource;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

/// An event of `stream:agent` that no turn has taken yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    /// The id, which grows with time.
    pub id: String,
    /// The session.
    pub session_id: SessionId,
    /// What tells a delivery of the same event.
    pub key: String,
    /// The event.
    pub event: AgentEvent,
    /// How soon it is to be looked at.
    pub urgency: Urgency,
    /// When it came.
    pub came_at: Timestamp,
}

impl Letter {
    /// Returns the letter of an event that has come now.
    pub fn of(event: AgentEvent, key: String, ids: &dyn IdSource, now: Timestamp) -> Self {
        let session_id = event.session_id().clone();
        Self { id: ids.next_id(), session_id, key, urgency: Urgency::of(&event), event, came_at: now }
    }
}

/// How soon an event is to be looked at. The most urgent one of a session counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Named)]
#[serde(rename_all = "lowercase")]
pub enum Urgency {
    /// When the contact is quiet.
    Quiet,
    /// At once, or when the turn that runs has ended.
    Soon,
    /// At once: the turn that runs ends.
    Interrupts,
}

impl Urgency {
    /// Returns how soon an event is to be looked at.
    pub fn of(event: &AgentEvent) -> Self {
        match event {
            AgentEvent::ManualHandoff(_) | AgentEvent::SessionLost(_) => Self::Interrupts,
            AgentEvent::Turn(turn) if !turn.messages.is_empty() => Self::Quiet,
            AgentEvent::Turn(_) | AgentEvent::Inactivity(_) => Self::Soon,
        }
    }
}

/// A session whose events wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The session.
    pub session_id: SessionId,
    /// When the oldest of them came.
    pub since: Timestamp,
    /// When the newest of them came.
    pub until: Timestamp,
    /// How soon they are to be looked at.
    pub urgency: Urgency,
    /// When the newest of those came that end a turn which runs.
    pub interrupted_at: Option<Timestamp>,
}

impl Waiting {
    /// Puts events together by session, those with the oldest first.
    pub fn of(events: impl IntoIterator<Item = (SessionId, Timestamp, Urgency)>) -> Vec<Self> {
        let mut sessions: Vec<Self> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for (session_id, at, urgency) in events {
            let interrupted_at = (urgency == Urgency::Interrupts).then_some(at);
            match places.get(&session_id) {
                Some(&place) => {
                    let known: &mut Self = &mut sessions[place];
                    known.until = known.until.max(at);
                    known.urgency = known.urgency.max(urgency);
                    known.interrupted_at = known.interrupted_at.max(interrupted_at);
                }
                None => {
                    places.insert(session_id.clone(), sessions.len());
                    sessions.push(Self { session_id, since: at, until: at, urgency, interrupted_at });
                }
            }
        }
        sessions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_event_of_a_session_counts() {
        let session = |id: &str| SessionId::parse(id).expect("an id");
        let at = Timestamp::from_millis;
        let found = Waiting::of([
            (session("wa-1-2"), at(5), Urgency::Quiet),
            (session("wa-1-3"), at(6), Urgency::Soon),
            (session("wa-1-2"), at(9), Urgency::Interrupts),
            (session("wa-1-2"), at(10), Urgency::Quiet),
        ]);
        let waiting = |id: &str, since, until, urgency, interrupted_at: Option<i64>| Waiting {
            session_id: session(id),
            since: at(since),
            until: at(until),
            urgency,
            interrupted_at: interrupted_at.map(at),
        };
        assert_eq!(
            found,
            [
                waiting("wa-1-2", 5, 10, Urgency::Interrupts, Some(9)),
                waiting("wa-1-3", 6, 6, Urgency::Soon, None)
            ]
        );
    }
}
